// How much a schema may ask for. Small schemas can combine their alternatives in more ways, and hold their listed values against
// more expressions, than there is time for: whoever compiles one counts what it does, and all of it together has a bound.
#pragma once

#include <cstdint>

#include "grammar/schemas/schema_document.h"

namespace tril::search {

class SchemaWork {
 public:
  explicit SchemaWork(const SchemaDocument& document) : document_(document) {}

  /// Counts what alternatives that meet take: steps of about a microsecond.
  /// @throws Error(usage) naming the place of `at`, where all that was counted is too much
  void combine(std::int64_t steps, SchemaId at) {
    add(steps, at, "its alternatives combine in too many ways", "use fewer alternatives");
  }
  /// The same of values that are held against a schema, and of expressions.
  void match(std::int64_t steps, SchemaId at) {
    add(steps, at, "its values and regular expressions take too much work together",
        "list fewer values, or use shorter expressions");
  }

 private:
  static constexpr std::int64_t most = 5'000'000;

  void add(std::int64_t steps, SchemaId at, const char* what, const char* hint) {
    done_ += steps;
    if (done_ > most) refuse_schema(document_.place(at), what, hint);
  }

  const SchemaDocument& document_;
  std::int64_t done_ = 0;
};

}  // namespace tril::search

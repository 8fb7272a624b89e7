// Limits the work that a schema may ask for. Small schemas can combine alternatives in more ways, and check listed
// values against more expressions, than there is time for: the compiler counts its steps, and their sum has a limit.
#pragma once

#include <cstdint>

#include "grammar/schemas/schema_document.h"

namespace tril::search {

class SchemaWork {
 public:
  explicit SchemaWork(const SchemaDocument& document) : document_(document) {}

  /// Counts the steps (about a microsecond each) of intersecting alternatives.
  /// @throws Error(usage) naming the place of `at`, if the total is too much
  void combine(std::int64_t steps, SchemaId at) {
    add(steps, at, "its alternatives combine in too many ways", "use fewer alternatives");
  }
  /// Counts the steps of checking values against a schema, and of regular expressions.
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

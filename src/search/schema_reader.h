// A schema's parts in their simplest form: an object that has no $ref, no allOf and no annotation, or false. Schemas
// within one stay as they are, so that a schema may contain itself.
#pragma once

#include <cstdint>
#include <string>

#include "search/schema_words.h"

namespace tril::search {

/// Knows the whole schema, which $ref refers to, and how much of it was read: the work that one may ask for is limited.
class SchemaReader {
 public:
  explicit SchemaReader(Json root) : root_(std::move(root)) {}

  const Json& root() const { return root_; }
  /// @param schema  any part of the root, or what was made of some
  /// @throws Error(usage) naming the place and the keyword
  Json simplified(const Json& schema, const std::string& place) { return simplified(schema, place, 0); }

  static constexpr int deepest = 200;  ///< schemas within schemas

 private:
  Json simplified(const Json& schema, const std::string& place, int depth);
  Json target_of(const Json& reference, const std::string& place) const;

  Json root_;
  std::int32_t simplified_ = 0;
};

}  // namespace tril::search

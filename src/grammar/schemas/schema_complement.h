// Rewrites keywords that depend on whether other schemas hold, as schemas of `anyOf` and `allOf`: the complement for
// `not`, and the equivalent of `if`, `dependentSchemas` and similar.
//
//   not (A and B)               not A, or not B
//   not {"required": ["a"]}     an object without "a"
//   not {"properties": {"a": A}}  an object with an "a" that is not A
//   if A then B else C          A and B, or (not A) and C
//
// Results may be narrower than the exact meaning, where that cannot be expressed (made::never), but never wider.
#pragma once

#include "grammar/schemas/schema_words.h"

namespace tril::search {

/// A schema of all values that are not valid against `schema`.
/// @param draft  the draft by which the schema is read
Json complement_of(const Json& schema, int draft);
struct Condition {
  std::string word;  ///< the keyword that requires it
  Json schema;
};
/// The conditional keywords of `schema`, rewritten as schemas that must all hold.
std::vector<Condition> conditions_of(const Json& schema);

}  // namespace tril::search

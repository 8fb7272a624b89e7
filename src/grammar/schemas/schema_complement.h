// Keywords that speak of other schemas by their truth, as schemas of `anyOf` and `allOf`: what is valid against none of `not`,
// and what `if`, `dependentSchemas` and their like come to.
//
//   not (A and B)               not A, or not B
//   not {"required": ["a"]}     an object without "a"
//   not {"properties": {"a": A}}  an object with an "a" that is not A
//   if A then B else C          A and B, or (not A) and C
//
// What results may be narrower than what is meant, where that cannot be said (made::never), and never wider.
#pragma once

#include "grammar/schemas/schema_words.h"

namespace tril::search {

/// A schema of what is not valid against `schema`.
/// @param draft  by which the schema is read
Json complement_of(const Json& schema, int draft);
struct Condition {
  std::string word;  ///< the keyword that says it
  Json schema;
};
/// What keywords of `schema` come to that say what holds only if something else does: schemas that all must hold.
std::vector<Condition> conditions_of(const Json& schema);

}  // namespace tril::search

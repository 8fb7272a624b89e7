// Which keywords of a schema count in its draft. Drafts before a keyword's introduction and after its removal ignore
// it; up to draft 7, keywords beside `$ref` are ignored. Both the compiler and SchemaJudge ask here.
//
// What is written also satisfies keywords that do not count, since validators differ. What a schema excludes, and what
// counts as evaluated, depends only on keywords that count.
#pragma once

#include <string_view>

#include "grammar/schemas/schema_words.h"

namespace tril::search {

/// @param draft  4, 6, 7, 2019 or 2020
bool counts(const Json& schema, std::string_view word, int draft);
/// Whether all keywords that assert something count.
bool all_count(const Json& schema, int draft);
/// The schema without keywords that do not count.
Json what_counts(const Json& schema, int draft);

}  // namespace tril::search

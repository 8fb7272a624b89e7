// Which keywords of a schema count, by its draft. Drafts before one that brings a keyword ignore it, and so does one that took it
// away; up to draft 7 what stands beside `$ref` is ignored. The compiler and the judge of values both ask here.
//
// What is written is held to keywords that do not count too, since validators differ. What a schema excludes, and what is evaluated,
// is by those that count alone.
#pragma once

#include <string_view>

#include "grammar/schemas/schema_words.h"

namespace tril::search {

/// @param draft  4, 6, 7, 2019 or 2020
bool counts(const Json& schema, std::string_view word, int draft);
/// Whether all keywords that say something of values count.
bool all_count(const Json& schema, int draft);
/// The schema without those that do not.
Json what_counts(const Json& schema, int draft);

}  // namespace tril::search

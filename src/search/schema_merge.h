// Two schemas as one, keyword by keyword: what `allOf`, and keywords beside $ref, anyOf and oneOf, come to.
#pragma once

#include <string>

#include "search/schema_words.h"

namespace tril::search {

/// What is valid against both a and b, which are in their simplest form; false: nothing is. Schemas within the result
/// may have an `allOf`.
/// @throws Error(usage) naming `place` and a keyword of which there can only be one
Json merged(const Json& a, const Json& b, const std::string& place);

}  // namespace tril::search

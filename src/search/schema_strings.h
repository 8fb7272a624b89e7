// What a schema says of strings, names of properties among them, as a pattern: minLength, maxLength, pattern, format.
#pragma once

#include <string>

#include "search/pattern.h"
#include "search/schema_words.h"

namespace tril::search {

/// States of all patterns that were made of a schema so far: more than a grammar may have take too long, even where
/// they come to little in the end.
using PatternStates = std::size_t;
/// `p`, counted. @throws Error(usage) beyond Grammar::most_states
Pattern counted(Pattern p, PatternStates& so_far, const std::string& place);

/// The strings that are valid against the schema, which is in its simplest form and lists no values.
/// @throws Error(usage) naming the place, and what is wrong or not supported
Pattern string_pattern(const Json& schema, PatternStates& so_far, const std::string& place);
/// The same of `propertyNames`, which may list them.
Pattern name_pattern(const Json& schema, PatternStates& so_far, const std::string& place);

}  // namespace tril::search

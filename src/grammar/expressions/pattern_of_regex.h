// A regular expression as an automaton: Thompson's construction [1968], with ^ and $ as special jumps that are resolved
// at the end. The phase tells whether a text is at its beginning (0), within (1), at its end, where no character may
// follow (2), or, if empty, at both (3). Each state is copied for every phase in which it is reached.
#pragma once

#include <cstdint>
#include <string_view>

#include "grammar/expressions/pattern.h"
#include "grammar/expressions/regex_tree.h"

namespace tril::search {

/// Whether a text must match as a whole, or only contain a match, as with JSON schema's `pattern`.
enum class RegexMatch : std::uint8_t { whole, part };

/// @throws Error(usage) naming the place and what is not supported
Pattern pattern_of_regex(std::string_view regex, RegexMatch match, RegexReading reading = RegexReading::narrow);

}  // namespace tril::search

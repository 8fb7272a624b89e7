// A regular expression as an automaton: Thompson's construction [1968], with ^ and $ as jumps of their own kind, which
// are settled at the end: a text is at its beginning (phase 0), within (1), at its end, where no character may follow (2),
// or, empty, at both (3), and each state stands for those of them in which it is met.
#pragma once

#include <cstdint>
#include <string_view>

#include "grammar/expressions/pattern.h"
#include "grammar/expressions/regex_tree.h"

namespace tril::search {

/// Whether a text must match as a whole, or only contain a match, as `pattern` of JSON schema has it.
enum class RegexMatch : std::uint8_t { whole, part };

/// @throws Error(usage) naming the place and what is not supported
Pattern pattern_of_regex(std::string_view regex, RegexMatch match, RegexReading reading = RegexReading::narrow);

}  // namespace tril::search

// A regular expression as a tree.
//
// Supported: characters, ., [classes] with ranges and ^, \d \w \s \D \W \S (ASCII; \s and \S also know Unicode's
// spaces), \t \n \r \f \v \0 \cA \xHH \uHHHH \u{H...}, ( ), (?: ), (?<name> ), |, * + ? {n} {n,} {n,m} and their lazy
// forms, ^ and $. A point is any character except \n, \r, U+2028 and U+2029. Refused with an error: look-around, back
// references, \b, \B, \p, flags.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "grammar/expressions/char_set.h"

namespace tril::search {

struct RegexNode {
  enum class Kind : std::uint8_t { chars, sequence, choice, repeat, begin, end } kind = Kind::sequence;
  CharSet chars = {};                 ///< any one of these
  std::vector<RegexNode> parts = {};  ///< of a sequence (may be empty) or a choice; the one repeated part
  std::int64_t least = 0, most = 0;   ///< of a repeat; most -1: any number
};

/// Engines and ECMA-262 differ in what ., $ and classes match beyond ASCII. A narrow reading matches what ECMA-262 does; a wide
/// one also matches what any other engine may. The complement of the wide reading is what no engine matches.
enum class RegexReading : std::uint8_t { narrow, wide };

/// @throws Unsupported or Error(usage) naming the place and what is unsupported or wrong
RegexNode parse_regex(std::string_view regex, RegexReading reading = RegexReading::narrow);

}  // namespace tril::search

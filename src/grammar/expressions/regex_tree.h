// A regular expression as a tree.
//
// Understood: characters, ., [classes] with ranges and ^, \d \w \s \D \W \S (of ASCII; \s and \S know Unicode's
// spaces), \t \n \r \f \v \0 \cA \xHH \uHHHH \u{H...}, ( ), (?: ), (?<name> ), |, * + ? {n} {n,} {n,m} and their lazy
// forms, ^ and $. A point is any character but \n, \r, U+2028 and U+2029. Refused by name: look-around, back
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
  std::vector<RegexNode> parts = {};  ///< of a sequence, which may be empty, of a choice, and the one that is repeated
  std::int64_t least = 0, most = 0;   ///< of a repeat; most -1: any number
};

/// ECMA-262 and other engines differ in what ., $ and classes match of other characters than ASCII's. What is narrow matches
/// what ECMA-262 says; what is wide matches that, and whatever others may. What no engine matches is the complement of the wide.
enum class RegexReading : std::uint8_t { narrow, wide };

/// @throws Unsupported or Error(usage), naming the place and what is not supported or wrong
RegexNode parse_regex(std::string_view regex, RegexReading reading = RegexReading::narrow);

}  // namespace tril::search

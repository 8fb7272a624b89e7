// Sets of characters (code points), and the characters of a text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tril::search {

struct CharRange {
  char32_t least, most;
  friend bool operator==(const CharRange&, const CharRange&) = default;
};
/// Ascending ranges that neither touch nor overlap.
using CharSet = std::vector<CharRange>;

constexpr char32_t last_char = 0x10ffff;
/// All code points except surrogates.
CharSet all_chars();
/// @param ranges  in any order
CharSet normalized(CharSet ranges);
CharSet intersection(const CharSet& a, const CharSet& b);
/// The characters of all_chars() that are not in `a`.
CharSet complement(const CharSet& a);

/// The code points of a text. @throws Error(usage), which calls the text `what`, if it is not UTF-8
std::u32string code_points(std::string_view text, std::string_view what);

}  // namespace tril::search

// Seams: places where BPE can never merge, in any context, because no merge's product contains the two characters side
// by side. The parts between seams can be encoded separately: that turns long texts without spaces, and vocabularies
// that do not split into words, into short parts that often repeat. Exact: the pieces are the same.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "unicode/characters.h"

namespace tril {

class MergeSeams {
 public:
  /// Records that a merge makes `product`: bytes, perhaps with partial characters.
  void add(std::string_view product) {
    for (std::size_t i = 1; i < product.size(); ++i) {
      if (trails(product[i])) continue;
      std::size_t left = i - 1;
      while (left > 0 && i - left < 4 && trails(product[left])) --left;
      const Character a = character_at(product, left), b = character_at(product, i);
      if (a.code != Character::not_utf8 && b.code != Character::not_utf8 && left + a.length == i)
        bits_[slot(a.code, b.code)] = true;
      else
        bytes_[byte_slot(product[i - 1], product[i])] = true;
    }
  }

  /// Whether neighbouring characters `a` and `b`, with b at `at` in the text, may end up in one piece.
  bool may_merge(char32_t a, char32_t b, std::string_view text, std::size_t at) const {
    return a == Character::not_utf8 || b == Character::not_utf8 || bits_[slot(a, b)] ||
           bytes_[byte_slot(text[at - 1], text[at])];
  }

 private:
  static bool trails(char byte) { return (static_cast<std::uint8_t>(byte) & 0xc0) == 0x80; }
  // A hash collision only hides a seam.
  static std::size_t slot(char32_t a, char32_t b) {
    return ((std::uint64_t{a} << 32 | b) * 0x9e3779b97f4a7c15ull) >> (64 - 21);
  }
  static std::size_t byte_slot(char a, char b) {
    return std::size_t{static_cast<std::uint8_t>(a)} << 8 | static_cast<std::uint8_t>(b);
  }

  std::vector<bool> bits_ = std::vector<bool>(std::size_t{1} << 21);   ///< pairs of whole characters, hashed
  std::vector<bool> bytes_ = std::vector<bool>(std::size_t{1} << 16);  ///< pairs of bytes, where a character is cut
};

}  // namespace tril

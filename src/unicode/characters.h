// Characters of UTF-8 text and their kinds by Unicode: letters, numbers, space, marks, punctuation. A common character
// costs one table look-up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tril {

/// The kind of a character; several may hold at once.
enum CharacterKind : std::uint8_t {
  kind_letter = 1,        ///< category L
  kind_number = 2,        ///< category N
  kind_space = 4,         ///< White_Space
  kind_newline = 8,       ///< \r and \n
  kind_mark = 16,         ///< category M of Unicode 9, as in Hugging Face's StripAccents
  kind_nonspacing = 32,   ///< category Mn of Unicode 8, as in Hugging Face's BERT parts
  kind_punctuation = 64,  ///< category P of Unicode 8, and ASCII's punctuation
  kind_word = 128,        ///< \w of UTS #18: alphabetic, marks, decimal digits, connectors, joiners
};

/// One character of a text.
struct Character {
  char32_t code = 0;  ///< not_utf8 for an invalid byte
  std::uint8_t length = 0;

  static constexpr char32_t not_utf8 = 0xffffffff;
};

/// The character at `at` < text.size(). An invalid byte is a character of its own.
inline Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const auto trails = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const std::uint8_t first = byte(at);
  if (first < 0x80) return {first, 1};
  const std::size_t left = text.size() - at;
  if (first >= 0xc2 && first < 0xe0 && left >= 2 && trails(at + 1))
    return {static_cast<char32_t>((first & 0x1f) << 6 | (byte(at + 1) & 0x3f)), 2};
  if (first >= 0xe0 && first < 0xf0 && left >= 3 && trails(at + 1) && trails(at + 2)) {
    const auto c = static_cast<char32_t>((first & 0xf) << 12 | (byte(at + 1) & 0x3f) << 6 | (byte(at + 2) & 0x3f));
    if (c >= 0x800 && (c < 0xd800 || c > 0xdfff)) return {c, 3};
  }
  if (first >= 0xf0 && first < 0xf5 && left >= 4 && trails(at + 1) && trails(at + 2) && trails(at + 3)) {
    const auto c = static_cast<char32_t>((first & 7) << 18 | (byte(at + 1) & 0x3f) << 12 | (byte(at + 2) & 0x3f) << 6 |
                                         (byte(at + 3) & 0x3f));
    if (c >= 0x10000 && c <= 0x10ffff) return {c, 4};
  }
  return {Character::not_utf8, 1};
}

/// The start of the last character before `end` > 0, in valid UTF-8.
inline std::size_t last_character(std::string_view text, std::size_t end) {
  do --end;
  while (end > 0 && (static_cast<std::uint8_t>(text[end]) & 0xc0) == 0x80);
  return end;
}

/// The kinds of every character.
class CharacterKinds {
 public:
  /// The only table; built at the first call.
  static const CharacterKinds& table();

  std::uint8_t operator()(char32_t c) const {
    return c < basic_.size() ? basic_[c] : c == Character::not_utf8 ? 0 : beyond(c);
  }

 private:
  CharacterKinds();
  static std::uint8_t beyond(char32_t c);

  std::array<std::uint8_t, 0x10000> basic_;  ///< the Basic Multilingual Plane
};

void append_utf8(std::string& text, char32_t c);

/// `bytes` with invalid UTF-8 replaced: one U+FFFD for each maximal prefix of a character, as the Unicode standard
/// recommends (section 3.9).
std::string valid_utf8(std::string_view bytes);
/// The same with nothing in the place of invalid UTF-8.
std::string without_invalid_utf8(std::string_view bytes);
/// How many bytes from `at` < bytes.size() on form one character of valid_utf8(bytes).
std::size_t bytes_of_character(std::string_view bytes, std::size_t at);

/// GPT-2's letter for each byte: printable bytes as themselves, the others as letters from U+0100 on.
const std::array<char32_t, 256>& byte_letters();
/// The byte that a letter represents; -1: none.
int byte_of_letter(char32_t letter);

}  // namespace tril

#include "unicode/characters.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <memory>

namespace tril {
namespace {

std::uint8_t kinds_of(char32_t code) {
  const auto c = static_cast<UChar32>(code);
  const std::uint32_t category = U_GET_GC_MASK(c);
  UVersionInfo age{};
  u_charAge(c, age);
  const bool old = age[0] <= 8;
  std::uint8_t kinds = 0;
  const auto set = [&](bool is, CharacterKind kind) { kinds = static_cast<std::uint8_t>(kinds | (is ? kind : 0)); };
  const bool ascii_sign = c > 0x20 && c < 0x7f && !(category & (U_GC_L_MASK | U_GC_N_MASK));
  set((category & U_GC_L_MASK) != 0, kind_letter);
  set((category & U_GC_N_MASK) != 0, kind_number);
  set(u_hasBinaryProperty(c, UCHAR_WHITE_SPACE) != 0, kind_space);
  set(c == '\r' || c == '\n', kind_newline);
  set((category & U_GC_M_MASK) != 0 && age[0] <= 9, kind_mark);
  set((category & U_GC_MN_MASK) != 0 && old, kind_nonspacing);
  set(((category & U_GC_P_MASK) != 0 && old) || ascii_sign, kind_punctuation);
  set((category & (U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) != 0 || u_hasBinaryProperty(c, UCHAR_ALPHABETIC) ||
          u_hasBinaryProperty(c, UCHAR_JOIN_CONTROL),
      kind_word);
  return kinds;
}

}  // namespace

CharacterKinds::CharacterKinds() {
  for (char32_t c = 0; c < basic_.size(); ++c) basic_[c] = kinds_of(c);
}

const CharacterKinds& CharacterKinds::table() {
  static const std::unique_ptr<const CharacterKinds> kinds(new CharacterKinds);
  return *kinds;
}

std::uint8_t CharacterKinds::beyond(char32_t c) {
  return kinds_of(c);
}

void append_utf8(std::string& text, char32_t c) {
  std::array<char, 4> bytes{};
  int n = 0;
  U8_APPEND_UNSAFE(bytes.data(), n, c);
  text.append(bytes.data(), static_cast<std::size_t>(n));
}

namespace {

// Moves `at` past the character there; false if it is invalid.
bool take_character(std::string_view bytes, std::size_t& at) {
  UChar32 c = 0;
  U8_NEXT(bytes.data(), at, bytes.size(), c);
  return c >= 0;
}

std::string with_invalid_as(std::string_view bytes, std::string_view replacement) {
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t begin = at;
    text += take_character(bytes, at) ? bytes.substr(begin, at - begin) : replacement;
  }
  return text;
}

}  // namespace

std::string valid_utf8(std::string_view bytes) {
  return with_invalid_as(bytes, "\xef\xbf\xbd");
}

std::string without_invalid_utf8(std::string_view bytes) {
  return with_invalid_as(bytes, "");
}

std::size_t bytes_of_character(std::string_view bytes, std::size_t at) {
  const std::size_t begin = at;
  take_character(bytes, at);
  return at - begin;
}

const std::array<char32_t, 256>& byte_letters() {
  static const std::array<char32_t, 256> table = [] {
    std::array<char32_t, 256> t{};
    char32_t next = 0x100;
    for (char32_t b = 0; b < 256; ++b) {
      const bool prints = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
      t[b] = prints ? b : next++;
    }
    return t;
  }();
  return table;
}

int byte_of_letter(char32_t letter) {
  static const std::array<std::int16_t, 0x144> table = [] {
    std::array<std::int16_t, 0x144> t{};
    t.fill(-1);
    for (std::size_t b = 0; b < 256; ++b) t[byte_letters()[b]] = static_cast<std::int16_t>(b);
    return t;
  }();
  return letter < table.size() ? table[letter] : -1;
}

}  // namespace tril

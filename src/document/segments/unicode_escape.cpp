#include "document/segments/unicode_escape.h"

#include <charconv>
#include <cstdint>

#include "unicode/characters.h"

namespace tril::document {
namespace {

// The UTF-16 unit of "\uXXXX" at the start of a text; 0: none.
std::uint32_t unit_of(std::string_view text, char letter) {
  std::uint32_t unit = 0;
  if (text.size() < 6 || text[0] != '\\' || text[1] != letter) return 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + 6, unit, 16);
  return error == std::errc() && end == text.data() + 6 ? unit : 0;
}

}  // namespace

std::optional<CharacterReference> unicode_escape(std::string_view text, char letter) {
  const std::uint32_t unit = unit_of(text, letter);
  if (unit == 0) return std::nullopt;
  CharacterReference r{.text = {}, .bytes = 6};
  const std::uint32_t low = unit >= 0xd800 && unit < 0xdc00 ? unit_of(text.substr(6), letter) : 0;
  if (low >= 0xdc00 && low < 0xe000) {
    append_utf8(r.text, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
    r.bytes = 12;
  } else {
    append_utf8(r.text, unit >= 0xd800 && unit < 0xe000 ? 0xfffd : static_cast<char32_t>(unit));
  }
  return r;
}

}  // namespace tril::document

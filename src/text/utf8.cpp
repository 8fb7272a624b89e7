#include "text/utf8.h"

#include <algorithm>

#include <array>
#include <cstring>

#include "base/printable.h"

namespace tril {

namespace {

std::uint8_t byte_at(std::string_view s, std::size_t i) {
  return static_cast<std::uint8_t>(s[i]);
}

// White space of more than one byte: U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000.
constexpr std::array<std::string_view, 19> wide_spaces = {
    "\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
    "\u2007", "\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};

bool is_narrow_space(char c) {
  return c == ' ' || ('\t' <= c && c <= '\r') || ('\x1c' <= c && c <= '\x1f');
}

}  // namespace

std::optional<Utf8Fault> find_utf8_fault(std::string_view text) {
  std::size_t i = 0, column = 1;
  while (i < text.size()) {
    std::uint64_t eight;
    if (i + sizeof eight <= text.size()) {  // most text is ASCII: eight characters at a time
      std::memcpy(&eight, text.data() + i, sizeof eight);
      if ((eight & 0x8080808080808080u) == 0) {
        i += sizeof eight;
        column += sizeof eight;
        continue;
      }
    }
    const std::size_t n = utf8_sequence(text.substr(i));
    if (n == 0) return Utf8Fault{i, column, byte_at(text, i)};
    i += n;
    ++column;
  }
  return std::nullopt;
}

std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
}

std::string_view trim(std::string_view text) {
  const auto leading = [](std::string_view s) -> std::size_t {
    if (s.empty()) return 0;
    if (is_narrow_space(s.front())) return 1;
    for (std::string_view w : wide_spaces)
      if (s.starts_with(w)) return w.size();
    return 0;
  };
  const auto trailing = [](std::string_view s) -> std::size_t {
    if (s.empty()) return 0;
    if (is_narrow_space(s.back())) return 1;
    for (std::string_view w : wide_spaces)
      if (s.ends_with(w)) return w.size();
    return 0;
  };
  while (const std::size_t n = leading(text)) text.remove_prefix(n);
  while (const std::size_t n = trailing(text)) text.remove_suffix(n);
  return text;
}

}  // namespace tril

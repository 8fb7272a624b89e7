#include "unicode/trim.h"

#include <algorithm>
#include <array>

namespace tril {

namespace {

// White space of more than one byte: U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000.
constexpr std::array<std::string_view, 19> wide_spaces = {
    "\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
    "\u2007", "\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};

bool is_narrow_space(char c) {
  return c == ' ' || ('\t' <= c && c <= '\r') || ('\x1c' <= c && c <= '\x1f');
}

}  // namespace

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

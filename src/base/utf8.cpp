#include "base/utf8.h"

#include <cstring>

namespace tril {

std::size_t utf8_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  if (text.empty()) return 0;
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xc2 && first < 0xe0   ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  // The range of the second byte also excludes overlong forms, surrogates and values above U+10FFFF.
  const unsigned low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (length == 0 || byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  return length;
}

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
    if (n == 0) return Utf8Fault{i, column, static_cast<std::uint8_t>(text[i])};
    i += n;
    ++column;
  }
  return std::nullopt;
}

}  // namespace tril

#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"

namespace tril {

std::string printable(std::string_view text, std::size_t limit) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (out.size() >= limit) return out + "...";
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = utf8_sequence(text.substr(i, 4));
    // U+0080 to U+009F are control characters too; some terminals obey them.
    const bool control =
        byte < 0x20 || byte == 0x7f || (byte == 0xc2 && length == 2 && static_cast<unsigned char>(text[i + 1]) < 0xa0);
    if (length == 0 || control) {
      for (std::size_t k = 0; k < std::max<std::size_t>(length, 1); ++k)
        out += fmt::format("\\x{:02X}", static_cast<unsigned char>(text[i + k]));
    } else {
      out += text.substr(i, length);
    }
    i += std::max<std::size_t>(length, 1);
  }
  return out;
}

}  // namespace tril

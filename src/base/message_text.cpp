#include "base/message_text.h"

#include <algorithm>

#include "base/printable.h"

namespace tril {

std::string message_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\n\t"), text.size());
    out += printable(text.substr(0, end), std::string_view::npos);
    if (end < text.size()) out += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace tril

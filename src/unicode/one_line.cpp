#include "unicode/one_line.h"

#include <algorithm>

namespace tril {

std::string one_line(std::string_view text) {
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\r\n", at), text.size());
    std::string_view part = text.substr(at, end - at);
    if (end < text.size()) part = part.substr(0, part.find_last_not_of(" \t") + 1);
    if (at > 0) part = part.substr(std::min(part.size(), part.find_first_not_of(" \t")));
    if (!line.empty() && !part.empty()) line += ' ';
    line += part;
    at = end + 1;
  }
  return line;
}

}  // namespace tril

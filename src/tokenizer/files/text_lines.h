// The lines of a vocabulary's text file.
#pragma once

#include <algorithm>
#include <string_view>

namespace tril {

/// Takes the next line off the front of `text`, which is not empty: without its end, be that "\n" or "\r\n".
inline std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace tril

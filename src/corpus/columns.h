// Columns of tab-separated text.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace tril {

/// Column `index` (from 0) of a tab-separated line, or nothing if the line has fewer.
inline std::optional<std::string_view> column(std::string_view line, int index) {
  for (; index > 0; --index) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) return std::nullopt;
    line.remove_prefix(tab + 1);
  }
  return line.substr(0, line.find('\t'));
}

/// The number of columns of a tab-separated line.
inline int count_columns(std::string_view line) {
  int n = 1;
  for (char c : line) n += c == '\t' ? 1 : 0;
  return n;
}

}  // namespace tril

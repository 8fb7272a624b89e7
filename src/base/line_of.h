// The line of a place in a text, for errors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace tril {

/// The line of byte `at`, from 1; of a byte behind the text, its last line.
inline std::int64_t line_of(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, std::min(at, text.size()));
  return 1 + std::count(before.begin(), before.end(), '\n');
}

}  // namespace tril

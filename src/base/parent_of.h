// The directory of a file.
#pragma once

#include <filesystem>
#include <string>

namespace tril {

/// "." for a name without a directory.
inline std::string parent_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

}  // namespace tril

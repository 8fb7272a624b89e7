#include "tensor/observer.h"

#include <fmt/format.h>

namespace tril {

// Compilers know a file by its path in the build, and a header by that of its folder of include paths (cmake/layers.cmake). Both end
// with the path below src/.
std::string SourceLine::text() const {
  if (line == 0) return "";
  std::string_view path = file;
  for (const std::string_view folder : {"/include-roots/", "/src/"}) {
    const std::size_t at = path.rfind(folder);
    if (at == path.npos) continue;
    path.remove_prefix(at + folder.size());
    if (folder != "/src/") path.remove_prefix(path.find('/') + 1);
    break;
  }
  return path == file ? fmt::format("{}:{}", file, line) : fmt::format("src/{}:{}", path, line);
}

std::string Observer::full(std::string_view name) const {
  std::string text;
  for (const std::string& part : parts_) {
    if (!text.empty()) text += '.';
    text += part;
  }
  if (!text.empty() && !name.empty()) text += '.';
  return text += name;
}

}  // namespace tril

#include "document/office/member_path.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace tril::document {
namespace {

// "Text/a%20b.xhtml#top" -> "Text/a b.xhtml"
std::string path_of(std::string_view reference) {
  reference = reference.substr(0, reference.find('#'));
  std::string path;
  for (std::size_t at = 0; at < reference.size(); ++at) {
    unsigned char code = 0;
    const char* const digits = reference.data() + at + 1;
    if (reference[at] == '%' && at + 2 < reference.size() &&
        std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2) {
      path += static_cast<char>(code);
      at += 2;
    } else {
      path += reference[at];
    }
  }
  return path;
}

}  // namespace

std::string member_path(std::string_view directory, std::string_view reference) {
  const std::string path = path_of(reference);
  if (path.starts_with('/')) directory = "";
  std::vector<std::string> names;
  for (const std::string_view part : {directory, std::string_view(path)})
    for (std::size_t at = 0; at < part.size();) {
      const std::size_t end = std::min(part.find('/', at), part.size());
      const std::string name(part.substr(at, end - at));
      if (name == ".." && !names.empty()) names.pop_back();
      if (!name.empty() && name != "." && name != "..") names.push_back(name);
      at = end + 1;
    }
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : "/") + name;
  return all;
}

std::string_view directory_of(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? "" : path.substr(0, slash);
}

}  // namespace tril::document

#include "grammar/schemas/schema_uri.h"

#include <algorithm>

namespace tril::search {
namespace {

std::size_t scheme_end(std::string_view uri) {
  const std::size_t colon = uri.find(':');
  const bool has_scheme = colon != std::string_view::npos && colon > 0 && uri.find_first_of("/?") > colon;
  return has_scheme ? colon + 1 : 0;
}

// Where the path begins, after "scheme:" and "//authority".
std::size_t path_begin(std::string_view uri) {
  const std::size_t scheme = scheme_end(uri);
  if (uri.substr(scheme, 2) != "//") return scheme;
  return std::min(uri.find('/', scheme + 2), uri.size());
}

std::string without_dots(std::string_view path) {
  std::string out;
  for (std::size_t i = 0; i <= path.size();) {
    const std::size_t end = std::min(path.find('/', i), path.size());
    const std::string_view part = path.substr(i, end - i);
    const bool last = end == path.size();
    if (part == "..") {
      const std::size_t parent = out.size() < 2 ? std::string::npos : out.rfind('/', out.size() - 2);
      out.resize(parent == std::string::npos ? (path.starts_with('/') ? 1 : 0) : parent + 1);
    } else if (part != ".") {
      out += part;
      if (!last) out += '/';
    }
    i = end + 1;
  }
  return out;
}

}  // namespace

std::string resolved_uri(std::string_view base, std::string_view reference) {
  reference = reference.substr(0, reference.find('#'));
  if (reference.empty()) return std::string(base);
  if (scheme_end(reference) > 0) return std::string(reference);
  const std::size_t path = path_begin(base);
  if (reference.starts_with("//")) return std::string(base.substr(0, scheme_end(base))) + std::string(reference);
  const std::string root(base.substr(0, path));
  if (reference.starts_with('/')) return root + without_dots(reference);
  const std::size_t slash = base.rfind('/');
  const std::string folder(slash == std::string_view::npos || slash < path ? std::string_view()
                                                                           : base.substr(path, slash + 1 - path));
  return root + without_dots((folder.empty() && !root.empty() && root.find("//") != std::string::npos ? "/" : folder) +
                             std::string(reference));
}

std::string fragment_of(std::string_view reference) {
  const std::size_t hash = reference.find('#');
  if (hash == std::string_view::npos) return "";
  const std::string_view text = reference.substr(hash + 1);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](std::size_t at) {
      return at < text.size() ? std::string_view("0123456789abcdef").find(static_cast<char>(text[at] | 0x20))
                              : std::string_view::npos;
    };
    if (text[i] == '%' && digit(i + 1) < 16 && digit(i + 2) < 16) {
      out += static_cast<char>(static_cast<unsigned char>(digit(i + 1) * 16 + digit(i + 2)));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace tril::search

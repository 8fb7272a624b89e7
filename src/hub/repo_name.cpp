#include "hub/repo_name.h"

#include <algorithm>

namespace tril::hub {
namespace {

constexpr std::size_t longest_repo = 96, longest_path = 1024;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// An owner or a name: letters, digits, '-', '_', '.', with none of "--" and "..", and no '-' or '.' at an end.
bool is_part(std::string_view part) {
  const auto is_edge = [](char c) { return is_letter_or_digit(c) || c == '_'; };
  return !part.empty() && is_edge(part.front()) && is_edge(part.back()) &&
         std::all_of(part.begin(), part.end(), [&](char c) { return is_edge(c) || c == '-' || c == '.'; }) &&
         part.find("--") == part.npos && part.find("..") == part.npos;
}

bool is_repo(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (text.size() > longest_repo) return false;
  return slash == text.npos ? is_part(text) : is_part(text.substr(0, slash)) && is_part(text.substr(slash + 1));
}

}  // namespace

std::string RepoName::text() const {
  return repo + (revision == "main" ? "" : "@" + revision) + (file.empty() ? "" : ":" + file);
}

std::optional<RepoName> repo_name_of(std::string_view text) {
  RepoName name;
  const std::size_t end = std::min(text.find_first_of("@:"), text.size());
  name.repo = text.substr(0, end);
  if (!is_repo(name.repo)) return std::nullopt;
  text.remove_prefix(end);
  if (text.starts_with('@')) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    name.revision = text.substr(1, colon - 1);
    if (!stays_inside(name.revision)) return std::nullopt;
    text.remove_prefix(colon);
  }
  if (text.starts_with(':')) {
    name.file = text.substr(1);
    if (!stays_inside(name.file)) return std::nullopt;
  }
  return name;
}

bool is_url(std::string_view text) {
  return text.starts_with("https://") || text.starts_with("http://");
}

bool stays_inside(std::string_view path) {
  if (path.size() > longest_path ||
      std::any_of(path.begin(), path.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '\\'; }))
    return false;
  for (;;) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || part.size() > 255) return false;
    if (slash == path.npos) return true;
    path.remove_prefix(slash + 1);
  }
}

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace tril::hub

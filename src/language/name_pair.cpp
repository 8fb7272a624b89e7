#include "language/name_pair.h"

#include <algorithm>
#include <array>
#include <vector>

#include "language/code.h"

namespace tril {
namespace {

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
  }
  return parts;
}

bool begins_with(const std::vector<std::string>& parts, std::initializer_list<std::string_view> first) {
  return parts.size() >= first.size() && std::equal(first.begin(), first.end(), parts.begin());
}

std::optional<NamedPair> pair_of(const std::string& source, const std::string& target) {
  if (!find_language(source) || !find_language(target)) return std::nullopt;
  return NamedPair{source, target};
}

// The sizes and kinds of OPUS-MT's models, before the languages.
bool is_kind(const std::string& part) {
  constexpr std::array<std::string_view, 5> kinds{"tc", "base", "big", "tiny", "bible"};
  return std::find(kinds.begin(), kinds.end(), part) != kinds.end();
}

std::optional<NamedPair> of_opus_mt(std::string_view name) {
  const std::vector<std::string> parts = parts_of(name.substr(0, name.find('.')), '-');
  if (!begins_with(parts, {"opus", "mt"}) && !begins_with(parts, {"opus", "tatoeba"})) return std::nullopt;
  std::size_t i = 2;
  while (i < parts.size() && is_kind(parts[i])) ++i;
  if (i + 1 >= parts.size()) return std::nullopt;
  // A third code may be another source or target.
  if (i + 2 < parts.size() && find_language(parts[i + 2])) return std::nullopt;
  return pair_of(parts[i], parts[i + 1]);
}

std::optional<NamedPair> of_argos(std::string_view name) {
  const std::vector<std::string> parts = parts_of(name, '-');
  if (!begins_with(parts, {"translate"}) || parts.size() > 3 || parts.size() < 2) return std::nullopt;
  if (parts.size() == 3 && parts[2].find_first_not_of("0123456789_.") != std::string::npos) return std::nullopt;
  const std::vector<std::string> codes = parts_of(parts[1], '_');
  return codes.size() == 2 ? pair_of(codes[0], codes[1]) : std::nullopt;
}

std::optional<NamedPair> of_bergamot(std::string_view name) {
  const std::vector<std::string> parts = parts_of(name, '.');
  if (parts.size() < 2 || parts[0].size() != 4 || parts[1] != "student") return std::nullopt;
  return pair_of(parts[0].substr(0, 2), parts[0].substr(2));
}

}  // namespace

std::optional<NamedPair> languages_in_name(std::string_view name) {
  for (const auto& form : {of_opus_mt, of_argos, of_bergamot})
    if (std::optional<NamedPair> pair = form(name)) return pair;
  return std::nullopt;
}

}  // namespace tril

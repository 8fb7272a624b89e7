#include "terms/term.h"

namespace tril::terms {

const std::vector<std::pair<std::string, Match>>& match_names() {
  static const std::vector<std::pair<std::string, Match>> names{
      {"exact", Match::exact}, {"case", Match::ignore_case}, {"stem", Match::stem}};
  return names;
}

std::optional<Match> find_match(std::string_view name) {
  for (const auto& [known, match] : match_names())
    if (known == name) return match;
  return std::nullopt;
}

std::string_view name_of(Match match) {
  for (const auto& [name, known] : match_names())
    if (known == match) return name;
  return {};
}

}  // namespace tril::terms

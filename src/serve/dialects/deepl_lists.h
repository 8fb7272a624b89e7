// Lists in DeepL's forms.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace tril::serve {

/// "a,b" as a list. Empty names are left out.
inline std::vector<std::string> names_between_commas(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (end > at) names.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

}  // namespace tril::serve

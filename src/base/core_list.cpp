#include "base/core_list.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace tril {
namespace {

constexpr int most_cores = 1 << 16;

std::optional<int> read_core(std::string_view text) {
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (text.empty() || text[0] == '-' || error != std::errc() || end != text.data() + text.size() || n >= most_cores)
    return std::nullopt;
  return n;
}

}  // namespace

std::optional<std::vector<int>> read_core_list(std::string_view text) {
  std::vector<int> cores;
  std::set<int> seen;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view range = text.substr(0, comma);
    const std::size_t dash = range.find('-');
    const auto first = read_core(range.substr(0, std::min(dash, range.size())));
    const auto last = dash == range.npos ? first : read_core(range.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    for (int core = *first; core <= *last; ++core) {
      if (!seen.insert(core).second) return std::nullopt;
      cores.push_back(core);
    }
    if (comma == text.size()) return cores;
    text.remove_prefix(comma + 1);
  }
}

std::string core_list_text(const std::vector<int>& cores) {
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t end = i + 1;
    while (end < cores.size() && cores[end] == cores[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(cores[i]);
    if (end > i + 1) text += '-' + std::to_string(cores[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace tril

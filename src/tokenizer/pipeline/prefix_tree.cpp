#include "tokenizer/pipeline/prefix_tree.h"

#include <algorithm>

namespace tril {

PrefixTree::PrefixTree(std::vector<std::pair<std::string_view, std::int32_t>> strings) {
  std::erase_if(strings, [](const auto& s) { return s.first.empty(); });
  std::stable_sort(strings.begin(), strings.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  // Level by level: a node is a range of the sorted strings that share their first `depth` bytes.
  struct Range {
    std::uint32_t node;
    std::size_t begin, end;
  };
  std::vector<Range> level{{0, 0, strings.size()}}, next;
  for (std::size_t depth = 0; !level.empty(); ++depth, level.swap(next), next.clear())
    for (Range range : level) {
      for (; range.begin < range.end && strings[range.begin].first.size() == depth; ++range.begin)
        nodes_[range.node].number = strings[range.begin].second;
      nodes_[range.node].children = static_cast<std::uint32_t>(nodes_.size());
      while (range.begin < range.end) {
        const char byte = strings[range.begin].first[depth];
        std::size_t end = range.begin;
        while (end < range.end && strings[end].first[depth] == byte) ++end;
        const auto child = static_cast<std::uint32_t>(nodes_.size());
        nodes_.emplace_back();
        labels_.push_back(static_cast<std::uint8_t>(byte));
        ++nodes_[range.node].count;
        if (depth == 0) root_[static_cast<std::uint8_t>(byte)] = child;
        next.push_back({child, range.begin, end});
        range.begin = end;
      }
    }
}

std::optional<std::int32_t> PrefixTree::find(std::string_view text) const {
  std::uint32_t node = 0;
  for (char byte : text)
    if (!step(node, static_cast<std::uint8_t>(byte))) return std::nullopt;
  return node != 0 && nodes_[node].number >= 0 ? std::optional(nodes_[node].number) : std::nullopt;
}

}  // namespace tril

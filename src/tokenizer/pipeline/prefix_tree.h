// A set of numbered byte strings, to find those that a text begins with: a trie whose nodes' children are adjacent,
// with their first bytes in one array, so that a step is one search among at most 256 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace tril {

class PrefixTree {
 public:
  PrefixTree() = default;
  /// If a string occurs twice, the later number counts. Empty strings are left out. Numbers are not negative.
  explicit PrefixTree(std::vector<std::pair<std::string_view, std::int32_t>> strings);

  /// Calls visit(bytes, number) for each string that `text` begins with, the shortest first.
  template <class Visit>
  void for_each_prefix(std::string_view text, const Visit& visit) const {
    std::uint32_t node = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (!step(node, static_cast<std::uint8_t>(text[i]))) return;
      if (nodes_[node].number >= 0) visit(i + 1, nodes_[node].number);
    }
  }

  struct Match {
    std::size_t bytes = 0;  ///< 0: none
    std::int32_t number = -1;
  };
  /// The longest string that `text` begins with.
  Match longest_prefix(std::string_view text) const {
    Match match;
    for_each_prefix(text, [&](std::size_t bytes, std::int32_t number) { match = {bytes, number}; });
    return match;
  }
  std::optional<std::int32_t> find(std::string_view text) const;
  bool empty() const { return nodes_.size() <= 1; }
  /// Whether any string begins with this byte.
  bool may_begin(std::uint8_t byte) const { return root_[byte] != 0; }

 private:
  struct Node {
    std::uint32_t children = 0;  ///< index of the first; the others follow
    std::uint32_t count = 0;
    std::int32_t number = -1;  ///< of the string that ends here
  };

  bool step(std::uint32_t& node, std::uint8_t byte) const {
    const Node& n = nodes_[node];
    if (node == 0) {
      node = root_[byte];
      return node != 0;
    }
    if (n.count == 0) return false;
    const std::uint8_t* first = labels_.data() + n.children;
    const void* found = std::memchr(first, byte, n.count);
    if (!found) return false;
    node = n.children + static_cast<std::uint32_t>(static_cast<const std::uint8_t*>(found) - first);
    return true;
  }

  std::vector<Node> nodes_{Node{}};
  std::vector<std::uint8_t> labels_{0};                                   ///< of each node, the byte that leads to it
  std::vector<std::uint32_t> root_ = std::vector<std::uint32_t>(256, 0);  ///< children of the root; 0: none
};

}  // namespace tril

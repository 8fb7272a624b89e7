// A vocabulary's tokens as a trie of their bytes: one walk finds all tokens that an automaton allows, and skips every
// subtree whose prefix is not allowed.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/as_size.h"
#include "base/element.h"
#include "grammar/automata/plain_tokens.h"
#include "grammar/expressions/char_set.h"

namespace tril::search {

class TokenTrie {
 public:
  /// @param bytes  by id, the bytes that the token adds to a text; a token without bytes is never found
  explicit TokenTrie(std::span<const std::string> bytes);

  /// Kinds of plain text, from the widest to the narrowest.
  static constexpr std::size_t kinds = 2;
  const PlainTokens& plain(std::size_t kind) const { return plain_[kind]; }

  /// The root is node 0. The children of a node are next to each other, in the order of their bytes.
  struct Node {
    std::int32_t first_child = 0;
    std::int32_t first_token = 0, tokens = 0;  ///< the tokens in ids() that end here; several may have the same bytes
    std::uint16_t children = 0;
    std::uint8_t byte = 0;
    std::array<std::uint8_t, kinds> plain_chars{};       ///< by kind: characters of the tokens here; 0 if not plain
    std::array<std::uint8_t, kinds> most_plain_chars{};  ///< of those here and below; `mixed` if some are not plain

    std::span<const Node> children_in(std::span<const Node> trie) const {
      return trie.subspan(as_size(first_child), children);
    }
  };
  static constexpr std::uint8_t mixed = 255;
  std::span<const Node> nodes() const { return nodes_; }
  /// The trie of the tokens that are not plain alone. It still has the plain ones that these begin with.
  std::span<const Node> nodes_to_mixed(std::size_t kind) const { return nodes_to_mixed_[kind]; }
  const Node& node(std::int32_t n) const { return element(nodes_, n); }
  std::span<const Node> children(const Node& node) const { return node.children_in(nodes_); }
  std::span<const std::int32_t> ids(const Node& node) const {
    return std::span(ids_).subspan(as_size(node.first_token), as_size(node.tokens));
  }
  const std::string& bytes(std::int32_t id) const { return element(bytes_, id); }
  std::int64_t size() const { return std::ssize(bytes_); }
  std::size_t longest() const { return longest_; }

  /// The characters that the tokens can spell one by one, in any context.
  const CharSet& alphabet() const { return alphabet_; }
  /// The child by that byte; null if there is none.
  const Node* child(const Node& node, unsigned char byte) const;

 private:
  void build();
  std::vector<Node> leading_to_mixed(std::size_t kind) const;

  std::vector<std::string> bytes_;
  std::vector<Node> nodes_;
  std::array<std::vector<Node>, kinds> nodes_to_mixed_;
  std::vector<std::int32_t> ids_;
  std::size_t longest_ = 0;
  CharSet alphabet_;
  std::vector<PlainTokens> plain_;  // by kind
};

}  // namespace tril::search

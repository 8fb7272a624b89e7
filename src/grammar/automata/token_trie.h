// A vocabulary's tokens as a trie of their bytes: one walk finds all tokens that an automaton allows, and skips every
// subtree whose prefix is not allowed.
#pragma once

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

  const PlainTokens& plain() const { return plain_; }

  /// Bytes, as bits of a word: those that constraints tell apart more often have a bit to themselves.
  using ByteSet = std::uint64_t;
  static ByteSet byte_set(unsigned char byte);
  /// Among the bytes of a node: some token is not plain although neither a byte of ASCII nor its length says so.
  static constexpr ByteSet odd = ByteSet{1} << 63;

  /// The root is node 0. The children of a node are next to each other, in the order of their bytes.
  struct Node {
    ByteSet below = 0;  ///< bytes between the node and the tokens below it; `odd` if some token here or below is
    std::int32_t first_child = 0;
    std::int32_t first_token = 0, tokens = 0;  ///< the tokens in ids() that end here; several may have the same bytes
    std::uint16_t children = 0;
    std::uint8_t byte = 0;
    std::uint8_t most_plain_chars = 0;  ///< that a token here or below begins with, if it is not long
  };
  std::span<const Node> nodes() const { return nodes_; }
  const Node& node(std::int32_t n) const { return element(nodes_, n); }
  std::span<const Node> children(const Node& node) const {
    return nodes().subspan(as_size(node.first_child), node.children);
  }
  std::span<const std::int32_t> ids(const Node& node) const {
    return std::span(ids_).subspan(as_size(node.first_token), as_size(node.tokens));
  }
  const std::string& bytes(std::int32_t id) const { return element(bytes_, id); }
  std::int64_t size() const { return std::ssize(bytes_); }
  std::size_t longest() const { return longest_; }
  struct LongToken {
    std::int32_t id;
    std::size_t common;  ///< bytes that it begins with as the one before it does
  };
  /// The tokens of more bytes than plain ones have, in the order of their bytes.
  std::span<const LongToken> long_tokens() const { return long_tokens_; }

  /// The characters that the tokens can spell one by one, in any context.
  const CharSet& alphabet() const { return alphabet_; }
  /// The child by that byte; null if there is none.
  const Node* child(const Node& node, unsigned char byte) const;

 private:
  void build();
  bool is_odd(std::int32_t id) const;
  std::int64_t plain_beginning(std::int32_t id) const;

  CharSet alphabet_;
  std::vector<std::string> bytes_;
  PlainTokens plain_;
  std::vector<Node> nodes_;
  std::vector<std::int32_t> ids_;
  std::vector<LongToken> long_tokens_;
  std::size_t longest_ = 0;
};

}  // namespace tril::search

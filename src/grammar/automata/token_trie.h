// A vocabulary's tokens as a trie of their bytes: one walk finds all tokens that an automaton allows, and skips every
// subtree whose prefix is not allowed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/element.h"
#include "grammar/expressions/char_set.h"

namespace tril::search {

class TokenTrie {
 public:
  /// @param bytes  by id, the bytes that the token adds to a text; a token without bytes is never found
  explicit TokenTrie(std::span<const std::string> bytes);

  /// In depth-first order: a node's descendants follow it, up to node `end`.
  struct Node {
    std::int32_t end;
    std::int32_t first_token, tokens;  ///< the tokens in ids() that end here; several may have the same bytes
    std::uint16_t depth;               ///< 0 for the root's children
    std::uint8_t byte;
  };
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const std::int32_t> ids() const { return ids_; }
  const std::string& bytes(std::int32_t id) const { return element(bytes_, id); }
  std::int64_t size() const { return std::ssize(bytes_); }
  std::size_t longest() const { return longest_; }

  /// The characters that the tokens can spell one by one, in any context.
  const CharSet& alphabet() const { return alphabet_; }
  /// The fewest tokens that spell `text`, and the first of them; 0 if they cannot spell it.
  struct Cover {
    std::int64_t tokens = 0;
    std::int32_t first = -1;
  };
  Cover cover(std::string_view text) const;

 private:
  std::int32_t child(std::int32_t node, unsigned char byte) const;

  std::vector<std::string> bytes_;
  std::vector<Node> nodes_;
  std::vector<std::int32_t> ids_;
  std::size_t longest_ = 0;
  CharSet alphabet_;
};

}  // namespace tril::search

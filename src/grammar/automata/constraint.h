// Restricts generation to a grammar, over a vocabulary's tokens: which tokens may come next, so that the text can
// always be ended within the tokens that are left.
//
// The grammar is an automaton over bytes, whose states are made on demand and kept, as are the token masks, so that a
// text's later steps, and other texts of the same constraint, find them (token_followers.h). A string whose characters are
// counted is in another state after each. But far from the bounds of its length the same tokens may follow: masks belong
// to the states of a smaller grammar, which tells apart only what the next token can (near_grammar.h).
//
// Ending in time: from every state the shortest ending is known in bytes and, if that is too long, in the fewest tokens
// that spell it. A token is allowed only if the shortest ending after it, with the end token, fits into the tokens
// left. The first token of the shortest ending leaves an ending of one token less, so one token is always allowed. The
// first step refuses a length that no text can keep.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/automata/grammar.h"
#include "grammar/automata/token_trie.h"

namespace tril::search {

class Constraint {
 public:
  /// @param tokens  of the model's vocabulary; the grammar must use only characters of its alphabet()
  Constraint(Grammar grammar, std::shared_ptr<const TokenTrie> tokens);
  ~Constraint();
  Constraint(const Constraint&) = delete;
  Constraint& operator=(const Constraint&) = delete;

  /// What may follow a text.
  struct Allowed {
    bool possible = false;            ///< the text so far is a prefix of an allowed text
    bool complete = false;            ///< the text may end here
    std::vector<std::uint64_t> mask;  ///< a bit for each id; empty if nothing may follow
    std::int64_t count = 0;           ///< ids that may follow
  };
  /// @param tokens  generated so far
  /// @param left    tokens that may still be generated, without the end token
  /// Thread-safe.
  Allowed after(std::span<const std::int32_t> tokens, std::int64_t left) const;
  /// The next token of the shortest ending of a text; -1 if the text may end here, no ending fits, or the text is no prefix
  /// of an allowed one. It is not part of Allowed because few steps need it, and it takes the states of a whole ending.
  /// @param tokens  generated so far
  /// @param left    tokens that may still be generated, without the end token
  /// Thread-safe.
  std::int32_t shortest_after(std::span<const std::int32_t> tokens, std::int64_t left) const;

  /// Tokens of the shortest text, without the end token; a lower bound if that text is longer than 64 KiB.
  std::int64_t least_tokens() const;
  /// @param tokens  that may be generated, including the end token if `ends`
  /// @throws Error(usage) if no allowed text is that short
  void check_room(std::int64_t tokens, bool ends) const;
  /// Whether the constraint allows `text` as a whole.
  bool allows(std::string_view text) const;
  std::int64_t vocab_size() const { return tokens_->size(); }

  /// The most states and mask bytes to keep: beyond that all are forgotten, and built again on demand.
  void limit(std::size_t states, std::size_t mask_bytes);
  std::size_t states() const;

 private:
  class Automaton;
  std::int32_t state_after(std::span<const std::int32_t> tokens) const;

  std::shared_ptr<const TokenTrie> tokens_;
  std::unique_ptr<Automaton> automaton_;
  std::size_t most_states_ = 200'000, most_mask_bytes_ = std::size_t{64} << 20;
  mutable std::mutex mutex_;  // guards the automaton, which grows on use
};

}  // namespace tril::search

// What a text must be (a grammar), met with what it is made of (a vocabulary's tokens): which tokens may come next, so
// that whatever is chosen the text can be ended, and within as many tokens as are left.
//
// A state is all that the bytes so far may be in the grammar: a set of places, each with the stack of calls that it came
// through. States are made as they are met, with what follows each byte, and so are the masks of their tokens: both are
// kept, so that a text's later steps, and other texts of the same constraint, find them. The tokens that may follow a
// state are found by one walk of the trie, where a node whose byte nothing allows is left out with all below it.
//
// How a text is ended in time. From every state the shortest way to an end is known, in bytes, and where those are too
// many in tokens: the fewest that spell that way. A token is allowed only if the way behind it, and the end token, are
// not longer than what is left; since a way's first token leaves the way of one less, there is always one that is
// allowed. The first step refuses a length that no text keeps to.
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
  /// @param tokens  of the model's vocabulary; the grammar must keep to its alphabet()
  Constraint(Grammar grammar, std::shared_ptr<const TokenTrie> tokens);
  ~Constraint();
  Constraint(const Constraint&) = delete;
  Constraint& operator=(const Constraint&) = delete;

  /// What may follow a text.
  struct Allowed {
    bool possible = false;            ///< whether the text so far is the beginning of any
    bool complete = false;            ///< whether it may end here
    std::vector<std::uint64_t> mask;  ///< a bit for each id; none where nothing may follow
    std::int64_t count = 0;           ///< of ids that may follow
    std::int32_t shortest = -1;       ///< the next token of the shortest text; -1: it ends here
  };
  /// @param tokens  generated so far
  /// @param left    tokens that may still come, an end token not counted
  /// May be called by many threads at once.
  Allowed after(std::span<const std::int32_t> tokens, std::int64_t left) const;

  /// Tokens that the shortest text has, the end token not counted; where it is longer than 64 KiB, so many at least.
  std::int64_t least_tokens() const;
  /// @param tokens  that may come, the end token among them where `ends`
  /// @throws Error(usage) where no text that it allows has so few tokens
  void check_room(std::int64_t tokens, bool ends) const;
  /// Whether `text` is one that the constraint allows, as a whole.
  bool allows(std::string_view text) const;
  std::int64_t vocab_size() const { return tokens_->size(); }

  /// States and masks that are kept at most: beyond, all are forgotten, and made again as they are met.
  void limit(std::size_t states, std::size_t mask_bytes);
  std::size_t states() const;

 private:
  class Automaton;
  std::int32_t state_after(std::span<const std::int32_t> tokens) const;

  std::shared_ptr<const TokenTrie> tokens_;
  std::unique_ptr<Automaton> automaton_;
  std::size_t most_states_ = 200'000, most_mask_bytes_ = std::size_t{64} << 20;
  mutable std::mutex mutex_;  // of the automaton, which grows as it is asked
};

}  // namespace tril::search

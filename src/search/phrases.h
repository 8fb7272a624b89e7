// Phrases that a hypothesis must contain, for lexically constrained beam search by dynamic beam allocation
// [Post and Vilar 2018, "Fast lexically constrained decoding with dynamic beam allocation for neural machine
// translation"]. They track which phrases a hypothesis contains, how much of the next one, and which tokens extend it.
//
// A hypothesis contains a phrase if the phrase's tokens occur in a row and the token after them does not continue their
// last word. Until that token is known, the phrase counts. Occurrences may overlap, so a phrase that is part of other
// phrases is required once more for each of them. Partial matches are tracked with the automaton of Knuth, Morris and
// Pratt.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/plan.h"

namespace tril::search {

class Phrases {
 public:
  Phrases() = default;
  /// The phrases of the request. Phrases that are forbidden, or too long for max_length, are left out from the start.
  Phrases(const Request& request, const SearchPlan& options);

  bool none() const { return list_.empty(); }
  /// The number of values in the state of one hypothesis.
  std::size_t state_size() const { return 2 * list_.size(); }
  /// Sets `to` to the state after one more token. The state of a hypothesis without tokens is all 0.
  void advance(std::span<const std::int32_t> from, std::int32_t token, std::span<std::int32_t> to) const;

  /// The number of phrase tokens that the hypothesis contains, including those of the phrase that has begun.
  std::int32_t progress(std::span<const std::int32_t> state) const;
  /// The number of missing occurrences, including the phrases that were left out.
  std::int32_t missing(std::span<const std::int32_t> state) const;
  /// The number of phrases that were left out.
  std::int32_t left_out() const { return static_cast<std::int32_t>(left_out_.size()); }
  /// The phrases that are missing, as indices into Request::phrases, ascending.
  std::vector<std::int32_t> unsatisfied(std::span<const std::int32_t> state) const;
  /// Appends the tokens that make progress: the next token of each missing phrase, or the EOS ids if none is missing.
  void next_tokens(std::span<const std::int32_t> state, std::vector<std::int32_t>& ids) const;

 private:
  // In a state, value 2 i is the length of the current match of phrase i, value 2 i + 1 the number of its earlier
  // occurrences.
  struct Phrase {
    std::vector<std::int32_t> tokens;
    std::vector<std::int32_t> border;   // [n + 1] the longest proper suffix of the first i tokens that is also a prefix
    std::vector<std::int32_t> members;  // indices of the equal phrases in the request
    std::int32_t wanted = 0;            // required occurrences: its own, and those inside other phrases
  };
  bool continues_word(std::int32_t token) const;
  std::int32_t occurrences(const Phrase& p, std::span<const std::int32_t> tokens) const;
  std::int32_t count(std::size_t i, std::span<const std::int32_t> state) const;

  const SearchPlan* options_ = nullptr;
  std::vector<Phrase> list_;
  std::vector<std::int32_t> left_out_;  // indices into Request::phrases
};

}  // namespace tril::search

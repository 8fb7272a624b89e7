// Phrases that a hypothesis must contain, for lexically constrained beam search by dynamic beam allocation
// [Post and Vilar 2018, "Fast lexically constrained decoding with dynamic beam allocation for neural machine
// translation"]: which of them a hypothesis holds, how far it has come with the next, and which tokens bring it on.
//
// A phrase is there where its tokens follow each other and the token after them does not go on with the last
// word; until that token is known it counts as there. Places may overlap, so a phrase that others contain is wanted once
// more for each of those. How far a phrase has come follows by Knuth, Morris and Pratt's automaton.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/plan.h"

namespace tril::search {

class Phrases {
 public:
  Phrases() = default;
  /// Those of the request that can be there: phrases that no hypothesis may contain, or for which max_length leaves no
  /// room, are left out from the start.
  Phrases(const Request& request, const SearchPlan& options);

  bool none() const { return list_.empty(); }
  /// Numbers that the state of one hypothesis takes.
  std::size_t state_size() const { return 2 * list_.size(); }
  /// The state after one more token; that of a hypothesis without tokens is all 0.
  void advance(std::span<const std::int32_t> from, std::int32_t token, std::span<std::int32_t> to) const;

  /// Tokens of phrases that are there, those of one that has begun included: at least 0.
  std::int32_t progress(std::span<const std::int32_t> state) const;
  /// Places that are wanting, phrases left out from the start included.
  std::int32_t missing(std::span<const std::int32_t> state) const;
  /// Those that were left out.
  std::int32_t hopeless() const { return static_cast<std::int32_t>(left_out_.size()); }
  /// Indices into Request::phrases, ascending.
  std::vector<std::int32_t> unsatisfied(std::span<const std::int32_t> state) const;
  /// Appends the tokens that bring the hypothesis on: the next ones of phrases, or where all are there the end.
  void next_tokens(std::span<const std::int32_t> state, std::vector<std::int32_t>& ids) const;

 private:
  // Of a state, number 2 i is how many tokens of phrase i have come, number 2 i + 1 how often it was there before.
  struct Phrase {
    std::vector<std::int32_t> tokens;
    std::vector<std::int32_t> border;   // [n + 1] of the first i tokens: the longest end that is a beginning too
    std::vector<std::int32_t> members;  // equal phrases of the request
    std::int32_t wanted = 0;            // places: its own, and those within other phrases
  };
  bool continues_word(std::int32_t token) const;
  std::int32_t places(const Phrase& p, std::span<const std::int32_t> tokens) const;
  std::int32_t count(std::size_t i, std::span<const std::int32_t> state) const;

  const SearchPlan* options_ = nullptr;
  std::vector<Phrase> list_;
  std::vector<std::int32_t> left_out_;  // of the request's phrases
};

}  // namespace tril::search

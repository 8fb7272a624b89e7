// Speculative decoding [Leviathan et al. 2023; Chen et al. 2023], greedy: something cheap proposes the next tokens of
// each row, the model reads them all in one step and says after each what it would have taken itself; the proposals up
// to the first that it would not have taken are accepted, and that token of its own comes behind them. The result is
// plain greedy search's token for token (up to rounding: a step of several tokens sums in another order), in fewer steps.
// Proposals come from a small draft model, or from the text itself: what followed the last tokens where they came before,
// in the source or in what was generated (prompt lookup [Saxena 2023]).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "search/session.h"

namespace tril::search {

/// What a proposer is told of the rows of the next step.
struct Drafts {
  std::span<const std::span<const std::int32_t>> tokens;  ///< [rows] the start token, the prefix, what was generated
  std::span<const std::int32_t> sentences;                ///< [rows] whose they are; new ones come last
  std::span<const std::int32_t> most;                     ///< [rows] tokens that may be proposed
  std::span<const std::int32_t> ends = {};  ///< tokens that are no use: nothing could be accepted behind them
};

class Proposer {
 public:
  virtual ~Proposer() = default;
  /// What may follow each row: proposals[r] is set to at most most[r] tokens.
  virtual void propose(Context& c, const Drafts& rows, std::vector<std::vector<std::int32_t>>& proposals) = 0;
};

/// A small model of the same vocabulary goes on greedily.
class DraftModel : public Proposer {
 public:
  /// @param sources  as its own encoder reads them; null for a model without an encoder
  /// @param cache  its own, without rows yet; null: it computes everything again
  /// @param min_prob  it proposes nothing behind a token that it finds less probable than this
  DraftModel(const model::Model& model, const Sources* sources, nn::KvCache* cache, const CacheOptions& options,
             float min_prob);
  void propose(Context& c, const Drafts& rows, std::vector<std::vector<std::int32_t>>& proposals) override;

 private:
  /// The likeliest next token of each row, and how probable it is.
  struct Next {
    std::vector<std::int32_t> tokens;
    std::vector<float> probabilities;
  };
  Next take(Context& c, const StepInput& input);

  const model::Model* model_;
  ModelStep step_;
  float min_prob_;
  std::vector<std::vector<std::int32_t>> read_;  // what each row of the cache has read
  std::vector<std::int32_t> sentences_;          // whose it is
};

/// What followed the longest of the last 1 to `ngram` tokens where they last came before, in the row's own text or
/// else in its source.
class Lookup : public Proposer {
 public:
  /// @param sources  by sentence, in the target's vocabulary; may be empty
  Lookup(std::span<const std::vector<std::int32_t>> sources, std::int32_t ngram) : sources_(sources), ngram_(ngram) {}
  void propose(Context& c, const Drafts& rows, std::vector<std::vector<std::int32_t>>& proposals) override;

 private:
  std::span<const std::vector<std::int32_t>> sources_;
  std::int32_t ngram_;
};

/// decode() of decode.h for greedy search, with proposals of `draft_tokens` at most.
std::vector<std::vector<Hypothesis>> decode_speculatively(Context& c, Step& step, Proposer& proposer,
                                                          std::int32_t draft_tokens, std::span<const Request> requests,
                                                          const SearchOptions& options, std::int64_t max_live,
                                                          const Watch& watch, Speculation& counts);

}  // namespace tril::search

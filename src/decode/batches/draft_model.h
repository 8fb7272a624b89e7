// A draft model: a small model proposes its own greedy continuation.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "decode/batches/proposer.h"
#include "search/candidates.h"
#include "search/step.h"

namespace tril::search {

/// Proposes the greedy continuation of a small model with the same vocabulary, by the rules of the search: a token that the search
/// forbids is not proposed, since it could not be accepted.
class DraftModel : public Proposer {
 public:
  /// @param options    of the search, which is greedy
  /// @param step       a new step of the draft model
  /// @param positions  the number of the model's positions; 0: unlimited
  /// @param min_prob   no token is proposed after one that the draft finds less probable than this
  DraftModel(const SearchPlan& options, std::unique_ptr<Step> step, std::int64_t positions, float min_prob);
  void propose(Context& c, const Drafts& rows, std::vector<std::vector<std::int32_t>>& proposals) override;
  bool has_model() const override { return true; }

 private:
  /// The likeliest allowed token after each row, with its log-probability if min_prob needs it; -1 where none is allowed.
  std::vector<Candidate> next(Context& c, const StepInput& input, std::span<const Request* const> requests);

  std::unique_ptr<Step> step_;
  std::int64_t positions_;
  double least_log_prob_;  // of a token after which another is proposed
  CandidateFinder finder_;
  std::vector<std::vector<std::int32_t>> read_;  // the tokens of each row of the cache
  std::vector<std::int32_t> sentences_;          // the sentence of each row
};

}  // namespace tril::search

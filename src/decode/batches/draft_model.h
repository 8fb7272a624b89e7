// A draft model: a small model proposes its own greedy continuation.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "decode/batches/proposer.h"
#include "search/step.h"

namespace tril::search {

/// Proposes the greedy continuation of a small model with the same vocabulary.
class DraftModel : public Proposer {
 public:
  /// @param step       a new step of the draft model
  /// @param positions  the number of the model's positions; 0: unlimited
  /// @param min_prob   no token is proposed after one that the draft finds less probable than this
  DraftModel(std::unique_ptr<Step> step, std::int64_t positions, float min_prob);
  void propose(Context& c, const Drafts& rows, std::vector<std::vector<std::int32_t>>& proposals) override;

 private:
  /// The likeliest next token of each row, and its probability.
  struct Next {
    std::vector<std::int32_t> tokens;
    std::vector<float> probabilities;
  };
  Next take(Context& c, const StepInput& input);

  std::unique_ptr<Step> step_;
  std::int64_t positions_;
  float min_prob_;
  std::vector<std::vector<std::int32_t>> read_;  // the tokens of each row of the cache
  std::vector<std::int32_t> sentences_;          // the sentence of each row
};

}  // namespace tril::search

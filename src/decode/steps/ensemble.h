// An ensemble: several models with one vocabulary read the same tokens, and the next token's distribution is the mean of
// theirs. With weights w_i that sum to 1:
//   log p = sum of w_i log p_i, renormalised    (Mean::log_probabilities: favours tokens that all models find probable)
//   p     = sum of w_i p_i                      (Mean::probabilities: favours tokens that any model finds probable)
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/spec/model.h"
#include "search/step.h"

namespace tril::search {

struct EnsembleOptions {
  enum class Mean : std::uint8_t { log_probabilities, probabilities };
  std::vector<const model::Model*> others;  ///< in addition to the session's own model
  std::vector<double> weights;              ///< of the session's own model, then of the others; empty: equal weights
  Mean mean = Mean::log_probabilities;
};

/// The weights divided by their sum; equal weights if `weights` is empty.
std::vector<double> settled_weights(std::span<const double> weights, std::size_t models);

/// The ensemble's log-probabilities [N, V] from the models' logits [N, V], which are overwritten.
Tensor mean_log_probs(Context& c, std::span<Tensor> logits, std::span<const double> weights,
                      EnsembleOptions::Mean mean);

class EnsembleStep : public Step {
 public:
  /// @param steps  one for each model, in the order of the weights
  EnsembleStep(std::vector<std::unique_ptr<Step>> steps, const EnsembleOptions& options);
  std::int64_t vocab_size() const override { return steps_[0]->vocab_size(); }
  /// The ensemble's log-probabilities as logits, and the attention of the first model.
  StepOutput step(Context& c, const StepInput& input) override;

 private:
  std::vector<std::unique_ptr<Step>> steps_;
  std::vector<double> weights_;
  EnsembleOptions::Mean mean_;
};

}  // namespace tril::search

// Several models of one vocabulary that decide together: at each step every one of them reads the rows' new tokens, and
// what comes next is, with weights w_i that sum to 1,
//   log p = sum of w_i log p_i, made to sum to 1 again    (Mean::log_probabilities: what all find probable)
//   p     = sum of w_i p_i                                (Mean::probabilities: what any finds probable)
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/spec/model.h"
#include "search/step.h"

namespace tril::search {

/// Models of one vocabulary that decide together: p of the next token is the weighted mean of theirs, or of their
/// logarithms, which is then made to sum to 1 again.
struct EnsembleOptions {
  enum class Mean : std::uint8_t { log_probabilities, probabilities };
  std::vector<const model::Model*> others;  ///< besides the session's own
  std::vector<double> weights;              ///< of the session's own, then of the others; empty: equal ones
  Mean mean = Mean::log_probabilities;
};

/// `weights`, or equal ones where there are none, divided by their sum.
std::vector<double> settled_weights(std::span<const double> weights, std::size_t models);

/// The ensemble's log-probabilities [N, V] of the models' logits [N, V], which are overwritten.
Tensor mean_log_probs(Context& c, std::span<Tensor> logits, std::span<const double> weights,
                      EnsembleOptions::Mean mean);

class EnsembleStep : public Step {
 public:
  /// @param steps  one for each model, the first one's first
  EnsembleStep(std::vector<std::unique_ptr<Step>> steps, const EnsembleOptions& options);
  std::int64_t vocab_size() const override { return steps_[0]->vocab_size(); }
  /// Logits of all together, and the first model's attention.
  StepOutput step(Context& c, const StepInput& input) override;

 private:
  std::vector<std::unique_ptr<Step>> steps_;
  std::vector<double> weights_;
  EnsembleOptions::Mean mean_;
};

}  // namespace tril::search

// A draft model: a small model proposes what it would say itself.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "decode/batches/proposer.h"
#include "search/step.h"

namespace tril::search {

/// A small model of the same vocabulary goes on greedily.
class DraftModel : public Proposer {
 public:
  /// @param step       the model's, which has read nothing yet
  /// @param positions  that the model has; 0: any number
  /// @param min_prob   it proposes nothing after a token that it finds less probable than this
  DraftModel(std::unique_ptr<Step> step, std::int64_t positions, float min_prob);
  void propose(Context& c, const Drafts& rows, std::vector<std::vector<std::int32_t>>& proposals) override;

 private:
  /// The likeliest next token of each row, and how probable it is.
  struct Next {
    std::vector<std::int32_t> tokens;
    std::vector<float> probabilities;
  };
  Next take(Context& c, const StepInput& input);

  std::unique_ptr<Step> step_;
  std::int64_t positions_;
  float min_prob_;
  std::vector<std::vector<std::int32_t>> read_;  // what each row of the cache has read
  std::vector<std::int32_t> sentences_;          // whose it is
};

}  // namespace tril::search

// A draft model: a small model proposes what it would say itself.
#pragma once

#include <cstdint>
#include <vector>

#include "decode/batches/proposer.h"
#include "decode/steps/model_step.h"

namespace tril::search {

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

}  // namespace tril::search

// The innermost step: runs the model over the new tokens of all rows, with a cache of the keys and values of earlier tokens. Decorators
// around it do everything else (make_step.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/steps/cache_options.h"
#include "decode/steps/sentence_adapters.h"
#include "decode/steps/sources.h"
#include "model/spec/model.h"
#include "search/step.h"

namespace tril::search {

/// The rows of the cache are those of the last step. A row that no later step continues is removed from the cache, and its slots are
/// freed.
class ModelStep : public Step {
 public:
  /// @param sources   the sources of all sentences; null for a model without an encoder
  /// @param cache     the cache of this model; null: every row of a step is a new one (recompute_step.h)
  /// @param adapters  the adapters of the sentences; null: they use none
  ModelStep(const model::Model& model, const Sources* sources, nn::KvCache* cache, CacheOptions options = {},
            const SentenceAdapters* adapters = nullptr);

  std::int64_t vocab_size() const override { return model_->vocab_size(); }
  StepOutput step(Context& c, const StepInput& input) override;

 private:
  void follow(const StepInput& input);
  Tensor answered_states(Context& c, const StepInput& input);
  std::vector<std::int32_t> adapters_of_answers(const StepInput& input) const;
  Tensor forward(Context& c, const StepInput& input);
  std::int32_t length(std::int64_t row) const { return cache_ ? cache_->length(row) : 0; }

  const model::Model* model_;
  const Sources* sources_;
  nn::KvCache* cache_;
  CacheOptions options_;
  const SentenceAdapters* adapters_;
  std::vector<std::int32_t> prompt_lengths_;  ///< [rows] of this step
  std::vector<std::int32_t> memory_rows_;     ///< [rows] each row's row of Sources::memory()
};

}  // namespace tril::search

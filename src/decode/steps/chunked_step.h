// Chunked prefill: reads long prompts in chunks, so that working memory does not grow with the prompt.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "decode/steps/step_decorator.h"
#include "nn/kv_cache.h"

namespace tril::search {

/// Passes a step of more than `chunk` tokens to the inner step in several chunks. Tokens that need an answer are in the last one.
class ChunkedStep : public StepDecorator {
 public:
  /// @param cache  the KV cache of the inner step
  ChunkedStep(std::unique_ptr<Step> inner, nn::KvCache& cache, std::int32_t chunk)
      : StepDecorator(std::move(inner)), cache_(&cache), chunk_(chunk) {}
  StepOutput step(Context& c, const StepInput& input) override;

 private:
  std::vector<std::int32_t> prompt_lengths_of(const StepInput& input) const;

  nn::KvCache* cache_;
  std::int32_t chunk_;
};

}  // namespace tril::search

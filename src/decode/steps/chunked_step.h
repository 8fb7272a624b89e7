// Long prompts are read some tokens at a time, so that the memory beside the cache does not grow with them (chunked prefill).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "decode/steps/step_decorator.h"
#include "nn/kv_cache.h"

namespace tril::search {

/// Of a step of more than `chunk` tokens the inner step gets one chunk after the other, and the tokens that are to be answered in
/// the last one.
class ChunkedStep : public StepDecorator {
 public:
  /// @param cache  of the inner step
  ChunkedStep(std::unique_ptr<Step> inner, nn::KvCache& cache, std::int32_t chunk)
      : StepDecorator(std::move(inner)), cache_(&cache), chunk_(chunk) {}
  StepOutput step(Context& c, const StepInput& input) override;

 private:
  std::vector<std::int32_t> prompt_lengths_of(const StepInput& input) const;

  nn::KvCache* cache_;
  std::int32_t chunk_;
};

}  // namespace tril::search

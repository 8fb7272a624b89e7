// Decoding without a KV cache: every step reads each row again from its first token. The logits are the same, but it is slow. For
// checks, and for families without a cache.
#pragma once

#include <cstdint>
#include <vector>

#include "decode/steps/row_texts.h"
#include "decode/steps/step_decorator.h"

namespace tril::search {

/// The inner step sees only new rows.
class RecomputeStep : public StepDecorator {
 public:
  using StepDecorator::StepDecorator;
  StepOutput step(Context& c, const StepInput& input) override;

 private:
  RowTexts texts_;
  std::vector<std::int32_t> ids_, counts_, parents_;
};

}  // namespace tril::search

// A model without a cache: every step reads each row again from its first token. This gives the same logits, slowly. It is for
// checks, and for families that have no cache.
#pragma once

#include <cstdint>
#include <vector>

#include "decode/steps/row_texts.h"
#include "decode/steps/step_decorator.h"

namespace tril::search {

/// The inner step sees rows that begin, and no others.
class RecomputeStep : public StepDecorator {
 public:
  using StepDecorator::StepDecorator;
  StepOutput step(Context& c, const StepInput& input) override;

 private:
  RowTexts texts_;
  std::vector<std::int32_t> ids_, counts_, parents_;
};

}  // namespace tril::search

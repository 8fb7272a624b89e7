// longrope uses one set of rotary angles for texts up to a length and another set for longer texts [Ding et al. 2024]. Cached keys
// have the angles that were in use when they were computed, so a row that grows beyond that length is read again from its first
// token.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "decode/steps/row_texts.h"
#include "decode/steps/step_decorator.h"

namespace tril::search {

class RereadStep : public StepDecorator {
 public:
  /// @param beyond  rows with more tokens than this use the other angles (nn::LengthDependence)
  RereadStep(std::unique_ptr<Step> inner, std::int64_t beyond) : StepDecorator(std::move(inner)), beyond_(beyond) {}
  StepOutput step(Context& c, const StepInput& input) override;
  std::int32_t reuse_prefix(std::int32_t sentence, std::span<const std::int32_t> prompt) override;

 private:
  bool has_grown_beyond(const StepInput& input, std::size_t row) const;

  std::int64_t beyond_;
  RowTexts texts_;
  std::vector<std::int32_t> ids_, counts_, cuts_, prompt_lengths_;  ///< of a step that reads rows again
};

}  // namespace tril::search

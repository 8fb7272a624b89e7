// A cache that holds a text: the first row that begins goes on from it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decode/steps/step_decorator.h"

namespace tril::search {

/// The cache of the inner step has one row, which has read the beginning of the prompt that comes next.
class ResumedStep : public StepDecorator {
 public:
  /// @param tokens  of that row, at least one and fewer than the prompt has
  ResumedStep(std::unique_ptr<Step> inner, std::int32_t tokens) : StepDecorator(std::move(inner)), tokens_(tokens) {}
  StepOutput step(Context& c, const StepInput& input) override;
  std::int32_t reuse_prefix(std::int32_t sentence, std::span<const std::int32_t> prompt) override;

 private:
  std::int32_t tokens_;
  bool waits_ = true;  ///< for the row that goes on
};

}  // namespace tril::search

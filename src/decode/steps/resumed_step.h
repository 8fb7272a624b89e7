// The first new row continues a text that is already in the KV cache.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decode/steps/step_decorator.h"

namespace tril::search {

/// The cache of the inner step has one row: the beginning of the next prompt.
class ResumedStep : public StepDecorator {
 public:
  /// @param tokens  the length of that row: at least 1 and less than the prompt's
  ResumedStep(std::unique_ptr<Step> inner, std::int32_t tokens) : StepDecorator(std::move(inner)), tokens_(tokens) {}
  StepOutput step(Context& c, const StepInput& input) override;
  std::int32_t reuse_prefix(std::int32_t sentence, std::span<const std::int32_t> prompt) override;

 private:
  std::int32_t tokens_;
  bool waits_ = true;  ///< until the row is continued
};

}  // namespace tril::search

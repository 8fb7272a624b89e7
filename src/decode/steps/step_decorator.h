// A step around another step. Each decorator changes one thing in the input or the output and passes on the rest (make_step.h builds
// the chain).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "search/step.h"

namespace tril::search {

class StepDecorator : public Step {
 public:
  explicit StepDecorator(std::unique_ptr<Step> inner) : inner_(std::move(inner)) {}
  std::int64_t vocab_size() const override { return inner_->vocab_size(); }
  StepOutput step(Context& c, const StepInput& input) override { return inner_->step(c, input); }
  std::int32_t reuse_prefix(std::int32_t sentence, std::span<const std::int32_t> prompt) override {
    return inner_->reuse_prefix(sentence, prompt);
  }
  void keep_prefix(std::int32_t row, std::span<const std::int32_t> text) override { inner_->keep_prefix(row, text); }

 private:
  std::unique_ptr<Step> inner_;
};

}  // namespace tril::search

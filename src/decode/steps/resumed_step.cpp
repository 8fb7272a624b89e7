#include "decode/steps/resumed_step.h"

#include "base/error.h"

namespace tril::search {

std::int32_t ResumedStep::reuse_prefix(std::int32_t sentence, std::span<const std::int32_t> prompt) {
  if (!waits_) return StepDecorator::reuse_prefix(sentence, prompt);
  check(tokens_ >= 1 && tokens_ < std::ssize(prompt), "ResumedStep", "{} tokens of a prompt of {} are cached", tokens_,
        prompt.size());
  return tokens_;
}

StepOutput ResumedStep::step(Context& c, const StepInput& input) {
  if (!waits_) return StepDecorator::step(c, input);
  check(input.parents.size() == 1 && input.parents[0] == -1, "ResumedStep", "{} rows, expected one new row",
        input.parents.size());
  waits_ = false;
  const std::int32_t there = 0;
  StepInput resumed = input;
  resumed.parents = {&there, 1};
  return StepDecorator::step(c, resumed);
}

}  // namespace tril::search

// A step that notes what it is asked, for tests of steps around others.
#pragma once

#include <vector>

#include "search/step.h"

namespace tril::testing {

using search::StepInput;
using search::StepOutput;

struct RecordedInput {
  std::vector<std::int32_t> ids, counts, parents, sentences, cuts, answers, prompt_lengths;
  search::Wanted wanted;
  bool attention;
};

/// Answers with `output`, whatever it is asked. `inputs` must outlive it.
class RecordedStep : public search::Step {
 public:
  explicit RecordedStep(std::vector<RecordedInput>& inputs, StepOutput output = {})
      : inputs_(&inputs), output_(std::move(output)) {}
  std::int64_t vocab_size() const override { return 10; }
  StepOutput step(Context&, const StepInput& i) override {
    const auto list = [](std::span<const std::int32_t> ids) {
      return std::vector<std::int32_t>(ids.begin(), ids.end());
    };
    inputs_->push_back({list(i.ids), list(i.counts), list(i.parents), list(i.sentences), list(i.cuts), list(i.answers),
                        list(i.prompt_lengths), i.wanted, i.attention});
    return output_;
  }

 private:
  std::vector<RecordedInput>* inputs_;
  StepOutput output_;
};

}  // namespace tril::testing

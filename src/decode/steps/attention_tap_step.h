// The cross-attention of each row's last token, in the steps that ask for it (StepInput::attention).
#pragma once

#include <memory>
#include <optional>

#include "decode/steps/sources.h"
#include "decode/steps/step_decorator.h"
#include "nn/attention.h"

namespace tril::search {

class AttentionTapStep : public StepDecorator {
 public:
  /// @param inner    the step of this model itself
  /// @param sources  of the sentences of its steps
  /// @param heads    whose mean is taken. A first step that asks throws Error(usage) where the model lacks them
  AttentionTapStep(std::unique_ptr<Step> inner, const model::Model& model, const Sources& sources,
                   nn::AttentionHeads heads);
  StepOutput step(Context& c, const StepInput& input) override;

 private:
  StepAttention take(const StepInput& input);

  const model::Model* model_;
  const Sources* sources_;
  nn::AttentionHeads heads_;
  std::optional<nn::AttentionTap> tap_;  ///< made when it is first needed
  std::uint64_t version_ = 0;            ///< of the sources whose keys it holds
};

}  // namespace tril::search

// Returns the cross-attention weights of each row's last token, in steps with StepInput::attention.
#pragma once

#include <memory>
#include <optional>

#include "decode/steps/sources.h"
#include "decode/steps/step_decorator.h"
#include "nn/attention.h"

namespace tril::search {

class AttentionTapStep : public StepDecorator {
 public:
  /// @param inner    the ModelStep of this model
  /// @param sources  the sources of all its sentences
  /// @param heads    the heads that are averaged. If the model lacks them, the first step with attention throws
  ///                 Error(usage)
  AttentionTapStep(std::unique_ptr<Step> inner, const model::Model& model, const Sources& sources,
                   nn::AttentionHeads heads);
  StepOutput step(Context& c, const StepInput& input) override;

 private:
  StepAttention take(const StepInput& input);

  const model::Model* model_;
  const Sources* sources_;
  nn::AttentionHeads heads_;
  std::optional<nn::AttentionTap> tap_;  ///< created when first needed
  std::uint64_t version_ = 0;            ///< Sources::version() of the keys that it holds
};

}  // namespace tril::search

// Adam and AdamW: the optimizers adam and adamw, and the part of Muon that is AdamW.
//
//   m = b1 m + (1 - b1) g    v = b2 v + (1 - b2) g^2                                     [Kingma & Ba 2015, alg. 1]
//   w = w - lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)
// Adam adds weight_decay * w to g; AdamW instead subtracts lr weight_decay w from w [Loshchilov & Hutter 2019, alg. 2].
// A checkpoint keeps m ("moment1") and v ("moment2"), or for large matrices their 8-bit codes (adam_8bit.cpp).
#pragma once

#include "train/optim/update_rule.h"

namespace tril::train {

/// What the kernels need for a step.
/// @param decoupled_decay  AdamW's decay instead of Adam's
kern::Adam adam_step(const OptimizerOptions& options, const UpdateStep& u, bool decoupled_decay);

/// The moments in 32 bits.
class AdamState {
 public:
  /// @param places  where the state of each weight begins
  AdamState(StatePlaces places, const OptimizerOptions& options, bool decoupled_decay);

  /// @param offset  of the stretch's first value within its weight
  void step(const UpdateStep& u, const Stretch& s, std::size_t offset, float* w, const float* g);
  void append_state(std::vector<NamedTensor>& list) const;
  std::vector<StateSlice> state_of(const Stretch& s, std::size_t offset) const;

 private:
  StatePlaces places_;
  OptimizerOptions options_;
  bool decoupled_decay_;
  Tensor m_, v_;
};

}  // namespace tril::train

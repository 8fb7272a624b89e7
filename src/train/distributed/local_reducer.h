// One rank: each value of the gradient is the sum over the parts, in order.
#pragma once

#include "train/distributed/whole_weights.h"

namespace tril::train {

class LocalReducer : public WholeWeightsReducer {
 public:
  LocalReducer(nn::Parameters& parameters, Optimizer& optimizer, Passes& passes, const kern::Kernels& kernels)
      : WholeWeightsReducer(parameters, optimizer, passes, kernels) {
    if (passes.parts() > 1) optimizer.measure_parts(passes.parts());
  }

  void compute(const Update& update) override { passes_.compute(update.own); }
  void gather(const Optimizer::Share& share) override { optimizer_.gather(kernels_, share, passes_.gradients()); }
  std::vector<PartGradient> part_gradients(const Update& update) const override;
};

}  // namespace tril::train

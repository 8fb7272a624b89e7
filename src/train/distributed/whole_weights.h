// A reducer for ranks that each have all weights.
#pragma once

#include "train/distributed/gradient_reducer.h"

namespace tril::train {

class WholeWeightsReducer : public GradientReducer {
 public:
  WholeWeightsReducer(nn::Parameters& parameters, Optimizer& optimizer, Passes& passes, const kern::Kernels& kernels)
      : parameters_(parameters), optimizer_(optimizer), passes_(passes), kernels_(kernels) {}

  /// The first part's gradient: its memory holds the sum.
  const Tensor& sum() const override { return passes_.gradients()[0]; }

  void refresh(int member) override;
  void refresh_all() override { parameters_.refresh(kernels_); }
  void run_forward(std::size_t passes, const std::function<void(int member, std::size_t pass)>& work,
                   const std::function<bool()>& stop) override;

 protected:
  nn::Parameters& parameters_;
  Optimizer& optimizer_;
  Passes& passes_;
  const kern::Kernels& kernels_;

 private:
  Work packing_work() const;
};

}  // namespace tril::train

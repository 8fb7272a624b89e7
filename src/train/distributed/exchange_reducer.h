// Reducers that exchange gradients between ranks by an Exchange.
#pragma once

#include "train/distributed/exchange.h"
#include "train/distributed/whole_weights.h"

namespace tril::train {

class ExchangeReducer : public WholeWeightsReducer {
 public:
  ExchangeReducer(nn::Parameters& parameters, Optimizer& optimizer, Passes& passes, const WorkersOptions& options)
      : WholeWeightsReducer(parameters, optimizer, passes, *options.kernels),
        exchange_(options.ranks, optimizer.division(), kernels_, options.wire) {}

  void receive() override { exchange_.wait(); }
  void gather(const Optimizer::Share& share) override {
    optimizer_.gather(kernels_, share, sum(),
                      [&](std::size_t begin, std::size_t count, float* to) { exchange_.add_up(begin, count, to); });
  }
  std::vector<PartGradient> part_gradients(const Update&) const override { return part_gradients_; }
  void share_weights() override {
    const nn::Parameters::Window window = parameters_.trained_window();
    exchange_.share(parameters_.flat().rows(window.begin, window.begin + window.count));
  }
  void share(Tensor values) override { exchange_.share(values); }

 protected:
  /// Keeps the norm of `gradient`, the gradient of `batches`, for part_gradients().
  void note(const Tensor& gradient, const BatchParts& batches) {
    part_gradients_.push_back(
        {optimizer_.squared_norm(kernels_, gradient), static_cast<double>(batches.target_tokens())});
  }

  Exchange exchange_;
  std::vector<PartGradient> part_gradients_;  // of this update
};

}  // namespace tril::train

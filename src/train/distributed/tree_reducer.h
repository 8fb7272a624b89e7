// Bit-identical results for any number of ranks: the batches' gradients are summed as a binary tree over their numbers
// (sum_order.h). Each rank sums the branches that it owns and sends these.
#pragma once

#include "dist/ranks.h"
#include "train/distributed/exchange_reducer.h"
#include "train/distributed/local_reducer.h"

namespace tril::train {

class TreeReducer : public ExchangeReducer {
 public:
  TreeReducer(nn::Parameters& parameters, Optimizer& optimizer, Passes& passes, const WorkersOptions& options);

  /// A single batch on one rank is the sum of its parts, which needs no further memory.
  GradientReducer& for_update(std::size_t batches) override;
  void compute(const Update& update) override;

 private:
  Tensor sum_of(Branch branch, const BatchParts& own);
  Tensor gradient_of(const BatchParts& batch);
  void add(const Tensor& more, Tensor sum);
  template <class F>
  void in_shares(const F& work);

  std::shared_ptr<dist::Ranks> ranks_;
  std::unique_ptr<LocalReducer> local_;  // with one rank
  std::vector<Tensor> spare_;            // unused gradients
  std::vector<Tensor> sums_;             // those that this rank sends
};

}  // namespace tril::train

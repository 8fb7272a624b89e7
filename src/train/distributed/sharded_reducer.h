// Several ranks, none of which has all weights and gradients (sharding.h). All ranks make the same number of passes: a
// rank with fewer of its own takes part without computing.
#pragma once

#include "dist/ranks.h"
#include "train/distributed/gradient_reducer.h"
#include "train/distributed/sharding.h"

namespace tril::train {

class ShardedReducer : public GradientReducer {
 public:
  ShardedReducer(model::Model& model, Optimizer& optimizer, Passes& passes, const WorkersOptions& options);

  void compute(const Update& update) override;
  void gather(const Optimizer::Share& share) override;
  const Tensor& sum() const override { return sharding_.sum(); }
  std::vector<PartGradient> part_gradients(const Update&) const override { return {}; }
  void refresh(int member) override { sharding_.refresh(member); }

  void refresh_all() override;
  void with_whole_weights(const std::function<void()>& work) override { sharding_.with_whole_weights(work); }
  /// Never polls `stop`: all ranks complete all passes.
  void run_forward(std::size_t passes, const std::function<void(int member, std::size_t pass)>& work,
                   const std::function<bool()>& stop) override;

  double take_waited() override { return sharding_.take_waited(); }

 private:
  std::vector<std::size_t> passes_by_rank(std::size_t own) const;

  Optimizer& optimizer_;
  Passes& passes_;
  const kern::Kernels& kernels_;
  std::shared_ptr<dist::Ranks> ranks_;
  Sharding sharding_;
};

}  // namespace tril::train

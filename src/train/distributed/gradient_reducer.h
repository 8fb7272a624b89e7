// How the gradients of an update meet: of the parts of a batch, of its batches, and of the ranks; and how the stepped
// weights come back to everybody. Workers computes and steps, and knows none of the ways:
//
//   LocalReducer    one rank: each value is the sum over the parts, in their order
//   RankReducer     several ranks: each adds up its parts, and sends while the rest of the backward walk runs
//   TreeReducer     one rank or several, with the same bits: a binary tree over the batches
//   ShardedReducer  several ranks, none of which has all weights
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "model/spec/model.h"
#include "train/distributed/passes.h"
#include "train/optim/gradient_noise.h"
#include "train/optim/optimizer.h"

namespace tril::train {

class GradientReducer {
 public:
  virtual ~GradientReducer() = default;

  /// Who reduces an update of so many batches.
  virtual GradientReducer& for_update([[maybe_unused]] std::size_t batches) { return *this; }

  // The steps of an update, in their order:

  /// This rank's gradient, by all of the team. What other ranks need of it may be on its way when this returns.
  virtual void compute(const Update& update) = 0;
  /// Waits for what other ranks give. @throws Error that names a rank that is gone
  virtual void receive() {}
  /// Within a run of the team: adds up a worker's share, and lets the optimizer note the squares of the sum.
  virtual void gather(const Optimizer::Share& share) = 0;
  /// Behind gather() of all shares: the sum over all ranks [trained window], of what this rank steps; to be overwritten by
  /// the step.
  virtual const Tensor& sum() const = 0;
  /// Likewise: the gradients that this rank knows one by one, for the estimate of the gradient's noise.
  virtual std::vector<PartGradient> part_gradients(const Update& update) const = 0;
  /// Gives all ranks the weights that this one has stepped, and gets theirs.
  virtual void share_weights() {}
  /// Within a run of the team, by all of it: brings the copies of the weights up to date.
  virtual void refresh(int member) = 0;

  // Outside of updates:

  /// The same after somebody else has written the weights.
  virtual void refresh_all() = 0;
  /// Gives all ranks the values [trained window] that each of them steps.
  virtual void share([[maybe_unused]] const Tensor& values) {}
  /// Runs `work` while the first rank has all weights. Each rank is to call it.
  virtual void with_whole_weights(const std::function<void()>& work) { work(); }
  /// Forward passes of all members: work(member, pass) for each pass below `passes`, until `stop()`, which may be empty.
  virtual void run_forward(std::size_t passes, const std::function<void(int member, std::size_t pass)>& work,
                           const std::function<bool()>& stop) = 0;

  /// Seconds that this rank has waited for others in compute() and refresh() since the question before.
  virtual double take_waited() { return 0; }
};

/// The way that the options ask for. All references outlive it.
/// @throws Error where options exclude each other
std::unique_ptr<GradientReducer> make_gradient_reducer(model::Model& model, Optimizer& optimizer, Passes& passes,
                                                       const WorkersOptions& options);

}  // namespace tril::train

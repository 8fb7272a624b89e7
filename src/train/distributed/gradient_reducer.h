// How the gradients of an update are reduced over the parts of a batch, the batches and the ranks; and how the updated
// weights get to every rank. Workers computes and steps, and does not depend on the method:
//
//   LocalReducer    one rank: each value is the sum over the parts, in order
//   RankReducer     several ranks: each sums its parts, and sends buckets while the rest of the backward pass runs
//   TreeReducer     any number of ranks, bit-identical results: a binary tree over the batches
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

  /// The reducer for an update of this number of batches.
  virtual GradientReducer& for_update([[maybe_unused]] std::size_t batches) { return *this; }

  // The steps of an update, in order:

  /// Computes this rank's gradient on the whole team. Messages to other ranks may still be in flight when this returns.
  virtual void compute(const Update& update) = 0;
  /// Waits for other ranks' gradients. @throws Error naming a lost rank
  virtual void receive() {}
  /// Called by each worker of the team: sums its share, and lets the optimizer record the squares of the sum.
  virtual void gather(const Optimizer::Share& share) = 0;
  /// After gather() of all shares: the sum over all ranks [trained window] of what this rank steps; the step may overwrite it.
  virtual const Tensor& sum() const = 0;
  /// Likewise: the separate gradients that this rank knows, to estimate the gradient noise.
  virtual std::vector<PartGradient> part_gradients(const Update& update) const = 0;
  /// Sends the weights that this rank has stepped to all ranks, and receives theirs.
  virtual void share_weights() {}
  /// Called by each worker of the team: updates the copies of the weights.
  virtual void refresh(int member) = 0;

  // Outside of updates:

  /// Like refresh(), after other code has written the weights.
  virtual void refresh_all() = 0;
  /// Sends the values [trained window] that this rank owns to all ranks, and receives theirs.
  virtual void share([[maybe_unused]] Tensor values) {}
  /// Runs `work` while the first rank has all weights. Every rank must call it.
  virtual void with_whole_weights(const std::function<void()>& work) { work(); }
  /// Forward passes on the whole team: work(member, pass) for each pass below `passes`, until `stop()`, which may be empty.
  virtual void run_forward(std::size_t passes, const std::function<void(int member, std::size_t pass)>& work,
                           const std::function<bool()>& stop) = 0;

  /// Seconds that this rank has waited for others in compute() and refresh() since the last call.
  virtual double take_waited() { return 0; }
};

/// The reducer that the options select. All references must outlive it.
/// @throws Error for contradictory options
std::unique_ptr<GradientReducer> make_gradient_reducer(model::Model& model, Optimizer& optimizer, Passes& passes,
                                                       const WorkersOptions& options);

}  // namespace tril::train

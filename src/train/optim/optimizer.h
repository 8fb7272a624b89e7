// Shared by all optimizers: the sum of the workers' gradients, its norm, clipping, noise, the moving average of the
// weights, and the division of the work among workers. A rule (update_rule.h) steps the weights.
//
// The trained window of the weights' block is divided into stretches (division.h); a process has its own, and its
// workers take consecutive ones; weights that a rule steps as a whole are assigned by size. Norms are summed in double,
// stretch by stretch and piece by piece in order, so that nothing depends on the number of workers and processes.
// Untrained values (frozen weights, the row of a padding id) enter no norm and are never stepped.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "train/optim/division.h"
#include "train/optim/update_rule.h"

namespace tril::train {

/// The parameters of one step.
struct OptimizerStep {
  double rate = 0;
  double gradient_scale = 1;  ///< from clipping
};

/// The factor that scales a gradient of norm `norm` down to at most `limit` (0: no limit).
double clipping(double norm, double limit);

/// The norm of one part of the model's gradient.
struct GroupNorm {
  std::string group;  ///< "model.encoder.layers.0": the name up to its first number, or the whole module's
  double norm = 0;
};

class Optimizer {
 public:
  /// `parameters` must be allocated, outlive this object and keep their memory.
  /// @param rank  of `ranks` processes that share the work: each steps only its own stretches, and keeps their state
  Optimizer(nn::Parameters& parameters, OptimizerOptions options, int rank = 0, int ranks = 1);

  /// Worker `part` of `parts`, within this process.
  struct Share {
    int part = 0, parts = 1;
  };

  const Division& division() const { return division_; }

  /// From now on also records the norm of each of `count` gradients. Call it before the first gather().
  void measure_parts(std::size_t count);

  /// Adds up gradients (each in the layout of the trained window, in the given order) into the first one, over this
  /// share, and records the squares of the sum.
  void gather(const kern::Kernels& k, Share share, std::span<Tensor> gradients);
  /// Adds up gradients, some of which may belong to other processes, into `sum`, over this share, and records the squares of
  /// the sum: `add_up(begin, count, to)` must write the sum of values [begin, begin + count) of the window to `to`.
  void gather(const kern::Kernels& k, Share share, Tensor sum,
              const std::function<void(std::size_t, std::size_t, float*)>& add_up);
  /// The squares recorded by this process, in the order of its stretches; and all squares, once the others' are known.
  std::vector<double> own_squares() const;
  void set_squares_of(int rank, std::span<const double> squares);
  /// The norm of the whole gradient, once every share is gathered. Any worker may call it.
  double norm() const;
  /// The norm of each group of weights, in the model's order.
  std::vector<GroupNorm> group_norms() const;
  /// The squared norm of the i-th gathered gradient; requires measure_parts().
  double squared_norm_of(std::size_t i) const;
  /// The squared norm of a gradient's trained values.
  double squared_norm(const kern::Kernels& k, const Tensor& gradient) const;
  /// Steps this share by `gradient`, which is overwritten, and updates the moving average. All shares of an update
  /// belong to one step, and all must be gathered before.
  void step(const kern::Kernels& k, Share share, Tensor gradient, const OptimizerStep& step);
  /// Whether every trained weight of this process is finite.
  bool finite_weights(const kern::Kernels& k) const;
  /// Counts the update, once every share is stepped.
  void finish_step() { ++steps_; }

  /// Completed steps: t of the bias correction 1 - beta^t.
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

  /// The state for a checkpoint besides the step's number: the rule's state, the moving average if there is one, and
  /// the weights if no rank has all of them. With several ranks only this one's stretches are valid.
  std::vector<NamedTensor> state() const;
  /// This rank's parts of the state, ascending within each tensor.
  std::vector<StateSlice> own_state() const;
  bool shards_weights() const { return options_.shard_weights && division_.ranks() > 1; }
  /// The flat weights under their name in checkpoints.
  NamedTensor weights() const { return {"weights", parameters_->flat()}; }
  /// The parts of the weights that no rank steps: every rank has them, and the first one writes them.
  std::vector<StateSlice> unstepped_weights() const;
  /// All weights, with the moving average in place of the trained ones; empty unless options.ema.
  /// @param complete  with several ranks: exchanges the values [window], so that every rank has all
  std::vector<float> averaged_weights(const std::function<void(Tensor)>& complete = {}) const;
  /// Starts the average at the current weights: call it once they are set.
  void start_average();

 private:
  std::span<const std::size_t> stretches_of(Share share) const;
  std::vector<std::size_t> whole_weights_of(Share share) const;
  void step_stretch(const UpdateStep& u, const Stretch& s, std::span<const Stretch> noisy, Tensor& gradient);
  void clear_untrained(const kern::Kernels& k, Share share, float* gradient) const;

  nn::Parameters* parameters_;
  OptimizerOptions options_;
  std::vector<TrainedWeight> weights_;
  std::unique_ptr<UpdateRule> rule_;
  Division division_;
  std::vector<std::string> groups_;                // their names
  std::vector<std::size_t> group_of_;              // by trained weight
  std::vector<double> squares_;                    // by stretch
  std::vector<std::vector<double>> part_squares_;  // by gradient and stretch; empty: not measured
  Tensor ema_;                                     // over the trained window
  std::int64_t steps_ = 0;
};

}  // namespace tril::train

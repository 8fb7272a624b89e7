// What all optimisers share: the sum of the workers' gradients, its norm, clipping, noise, the moving average of the
// weights, and the division of the work among several workers. How a weight is stepped is its rule's (update_rule.h).
//
// The trained window of the weights' block is cut into stretches (division.h); a process has its own, a worker of it takes
// neighbouring ones, and the weights that a rule steps whole are dealt out by size. Norms are summed in double, stretch by
// stretch and piece by piece in their order, so that nothing depends on the number of workers and processes. What is not
// trained (frozen weights, the row of a padding id) is no part of any norm and never stepped.
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

/// What one update does.
struct OptimizerStep {
  double rate = 0;
  double gradient_scale = 1;  ///< clipping
};

/// The factor that brings a gradient of norm `norm` to at most `limit` (0: no limit).
double clipping(double norm, double limit);

/// The norm of one part of the model's gradient.
struct GroupNorm {
  std::string group;  ///< "model.encoder.layers.0": the names up to their first number, or the whole module's
  double norm = 0;
};

class Optimizer {
 public:
  /// `parameters` must be allocated, outlive this and keep their memory.
  /// @param rank  of `ranks` processes that share the work: each steps, and keeps the state of, its own stretches alone
  Optimizer(nn::Parameters& parameters, OptimizerOptions options, int rank = 0, int ranks = 1);

  /// Worker `part` of `parts`, within this process.
  struct Share {
    int part = 0, parts = 1;
  };

  const Division& division() const { return division_; }

  /// Notes the norm of each of `count` gradients as well from now on. Before the first gather().
  void measure_parts(std::size_t count);

  /// Adds up gradients (each laid out as the trained window, in their order) into the first one, over this share, and
  /// notes the squares of the sum.
  void gather(const kern::Kernels& k, Share share, std::span<const Tensor> gradients);
  /// Adds up `count` gradients, some of which may be other processes', into `sum`, over this share, and notes the squares of
  /// the sum: `add_up(begin, count, to)` is to write the sum of values [begin, begin + count) of the window to `to`.
  void gather(const kern::Kernels& k, Share share, const Tensor& sum,
              const std::function<void(std::size_t, std::size_t, float*)>& add_up);
  /// The squares that this process has noted, in the order of its stretches; and all of them, once the others' are known.
  std::vector<double> own_squares() const;
  void set_squares_of(int rank, std::span<const double> squares);
  /// The norm of the whole gradient, once every share is gathered. Any worker may ask.
  double norm() const;
  /// The same of each group of weights, in the model's order.
  std::vector<GroupNorm> group_norms() const;
  /// The squared norm of gradient `i` of those that were gathered; after measure_parts().
  double squared_norm_of(std::size_t i) const;
  /// The squared norm of what is trained of one gradient.
  double squared_norm(const kern::Kernels& k, const Tensor& gradient) const;
  /// Steps this share by `gradient`, which is overwritten, and the moving average after it. All shares of an update
  /// belong to one step, and all are gathered before.
  void step(const kern::Kernels& k, Share share, const Tensor& gradient, const OptimizerStep& step);
  /// Whether every trained weight is a number and finite: of those that this process has.
  bool finite_weights(const kern::Kernels& k) const;
  /// Counts the update, when every share is stepped.
  void finish_step() { ++steps_; }

  /// Steps taken: t of the bias correction 1 - beta^t.
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

  /// What a checkpoint keeps besides the step's number: the rule's state, the moving average where there is one, and the
  /// weights where no rank has all of them. With several ranks only this one's stretches have their values.
  std::vector<NamedTensor> state() const;
  /// What of the state is this rank's, ascending in each of the tensors.
  std::vector<StateSlice> own_state() const;
  bool shards_weights() const { return options_.shard_weights && division_.ranks() > 1; }
  /// "weights", flat: what a checkpoint calls them.
  NamedTensor weights() const { return {"weights", parameters_->flat()}; }
  /// What of them nobody steps: it is the first rank's to write, and everybody has it.
  std::vector<StateSlice> unstepped_weights() const;
  /// All weights as they are to be shown: the moving average in place of those that train; none unless options.ema.
  /// @param complete  with several ranks: gives everybody the values [window] that each one steps
  std::vector<float> averaged_weights(const std::function<void(const Tensor&)>& complete = {}) const;
  /// The average begins at the weights as they are: to be called once they have their values.
  void start_average();

 private:
  std::span<const std::size_t> stretches_of(Share share) const;
  std::vector<std::size_t> whole_weights_of(Share share) const;
  void step_stretch(const UpdateStep& u, const Stretch& s, std::span<const Stretch> noisy, const Tensor& gradient);
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
  Tensor ema_;                                     // of the trained window
  std::int64_t steps_ = 0;
};

}  // namespace tril::train

// What all optimisers share: the sum of the workers' gradients, its norm, clipping, noise, the moving average of the
// weights, and the division of the work among several workers. How a weight is stepped is its rule's (update_rule.h).
//
// The trained window of the weights' block is cut into pieces of equal size; a worker takes neighbouring pieces, and
// the weights that a rule steps whole are dealt out by size. Norms are summed piece by piece in double and then in the
// order of the pieces, so that nothing depends on the number of workers. What is not trained (frozen weights, the row
// of a padding id) is no part of any norm and never stepped.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "train/update_rule.h"

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
  Optimizer(nn::Parameters& parameters, OptimizerOptions options);

  /// Worker `part` of `parts`.
  struct Share {
    int part = 0, parts = 1;
  };

  /// Notes the norm of each of `count` gradients as well from now on. Before the first gather().
  void measure_parts(std::size_t count) { part_squares_.assign(count, std::vector<double>(squares_.size())); }

  /// Adds up gradients (each laid out as the trained window, in their order) into the first one, over this share, and
  /// notes the squares of the sum.
  void gather(const kern::Kernels& k, Share share, std::span<const Tensor> gradients);
  /// The norm of the whole gradient, once every share is gathered. Any worker may ask.
  double norm() const;
  /// The same of each group of weights, in the model's order.
  std::vector<GroupNorm> group_norms() const;
  /// The squared norm of gradient `i` of those that were gathered; after measure_parts().
  double squared_norm_of(std::size_t i) const;
  /// Steps this share by `gradient`, which is overwritten, and the moving average after it. All shares of an update
  /// belong to one step, and all are gathered before.
  void step(const kern::Kernels& k, Share share, const Tensor& gradient, const OptimizerStep& step);
  /// Whether every trained weight is a number and finite.
  bool finite_weights(const kern::Kernels& k) const;
  /// Counts the update, when every share is stepped.
  void finish_step() { ++steps_; }

  /// Steps taken: t of the bias correction 1 - beta^t.
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

  /// What a checkpoint keeps besides the step's number: the rule's state, and the moving average where there is one.
  std::vector<NamedTensor> state() const;
  /// All weights as they are to be shown: the moving average in place of those that train; none unless options.ema.
  std::vector<float> averaged_weights() const;
  /// The average begins at the weights as they are: to be called once they have their values.
  void start_average();

 private:
  struct Pieces {
    std::size_t first = 0, last = 0;
  };
  Pieces pieces_of(Share share) const;
  std::vector<std::size_t> whole_weights_of(Share share) const;
  void step_stretch(const UpdateStep& u, const Stretch& s, std::span<const Stretch> noisy, const Tensor& gradient);
  template <class F>
  void for_each_trained(std::size_t piece, F&& f) const;

  nn::Parameters* parameters_;
  OptimizerOptions options_;
  std::vector<TrainedWeight> weights_;
  std::unique_ptr<UpdateRule> rule_;
  std::size_t window_begin_ = 0;
  std::vector<Stretch> trained_;                   // ascending, cut at the pieces' ends
  std::vector<Stretch> untrained_rows_;            // of padding ids: their gradient is made zero
  std::vector<std::size_t> first_of_piece_;        // where a piece's stretches begin in trained_; one more at the end
  std::vector<std::string> groups_;                // their names
  std::vector<std::size_t> group_of_;              // by trained weight
  std::vector<double> squares_;                    // by piece
  std::vector<double> stretch_squares_;            // by stretch
  std::vector<std::vector<double>> part_squares_;  // by gradient and piece; empty: not measured
  Tensor ema_;                                     // of the trained window
  std::int64_t steps_ = 0;
};

}  // namespace tril::train

// Adam and AdamW over a model's flat block of weights, to be stepped in slices by several workers.
//
// The block is cut into pieces of equal size; a worker takes neighbouring pieces. Norms are summed piece by piece in
// double and then in the order of the pieces, so that they do not depend on the number of workers. What is not trained
// (frozen weights, the row of a padding id) is no part of any norm and never stepped.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/parameters.h"

namespace tril::train {

struct OptimizerOptions {
  bool decoupled_decay = false;  ///< AdamW [Loshchilov & Hutter 2019], else Adam [Kingma & Ba 2015] with an L2 penalty
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9, weight_decay = 0;
  double ema = 0;  ///< decay of the moving average; 0: none is kept
};

/// What one update does.
struct OptimizerStep {
  double rate = 0;
  double gradient_scale = 1;  ///< clipping
};

/// The factor that brings a gradient of norm `norm` to at most `limit` (0: no limit).
double clipping(double norm, double limit);

class Optimizer {
 public:
  /// `parameters` must be allocated, outlive this and keep their memory.
  Optimizer(nn::Parameters& parameters, OptimizerOptions options);

  /// Pieces [first, last) of part `part` of `parts`.
  struct Pieces {
    std::size_t first = 0, last = 0;
  };
  Pieces pieces_of(int part, int parts) const;

  /// Adds up gradients ([total] each, in their order) into the first one, over these pieces, and notes each piece's sum
  /// of squares.
  void gather(const kern::Kernels& k, Pieces pieces, std::span<const Tensor> gradients);
  /// The norm of the whole gradient, once every piece is gathered. Any worker may ask.
  double norm() const;
  /// Steps these pieces by `gradient`, and the moving average after them. All pieces of an update belong to one step.
  void step(const kern::Kernels& k, Pieces pieces, const Tensor& gradient, const OptimizerStep& step);
  /// Whether every trained weight is a number and finite.
  bool finite_weights(const kern::Kernels& k) const;
  /// Counts the update, when every piece is stepped.
  void finish_step() { ++steps_; }

  /// Steps taken: t of the bias correction 1 - beta^t.
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

  /// The state besides the step's number, each laid out as parameters.flat(): averages of the gradient and of its
  /// square, and of the weights (no tensor unless options.ema).
  const Tensor& first_moment() const { return m_; }
  const Tensor& second_moment() const { return v_; }
  const Tensor& average() const { return ema_; }
  /// The average begins at the weights as they are: to be called once they have their values.
  void start_average();

 private:
  struct Range {
    std::size_t begin = 0, end = 0;
  };
  template <class F>
  void for_each_trained(std::size_t piece, F&& f) const;

  nn::Parameters* parameters_;
  OptimizerOptions options_;
  std::vector<Range> trained_;               // ranges of values, ascending, cut at the pieces' ends
  std::vector<std::size_t> first_of_piece_;  // where a piece's ranges begin in trained_; one more at the end
  std::vector<double> squares_;              // by piece
  Tensor m_, v_, ema_;
  std::int64_t steps_ = 0;
};

/// A zeroed dense tensor [n] of its own memory, for what lives as long as a run.
Tensor lasting_zeros(std::int64_t n);

}  // namespace tril::train

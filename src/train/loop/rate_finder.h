// The learning-rate range test: trains with a rate that rises exponentially from update to update, and records the loss
// [Smith 2017, section 3.3]. A good peak rate is where the smoothed loss falls fastest against the rate's logarithm;
// where it turns upward, training begins to diverge.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/spec/model.h"
#include "tokenizer/files/tokenizer.h"
#include "train/loop/options.h"

namespace tril::train {

struct RateSweepOptions {
  double lowest = 1e-6, highest = 1;
  std::int64_t updates = 100;
};

struct RatePoint {
  std::int64_t update = 0;
  double rate = 0, loss = 0;
  double smoothed = 0;  ///< exponential average of the losses so far, bias-corrected
};

struct RateSweep {
  std::vector<RatePoint> points;
  bool diverged = false;             ///< ended early: the loss rose fourfold or was not finite
  std::optional<double> suggestion;  ///< where the smoothed loss falls fastest; none: it never fell
  std::optional<double> turn;        ///< where the smoothed loss is lowest
};

/// Trains `model` (with weights allocated and set) on the options' training set. Writes no files.
/// @param on_update  after each update; may be empty
RateSweep sweep_rates(const TrainOptions& options, model::Model& model,
                      const std::shared_ptr<const Tokenizer>& tokenizer, const RateSweepOptions& sweep,
                      const std::function<void(const RatePoint&)>& on_update);

/// The rate of update i = 0, 1, ...: lowest (highest / lowest)^(i / (updates - 1)).
double sweep_rate(const RateSweepOptions& sweep, std::int64_t i);
/// Computes the smoothed losses, the suggestion and the turn.
void judge(RateSweep& sweep);

/// The sweep as an SVG plot of loss against the rate's logarithm.
std::string rate_sweep_svg(const RateSweep& sweep);

}  // namespace tril::train

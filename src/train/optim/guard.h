// Detects broken updates that are finite: a loss or a gradient norm far above its usual value, which is an exponential
// average of each value and of its square (decay 0.98, about the last 50 updates); the bound is
//   mean + factor * max(standard deviation, mean / 20)
// and applies after 50 updates. A broken update is not applied and enters no average; --nan-guard decides what happens then. A
// rollback returns to the last checkpoint and continues with other data, as in [Chowdhery et al. 2022, section 5.1].
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tril::train {

/// Bounds above which an update is not stepped.
struct UpdateLimits {
  double loss = std::numeric_limits<double>::infinity();
  double gradient_norm = std::numeric_limits<double>::infinity();
};

/// An exponential average of values, and of their squares.
struct RunningAverage {
  static constexpr double decay = 0.98;
  static constexpr std::int64_t first_bound = 50;
  double mean = 0, square = 0;
  std::int64_t count = 0;

  void add(double x) {
    const double keep = std::min(decay, static_cast<double>(count) / static_cast<double>(count + 1));  // begins as mean
    mean = keep * mean + (1 - keep) * x;
    square = keep * square + (1 - keep) * x * x;
    ++count;
  }
  /// Infinite until enough values are known, or if factor is 0.
  double bound(double factor) const {
    if (factor <= 0 || count < first_bound) return std::numeric_limits<double>::infinity();
    const double deviation = std::sqrt(std::max(0.0, square - mean * mean));
    return mean + factor * std::max(deviation, mean / 20);
  }
};

/// The usual values of a run's updates; part of its state.
struct UsualUpdate {
  RunningAverage loss, gradient_norm;
  UpdateLimits limits(double factor) const { return {loss.bound(factor), gradient_norm.bound(factor)}; }
};

}  // namespace tril::train

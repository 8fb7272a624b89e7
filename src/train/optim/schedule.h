// The learning rate as a pure function of the update t = 1, 2, ...: warm-up to the peak over w updates, then
//   inverse_sqrt  peak * sqrt(w / t)                                    [Vaswani et al. 2017, eq. 3, in terms of its peak]
//   linear        peak * (T - t) / (T - w): a straight line to 0 at update T
//   cosine        peak * (1 + cos(pi (t - w) / (T - w))) / 2            [Loshchilov & Hutter 2017, eq. 5, one cycle]
//   constant      peak; with a least rate, linear and cosine fall to that instead of 0
// Warm-up is peak * t / w in all of them; w = 0: none (inverse_sqrt then starts at the peak, as for w = 1).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace tril::train {

enum class ScheduleKind : std::uint8_t { inverse_sqrt, linear, cosine, constant };

/// Whether the rate reaches its minimum at a given update.
constexpr bool has_end(ScheduleKind kind) {
  return kind == ScheduleKind::linear || kind == ScheduleKind::cosine;
}

struct Schedule {
  ScheduleKind kind = ScheduleKind::inverse_sqrt;
  double peak = 0;
  std::int64_t warmup = 0;  ///< w, updates
  std::int64_t total = 0;   ///< T, updates: linear and cosine only; from there on the rate is `least`
  double least = 0;
};

/// The rate of update t >= 1.
inline double learning_rate(const Schedule& s, std::int64_t t) {
  const double now = static_cast<double>(t), w = static_cast<double>(s.warmup);
  if (t < s.warmup) return s.peak * now / w;
  const double span = std::max(1.0, static_cast<double>(s.total) - w);
  const double done = std::clamp((now - w) / span, 0.0, 1.0);
  switch (s.kind) {
    case ScheduleKind::inverse_sqrt:
      return s.peak * std::sqrt(std::max(w, 1.0) / now);
    case ScheduleKind::linear:
      return s.least + (s.peak - s.least) * (1 - done);
    case ScheduleKind::cosine:
      return s.least + (s.peak - s.least) * 0.5 * (1 + std::cos(std::numbers::pi * done));
    case ScheduleKind::constant:
      break;
  }
  return s.peak;
}

/// The decay of a moving average at its update t: smaller at the beginning, so that the random initial weights are
/// forgotten: min(decay, (t + 1) / (t + 10)).
inline double average_decay(double decay, std::int64_t t) {
  return std::min(decay, (static_cast<double>(t) + 1) / (static_cast<double>(t) + 10));
}

/// The factor of dropout probabilities at update t: 1 - e^(-10 t / warmup), nearly 1 from the end of the warm-up on
/// [Curriculum Dropout, Morerio et al. 2017]; 1 if warmup is 0.
inline double dropout_factor(std::int64_t warmup, std::int64_t t) {
  return warmup > 0 ? 1 - std::exp(-10.0 * static_cast<double>(t) / static_cast<double>(warmup)) : 1.0;
}

}  // namespace tril::train

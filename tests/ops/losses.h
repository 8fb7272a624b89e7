// Losses in double, and the settings with which they are tested.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "support/op_case.h"

namespace tril::test::loss_test {

inline std::vector<std::int32_t> some_targets(std::int64_t N, std::int64_t V, std::int32_t ignore) {
  RandomSequence random(4, 2);
  std::vector<std::int32_t> t;
  for (std::int64_t i = 0; i < N; ++i)
    t.push_back(i % 4 == 1 ? ignore : static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(V))));
  return t;
}

inline Doubles log_softmax(const Doubles& x, std::int64_t row, std::int64_t V, double temperature = 1) {
  double largest = -INFINITY, sum = 0;
  for (std::int64_t v = 0; v < V; ++v) largest = std::max(largest, at(x, row, v, V) / temperature);
  for (std::int64_t v = 0; v < V; ++v) sum += std::exp(at(x, row, v, V) / temperature - largest);
  Doubles y;
  for (std::int64_t v = 0; v < V; ++v) y.push_back(at(x, row, v, V) / temperature - largest - std::log(sum));
  return y;
}

struct Setting {
  std::int64_t N, V;
  float smoothing = 0;
  std::int32_t ignore = -1;
  double normalizer = 0;
  bool weights = false;
  float softcap = 0;  // of logits computed inside the loss
};

inline double weight_of(std::int64_t i) {
  return 0.25 * static_cast<double>(i % 5);
}  // exact in float32

inline Doubles loss_in_double(const Setting& s, const Doubles& logits) {
  const auto targets = some_targets(s.N, s.V, s.ignore);
  double sum = 0, counted = 0;
  for (std::int64_t i = 0; i < s.N; ++i) {
    const std::int32_t t = targets[static_cast<std::size_t>(i)];
    if (t == s.ignore) continue;
    const Doubles lp = log_softmax(logits, i, s.V);
    double all = 0;
    for (double l : lp) all += l;
    const double eps = static_cast<double>(s.smoothing);
    sum += (s.weights ? weight_of(i) : 1) *
           (-(1 - eps) * lp[static_cast<std::size_t>(t)] - eps / static_cast<double>(s.V) * all);
    ++counted;
  }
  return {sum / (s.normalizer != 0 ? s.normalizer : std::max(counted, 1.0))};
}

inline ops::LossOptions options_of(Context& c, const Setting& s) {
  ops::LossOptions o{
      .label_smoothing = s.smoothing, .ignore_id = s.ignore, .normalizer = s.normalizer, .softcap = s.softcap};
  if (s.weights) {
    std::vector<float> w;
    for (std::int64_t i = 0; i < s.N; ++i) w.push_back(static_cast<float>(weight_of(i)));
    o.weights = c.upload(w);
  }
  return o;
}

inline const Setting settings[] = {{.N = 1, .V = 1},
                                   {.N = 3, .V = 7},
                                   {.N = 5, .V = 33, .smoothing = 0.1f},
                                   {.N = 9, .V = 17, .smoothing = 0.2f, .ignore = 3, .normalizer = 2.5},
                                   {.N = 6, .V = 9, .ignore = 0, .weights = true},
                                   {.N = 2, .V = 1027, .smoothing = 0.1f, .weights = true},
                                   {.N = 0, .V = 5}};

// x W^T + b: x [N, D], W [V, D], b [V] or empty
inline Doubles logits_in_double(const Doubles& x, const Doubles& w, const Doubles& b, std::int64_t N, std::int64_t V,
                                std::int64_t D, float softcap = 0) {
  Doubles logits;
  for (std::int64_t i = 0; i < N; ++i)
    for (std::int64_t v = 0; v < V; ++v) {
      double z = b.empty() ? 0 : b[static_cast<std::size_t>(v)];
      for (std::int64_t d = 0; d < D; ++d) z += at(x, i, d, D) * at(w, v, d, D);
      const double cap = static_cast<double>(softcap);
      logits.push_back(cap > 0 ? cap * std::tanh(z / cap) : z);
    }
  return logits;
}

inline ops::Weight weight_of_output(Context& c, const Tensor& w, bool in_bf16) {
  return in_bf16 ? mixed(c, w) : ops::Weight{w};
}

// In mixed precision a logit is off by 2^-7 of its terms, and so is a gradient: some hundredths of a typical value.
inline double gradient_rounding(const Setting& s, std::int64_t D) {
  return 3e-3 * std::sqrt(static_cast<double>(std::max({D, s.V, s.N})));
}

}  // namespace tril::test::loss_test

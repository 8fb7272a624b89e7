// The noise of the gradient: the simple noise scale B_simple = tr(S) / |G|^2, where S is the covariance of one token's
// gradient and G its mean [McCandlish et al. 2018, eq. 2.9]. Far smaller batches mostly average noise; far larger ones
// gain little. Estimated from the gradients of an update's parts, which exist anyway (appendix A.1): in expectation
//   |g_B|^2 = |G|^2 + tr(S) / B, so that from the mean over parts of |g_b|^2 and 1/b, and from the whole update,
//   tr(S) = (mean |g_b|^2 - |g_B|^2) / (mean 1/b - 1/B)     |G|^2 = |g_B|^2 - tr(S) / B
// Both are noisy: they are summed over the updates of a report before the division. The unit is the target token;
// tokens of one sentence are not independent, so compare only figures of the same corpus.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tril::train {

/// The gradient of the mean loss over some of an update's tokens.
struct PartGradient {
  double squared_norm = 0, tokens = 0;
};

/// Sums of the two estimates.
struct GradientNoise {
  double trace = 0, signal = 0;  ///< tr(S), |G|^2
  std::int64_t updates = 0;

  void add(const GradientNoise& other) { trace += other.trace, signal += other.signal, updates += other.updates; }
  /// B_simple in tokens; none if the sums give no estimate: no parts, or a gradient too small for its noise.
  std::optional<double> scale() const {
    if (updates == 0 || !(trace >= 0) || !(signal > 0)) return std::nullopt;
    return trace / signal;
  }
};

/// From one update: `parts` of it, and the gradient of all its tokens. Empty for fewer than two parts.
inline GradientNoise gradient_noise(std::span<const PartGradient> parts, double squared_norm, double tokens) {
  if (parts.size() < 2) return {};
  double squares = 0, inverse = 0;
  for (const PartGradient& p : parts) squares += p.squared_norm, inverse += 1 / p.tokens;
  const double n = static_cast<double>(parts.size());
  const double trace = (squares / n - squared_norm) / (inverse / n - 1 / tokens);
  const double signal = squared_norm - trace / tokens;
  if (!(trace - trace == 0) || !(signal - signal == 0)) return {};  // not finite
  return {trace, signal, 1};
}

}  // namespace tril::train

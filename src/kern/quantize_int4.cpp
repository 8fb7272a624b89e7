#include "kern/quantize_int4.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kern/gemm_int8.h"

namespace tril::kern {
namespace {

struct Rounded4 {
  double error;
  int multiplier;
};

// The group's best multiplier for the row's scale, among those near the one that fits its largest value.
Rounded4 best_multiplier(const float* w, std::size_t n, float scale) {
  float most = 0;
  for (std::size_t i = 0; i < n; ++i) most = std::max(most, std::abs(w[i]));
  if (most == 0 || scale == 0) return {0, 0};
  const int whole = static_cast<int>(std::ceil(most / (7 * scale)));
  Rounded4 best{INFINITY, 1};
  for (int m = std::max(1, whole - 3); m <= std::min(15, whole); ++m) {
    const float step = static_cast<float>(m) * scale, up = 1 / step;
    double error = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const float q = std::clamp(std::nearbyint(w[i] * up), -8.0f, 7.0f), e = w[i] - q * step;
      error += static_cast<double>(e) * e;
    }
    if (error < best.error) best = {error, m};
  }
  return best;
}

}  // namespace

void quantize_int4(const float* w, std::size_t rows, std::size_t k, Int4Rows to) {
  const std::size_t groups = (k + int4_group - 1) / int4_group, row_bytes = (k + 1) / 2;
  for (std::size_t j = 0; j < rows; ++j) {
    const float* const row = w + j * k;
    float most = 0;
    bool finite = true;
    for (std::size_t i = 0; i < k; ++i) {
      most = std::max(most, std::abs(row[i]));
      finite = finite && std::isfinite(row[i]);
    }
    // The scale puts the row's largest value at 7 or -8 steps of the largest multiplier.
    const float scale = to.t[j] = most / (7.0f * 15);
    std::fill_n(to.n + j * row_bytes, row_bytes, std::uint8_t{0x88});
    if (!finite) {
      to.t[j] = std::numeric_limits<float>::quiet_NaN();
      std::fill_n(to.m + j * groups, groups, std::uint8_t{0});
      continue;
    }
    for (std::size_t g = 0; g < groups; ++g) {
      const std::size_t first = g * int4_group, count = std::min(int4_group, k - first);
      const int m = best_multiplier(row + first, count, scale).multiplier;
      to.m[j * groups + g] = static_cast<std::uint8_t>(m);
      const float up = m ? 1 / (static_cast<float>(m) * scale) : 0;
      for (std::size_t i = first; i < first + count; ++i) {
        const auto q = static_cast<int>(std::clamp(std::nearbyint(row[i] * up), -8.0f, 7.0f)) + 8;
        std::uint8_t& both = to.n[j * row_bytes + i / 2];
        both = static_cast<std::uint8_t>(i % 2 ? (both & 15) | q << 4 : (both & 0xf0) | q);
      }
    }
  }
}

}  // namespace tril::kern

// An optimizer's state in 8 bits [Dettmers et al. 2022, "8-bit Optimizers via Block-wise Quantization", sections 1 and 2].
//
// Values are quantised in blocks of 256, each divided by its largest absolute value, the block's scale. The code of
// x = value / scale is that of the nearest of 256 levels, a dynamic tree (section 1.3): seven decades from 1e-7 to 1, cut into 2^i
// equal intervals (i = 0, ..., 6) whose centres are the levels, and 0 and 1. So a value near the scale is known within 0.7% of it,
// and one a million times smaller still has a sign and a size. Levels of a first moment have signs; a second moment is never
// negative and has twice as many intervals instead.
//
// One thing differs from the paper: without signs a value above zero never gets the code of zero, however small it is. Otherwise
// a step m / (sqrt(v) + eps) of Adam could be m / eps, thousands of times too large.
//
// Each instruction set gives the same bits, so that these are functions rather than entries of the tables.
// TRIL_INSTRUCTION_SET limits them, too (stored_values.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace tril::kern {

/// Values of a block. The paper has 2,048; smaller blocks are more exact, and their scales take 1.6% of the codes' memory.
inline constexpr std::size_t state_block = 256;

/// The 256 levels, ascending: value[code].
struct StateLevels {
  float value[256] = {};
  float bounds[8] = {};  ///< x < bounds[0]: zero; then decade i begins at bounds[i], and 1 at bounds[7]
};

constexpr double state_decade(int i) {
  constexpr double tenth[] = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1};
  return tenth[i];
}
/// The centre of interval j of decade i, which has n intervals.
constexpr double state_level(int i, int j, int n) {
  return state_decade(i) * (0.1 + 0.9 * (j + 0.5) / n);
}
/// The number of intervals of decade i.
constexpr int state_intervals(int i, bool has_signs) {
  return 1 << (has_signs ? i : i + 1);
}

constexpr StateLevels state_levels(bool has_signs) {
  StateLevels l;
  const int zero = has_signs ? 127 : 0;  // the code of zero; 1 has code 255
  l.value[255] = 1;
  for (int i = 0; i < 7; ++i) {
    const int n = state_intervals(i, has_signs), first = has_signs ? n : n - 1;
    for (int j = 0; j < n; ++j) {
      l.value[zero + first + j] = static_cast<float>(state_level(i, j, n));
      if (has_signs) l.value[zero - first - j] = -static_cast<float>(state_level(i, j, n));
    }
    const double below = i > 0 ? state_level(i - 1, n / 2 - 1, n / 2) : 0;
    l.bounds[i] = static_cast<float>((below + state_level(i, 0, n)) / 2);
  }
  const int last = state_intervals(6, has_signs);
  l.bounds[7] = static_cast<float>((state_level(6, last - 1, last) + 1) / 2);
  if (!has_signs) l.bounds[0] = 0;  // see above
  return l;
}
inline constexpr StateLevels signed_levels = state_levels(true), positive_levels = state_levels(false);

/// Whether the values of a state may be negative.
enum class StateSigns : std::uint8_t { any, positive };

/// y[i] = level(codes[i]) * scales[i / 256], for i < n. Zeroed codes and scales are zeros.
void expand_state(StateSigns signs, const std::uint8_t* codes, const float* scales, float* y, std::size_t n);

/// The reverse, to the nearest level: the codes [n] and the scales [ceil(n / 256)] of y [n]. A value above the largest float counts
/// as the largest. What is not a number gets some code.
void quantize_state(StateSigns signs, const float* y, std::uint8_t* codes, float* scales, std::size_t n);

}  // namespace tril::kern

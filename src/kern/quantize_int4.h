// Rounds weights to 4 bits, in groups of 32 with a multiplier each, for products of integers (gemm_int8.h):
//   w_jp ~ t_j m_jg n_jp, m 0 ... 15, n -8 ... 7
#pragma once

#include <cstddef>
#include <cstdint>

namespace tril::kern {

/// Where rows of 4-bit integers are written, in the form of PackQuantized: n, m and t of the formula above.
struct Int4Rows {
  std::uint8_t* n;  ///< [rows, (k + 1) / 2], two values in a byte
  std::uint8_t* m;  ///< [rows, k / int4_group rounded up]
  float* t;         ///< [rows]
};

/// Rounds w [rows, k] float32 to 4 bits. Each group's multiplier is the one with the least squared error. A row that is
/// not finite gets the scale NaN, as with 8 bits.
void quantize_int4(const float* w, std::size_t rows, std::size_t k, Int4Rows to);

}  // namespace tril::kern

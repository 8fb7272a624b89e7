// Rounds weights to 4 bits, in groups of 32 with a multiplier each, for products of integers (gemm_int8.h):
//   w_jp ~ t_j m_jg n_jp, m 0 ... 15, n -8 ... 7
#pragma once

#include <cstddef>
#include <cstdint>

namespace tril::kern {

/// Rounds rows of weights to 4 bits: w [n, k] float32 with a stride -> rows and multipliers in the form of
/// PackQuantized, and the rows' scales. Each group's multiplier is the one with the least squared error. A row that
/// is not finite gets the scale NaN, as with 8 bits.
void quantize_int4(const float* w, std::size_t stride, std::size_t n, std::size_t k, std::uint8_t* rows,
                   std::uint8_t* multipliers, float* scales);

}  // namespace tril::kern

// The largest values of each row of a product of integers (gemm_int8.h) without storing the product, for a search
// over a quantised vocabulary.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kern/gemm_int8.h"

namespace tril::kern {

/// The k largest of each row of A W^T + bias, largest first (ties: smaller index first), and the logarithm of the
/// sum of all exponentials. The product itself is never in memory.
struct QuantizedTopK {
  std::size_t m = 0;
  QuantizedRight b;
  const float* a = nullptr;
  std::size_t a_stride = 0;
  const float* bias = nullptr;
  std::int32_t first_id = 0;  ///< the id of the first column in `forbidden` and `indices`
  std::size_t k = 1;          ///< if fewer columns are allowed, -inf and -1 follow
  /// By row, forbidden_counts[i] ids of columns that may not be among the k; they count in the sums.
  const std::int32_t* const* forbidden = nullptr;
  const std::int32_t* forbidden_counts = nullptr;
  float* values = nullptr;          ///< [m, k]
  std::int32_t* indices = nullptr;  ///< [m, k]
  float* log_sums = nullptr;        ///< [m], or null
  std::uint8_t* scratch = nullptr;  ///< quantized_gemm_scratch(m, b) bytes
};

}  // namespace tril::kern

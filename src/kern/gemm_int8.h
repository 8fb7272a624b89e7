// Matrix products of 8-bit or 4-bit integers, for serving when memory and time matter. Each row of a weight has one
// scale; each row of activations gets a scale at run time ("dynamic" quantisation):
//   x ~ s q, s = max |x| / 127, q = round(x / s)      y_ij = s_i t_j sum_p q_ip w_jp            [Jacob et al. 2018, 2.1]
// Sums are of integers, so they are the same on every machine, in any order and in any batch.
//
// 4 bits: a row has groups of 32 values, each with its own multiplier, w = t_j m_jg n, m 0 ... 15, n -8 ... 7. The
// product m n fits into 8 bits, so 4 bits are only the storage format, and the sums are those of 8 bits.
//
// A weight may also be in the blocks of a GGUF file: block_format.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/as_size.h"
#include "kern/block_format.h"
#include "kern/kernels.h"

namespace tril::kern {

// A packed right operand W^T [k, n], where W [n, k] is the weight, consists of tiles of 64 x 16 integers, padded
// with zeros: row p of tile (l, j) holds for columns 16 j ... the four values 64 l + 4 p ... each. Tiles are stored
// in panels of 32 columns, [n / 32][k / 64][2]. A tile of 8 bits is 1 KiB. A tile of 4 bits is half of that: its row
// p has row p of the 8-bit tile in the lower and row p + 8 in the upper halves of bytes, each value + 8.
constexpr std::size_t int8_tile_depth = 64, int8_tile_bytes = 1024, int4_group = 32;
/// The largest k: sums of so many products of 128 and 127 fit 32 bits.
constexpr std::size_t int8_most_width = std::size_t{1} << 17;
constexpr std::size_t int8_columns(std::size_t n) {  ///< whole panels
  return (n + 31) / 32 * 32;
}
constexpr std::size_t int8_depth(std::size_t k) {  ///< whole tiles
  return (k + int8_tile_depth - 1) / int8_tile_depth * int8_tile_depth;
}
constexpr std::size_t int8_packed_bytes(std::size_t n, std::size_t k, int bits) {
  return int8_columns(n) * int8_depth(k) * as_size(bits) / 8;
}
/// Number of multipliers of a packed 4-bit operand: [n / 32][k / 64][2 tiles][2 groups][16 columns].
constexpr std::size_t int4_multipliers(std::size_t n, std::size_t k) {
  return int8_columns(n) * int8_depth(k) / int4_group;
}

/// A packed weight: in the blocks of `format`, which are all in `values`, or, without one, in integers of `bits` bits.
struct QuantizedRight {
  std::size_t n = 0, k = 0;
  int bits = 8;
  BlockFormat format = BlockFormat::none;
  const std::uint8_t* values = nullptr;       ///< int8_packed_bytes(n, k, bits), or block_packed_bytes(n, k, format)
  const std::uint8_t* multipliers = nullptr;  ///< 4 bits: int4_multipliers(n, k)
  const float* scales = nullptr;              ///< [int8_columns(n)]
  const std::int32_t* sums = nullptr;         ///< [int8_columns(n)] 128 times the sum of the row's integers

  /// Columns [first, first + count); `first` must begin a panel.
  QuantizedRight columns(std::size_t first, std::size_t count) const {
    if (format != BlockFormat::none)
      return {.n = count, .k = k, .format = format, .values = values + first * block_row_bytes(k, format)};
    const std::size_t packed = first * int8_depth(k);  // values before it
    return {.n = count,
            .k = k,
            .bits = bits,
            .values = values + packed * as_size(bits) / 8,
            .multipliers = multipliers ? multipliers + packed / int4_group : nullptr,
            .scales = scales + first,
            .sums = sums + first};
  }
};

/// Rows of integers in the form of files, to be packed: 8 bits [n, k]; 4 bits [n, ceil(k / 2)], the first of two
/// values in the lower half, each + 8, with multipliers [n, ceil(k / 32)].
struct PackQuantized {
  std::size_t n = 0, k = 0;
  int bits = 8;
  const std::uint8_t* rows = nullptr;
  std::size_t row_bytes = 0;  ///< from one row to the next
  const std::uint8_t* row_multipliers = nullptr;
  std::uint8_t* values = nullptr;
  std::uint8_t* multipliers = nullptr;
  std::int32_t* sums = nullptr;
};

/// Columns ids[0] ... ids[n - 1] of a packed weight of integers, to be packed as a weight of their own.
struct SelectQuantized {
  QuantizedRight from;
  const std::int32_t* ids = nullptr;
  std::size_t n = 0;
  std::uint8_t* values = nullptr;       ///< int8_packed_bytes(n, k, bits)
  std::uint8_t* multipliers = nullptr;  ///< 4 bits: int4_multipliers(n, k)
  float* scales = nullptr;              ///< [int8_columns(n)]
  std::int32_t* sums = nullptr;         ///< [int8_columns(n)]
};

/// y = residual + f(A W^T + bias): A [m, k] and C [m, n] float32, row-major with strides.
struct QuantizedGemm {
  std::size_t m = 0;
  QuantizedRight b;
  const float* a = nullptr;
  std::size_t a_stride = 0;
  float* c = nullptr;
  std::size_t c_stride = 0;
  const float* bias = nullptr;
  Activation activation = Activation::none;
  const float* residual = nullptr;  ///< with the stride of C
  std::uint8_t* scratch = nullptr;  ///< quantized_gemm_scratch(m, b) bytes
};

/// Rows of A that are multiplied at a time.
constexpr std::size_t quantized_gemm_rows = 256;
/// Bytes of a rounded row of int8_depth(k) values at most: some instruction sets write a second part of large values after it.
constexpr std::size_t int8_row_bytes(std::size_t depth) {
  return depth + (8 + depth / 4 * 6 + 63) / 64 * 64;
}
constexpr std::size_t quantized_gemm_scratch(std::size_t m, std::size_t k, int bits) {
  const std::size_t rows = ((m < quantized_gemm_rows ? m : quantized_gemm_rows) + 31) / 32 * 32;
  return rows * (int8_row_bytes(int8_depth(k)) + sizeof(float)) + (bits == 4 ? 32 * int8_depth(k) : 0) +
         std::size_t{3} * 64;
}

constexpr std::size_t quantized_gemm_scratch(std::size_t m, const QuantizedRight& b) {
  if (b.format == BlockFormat::none) return quantized_gemm_scratch(m, b.k, b.bits);
  const std::size_t rows = m < block_rows ? m : block_rows;
  return rows * (block_sections(b.k) * sizeof(BlockRow) + 32 * sizeof(float)) + 64;
}

}  // namespace tril::kern

// Matrix products of bfloat16 operands with float32 sums, for mixed-precision training [Micikevicius et al. 2018;
// Kalamkar et al. 2019]. Operands are rounded to the nearest bfloat16 (ties to even) when they are packed; master
// weights, activations and results stay float32. AMX multiplies tiles, AVX-512 BF16 pairs; other processors multiply
// the same rounded operands in float32, so all machines compute the same up to the order of sums.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kern/compact_bf16.h"
#include "kern/kernels.h"

namespace tril::kern {

// A packed matrix consists of tiles of 16 x 32 bfloat16, 1 KiB each, padded with zeros.
//   left operand  A [m, k]: tile (i, l) holds rows 16 i ..., values 32 l ... of each; in [m / 16][k / 32] order.
//   right operand B [k, n]: tile (l, j) holds columns 16 j ...; its row p holds the pairs B[32 l + 2 p, c], B[32 l + 2 p + 1, c];
//   tiles are stored in panels of 32 columns, [n / 32][k / 32][2], so that a panel is contiguous.
constexpr std::size_t tile_values = std::size_t{16} * 32;
constexpr std::size_t tiles_of(std::size_t n, std::size_t size) {
  return (n + size - 1) / size;
}
/// Number of values of a packed right operand [k, n].
constexpr std::size_t packed_right_values(std::size_t k, std::size_t n) {
  return tiles_of(n, 32) * 2 * tiles_of(k, 32) * tile_values;
}
/// Number of values of a packed left operand [m, k].
constexpr std::size_t packed_left_values(std::size_t m, std::size_t k) {
  return tiles_of(m, 32) * 2 * tiles_of(k, 32) * tile_values;
}

/// The index of the value at this row and column in a packed right operand [k, n].
constexpr std::size_t packed_right_index(std::size_t k, std::size_t row, std::size_t column) {
  const std::size_t tile = (column / 32 * tiles_of(k, 32) + row / 32) * 2 + column % 32 / 16;
  return tile * tile_values + row % 32 / 2 * 32 + column % 16 * 2 + row % 2;
}

/// B [k, n] as float32, to be packed: row-major with a stride, or stored as [n, k] if `transposed`.
struct PackRight {
  const float* b = nullptr;
  std::size_t stride = 0, k = 0, n = 0;
  bool transposed = false;
  std::uint16_t* packed = nullptr;  ///< packed_right_values(k, n)
};

/// y = residual + drop(f(A B + bias)), or just C += A B with `accumulate`. A [m, k] is float32, row-major with a
/// stride, or stored as [k, m] with `transpose_a`. Element (i, j) has index i * n + j in the dropout stream.
struct PackedGemm {
  std::size_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  std::size_t a_stride = 0;
  bool transpose_a = false;
  const std::uint16_t* b = nullptr;  ///< packed
  CompactRight compact;              ///< in place of b; the result has the same bits
  float* c = nullptr;
  std::size_t c_stride = 0;
  bool accumulate = false;
  const float* bias = nullptr;
  Activation activation = Activation::none;
  float* z = nullptr;  ///< if not null, A B + bias is also stored here, with the stride of C
  Dropout dropout;
  const float* residual = nullptr;  ///< with the stride of C
  /// C will not be read soon: streaming stores bypass the caches, so that its lines need not be fetched first.
  bool stream = false;
  std::uint16_t* scratch = nullptr;  ///< packed_gemm_scratch values
};

/// The size of a block of A: 256 rows by 2048 values.
constexpr std::size_t packed_gemm_rows = 256, packed_gemm_depth = 2048;
/// Columns of C whose sums are completed before the next, and the tiles of depth that are multiplied before sums are stored: 16 KiB of
/// A and as much of a panel of B are in the first-level cache, the panels of sweep_columns and the sums in the second.
constexpr std::size_t sweep_columns = 128, sweep_deep = 8;
/// Floats of the panels of sweep_columns and of 32 rows of A, where both are converted to float32.
constexpr std::size_t sweep_wide = sweep_deep * 32 * (sweep_columns + 32);
/// Values that the converted operands take, and the sums of `rows` rows if C is streamed.
constexpr std::size_t sweep_scratch(std::size_t rows) {
  return (sweep_wide + rows * sweep_columns) * 2;
}
/// Values of the panels of sweep_columns, unpacked from a compact operand.
constexpr std::size_t sweep_unpacked = sweep_deep * 32 * sweep_columns;
constexpr std::size_t packed_gemm_scratch =
    packed_left_values(packed_gemm_rows, packed_gemm_depth) + sweep_scratch(packed_gemm_rows) + sweep_unpacked + 32;

}  // namespace tril::kern

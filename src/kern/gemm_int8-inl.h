// The sweep of rounded rows over the panels of a quantised weight; a callback uses the sums. Included once for each
// instruction set.
#if defined(TRIL_KERN_GEMM_INT8_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_GEMM_INT8_INL_H_
#undef TRIL_KERN_GEMM_INT8_INL_H_
#else
#define TRIL_KERN_GEMM_INT8_INL_H_
#endif

#include "base/as_size.h"
#include "hwy/highway.h"
#include "kern/blocks_neon-inl.h"
#include "kern/int8-inl.h"
#include "kern/int8_avx512-inl.h"
#include "kern/int8_fours-inl.h"
#include "kern/int8_pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

/// A block of sums [32, 32] and their scales.
struct IntBlock {
  std::size_t row, col, rows, cols;
  const std::int32_t* sums;
  const float* row_scales;  ///< of the block's first row
};

/// SweepInt8 for the m rows from row m0 on, which are few, and 4 bits, without unpacking.
template <class Isa, class Finish>
HWY_INLINE void SweepFewOfInt4(const QuantizedRight& b, const float* a, std::size_t a_stride, std::size_t m0,
                               std::size_t m, std::uint8_t* scratch, const Finish& finish) {
  using Products = typename Isa::FewOfFourBits;
  HWY_ALIGN std::int32_t sums[32 * 32];
  float scales[Products::most_rows];
  const std::size_t depth = int8_depth(b.k), deep = depth / int8_tile_depth;
  auto* const q = reinterpret_cast<std::int8_t*>(scratch + (64 - reinterpret_cast<std::uintptr_t>(scratch) % 64) % 64);
  auto* const groups = reinterpret_cast<std::int32_t*>(q + m * depth);
  for (std::size_t i = 0; i < m; ++i) {
    scales[i] = QuantizeRow(a + (m0 + i) * a_stride, b.k, q + i * depth);
    Products::begin_groups(q + i * depth, deep, groups + i * 2 * deep);
  }
  for (std::size_t n0 = 0; n0 < b.n; n0 += 32) {
    const std::size_t before = n0 * depth;  // values
    Products::block(q, depth, b.values + before / 2, b.multipliers + before / int4_group, deep, m, groups, sums);
    finish(IntBlock{m0, n0, m, smaller(b.n - n0, 32), sums, scales});
  }
}

/// True if 4-bit products and unpacking are done together, and prefetch what follows the panel themselves.
template <class Isa>
constexpr bool kUnpacksItself = requires {
  &Isa::unpacking_block;
};

/// The first rows times a panel of 4 bits, which is unpacked meanwhile.
template <class Isa>
HWY_INLINE void UnpackingBlock(const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b,
                               const std::uint8_t* multipliers, std::uint8_t* unpacked, std::size_t deep,
                               std::size_t rows, const std::int32_t* sums, std::int32_t* c, Ahead& ahead) {
  if constexpr (kUnpacksItself<Isa>) {
    Isa::unpacking_block(a, a_stride, b, multipliers, unpacked, deep, rows, sums, c);
  } else {
    UnpackInt4(b, multipliers, deep, unpacked);
    Isa::block(a, a_stride, unpacked, deep, rows, sums, c, ahead);
  }
}

/// Calls finish(IntBlock) for all blocks of A W^T, panel by panel of 32 columns, for up to 256 rows at a time.
template <class Isa, class Finish>
HWY_INLINE void SweepInt8(const QuantizedRight& b, const float* a, std::size_t a_stride, std::size_t m,
                          std::uint8_t* scratch, const Finish& finish) {
  if constexpr (Isa::FewOfFourBits::most_rows > 0) {
    constexpr std::size_t few = Isa::FewOfFourBits::most_rows;
    if (b.bits == 4 && (Isa::FewOfFourBits::any_rows || m <= few)) {
      for (std::size_t m0 = 0; m0 < m; m0 += few)
        SweepFewOfInt4<Isa>(b, a, a_stride, m0, smaller(m - m0, few), scratch, finish);
      return;
    }
  }
  HWY_ALIGN std::int32_t tiles[2][32 * 32];
  const std::size_t depth = int8_depth(b.k), deep = depth / int8_tile_depth;
  const std::size_t panel_bytes = 2 * deep * int8_tile_bytes * as_size(b.bits) / 8;
  std::uint8_t* at = scratch + (64 - reinterpret_cast<std::uintptr_t>(scratch) % 64) % 64;
  std::uint8_t* const unpacked = at;
  if (b.bits == 4) at += 32 * depth;
  float* const scales = reinterpret_cast<float*>(at);
  const std::size_t most = smaller((m + 31) / 32 * 32, quantized_gemm_rows);
  auto* const q = reinterpret_cast<std::int8_t*>(at + (most * sizeof(float) + 63) / 64 * 64);
  const std::size_t row = Isa::row_bytes(depth);
  Isa::begin(m);
  for (std::size_t m0 = 0; m0 < m; m0 += quantized_gemm_rows) {
    const std::size_t rows = smaller(m - m0, quantized_gemm_rows);
    for (std::size_t i = 0; i < rows; ++i) {
      scales[i] = QuantizeRow(a + (m0 + i) * a_stride, b.k, q + i * row);
      Isa::prepare(q + i * row, depth);
    }
    std::size_t steps = 0;
    for (std::size_t i = 0; i < rows; i += 32) steps += Isa::steps(smaller(rows - i, 32), deep);
    int turn = 0;
    bool waiting = false;
    IntBlock before{};
    for (std::size_t n0 = 0; n0 < b.n; n0 += 32) {
      const std::size_t panel = n0 / 32;
      const std::uint8_t* values = b.values + panel * panel_bytes;
      Ahead ahead;
      if (b.bits == 8 || !kUnpacksItself<Isa>) ahead = Ahead::of(values + panel_bytes, panel_bytes, steps);
      for (std::size_t i = 0; i < rows; i += 32) {
        const IntBlock block{m0 + i, n0, smaller(rows - i, 32), smaller(b.n - n0, 32), tiles[turn], scales + i};
        const auto* const multipliers = b.bits == 4 ? b.multipliers + panel * 2 * deep * 32 : nullptr;
        if (b.bits == 4 && i == 0)
          UnpackingBlock<Isa>(q, row, values, multipliers, unpacked, deep, block.rows, b.sums + n0, tiles[turn], ahead);
        else
          Isa::block(q + i * row, row, b.bits == 4 ? unpacked : values, deep, block.rows, b.sums + n0, tiles[turn],
                     ahead);
        // The previous block is finished while this one is being multiplied.
        if (waiting) finish(before);
        before = block;
        waiting = true;
        turn = 1 - turn;
      }
    }
    if (waiting) finish(before);
  }
  Isa::end();
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_GEMM_INT8_INL_H_

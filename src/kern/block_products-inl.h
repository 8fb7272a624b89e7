// The sweep of rows over the panels of a weight in the blocks of files (block_format.h); a callback uses the sums.
// Included once for each instruction set.
#if defined(TRIL_KERN_BLOCK_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_BLOCK_PRODUCTS_INL_H_
#undef TRIL_KERN_BLOCK_PRODUCTS_INL_H_
#else
#define TRIL_KERN_BLOCK_PRODUCTS_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "kern/block_format.h"
#include "kern/gemm_int8.h"
#include "kern/math-inl.h"
#include "kern/simd.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

// The kernels of block_products.cpp.
void multiply_block_panel(const BlockPanel& p);
void round_block_rows(const RoundBlocks& b);
void gather_blocks(const QuantizedRight& b, const std::int32_t* ids, float scale, float* y, std::size_t rows);
#if TRIL_FOUR_PRODUCTS
void multiply_block_panel_fours(const BlockPanel& p);
void round_block_rows_fours(const RoundBlocks& b);
#endif
#if HWY_TARGET == HWY_AVX3
void multiply_block_panel_tiles(const BlockPanel& p);
#endif

/// How an instruction set multiplies blocks.
struct BlockKernels {
  void (*round)(const RoundBlocks& b);
  void (*multiply)(const BlockPanel& p);
};
inline constexpr BlockKernels kBlocksInPairs{round_block_rows, multiply_block_panel};
#if TRIL_FOUR_PRODUCTS
inline constexpr BlockKernels kBlocksInFours{round_block_rows_fours, multiply_block_panel_fours};
#endif
#if HWY_TARGET == HWY_AVX3
inline constexpr BlockKernels kBlocksInTiles{round_block_rows_fours, multiply_block_panel_tiles};
#endif

/// A block of sums [rows, 32].
struct FloatBlock {
  std::size_t row, col, rows, cols;
  const float* sums;
};

/// Calls finish(FloatBlock) for all blocks of A W^T, panel by panel of 32 columns, for up to 256 rows at a time.
template <class Finish>
HWY_INLINE void SweepBlocks(const BlockKernels& kernels, const QuantizedRight& b, const RoundBlocks& a,
                            std::uint8_t* scratch, const Finish& finish) {
  const std::size_t panel_bytes = 32 * block_row_bytes(b.k, b.format);
  std::uint8_t* const at = scratch + (64 - reinterpret_cast<std::uintptr_t>(scratch) % 64) % 64;
  auto* const rows = reinterpret_cast<BlockRow*>(at);
  float* const sums = reinterpret_cast<float*>(at + smaller(a.m, block_rows) * block_sections(b.k) * sizeof(BlockRow));
  for (std::size_t m0 = 0; m0 < a.m; m0 += block_rows) {
    const std::size_t m = smaller(a.m - m0, block_rows);
    kernels.round({.format = b.format, .m = m, .k = b.k, .x = a.x + m0 * a.stride, .stride = a.stride, .rows = rows});
    for (std::size_t n0 = 0; n0 < b.n; n0 += 32) {
      kernels.multiply(
          {.format = b.format, .m = m, .k = b.k, .rows = rows, .panel = b.values + n0 / 32 * panel_bytes, .c = sums});
      finish(FloatBlock{m0, n0, m, smaller(b.n - n0, 32), sums});
    }
  }
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_BLOCK_PRODUCTS_INL_H_

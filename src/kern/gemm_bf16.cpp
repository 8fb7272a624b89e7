// C = A B with packed operands. A is packed in blocks of 256 rows by 2048 values that stay in the second-level
// cache. The panels of B pass by them, and each 32 x 32 block of C is finished (bias, activation, dropout, residual)
// while it is in the first-level cache:
//   for rows of A: for depth: pack A; for four panels of B: for 32 rows: C_block = A_block B_panel; finish
#include "kern/gemm_bf16.h"

#include "base/as_size.h"
#include "base/half.h"
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/gemm_bf16.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/compact_bf16-inl.h"
#include "kern/fill-inl.h"
#include "kern/gemm_bf16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

template <class Isa>
void multiply(const PackedGemm& g) {
  if (g.m == 0 || g.n == 0) return;
  std::uint16_t* const a = AlignedUp(g.scratch);
  std::uint16_t* const scratch = a + packed_left_values(packed_gemm_rows, packed_gemm_depth);
  Isa::begin(g.m);
  for (std::size_t m0 = 0; m0 < g.m; m0 += packed_gemm_rows) {
    const std::size_t rows = smaller(g.m - m0, packed_gemm_rows);
    for (std::size_t k0 = 0; k0 < g.k || k0 == 0; k0 += packed_gemm_depth) {
      const std::size_t left = g.k - k0, k = smaller(left, packed_gemm_depth);
      const std::size_t deep = tiles_of(k, 32);
      if (g.transpose_a)
        PackLeftTransposed<Isa>(g.a + k0 * g.a_stride + m0, g.a_stride, rows, k, a);
      else
        PackLeft<Isa>(g.a + m0 * g.a_stride + k0, g.a_stride, rows, k, a);
      const bool add = g.accumulate || k0 > 0, last = k == left;  // without `accumulate`, the tail follows
      Sweep<Isa>(g, {a, deep, m0, rows, k0, add, last}, scratch);
      if (last) break;
    }
  }
  Isa::end();
}

void gather_packed(const std::uint16_t* b, std::size_t k, const std::int32_t* ids, float* y, std::size_t columns) {
  for (std::size_t i = 0; i < columns; ++i)
    for (std::size_t row = 0; row < k; ++row)
      y[i * k + row] = bf16_to_f32(b[packed_right_index(k, row, as_size(ids[i]))]);
}

template <class Isa>
void pack_compact(const PackCompact& b) {
  HWY_ALIGN std::uint16_t tile[tile_values];
  TilePlace to{b.tiles, b.tables, b.rest};
  for (std::size_t panel = 0; panel < b.n; panel += 32)
    for (std::size_t l = 0; l < b.k; l += 32)
      for (std::size_t j = panel; j < panel + 32; j += 16) {
        const std::size_t columns = j < b.n ? smaller(b.n - j, 16) : 0;
        PackRightTile<Isa>(b.b + (columns > 0 ? j : 0) * b.stride + l, b.stride, smaller(b.k - l, 32), columns, tile);
        PackTile(tile, to);
        to.tile += compact_tile_bytes, to.table += compact_table_bytes, to.rest += compact_rest_bytes;
      }
}

void gather_compact(const CompactRight& b, std::size_t k, const std::int32_t* ids, float* y, std::size_t columns) {
  HWY_ALIGN std::uint16_t tile[tile_values];
  const std::size_t depth = tiles_of(k, 32);
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t column = as_size(ids[i]);
    CompactRight at = b.from_tile(column / 32 * depth * 2 + column % 32 / 16);
    for (std::size_t l = 0; l < k; l += 32, at = at.from_tile(2)) {
      UnpackTiles(at, 1, tile);
      for (std::size_t row = 0; row < smaller(k - l, 32); ++row)
        y[i * k + l + row] = bf16_to_f32(tile[packed_right_index(32, row, column % 16)]);
    }
  }
}

}  // namespace

void fill_gemm_bf16(Kernels& k) {
  k.gather_packed = gather_packed;
  k.prefers_compact = HWY_TARGET == HWY_AVX3;
  k.pack_compact = pack_compact<Emulated>;
  k.gather_compact = gather_compact;
  k.pack_right = PackRightOf<Emulated>;
  k.packed_gemm = multiply<Emulated>;
}

#if HWY_TARGET == HWY_AVX3 || TRIL_ARM_PRODUCTS
void fill_gemm_bf16_pairs(Kernels& k) {
  k.pack_right = PackRightOf<PairProducts>;
  k.pack_compact = pack_compact<PairProducts>;
  k.packed_gemm = multiply<PairProducts>;
}
#endif
#if HWY_TARGET == HWY_AVX3
void fill_gemm_bf16_tiles(Kernels& k) {
  k.pack_right = PackRightOf<TileProducts>;
  k.prefers_compact = false;
  k.pack_compact = pack_compact<TileProducts>;
  k.packed_gemm = multiply<TileProducts>;
}
#endif

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

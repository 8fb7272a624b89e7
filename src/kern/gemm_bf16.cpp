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

}  // namespace

void fill_gemm_bf16(Kernels& k) {
  k.gather_packed = gather_packed;
  k.pack_right = PackRightOf<Emulated>;
  k.packed_gemm = multiply<Emulated>;
}

#if HWY_TARGET == HWY_AVX3 || TRIL_ARM_PRODUCTS
void fill_gemm_bf16_pairs(Kernels& k) {
  k.pack_right = PackRightOf<PairProducts>;
  k.packed_gemm = multiply<PairProducts>;
}
#endif
#if HWY_TARGET == HWY_AVX3
void fill_gemm_bf16_tiles(Kernels& k) {
  k.pack_right = PackRightOf<TileProducts>;
  k.packed_gemm = multiply<TileProducts>;
}
#endif

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

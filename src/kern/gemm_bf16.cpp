// C = A B with packed operands. A is packed in blocks of 256 rows by 512 values that stay in the second cache; the panels
// of B pass by them, and each 32 x 32 block of C is finished (bias, activation, dropout, residual) while it is in the first:
//   for rows of A: for depth: pack A; for four panels of B: for 32 rows: C_block = A_block B_panel; finish
#include "kern/gemm_bf16.h"

#include <type_traits>

#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/gemm_bf16.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/activation-inl.h"
#include "kern/bf16-inl.h"
#include "kern/bf16_avx512-inl.h"
#include "kern/dropout-inl.h"
#include "kern/fill-inl.h"
#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

/// A block of C: where it begins and how much of it there is.
struct Block {
  std::size_t row, col, rows, cols;
};

/// What is done to the sums of a block, in `tile` [32, 32]: the pointers are to row 0, column 0 of the block.
struct Tail {
  const float *bias, *residual;
  float *z, *c;
  std::size_t stride, n;
  std::size_t first;  ///< index of the block's first value in the stream of dropout
  bool add;           ///< the sums go on from what stands in C
};

template <class F, bool kDrops>
HWY_INLINE void FinishBlock(const Tail& t, std::size_t rows, std::size_t cols, const float* HWY_RESTRICT tile,
                            const Drop& drop, F f) {
  const float *const bias = t.bias, *const residual = t.residual;
  float *const z = t.z, *const c = t.c;
  const std::size_t stride = t.stride, n = t.n, first = t.first;
  const bool add = t.add;
  for (std::size_t i = 0; i < rows; ++i) {
    ForEach(cols, [=](std::size_t j, auto io) HWY_ATTR {
      const std::size_t at = i * stride + j;
      Vec s = hn::Load(Floats(), tile + i * 32 + j);
      if (add) s = hn::Add(s, io.load(c + at));
      if (bias) s = hn::Add(s, io.load(bias + j));
      if (z) io.store(s, z + at);
      Vec y = f.value(s);
      if constexpr (kDrops) y = drop(y, first + i * n + j);
      if (residual) y = hn::Add(y, io.load(residual + at));
      io.store(y, c + at);
    });
  }
}

/// Finishes the block at (row, col): with all of g's tail after the last of A's columns, as plain sums before.
HWY_INLINE void Finish(const PackedGemm& g, const Block& at, bool add, bool last, const float* tile) {
  const std::size_t begin = at.row * g.c_stride + at.col;
  Tail t{nullptr, nullptr, nullptr, g.c + begin, g.c_stride, g.n, at.row * g.n + at.col, add};
  const Drop drop(g.dropout);
  // The common sizes as constants: rows of a whole block are two vectors of AVX-512.
  const auto finish = [&](auto f, auto drops) HWY_ATTR {
    if (at.cols == 32)
      FinishBlock<decltype(f), drops>(t, at.rows, 32, tile, drop, f);
    else
      FinishBlock<decltype(f), drops>(t, at.rows, at.cols, tile, drop, f);
  };
  if (!last) return finish(Identity(), std::false_type());
  if (g.bias) t.bias = g.bias + at.col;
  if (g.residual) t.residual = g.residual + begin;
  if (g.z) t.z = g.z + begin;
  WithActivation(g.activation, [&](auto f) HWY_ATTR {
    if (g.dropout.p > 0)
      finish(f, std::true_type());
    else
      finish(f, std::false_type());
  });
}

/// Panels of B that 32 rows of A meet before the next 32: they lie in the second cache, and rows of C are written on.
constexpr std::size_t kPanels = 4;

template <class Isa>
void multiply(const PackedGemm& g) {
  if (g.m == 0 || g.n == 0) return;
  HWY_ALIGN float tiles[2][32 * 32] = {};
  int turn = 0;
  bool waiting = false;
  Block before{};
  auto* const a =
      reinterpret_cast<std::uint16_t*>((reinterpret_cast<std::uintptr_t>(g.scratch) + 63) & ~std::uintptr_t{63});
  const std::size_t depth = tiles_of(g.k, 32);
  Isa::begin();
  for (std::size_t m0 = 0; m0 < g.m; m0 += packed_gemm_rows) {
    const std::size_t rows = g.m - m0 < packed_gemm_rows ? g.m - m0 : packed_gemm_rows;
    for (std::size_t k0 = 0; k0 < g.k || k0 == 0; k0 += packed_gemm_depth) {
      const std::size_t left = g.k - k0, k = left < packed_gemm_depth ? left : packed_gemm_depth;
      const std::size_t deep = tiles_of(k, 32);
      if (g.transpose_a)
        PackLeftTransposed<Isa>(g.a + k0 * g.a_stride + m0, g.a_stride, rows, k, a);
      else
        PackLeft<Isa>(g.a + m0 * g.a_stride + k0, g.a_stride, rows, k, a);
      const bool add = g.accumulate || k0 > 0, last = k == left;  // without `accumulate`, the tail follows
      for (std::size_t group = 0; group < g.n; group += 32 * kPanels)
        for (std::size_t i = 0; i < rows; i += 32)
          for (std::size_t n0 = group; n0 < g.n && n0 < group + 32 * kPanels; n0 += 32) {
            const std::uint16_t* const b = g.b + (n0 / 32 * depth + k0 / 32) * 2 * tile_values;
            const Block at{m0 + i, n0, rows - i < 32 ? rows - i : 32, g.n - n0 < 32 ? g.n - n0 : 32};
            Isa::block(a + i / 16 * deep * tile_values, deep, b, deep, at.rows, tiles[turn]);
            // The block before is finished while this one is being multiplied.
            if (waiting) Finish(g, before, add, last, tiles[1 - turn]);
            before = at;
            waiting = true;
            turn = 1 - turn;
          }
      Finish(g, before, add, last, tiles[1 - turn]);
      waiting = false;
      if (last) break;
    }
  }
  Isa::end();
}

}  // namespace

void fill_gemm_bf16(Kernels& k) {
  k.pack_right = PackRightOf<Emulated>;
  k.packed_gemm = multiply<Emulated>;
}

#if HWY_TARGET == HWY_AVX3
void fill_gemm_bf16_pairs(Kernels& k) {
  k.pack_right = PackRightOf<PairProducts>;
  k.packed_gemm = multiply<PairProducts>;
}
void fill_gemm_bf16_tiles(Kernels& k) {
  k.pack_right = PackRightOf<TileProducts>;
  k.packed_gemm = multiply<TileProducts>;
}
#endif

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

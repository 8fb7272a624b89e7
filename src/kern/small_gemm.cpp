// A block of C, kRows rows by kVecs vectors, stays in registers while k runs: each step loads kVecs vectors of B,
// and broadcasts kRows values of A into kRows * kVecs multiply-adds.
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/small_gemm.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/math-inl.h"
#include "kern/small_gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

// The 32 registers of AVX-512 hold 24 sums, 4 vectors of B and a broadcast; 16 registers hold 12, 2 and 1.
constexpr bool kManyRegisters = HWY_CAP_GE512 != 0;
constexpr std::size_t kMaxVecs = kManyRegisters ? 4 : 2;
constexpr std::size_t max_rows(std::size_t vecs) {
  if (vecs == 1) return 8;
  return kManyRegisters && vecs == 2 ? 8 : 6;
}

/// The block at a, b, c; its last vector has `tail` values if kTail.
template <std::size_t kRows, std::size_t kVecs, bool kTail>
HWY_INLINE void run_block(const SmallGemm& g, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                          float* HWY_RESTRICT c, const float* scales, std::size_t tail) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t a_row = g.a_row, a_col = g.a_col, b_stride = g.b_stride;
  Vec sum[kRows][kVecs];
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t v = 0; v < kVecs; ++v) sum[i][v] = hn::Zero(d);
  }
  for (std::size_t l = g.k; l != 0; --l, a += a_col, b += b_stride) {
    Vec row[kVecs];
    for (std::size_t v = 0; v < kVecs; ++v) {
      row[v] = kTail && v + 1 == kVecs ? LoadPart(d, b + v * lanes, tail) : hn::LoadU(d, b + v * lanes);
    }
    for (std::size_t i = 0; i < kRows; ++i) {
      const Vec x = hn::Set(d, a[i * a_row]);
      for (std::size_t v = 0; v < kVecs; ++v) sum[i][v] = hn::MulAdd(x, row[v], sum[i][v]);
    }
  }
  for (std::size_t i = 0; i < kRows; ++i) {
    const Vec s = hn::Set(d, scales ? scales[i] : g.scale);
    for (std::size_t v = 0; v < kVecs; ++v) {
      float* to = c + i * g.c_stride + v * lanes;
      const bool part = kTail && v + 1 == kVecs;
      Vec y = sum[i][v];
      if (g.accumulate) y = hn::Add(y, part ? LoadPart(d, to, tail) : hn::LoadU(d, to));
      y = hn::Mul(y, s);
      if (part) {
        StorePart(y, d, to, tail);
      } else {
        hn::StoreU(y, d, to);
      }
    }
  }
}

/// Calls the instance for `rows` rows, 1 ... kRows.
template <std::size_t kRows, std::size_t kVecs, bool kTail>
HWY_INLINE void run_rows(const SmallGemm& g, std::size_t rows, const float* a, const float* b, float* c,
                         const float* scales, std::size_t tail) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return run_rows<kRows - 1, kVecs, kTail>(g, rows, a, b, c, scales, tail);
  }
  run_block<kRows, kVecs, kTail>(g, a, b, c, scales, tail);
}

/// All rows of the columns that kVecs vectors cover from column j.
template <std::size_t kVecs, bool kTail>
HWY_NOINLINE void run_columns(const SmallGemm& g, std::size_t j, std::size_t tail) {
  constexpr std::size_t kRows = max_rows(kVecs);
  const std::size_t blocks = (g.m + kRows - 1) / kRows;  // of even heights: 15 rows are 8 + 7, or 5 + 5 + 5
  for (std::size_t i = 0, left = blocks; left != 0; --left) {
    const std::size_t rows = (g.m - i + left - 1) / left;
    run_rows<kRows, kVecs, kTail>(g, rows, g.a + i * g.a_row, g.b + j, g.c + i * g.c_stride + j,
                                  g.row_scale ? g.row_scale + i : nullptr, tail);
    i += rows;
  }
}

/// The last columns: `vecs` <= kVecs vectors; the last one has `tail` values, or is whole if tail is zero.
template <std::size_t kVecs>
HWY_INLINE void run_last(const SmallGemm& g, std::size_t j, std::size_t vecs, std::size_t tail) {
  if constexpr (kVecs > 1) {
    if (vecs < kVecs) return run_last<kVecs - 1>(g, j, vecs, tail);
  }
  tail ? run_columns<kVecs, true>(g, j, tail) : run_columns<kVecs, false>(g, j, 0);
}

}  // namespace

void small_gemm(const SmallGemm& g) {
  const std::size_t lanes = hn::Lanes(Floats()), block = kMaxVecs * lanes;
  std::size_t j = 0;
  for (; j + block <= g.n; j += block) run_columns<kMaxVecs, false>(g, j, 0);
  if (j < g.n) run_last<kMaxVecs>(g, j, (g.n - j + lanes - 1) / lanes, (g.n - j) % lanes);
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

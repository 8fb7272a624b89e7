// Products of bfloat16 on processors that have none: a group of panels of B, and 32 rows of A at a time, are converted to float32 once,
// for all products of the group. Included once for each instruction set.
#if defined(TRIL_KERN_WIDE_OPERANDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_WIDE_OPERANDS_INL_H_
#undef TRIL_KERN_WIDE_OPERANDS_INL_H_
#else
#define TRIL_KERN_WIDE_OPERANDS_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "kern/bf16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

/// The operands of a sweep (gemm_bf16-inl.h) in float32: first a group of panels, then its rows, 32 at a time.
class WideOperands {
 public:
  static constexpr std::size_t few_rows = 0;
  /// @param space  sweep_wide floats, at the beginning of a cache line
  explicit WideOperands(float* space) : panels_(space), rows_(space + sweep_deep * 32 * sweep_columns) {}

  HWY_INLINE void take(const PanelTiles& p) {
    deep_ = p.deep;
    for (std::size_t i = 0; i < p.panels; ++i) widen_panel(p.tiles + i * p.next, panel(i));
  }

  HWY_INLINE void take(const RowTiles& r) {
    count_ = r.rows;  // the rows up to 32 are zero
    for (std::size_t i = 0; i < tiles_of(r.rows, 8) * 8; ++i)
      for (std::size_t l = 0; l < r.deep; ++l)
        WidenPairs(r.tiles + (i / 16 * r.next + l) * tile_values + i % 16 * 32, rows_ + i * kRowStride + l * 32);
  }

  /// c [32, 32] += the product of the rows and a panel. If there are at most 16 rows, the lower half of c is not touched.
  HWY_NOINLINE void multiply(std::size_t index, const Sums& c) const {
    const float* b = panel(index);
    for (std::size_t j = 0; j < 32; j += kColumns, b += deep_ * 32 * kColumns)
      for (std::size_t i = 0; i < count_;) {
        const std::size_t count = height(count_ - i);
        const Strip s{rows_ + i * kRowStride, b, deep_};
        if (count == 2)
          strip<2>(s, c.at(i, j));
        else if (count == 4)
          strip<4>(s, c.at(i, j));
        else
          strip<kRows>(s, c.at(i, j));
        i += count;
      }
  }

 private:
  // The sums of kRows rows by two vectors stay in registers: 16 of 32 with AVX-512, 12 of 16 with AVX2.
  static constexpr std::size_t kLanes = HWY_LANES(float), kColumns = 2 * kLanes, kRows = kLanes == 16 ? 8 : 6;
  static constexpr std::size_t kRowStride = sweep_deep * 32;
  // Strips of kColumns columns, each [k, kColumns]: 16 KiB with AVX2, which stay in the first-level cache while the rows pass by.
  float* panels_;
  float* rows_;  ///< [32, kRowStride], as WidenPairs writes them
  std::size_t deep_ = 0, count_ = 0;

  float* panel(std::size_t index) const { return panels_ + index * sweep_deep * 32 * 32; }

  HWY_INLINE void widen_panel(const std::uint16_t* tiles, float* HWY_RESTRICT to) const {
    for (std::size_t j = 0; j < 32; j += kColumns)
      for (std::size_t l = 0; l < deep_; ++l)
        for (std::size_t p = 0; p < 16; ++p, to += 2 * kColumns)
          for (std::size_t v = 0; v < kColumns; v += kLanes) {
            const std::uint32_t* const from = PairsAt(tiles, l, p, j + v);
            if ((j + v) % 16 == 0) __builtin_prefetch(from + kPairsAhead, 0, 2);
            const WordVec pairs = hn::LoadU(Words(), from);
            hn::Store(LowHalves(pairs), Floats(), to + v);
            hn::Store(HighHalves(pairs), Floats(), to + kColumns + v);
          }
  }

  /// How many of the last `rows` rows are multiplied together. Two fours take less time than a six and a two.
  static constexpr std::size_t height(std::size_t rows) {
    if (rows <= 2) return 2;
    return rows <= 4 || (kRows == 6 && (rows == 7 || rows == 8)) ? 4 : kRows;
  }

  struct Strip {
    const float *left, *right;
    std::size_t deep;
  };

  /// kCount rows by two vectors of columns.
  template <std::size_t kCount>
  static HWY_INLINE void strip(const Strip& s, const Sums& c) {
    const Floats d;
    Vec sum[kCount][2];
    LoadSums(c, sum);
    const float* HWY_RESTRICT left = s.left;
    const float* HWY_RESTRICT right = s.right;
    const auto add = [&](const float* HWY_RESTRICT a, const float* HWY_RESTRICT b) HWY_ATTR {
      const Vec b0 = hn::Load(d, b), b1 = hn::Load(d, b + kLanes);
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kCount; ++i) {
        const Vec value = hn::Set(d, a[i * kRowStride]);
        sum[i][0] = hn::MulAdd(value, b0, sum[i][0]);
        sum[i][1] = hn::MulAdd(value, b1, sum[i][1]);
      }
    };
    for (std::size_t l = 0; l < s.deep; ++l, left += 32)
      for (std::size_t p = 0; p < 16; ++p, right += 2 * kColumns) {
        add(left + p, right);
        add(left + 16 + p, right + kColumns);
      }
    StoreSums(sum, c);
  }
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_WIDE_OPERANDS_INL_H_

// Rounding rows to 8 bits, packing, and the product of a few rows with one panel (gemm_int8.h). Included once for
// each instruction set.
#if defined(TRIL_KERN_INT8_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_INT8_INL_H_
#undef TRIL_KERN_INT8_INL_H_
#else
#define TRIL_KERN_INT8_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "kern/ahead.h"
#include "kern/block_products-inl.h"
#include "kern/gemm_int8.h"
#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

using Ints = hn::ScalableTag<std::int32_t>;
using IntVec = hn::Vec<Ints>;

/// Stores the lanes of v, which fit 8 bits or are NaN, as the nearest integers.
HWY_INLINE void StoreInts(Vec v, std::int8_t* to) {
#if HWY_TARGET == HWY_AVX3  // Highway's conversions also handle values beyond 32 bits
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(v.raw)));
#else
  const hn::Rebind<std::int8_t, Floats> d8;
  hn::StoreU(hn::DemoteTo(d8, hn::NearestInt(v)), d8, to);
#endif
}

/// q [int8_depth(k)] = x [k] / scale, rounded and padded with zeros; returns the scale. A row that is not finite
/// gets the scale NaN, so that its products are NaN too.
HWY_INLINE float QuantizeRow(const float* HWY_RESTRICT x, std::size_t k, std::int8_t* HWY_RESTRICT q) {
  const Floats d;
  const hn::Rebind<std::int8_t, Floats> d8;
  const std::size_t lanes = hn::Lanes(d);
  Vec most0 = hn::Zero(d), most1 = most0, odd0 = most0, odd1 = most0;  // odd: NaN if a value is not finite
  std::size_t j = 0;
  for (; j + 2 * lanes <= k; j += 2 * lanes) {
    const Vec a = hn::LoadU(d, x + j), b = hn::LoadU(d, x + j + lanes);
    most0 = LargerOf(most0, hn::Abs(a)), most1 = LargerOf(most1, hn::Abs(b));
    odd0 = hn::MulAdd(a, hn::Zero(d), odd0), odd1 = hn::MulAdd(b, hn::Zero(d), odd1);
  }
  for (; j < k; j += lanes) {
    const Vec a = j + lanes <= k ? hn::LoadU(d, x + j) : LoadPart(d, x + j, k - j);
    most0 = LargerOf(most0, hn::Abs(a));
    odd0 = hn::MulAdd(a, hn::Zero(d), odd0);
  }
  const float most = hn::GetLane(hn::MaxOfLanes(d, LargerOf(most0, most1)));
  const float odd = hn::GetLane(hn::SumOfLanes(d, hn::Add(odd0, odd1)));
  const Vec up = hn::Set(d, most > 1e-35f ? 127.0f / most : 0.0f);  // smaller values have no finite reciprocal
  for (j = 0; j + lanes <= k; j += lanes) StoreInts(hn::Mul(hn::LoadU(d, x + j), up), q + j);
  if (j < k) {
    StoreInts(hn::Mul(LoadPart(d, x + j, k - j), up), q + j);  // lanes divide 64, so this stays inside the row
    j += lanes;
  }
  for (const std::size_t end = int8_depth(k); j < end; j += lanes) hn::StoreU(hn::Zero(d8), d8, q + j);
  return odd == 0 ? most / 127.0f : odd;
}

/// Unpacks a panel of 4 bits to 8 bits: `deep` pairs of tiles.
HWY_INLINE void UnpackInt4(const std::uint8_t* HWY_RESTRICT values, const std::uint8_t* HWY_RESTRICT multipliers,
                           std::size_t deep, std::uint8_t* HWY_RESTRICT to) {
  const hn::ScalableTag<std::uint8_t> du8;
  const hn::ScalableTag<std::uint16_t> du16;
  const hn::ScalableTag<std::uint32_t> du32;
  const hn::Rebind<std::uint8_t, decltype(du32)> narrow;
  const std::size_t lanes = hn::Lanes(du32);
  const auto mask = hn::Set(du8, 15);
  for (std::size_t t = 0; t < 2 * deep; ++t, values += int8_tile_bytes / 2, multipliers += 32, to += int8_tile_bytes)
    for (std::size_t c = 0; c < 16; c += lanes) {
      // A word of 16 bits holds two 4-bit values n and is multiplied at once: n m <= 225 does not carry.
      // Subtracting 8 m from each byte then gives (n - 8) m.
      const auto twice = [&](const std::uint8_t* m) HWY_ATTR {
        const auto wide = hn::PromoteTo(du32, hn::LoadU(narrow, m));
        return hn::BitCast(du16, hn::Or(wide, hn::ShiftLeft<16>(wide)));
      };
      const auto m0 = twice(multipliers + c), m1 = twice(multipliers + 16 + c);
      const auto eights = hn::Set(du16, 0x0808);
      const auto e0 = hn::BitCast(du8, hn::Mul(m0, eights)), e1 = hn::BitCast(du8, hn::Mul(m1, eights));
      for (std::size_t p = 0; p < 8; ++p) {
        const auto both = hn::LoadU(du8, values + p * 64 + c * 4);
        const auto low = hn::And(both, mask);
        const auto high = hn::And(hn::BitCast(du8, hn::ShiftRight<4>(hn::BitCast(du16, both))), mask);
        const auto a = hn::BitCast(du8, hn::Mul(hn::BitCast(du16, low), m0));
        const auto b = hn::BitCast(du8, hn::Mul(hn::BitCast(du16, high), m1));
        hn::StoreU(hn::Sub(a, e0), du8, to + p * 64 + c * 4);
        hn::StoreU(hn::Sub(b, e1), du8, to + (p + 8) * 64 + c * 4);
      }
    }
}

/// For instruction sets that multiply 4 bits only after unpacking to 8, for any number of rows.
struct NoFourBitProducts {
  static constexpr std::size_t most_rows = 0;
  static constexpr bool any_rows = false;
};

/// sum + the sums of two neighbouring products, for each 32-bit lane.
template <class V16>
HWY_INLINE IntVec AddPairs(IntVec sum, V16 x, V16 w) {
#if HWY_ARCH_X86
  const Ints di;
  IntVec none = hn::Zero(di);
  return hn::ReorderWidenMulAccumulate(di, x, w, sum, none);
#elif HWY_ARCH_ARM_A64
  const auto low = vmull_s16(vget_low_s16(x.raw), vget_low_s16(w.raw));
  return hn::Add(sum, IntVec(vpaddq_s32(low, vmull_high_s16(x.raw, w.raw))));
#else
  const Ints di;
  const auto x32 = hn::BitCast(di, x), w32 = hn::BitCast(di, w);
  const auto lower = [](auto v) HWY_ATTR { return hn::ShiftRight<16>(hn::ShiftLeft<16>(v)); };
  sum = hn::Add(sum, hn::Mul(lower(x32), lower(w32)));
  return hn::Add(sum, hn::Mul(hn::ShiftRight<16>(x32), hn::ShiftRight<16>(w32)));
#endif
}

#if HWY_ARCH_X86
/// The sums of two neighbouring products of bytes, u unsigned and x signed, for each 16-bit lane. They saturate.
template <class VBytes>
HWY_INLINE auto PairsOfBytes(VBytes u, VBytes x) {
  using V16 = hn::Vec<hn::Repartition<std::int16_t, Ints>>;
#if HWY_TARGET == HWY_AVX3
  return V16{_mm512_maddubs_epi16(u.raw, x.raw)};
#elif HWY_TARGET == HWY_AVX2
  return V16{_mm256_maddubs_epi16(u.raw, x.raw)};
#else
  return V16{_mm_maddubs_epi16(u.raw, x.raw)};
#endif
}
#endif

/// Products of 16-bit pairs, which every processor has.
struct WidenedProducts {
  static constexpr const BlockKernels& blocks = kBlocksInPairs;
  using FewOfFourBits = NoFourBitProducts;
  /// Bytes from one rounded row to the next.
  static constexpr std::size_t row_bytes(std::size_t depth) { return depth; }
  static void begin(std::size_t) {}
  static void end() {}
  /// Converts a rounded row to the form that block() reads.
  static void prepare(std::int8_t*, std::size_t) {}
  /// The number of steps of Ahead in a block.
  static constexpr std::size_t steps(std::size_t rows, std::size_t deep) { return (rows + 1) / 2 * 2 * deep; }

  /// c [32, 32] = a [rows, deep * 64] times a panel; rows of a are a_stride bytes apart.
  static HWY_NOINLINE void block(const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b, std::size_t deep,
                                 std::size_t rows, const std::int32_t*, std::int32_t* HWY_RESTRICT c, Ahead& ahead) {
    for (std::size_t i = 0; i < rows; i += 2)
      for (std::size_t tile = 0; tile < 2; ++tile) {
        for (std::size_t l = 0; l < deep; ++l) ahead.step();
        two_rows(a + i * a_stride, i + 1 < rows ? a_stride : 0, b + tile * int8_tile_bytes, deep,
                 c + i * 32 + tile * 16);
      }
  }

 private:
  static HWY_INLINE void two_rows(const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b, std::size_t deep,
                                  std::int32_t* HWY_RESTRICT c) {
    const hn::ScalableTag<std::int16_t> d16;
    const hn::Rebind<std::int8_t, decltype(d16)> d8;
    const hn::ScalableTag<std::int64_t> d64;
    const Ints di;
    const std::size_t step = hn::Lanes(d16);
    for (std::size_t at = 0; at < 64; at += step) {  // bytes of a tile's row: step / 4 columns
      IntVec sum0 = hn::Zero(di), sum1 = hn::Zero(di);
      for (std::size_t l = 0; l < deep; ++l)
        for (std::size_t p = 0; p < 16; ++p) {
          const auto w = hn::PromoteTo(
              d16, hn::LoadU(d8, reinterpret_cast<const std::int8_t*>(b) + l * 2 * int8_tile_bytes + p * 64 + at));
          const auto x = [&](std::size_t row) HWY_ATTR {
            const std::int8_t* const q = a + row * a_stride + l * 64 + p * 4;
            const std::int64_t four = (std::int64_t{q[0]} & 0xffff) | (std::int64_t{q[1]} & 0xffff) << 16 |
                                      (std::int64_t{q[2]} & 0xffff) << 32 |
                                      std::int64_t{q[3]} * (std::int64_t{1} << 48);
            return hn::BitCast(d16, hn::Set(d64, four));
          };
          sum0 = AddPairs(sum0, x(0), w);
          sum1 = AddPairs(sum1, x(1), w);
        }
      store_pairs(sum0, c + at / 4);
      if (a_stride != 0) store_pairs(sum1, c + 32 + at / 4);
    }
  }
  // Two neighbouring sums belong to one column.
  static HWY_INLINE void store_pairs(IntVec sum, std::int32_t* c) {
    const Ints di;
    HWY_ALIGN std::int32_t lanes[hn::MaxLanes(Ints())];
    hn::Store(sum, di, lanes);
    for (std::size_t j = 0; 2 * j < hn::Lanes(di); ++j) c[j] = lanes[2 * j] + lanes[2 * j + 1];
  }
};

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3

/// Rows times a panel of 4 bits, without unpacking it to bytes: products of pairs of the stored n + 8 are added in 16
/// bits for a group of 32 values, and then multiplied by the group's multiplier. The correction for the eights, -8 A with A
/// the sum of the group's activations, is in the lower word of each lane. That word is then within 32 * 8 * 127 and fits.
struct FourBitPairs {
  static constexpr std::size_t most_rows = 32;
  static constexpr bool any_rows = true;

  /// to[2 l + g] = -8 A of group g of tile l, in the lower 16 bits.
  static void begin_groups(const std::int8_t* q, std::size_t deep, std::int32_t* to) {
    for (std::size_t g = 0; g < 2 * deep; ++g, q += int4_group) {
      std::int32_t sum = 0;
      for (std::size_t i = 0; i < int4_group; ++i) sum += q[i];
      to[g] = -8 * sum & 0xffff;
    }
  }

  /// c [32, 32] = rows of a times the panel; groups: the results of begin_groups for each row, 2 * deep apart.
  static void block(const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b, const std::uint8_t* multipliers,
                    std::size_t deep, std::size_t rows, const std::int32_t* groups, std::int32_t* c) {
    for (std::size_t i = 0; i < rows; i += 4, a += 4 * a_stride, groups += 8 * deep, c += 4 * 32) {
      const std::size_t n = smaller(rows - i, 4);
      if (n == 1) some_rows<1, 2>(a, a_stride, b, multipliers, deep, groups, c);
      if (n == 2) some_rows<2, 1>(a, a_stride, b, multipliers, deep, groups, c);
      if (n == 3) some_rows<3, 1>(a, a_stride, b, multipliers, deep, groups, c);
      if (n == 4) some_rows<4, 1>(a, a_stride, b, multipliers, deep, groups, c);
    }
  }

 private:
  static HWY_INLINE __m256i four(const std::int8_t* p) {
    std::int32_t values;
    std::memcpy(&values, p, sizeof(values));
    return _mm256_set1_epi32(values);
  }
  static HWY_INLINE __m256i added(__m256i sum, __m256i u, __m256i x) {
    sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(u, x));
    __asm__("" : "+x"(sum));  // otherwise GCC adds in a tree, and runs out of registers
    return sum;
  }
  /// Eight multipliers, each in both halves of 32 bits.
  static HWY_INLINE __m256i twice(const std::uint8_t* p) {
    const __m256i m = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    return _mm256_or_si256(m, _mm256_slli_epi32(m, 16));
  }

  /// kVecs vectors of a tile's two are multiplied at a time.
  template <std::size_t kRows, std::size_t kVecs>
  static HWY_NOINLINE void some_rows(const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b,
                                     const std::uint8_t* multipliers, std::size_t deep, const std::int32_t* groups,
                                     std::int32_t* HWY_RESTRICT c) {
    constexpr std::size_t tile_bytes = int8_tile_bytes / 2, ahead = 16 << 10;
    const __m256i half = _mm256_set1_epi8(15);
    __m256i total[kRows][4];
    for (std::size_t r = 0; r < kRows; ++r)
      for (std::size_t v = 0; v < 4; ++v) total[r][v] = _mm256_setzero_si256();
    for (std::size_t l = 0; l < deep; ++l, a += int8_tile_depth, groups += 2)
#pragma GCC unroll 2
      for (std::size_t t = 0; t < 2; ++t, b += tile_bytes, multipliers += 32)
#pragma GCC unroll 2
        for (std::size_t v0 = 0; v0 < 2; v0 += kVecs) {
          // Otherwise GCC keeps the activations of all passes in memory, each as a whole vector; with four rows that costs nothing.
          if constexpr (kRows < 4) __asm__("" : "+r"(a));
          __m256i low[kRows][kVecs], high[kRows][kVecs];
          for (std::size_t r = 0; r < kRows; ++r)
            for (std::size_t v = 0; v < kVecs; ++v) {
              low[r][v] = _mm256_set1_epi32(groups[r * 2 * deep]);
              high[r][v] = _mm256_set1_epi32(groups[r * 2 * deep + 1]);
            }
#pragma GCC unroll 8
          for (std::size_t p = 0; p < 8; ++p) {
            if (v0 == 0) __builtin_prefetch(b + ahead + p * 64, 0, 2);
#pragma GCC unroll 2
            for (std::size_t v = 0; v < kVecs; ++v) {
              const __m256i both = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + p * 64 + (v0 + v) * 32));
              const __m256i lower = _mm256_and_si256(both, half);
              const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(both, 4), half);
#pragma GCC unroll 4
              for (std::size_t r = 0; r < kRows; ++r) {
                low[r][v] = added(low[r][v], lower, four(a + r * a_stride + p * 4));
                high[r][v] = added(high[r][v], upper, four(a + r * a_stride + int4_group + p * 4));
              }
            }
          }
          for (std::size_t v = 0; v < kVecs; ++v) {
            const __m256i m0 = twice(multipliers + (v0 + v) * 8), m1 = twice(multipliers + 16 + (v0 + v) * 8);
            for (std::size_t r = 0; r < kRows; ++r) {
              __m256i& sum = total[r][t * 2 + v0 + v];
              sum = _mm256_add_epi32(
                  sum, _mm256_add_epi32(_mm256_madd_epi16(low[r][v], m0), _mm256_madd_epi16(high[r][v], m1)));
            }
          }
        }
    for (std::size_t r = 0; r < kRows; ++r)
      for (std::size_t v = 0; v < 4; ++v)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(c + r * 32 + v * 8), total[r][v]);
  }
};

#endif

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_INT8_INL_H_

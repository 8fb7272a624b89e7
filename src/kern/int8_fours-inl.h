// The product of a few rows with one panel on processors that multiply integers in fours in vectors of 32 bytes
// (AVX-VNNI, the form of AVX-512 VNNI for processors with AVX2 alone) or 16 bytes (ARM's dot product). Included once
// for each instruction set; empty for the others. AVX-512 has its own code in int8_avx512-inl.h.
#if defined(TRIL_KERN_INT8_FOURS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_INT8_FOURS_INL_H_
#undef TRIL_KERN_INT8_FOURS_INL_H_
#else
#define TRIL_KERN_INT8_FOURS_INL_H_
#endif

#include "hwy/highway.h"
#include "kern/int8-inl.h"

#if HWY_TARGET == HWY_AVX2 || TRIL_ARM_PRODUCTS
#if HWY_TARGET == HWY_AVX2
#include <immintrin.h>
HWY_PUSH_ATTRIBUTES("avx,avx2,fma,avxvnni")
#else
#include <arm_neon.h>
HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod")  // not an attribute of each function: see blocks_neon-inl.h
#endif

namespace tril::kern::HWY_NAMESPACE {

/// The processor's instruction: each 32-bit lane adds the products of four 8-bit values.
struct FourByFour {
#if HWY_TARGET == HWY_AVX2
  using Sums = __m256i;
  using Values = __m256i;
  [[gnu::always_inline]] static Values load(const std::uint8_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  /// Four values of a row in every lane.
  [[gnu::always_inline]] static Values four(const std::int8_t* p) {
    std::int32_t values;
    __builtin_memcpy(&values, p, sizeof values);
    return _mm256_set1_epi32(values);
  }
  /// x is unsigned: rows have 128 added, which the sums of the weights' rows correct.
  [[gnu::always_inline]] static Sums add(Sums sum, Values x, Values w) {
    return _mm256_dpbusd_avx_epi32(sum, x, w);
  }
  [[gnu::always_inline]] static Sums begin(const std::int32_t* row_sums) {
    return _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row_sums)));
  }
  [[gnu::always_inline]] static void store(Sums sum, std::int32_t* to) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sum);
  }
  static void prepare(std::int8_t* q, std::size_t depth) {
    const __m256i sign = _mm256_set1_epi8(-128);
    for (std::size_t i = 0; i < depth; i += 32) {
      auto* const at = reinterpret_cast<__m256i*>(q + i);
      _mm256_storeu_si256(at, _mm256_xor_si256(_mm256_loadu_si256(at), sign));
    }
  }
#else
  using Sums = int32x4_t;
  using Values = int8x16_t;
  [[gnu::always_inline]] static Values load(const std::uint8_t* p) {
    return vld1q_s8(reinterpret_cast<const std::int8_t*>(p));
  }
  [[gnu::always_inline]] static Values four(const std::int8_t* p) {
    std::int32_t values;
    __builtin_memcpy(&values, p, sizeof values);
    return vreinterpretq_s8_s32(vdupq_n_s32(values));
  }
  [[gnu::always_inline]] static Sums add(Sums sum, Values x, Values w) {
    return vdotq_s32(sum, x, w);
  }
  [[gnu::always_inline]] static Sums begin(const std::int32_t*) {
    return vdupq_n_s32(0);
  }
  [[gnu::always_inline]] static void store(Sums sum, std::int32_t* to) {
    vst1q_s32(to, sum);
  }
  static void prepare(std::int8_t*, std::size_t) {}
#endif
};

/// Up to three rows by 32 columns, or six rows by 16 at a time: 12 of the 16 registers of AVX2 hold sums, 24 of ARM's
/// 32.
struct FourProducts {
  static constexpr const BlockKernels& blocks = kBlocksInFours;
  using FewOfFourBits = NoFourBitProducts;
  static constexpr std::size_t row_bytes(std::size_t depth) { return depth; }
  static void begin(std::size_t) {}
  static void end() {}
  /// Converts a rounded row to the form that block() reads.
  static void prepare(std::int8_t* q, std::size_t depth) { FourByFour::prepare(q, depth); }

  static constexpr std::size_t steps(std::size_t rows, std::size_t deep) {
    std::size_t passes = 0;  // over the panel, or over half of it
    for (std::size_t n; rows > 0; rows -= n) n = even_part(rows, kMost), passes += n > kFew ? 2 : 1;
    return passes * deep;
  }

  static void block(const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b, std::size_t deep,
                    std::size_t rows, const std::int32_t* sums, std::int32_t* c, Ahead& ahead) {
    for (std::size_t i = 0, n; i < rows; i += n) {
      n = even_part(rows - i, kMost);
      rows_of<1>(n, a + i * a_stride, a_stride, b, deep, sums, c + i * 32, ahead);
    }
  }

 private:
  static constexpr std::size_t kFew = 3, kMost = 6;
  static constexpr std::size_t kLanes = sizeof(FourByFour::Sums) / sizeof(std::int32_t), kOfTile = 16 / kLanes;

  template <std::size_t kRows>
  static void rows_of(std::size_t rows, const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b,
                      std::size_t deep, const std::int32_t* sums, std::int32_t* c, Ahead& ahead) {
    if constexpr (kRows < kMost)
      if (rows > kRows) return rows_of<kRows + 1>(rows, a, a_stride, b, deep, sums, c, ahead);
    if constexpr (kRows <= kFew) {
      some_rows<kRows, 2>(a, a_stride, b, deep, sums, c, ahead);
    } else {
      some_rows<kRows, 1>(a, a_stride, b, deep, sums, c, ahead);
      some_rows<kRows, 1>(a, a_stride, b + int8_tile_bytes, deep, sums + 16, c + 16, ahead);
    }
  }

  template <std::size_t kRows, std::size_t kTiles>
  static void some_rows(const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b, std::size_t deep,
                        const std::int32_t* sums, std::int32_t* c, Ahead& to_come) {
    constexpr std::size_t kVecs = kTiles * kOfTile, kBytes = 64 / kOfTile;
    Ahead ahead = to_come;
    FourByFour::Sums sum[kRows][kVecs];
#pragma GCC unroll 8
    for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 8
      for (std::size_t v = 0; v < kVecs; ++v) sum[r][v] = FourByFour::begin(sums + v * kLanes);
    for (std::size_t l = 0; l < deep; ++l, a += 64, b += 2 * int8_tile_bytes) {
      ahead.step();
      for (std::size_t p = 0; p < 16; ++p) {
        FourByFour::Values x[kRows];
#pragma GCC unroll 8
        for (std::size_t r = 0; r < kRows; ++r) x[r] = FourByFour::four(a + r * a_stride + p * 4);
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kVecs; ++v) {
          const auto w = FourByFour::load(b + v / kOfTile * int8_tile_bytes + p * 64 + v % kOfTile * kBytes);
#pragma GCC unroll 8
          for (std::size_t r = 0; r < kRows; ++r) sum[r][v] = FourByFour::add(sum[r][v], x[r], w);
        }
      }
    }
    to_come = ahead;
#pragma GCC unroll 8
    for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 8
      for (std::size_t v = 0; v < kVecs; ++v) FourByFour::store(sum[r][v], c + r * 32 + v * kLanes);
  }
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_POP_ATTRIBUTES
#endif

#endif  // TRIL_KERN_INT8_FOURS_INL_H_

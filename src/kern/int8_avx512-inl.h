// The product of a few rows with one panel of integers on processors that multiply them in fours: vectors (AVX-512 VNNI)
// and tiles (AMX). Included once for each instruction set, and empty but for AVX-512.
#if defined(TRIL_KERN_INT8_AVX512_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_INT8_AVX512_INL_H_
#undef TRIL_KERN_INT8_AVX512_INL_H_
#else
#define TRIL_KERN_INT8_AVX512_INL_H_
#endif

#include "hwy/highway.h"
#include "kern/int8-inl.h"

#if HWY_TARGET == HWY_AVX3
#include <immintrin.h>

#define TRIL_VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#define TRIL_AMX_INT8 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,amx-tile,amx-int8")))

namespace tril::kern::N_AVX3 {

/// Few rows times a panel of 4 bits as it lies in memory. The instruction takes n + 8 as it is stored, without a sign, and a
/// group's sum begins with what these eights add to it. Then it is within 32 * 8 * 127, so 16 bits hold it, and the product
/// with the group's multiplier adds to the total at once.
struct FourBitProducts {
  static constexpr std::size_t most_rows = 4;

  /// to[2 l + g] = -8 times the sum of the row's values of group g of tile l.
  TRIL_VNNI static void begin_groups(const std::int8_t* q, std::size_t deep, std::int32_t* to) {
    const __m512i eights = _mm512_set1_epi8(8);
    for (std::size_t l = 0; l < deep; ++l) {
      const __m512i sums = _mm512_dpbusd_epi32(_mm512_setzero_si512(), eights, _mm512_loadu_si512(q + l * 64));
      to[2 * l] = -_mm512_mask_reduce_add_epi32(0x00ff, sums);
      to[2 * l + 1] = -_mm512_mask_reduce_add_epi32(0xff00, sums);
    }
  }

  /// c [32, 32] = rows of a times the panel; groups: begin_groups' of each row, 2 * deep apart.
  TRIL_VNNI static void block(const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b,
                              const std::uint8_t* multipliers, std::size_t deep, std::size_t rows,
                              const std::int32_t* groups, std::int32_t* c) {
    switch (rows) {
      case 1:
        return some_rows<1>(a, a_stride, b, multipliers, deep, groups, c);
      case 2:
        return some_rows<2>(a, a_stride, b, multipliers, deep, groups, c);
      case 3:
        return some_rows<3>(a, a_stride, b, multipliers, deep, groups, c);
      default:
        return some_rows<4>(a, a_stride, b, multipliers, deep, groups, c);
    }
  }

 private:
  template <std::size_t kRows>
  TRIL_VNNI static void some_rows(const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b,
                                  const std::uint8_t* multipliers, std::size_t deep, const std::int32_t* groups,
                                  std::int32_t* c) {
    constexpr std::size_t tile_bytes = int8_tile_bytes / 2, ahead = 16 << 10;
    const __m512i low_half = _mm512_set1_epi8(0x0f);
    __m512i total[kRows][2];
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kRows; ++i) total[i][0] = total[i][1] = _mm512_setzero_si512();
    for (std::size_t l = 0; l < deep; ++l, a += 64, groups += 2)
#pragma GCC unroll 2
      for (std::size_t t = 0; t < 2; ++t, b += tile_bytes, multipliers += 32) {
        __m512i low[kRows], high[kRows];  // sums of the groups; the upper halves count 16 times
#pragma GCC unroll 4
        for (std::size_t i = 0; i < kRows; ++i) {
          low[i] = _mm512_set1_epi32(groups[i * 2 * deep]);
          high[i] = _mm512_set1_epi32(groups[i * 2 * deep + 1] * 16);
        }
#pragma GCC unroll 8
        for (std::size_t p = 0; p < 8; ++p) {
          if (p % 4 == 0) __builtin_prefetch(b + ahead + p * 64, 0, 2);
          const __m512i both = _mm512_loadu_si512(b + p * 64);
          const __m512i lower = _mm512_and_si512(both, low_half), upper = _mm512_andnot_si512(low_half, both);
#pragma GCC unroll 4
          for (std::size_t i = 0; i < kRows; ++i) {
            low[i] = _mm512_dpbusd_epi32(low[i], lower, four(a + i * a_stride + p * 4));
            high[i] = _mm512_dpbusd_epi32(high[i], upper, four(a + i * a_stride + 32 + p * 4));
          }
        }
        const auto multiplier = [&](std::size_t g) __attribute__((target("avx512f,avx512vnni"))) {
          return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(multipliers + 16 * g)));
        };
        const __m512i m0 = multiplier(0), m1 = multiplier(1);
#pragma GCC unroll 4
        for (std::size_t i = 0; i < kRows; ++i) {
          total[i][t] = _mm512_dpwssd_epi32(total[i][t], low[i], m0);
          total[i][t] = _mm512_dpwssd_epi32(total[i][t], _mm512_srai_epi32(high[i], 4), m1);
        }
      }
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kRows; ++i) {
      _mm512_storeu_si512(c + i * 32, total[i][0]);
      _mm512_storeu_si512(c + i * 32 + 16, total[i][1]);
    }
  }

  TRIL_VNNI static __m512i four(const std::int8_t* p) {
    std::int32_t values;
    __builtin_memcpy(&values, p, sizeof values);
    return _mm512_set1_epi32(values);
  }
};

/// Products of fours in vectors. The instruction takes its left operand without a sign: rows come with 128 added, which
/// the sums of the weights' rows take off again.
struct FourProducts {
  using FewOfFourBits = FourBitProducts;
  static void begin(std::size_t) {}
  static void end() {}

  /// A rounded row as block() reads it.
  TRIL_VNNI static void prepare(std::int8_t* q, std::size_t depth) {
    const __m512i sign = _mm512_set1_epi8(-128);
    for (std::size_t i = 0; i < depth; i += 64)
      _mm512_storeu_si512(q + i, _mm512_xor_si512(_mm512_loadu_si512(q + i), sign));
  }

  static constexpr std::size_t steps(std::size_t rows, std::size_t deep) {
    return (rows / 8 + rows % 8 / 4 + rows % 4) * deep;
  }
  TRIL_VNNI static void block(const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b, std::size_t deep,
                              std::size_t rows, const std::int32_t* sums, std::int32_t* c, Ahead& ahead) {
    std::size_t i = 0;
    for (; i + 8 <= rows; i += 8) some_rows<8>(a + i * a_stride, a_stride, b, deep, sums, c + i * 32, ahead);
    for (; i + 4 <= rows; i += 4) some_rows<4>(a + i * a_stride, a_stride, b, deep, sums, c + i * 32, ahead);
    for (; i < rows; ++i) some_rows<1>(a + i * a_stride, a_stride, b, deep, sums, c + i * 32, ahead);
  }

 private:
  template <std::size_t kRows>
  TRIL_VNNI static void some_rows(const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b, std::size_t deep,
                                  const std::int32_t* sums, std::int32_t* c, Ahead& to_come) {
    Ahead ahead = to_come;
    __m512i sum[kRows][2];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kRows; ++i)
      for (std::size_t v = 0; v < 2; ++v)
        sum[i][v] = _mm512_sub_epi32(_mm512_setzero_si512(), _mm512_loadu_si512(sums + v * 16));
    for (std::size_t l = 0; l < deep; ++l, a += 64, b += 2 * int8_tile_bytes) {
      ahead.step();
      for (std::size_t p = 0; p < 16; ++p) {
        const __m512i left = _mm512_loadu_si512(b + p * 64), right = _mm512_loadu_si512(b + int8_tile_bytes + p * 64);
#pragma GCC unroll 8
        for (std::size_t i = 0; i < kRows; ++i) {
          std::int32_t four;
          __builtin_memcpy(&four, a + i * a_stride + p * 4, sizeof four);
          const __m512i x = _mm512_set1_epi32(four);
          sum[i][0] = _mm512_dpbusd_epi32(sum[i][0], x, left);
          sum[i][1] = _mm512_dpbusd_epi32(sum[i][1], x, right);
        }
      }
    }
    to_come = ahead;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kRows; ++i) {
      _mm512_storeu_si512(c + i * 32, sum[i][0]);
      _mm512_storeu_si512(c + i * 32 + 16, sum[i][1]);
    }
  }
};

/// Products of tiles. Tiles 0-3 sum, 4 and 5 are of A, 6 and 7 of B.
struct FourTiles {
  using FewOfFourBits = FourBitProducts;
  /// A product of up to 16 rows works on no more than it has.
  TRIL_AMX_INT8 static void begin(std::size_t rows) {
    struct alignas(64) Config {
      std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
      std::uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } config;
    if (rows < 16) config.rows[0] = config.rows[1] = config.rows[4] = static_cast<std::uint8_t>(rows);
    __asm__ volatile("" : : "r"(&config) : "memory");  // the intrinsic names only its first bytes to the compiler
    _tile_loadconfig(&config);
  }
  TRIL_AMX_INT8 static void end() { _tile_release(); }
  static void prepare(std::int8_t*, std::size_t) {}

  static constexpr std::size_t steps(std::size_t, std::size_t deep) { return deep; }
  TRIL_AMX_INT8 static void block(const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b, std::size_t deep,
                                  std::size_t rows, const std::int32_t*, std::int32_t* c, Ahead& ahead) {
    constexpr int stride = 32 * sizeof(std::int32_t);
    _tile_zero(0);
    _tile_zero(1);
    if (rows <= 16) {
      for (std::size_t l = 0; l < deep; ++l, a += 64, b += 2 * int8_tile_bytes) {
        ahead.step();
        _tile_loadd(4, a, a_stride);
        _tile_loadd(6, b, 64);
        _tile_loadd(7, b + int8_tile_bytes, 64);
        _tile_dpbssd(0, 4, 6);
        _tile_dpbssd(1, 4, 7);
      }
      _tile_stored(0, c, stride);
      _tile_stored(1, c + 16, stride);
      return;
    }
    const std::int8_t* below = a + 16 * a_stride;
    _tile_zero(2);
    _tile_zero(3);
    for (std::size_t l = 0; l < deep; ++l, a += 64, below += 64, b += 2 * int8_tile_bytes) {
      ahead.step();
      _tile_loadd(4, a, a_stride);
      _tile_loadd(6, b, 64);
      _tile_loadd(5, below, a_stride);
      _tile_loadd(7, b + int8_tile_bytes, 64);
      _tile_dpbssd(0, 4, 6);
      _tile_dpbssd(2, 5, 6);
      _tile_dpbssd(1, 4, 7);
      _tile_dpbssd(3, 5, 7);
    }
    _tile_stored(0, c, stride);
    _tile_stored(1, c + 16, stride);
    _tile_stored(2, c + 16 * 32, stride);
    _tile_stored(3, c + 16 * 32 + 16, stride);
  }
};

}  // namespace tril::kern::N_AVX3
#undef TRIL_VNNI
#undef TRIL_AMX_INT8
#endif

#endif  // TRIL_KERN_INT8_AVX512_INL_H_

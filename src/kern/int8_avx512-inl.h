// The product of a few rows with one panel on processors that multiply integers in fours: vectors (AVX-512 VNNI) and
// tiles (AMX). Included once for each instruction set; empty except for AVX-512.
#if defined(TRIL_KERN_INT8_AVX512_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_INT8_AVX512_INL_H_
#undef TRIL_KERN_INT8_AVX512_INL_H_
#else
#define TRIL_KERN_INT8_AVX512_INL_H_
#endif

#include "hwy/highway.h"
#include "kern/amx_tiles-inl.h"
#include "kern/int8-inl.h"

#if HWY_TARGET == HWY_AVX3
#include <immintrin.h>

#define TRIL_VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#define TRIL_AMX_INT8 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,amx-tile,amx-int8")))

namespace tril::kern::N_AVX3 {

/// Up to kMost rows times a panel of 4 bits, without unpacking. The instruction takes n + 8 as stored, unsigned,
/// and a group's sum starts with the correction for these eights. The sum is then within 32 * 8 * 127, fits 16
/// bits, and its product with the group's multiplier is added to the total at once.
template <std::size_t kMost>
struct FourBitProducts {
  static constexpr std::size_t most_rows = kMost;
  static constexpr bool any_rows = false;

  /// to[2 l + g] = -8 times the sum of the row's values of group g of tile l.
  TRIL_VNNI static void begin_groups(const std::int8_t* q, std::size_t deep, std::int32_t* to) {
    const __m512i eights = _mm512_set1_epi8(8);
    for (std::size_t l = 0; l < deep; ++l) {
      const __m512i sums = _mm512_dpbusd_epi32(_mm512_setzero_si512(), eights, _mm512_loadu_si512(q + l * 64));
      to[2 * l] = -_mm512_mask_reduce_add_epi32(0x00ff, sums);
      to[2 * l + 1] = -_mm512_mask_reduce_add_epi32(0xff00, sums);
    }
  }

  /// c [32, 32] = rows of a times the panel; groups: the results of begin_groups for each row, 2 * deep apart.
  TRIL_VNNI static void block(const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b,
                              const std::uint8_t* multipliers, std::size_t deep, std::size_t rows,
                              const std::int32_t* groups, std::int32_t* c) {
    rows_of<1>(rows, a, a_stride, b, multipliers, deep, groups, c);
  }

 private:
  template <std::size_t kRows>
  TRIL_VNNI static void rows_of(std::size_t rows, const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b,
                                const std::uint8_t* multipliers, std::size_t deep, const std::int32_t* groups,
                                std::int32_t* c) {
    if constexpr (kRows < kMost)
      if (rows > kRows) return rows_of<kRows + 1>(rows, a, a_stride, b, multipliers, deep, groups, c);
    some_rows<kRows>(a, a_stride, b, multipliers, deep, groups, c);
  }

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
        __m512i low[kRows], high[kRows];  // sums of the groups; the upper halves are scaled by 16
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

/// As in UnpackInt4, 16 bits hold two 4-bit values and are multiplied at once. Values in the upper halves of bytes
/// are multiplied by 4096 m, and the upper 16 bits of the product are kept.
struct Multipliers {
  __m512i lower, upper, lower_eights, upper_eights;

  [[gnu::always_inline]] TRIL_VNNI explicit Multipliers(const std::uint8_t* m) {
    const auto twice = [](const std::uint8_t* of) __attribute__((target("avx512f,avx512bw"), always_inline)) {
      const __m512i wide = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(of)));
      return _mm512_or_si512(wide, _mm512_slli_epi32(wide, 16));
    };
    const __m512i eights = _mm512_set1_epi16(0x0808), second = twice(m + 16);
    lower = twice(m);
    upper = _mm512_slli_epi16(second, 12);
    lower_eights = _mm512_mullo_epi16(lower, eights);
    upper_eights = _mm512_mullo_epi16(second, eights);
  }
  [[gnu::always_inline]] TRIL_VNNI __m512i of_lower(__m512i both, __m512i mask) const {
    return _mm512_sub_epi8(_mm512_mullo_epi16(_mm512_and_si512(both, mask), lower), lower_eights);
  }
  [[gnu::always_inline]] TRIL_VNNI __m512i of_upper(__m512i both, __m512i mask) const {
    return _mm512_sub_epi8(_mm512_mulhi_epu16(_mm512_andnot_si512(mask, both), upper), upper_eights);
  }
};

/// Two tiles of a panel of 4 bits, to be unpacked to 8.
struct PairOfInt4 {
  const std::uint8_t* from;
  std::uint8_t* to;
  Multipliers left, right;

  /// Tiles 2 l and 2 l + 1.
  [[gnu::always_inline]] TRIL_VNNI PairOfInt4(const std::uint8_t* values, const std::uint8_t* multipliers,
                                              std::uint8_t* unpacked, std::size_t l)
      : from(values + l * int8_tile_bytes),
        to(unpacked + l * 2 * int8_tile_bytes),
        left(multipliers + l * 64),
        right(multipliers + l * 64 + 32) {}

  struct Lines {
    __m512i left_low, right_low, left_high, right_high;
  };
  /// Unpacks lines p and p + 8 of both, p < 8, and prefetches what follows.
  [[gnu::always_inline]] TRIL_VNNI Lines unpack(std::size_t p) const {
    constexpr std::size_t tile_bytes = int8_tile_bytes / 2, ahead = 16 << 10;
    const std::uint8_t* const at = from + p * 64;
    __builtin_prefetch(at + ahead, 0, 2);
    __builtin_prefetch(at + tile_bytes + ahead, 0, 2);
    const __m512i mask = _mm512_set1_epi8(0x0f);
    const __m512i left_both = _mm512_loadu_si512(at), right_both = _mm512_loadu_si512(at + tile_bytes);
    const Lines lines{left.of_lower(left_both, mask), right.of_lower(right_both, mask), left.of_upper(left_both, mask),
                      right.of_upper(right_both, mask)};
    std::uint8_t* const line = to + p * 64;
    _mm512_storeu_si512(line, lines.left_low);
    _mm512_storeu_si512(line + int8_tile_bytes, lines.right_low);
    _mm512_storeu_si512(line + 8 * 64, lines.left_high);
    _mm512_storeu_si512(line + int8_tile_bytes + 8 * 64, lines.right_high);
    return lines;
  }
};

/// Products of fours in vectors, for up to 8 rows at a time. The instruction takes its left operand unsigned: rows
/// have 128 added, which the sums of the weights' rows correct.
struct FourProducts {
  static constexpr const BlockKernels& blocks = kBlocksInFours;
  using FewOfFourBits = FourBitProducts<2>;
  static constexpr std::size_t row_bytes(std::size_t depth) { return depth; }
  static void begin(std::size_t) {}
  static void end() {}

  /// Converts a rounded row to the form that block() reads.
  TRIL_VNNI static void prepare(std::int8_t* q, std::size_t depth) {
    const __m512i sign = _mm512_set1_epi8(-128);
    for (std::size_t i = 0; i < depth; i += 64)
      _mm512_storeu_si512(q + i, _mm512_xor_si512(_mm512_loadu_si512(q + i), sign));
  }

  static constexpr std::size_t steps(std::size_t rows, std::size_t deep) { return (rows + 7) / 8 * deep; }
  TRIL_VNNI static void block(const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b, std::size_t deep,
                              std::size_t rows, const std::int32_t* sums, std::int32_t* c, Ahead& ahead) {
    for (std::size_t i = 0, n; i < rows; i += n) {
      n = even_part(rows - i, kMost);
      rows_of<1>(n, EightBits{b, &ahead}, a + i * a_stride, a_stride, deep, sums, c + i * 32);
    }
  }

  /// The same for a panel of 4 bits. The first rows unpack it along with their products and prefetch what follows
  /// the panel, so that the other rows need not.
  TRIL_VNNI static void unpacking_block(const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b,
                                        const std::uint8_t* multipliers, std::uint8_t* unpacked, std::size_t deep,
                                        std::size_t rows, const std::int32_t* sums, std::int32_t* c) {
    const std::size_t n = even_part(rows, kMost);
    rows_of<1>(n, FourBits{b, multipliers, unpacked}, a, a_stride, deep, sums, c);
    Ahead nothing;
    block(a + n * a_stride, a_stride, unpacked, deep, rows - n, sums, c + n * 32, nothing);
  }

 private:
  struct EightBits {
    const std::uint8_t* values;
    Ahead* ahead;
  };
  struct FourBits {
    const std::uint8_t *values, *multipliers;
    std::uint8_t* unpacked;
  };

  /// Products of so few rows are bound by memory, which a Zen 4 reads fastest in the order of addresses: one tile after the other.
  static constexpr std::size_t most_from_memory = 4;

  static constexpr std::size_t kMost = 8;  // rows at a time

  template <std::size_t kRows, class Panel>
  TRIL_VNNI static void rows_of(std::size_t rows, Panel panel, const std::int8_t* a, std::size_t a_stride,
                                std::size_t deep, const std::int32_t* sums, std::int32_t* c) {
    if constexpr (kRows < kMost)
      if (rows > kRows) return rows_of<kRows + 1>(rows, panel, a, a_stride, deep, sums, c);
    some_rows<kRows>(panel, a, a_stride, deep, sums, c);
  }

  template <std::size_t kRows>
  struct Sums {
    __m512i of[kRows][2];

    TRIL_VNNI explicit Sums(const std::int32_t* sums) {
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kRows; ++i)
        for (std::size_t v = 0; v < 2; ++v)
          of[i][v] = _mm512_sub_epi32(_mm512_setzero_si512(), _mm512_loadu_si512(sums + v * 16));
    }
    /// Adds the products of four values of each row and those of the panel's two tiles.
    [[gnu::always_inline]] TRIL_VNNI void add(const std::int8_t* a, std::size_t a_stride, __m512i left, __m512i right) {
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kRows; ++i) {
        std::int32_t four;
        __builtin_memcpy(&four, a + i * a_stride, sizeof four);
        const __m512i x = _mm512_set1_epi32(four);
        of[i][0] = _mm512_dpbusd_epi32(of[i][0], x, left);
        of[i][1] = _mm512_dpbusd_epi32(of[i][1], x, right);
      }
    }
    /// The same for tile t alone.
    [[gnu::always_inline]] TRIL_VNNI void add(std::size_t t, const std::int8_t* a, std::size_t a_stride, __m512i w) {
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kRows; ++i) {
        std::int32_t four;
        __builtin_memcpy(&four, a + i * a_stride, sizeof four);
        of[i][t] = _mm512_dpbusd_epi32(of[i][t], _mm512_set1_epi32(four), w);
      }
    }
    TRIL_VNNI void store(std::int32_t* c) const {
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kRows; ++i) {
        _mm512_storeu_si512(c + i * 32, of[i][0]);
        _mm512_storeu_si512(c + i * 32 + 16, of[i][1]);
      }
    }
  };

  template <std::size_t kRows>
  TRIL_VNNI static void some_rows(EightBits panel, const std::int8_t* a, std::size_t a_stride, std::size_t deep,
                                  const std::int32_t* sums, std::int32_t* c) {
    Ahead ahead = *panel.ahead;
    Sums<kRows> sum(sums);
    const std::uint8_t* b = panel.values;
    for (std::size_t l = 0; l < deep; ++l, a += 64, b += 2 * int8_tile_bytes) {
      ahead.step();
      if constexpr (kRows <= most_from_memory) {
        for (std::size_t t = 0; t < 2; ++t) {
          // Hidden from GCC, which otherwise keeps the activations for the second tile, and runs out of registers.
          const std::int8_t* of_tile = a;
          __asm__("" : "+r"(of_tile));
#pragma GCC unroll 16
          for (std::size_t p = 0; p < 16; ++p)
            sum.add(t, of_tile + p * 4, a_stride, _mm512_loadu_si512(b + t * int8_tile_bytes + p * 64));
        }
      } else {
        for (std::size_t p = 0; p < 16; ++p)
          sum.add(a + p * 4, a_stride, _mm512_loadu_si512(b + p * 64),
                  _mm512_loadu_si512(b + int8_tile_bytes + p * 64));
      }
    }
    *panel.ahead = ahead;
    sum.store(c);
  }

  template <std::size_t kRows>
  TRIL_VNNI static void some_rows(FourBits panel, const std::int8_t* a, std::size_t a_stride, std::size_t deep,
                                  const std::int32_t* sums, std::int32_t* c) {
    Sums<kRows> sum(sums);
    for (std::size_t l = 0; l < deep; ++l, a += 64) {
      const PairOfInt4 pair(panel.values, panel.multipliers, panel.unpacked, l);
      for (std::size_t p = 0; p < 8; ++p) {
        const PairOfInt4::Lines lines = pair.unpack(p);
        sum.add(a + p * 4, a_stride, lines.left_low, lines.right_low);
        sum.add(a + 32 + p * 4, a_stride, lines.left_high, lines.right_high);
      }
    }
    sum.store(c);
  }
};

/// Products of tiles. Tiles 0-3 hold sums, 4 and 5 parts of A, 6 and 7 parts of B.
struct FourTiles {
  static constexpr const BlockKernels& blocks = kBlocksInTiles;
  using FewOfFourBits = FourBitProducts<4>;
  /// A product of up to 16 rows uses tile shapes of that many rows.
  static constexpr std::size_t row_bytes(std::size_t depth) { return depth; }
  static void begin(std::size_t rows) { TileShapes::of_product(rows).load(); }
  TRIL_AMX_INT8 static void end() { _tile_release(); }
  static void prepare(std::int8_t*, std::size_t) {}

  static constexpr std::size_t steps(std::size_t, std::size_t deep) { return deep; }
  TRIL_AMX_INT8 static void block(const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b, std::size_t deep,
                                  std::size_t rows, const std::int32_t*, std::int32_t* c, Ahead& ahead) {
    rows > 16 ? product<true>(EightBits{b, &ahead}, a, a_stride, deep, c)
              : product<false>(EightBits{b, &ahead}, a, a_stride, deep, c);
  }

  /// The same for a panel of 4 bits, which is unpacked meanwhile: the processor multiplies, unpacks and reads memory at
  /// the same time.
  TRIL_AMX_INT8 static void unpacking_block(const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b,
                                            const std::uint8_t* multipliers, std::uint8_t* unpacked, std::size_t deep,
                                            std::size_t rows, const std::int32_t*, std::int32_t* c) {
    rows > 16 ? product<true>(FourBits{b, multipliers, unpacked, deep}, a, a_stride, deep, c)
              : product<false>(FourBits{b, multipliers, unpacked, deep}, a, a_stride, deep, c);
  }

 private:
  struct EightBits {
    const std::uint8_t* values;
    Ahead* ahead;

    [[gnu::always_inline]] void begin() const {}
    /// Before the products of pair l.
    [[gnu::always_inline]] void step(std::size_t) const { ahead->step(); }
  };
  struct FourBits {
    const std::uint8_t *packed, *multipliers;
    std::uint8_t* values;
    std::size_t deep;

    [[gnu::always_inline]] TRIL_AMX_INT8 void begin() const {
      if (deep > 0) unpack(0);
    }
    // A pair's tiles are loaded when the stores of the next one have begun: its own have then reached the cache.
    [[gnu::always_inline]] TRIL_AMX_INT8 void step(std::size_t l) const {
      if (l + 1 < deep) unpack(l + 1);
    }
    [[gnu::always_inline]] TRIL_AMX_INT8 void unpack(std::size_t l) const {
      const PairOfInt4 pair(packed, multipliers, values, l);
#pragma GCC unroll 8
      for (std::size_t p = 0; p < 8; ++p) pair.unpack(p);
    }
  };

  /// c = a times a panel. kBelow: for more than 16 rows.
  template <bool kBelow, class Panel>
  TRIL_AMX_INT8 static void product(const Panel& panel, const std::int8_t* a, std::size_t a_stride, std::size_t deep,
                                    std::int32_t* c) {
    constexpr int stride = 32 * sizeof(std::int32_t);
    const std::int8_t* below = a + 16 * a_stride;
    _tile_zero(0);
    _tile_zero(1);
    if constexpr (kBelow) {
      _tile_zero(2);
      _tile_zero(3);
    }
    panel.begin();
    const std::uint8_t* b = panel.values;
    for (std::size_t l = 0; l < deep; ++l, a += 64, below += 64, b += 2 * int8_tile_bytes) {
      panel.step(l);
      _tile_loadd(4, a, a_stride);
      _tile_loadd(6, b, 64);
      _tile_loadd(7, b + int8_tile_bytes, 64);
      _tile_dpbssd(0, 4, 6);
      _tile_dpbssd(1, 4, 7);
      if constexpr (kBelow) {
        _tile_loadd(5, below, a_stride);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
      }
    }
    _tile_stored(0, c, stride);
    _tile_stored(1, c + 16, stride);
    if constexpr (kBelow) {
      _tile_stored(2, c + 16 * 32, stride);
      _tile_stored(3, c + 16 * 32 + 16, stride);
    }
  }
};

}  // namespace tril::kern::N_AVX3
#undef TRIL_VNNI
#undef TRIL_AMX_INT8
#endif

#endif  // TRIL_KERN_INT8_AVX512_INL_H_

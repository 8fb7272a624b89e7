// The product of two packed blocks on processors with bfloat16 products: pairs in vectors (AVX-512 BF16) or tiles
// (AMX). Included once for each instruction set; empty except for AVX-512.
#if defined(TRIL_KERN_BF16_AVX512_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_BF16_AVX512_INL_H_
#undef TRIL_KERN_BF16_AVX512_INL_H_
#else
#define TRIL_KERN_BF16_AVX512_INL_H_
#endif

#include "hwy/highway.h"
#include "kern/amx_tiles-inl.h"
#include "kern/bf16-inl.h"
#include "kern/compact_bf16-inl.h"

#if HWY_TARGET == HWY_AVX3
#include <immintrin.h>

// Highway's AVX3 target does not allow these instructions, so functions that use them declare their own target.
#define TRIL_BF16 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))
#define TRIL_AMX __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,amx-tile,amx-bf16")))

namespace tril::kern::N_AVX3 {

/// Packing with the processor's rounding; products of pairs.
struct PairProducts {
  static void begin(std::size_t = 0) {}
  static void end() {}

  TRIL_BF16 static void pack_row(const float* x, std::size_t k, std::size_t depth, std::uint16_t* to) {
    std::size_t l = 0;
    for (; l < k / 32; ++l)
      _mm512_storeu_si512(to + l * tile_values, words(_mm512_loadu_ps(x + l * 32), _mm512_loadu_ps(x + l * 32 + 16)));
    if (k % 32) {
      const std::uint32_t mask = (1u << k % 32) - 1;
      _mm512_storeu_si512(to + l * tile_values,
                          words(_mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), x + l * 32),
                                _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> 16), x + l * 32 + 16)));
      ++l;
    }
    for (; l < depth; ++l) _mm512_storeu_si512(to + l * tile_values, _mm512_setzero_si512());
  }

  /// One tile of a left operand: rows <= 16 rows of k <= 32 values, padded with zeros.
  TRIL_BF16 static void pack_tile(const float* x, std::size_t stride, std::size_t rows, std::size_t k,
                                  std::uint16_t* tile) {
    std::size_t i = 0;
    if (k == 32) {
      for (; i < rows; ++i, x += stride)
        _mm512_storeu_si512(tile + i * 32, words(_mm512_loadu_ps(x), _mm512_loadu_ps(x + 16)));
    } else {
      const std::uint32_t mask = (1u << k) - 1;
      for (; i < rows; ++i, x += stride)
        _mm512_storeu_si512(tile + i * 32, words(_mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), x),
                                                 _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> 16), x + 16)));
    }
    for (; i < 16; ++i) _mm512_storeu_si512(tile + i * 32, _mm512_setzero_si512());
  }

  TRIL_BF16 static void pack_pairs(const float* x, std::size_t stride, std::size_t k, std::size_t n,
                                   std::uint16_t* tile) {
    const auto columns = static_cast<__mmask16>((1u << n) - 1);
    // From two consecutive rows of 32 halves, each word takes one half of the first and one of the second.
    const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                                           21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    for (std::size_t p = 0; p < 16; ++p) {
      const __m512 low = 2 * p < k ? _mm512_maskz_loadu_ps(columns, x + 2 * p * stride) : _mm512_setzero_ps();
      const __m512 high =
          2 * p + 1 < k ? _mm512_maskz_loadu_ps(columns, x + (2 * p + 1) * stride) : _mm512_setzero_ps();
      _mm512_storeu_si512(tile + p * 32, _mm512_permutexvar_epi16(order, words(low, high)));
    }
  }

  TRIL_BF16 static void transpose_tile(std::uint16_t* tile) {
    // The columns of 4 x 4 blocks are gathered while reading: rows i, i + 4, i + 8, i + 12 of one block column.
    auto* const t = reinterpret_cast<std::uint32_t*>(tile);
    __m512i column[4][4];
    for (int c = 0; c < 4; ++c)
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t* from = t + i * 16 + c * 4;
        __m512i v = _mm512_castsi128_si512(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
        v = _mm512_mask_broadcast_i32x4(v, 0x00f0, _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 64)));
        v = _mm512_mask_broadcast_i32x4(v, 0x0f00, _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 128)));
        v = _mm512_mask_broadcast_i32x4(v, 0xf000, _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 192)));
        column[c][i] = v;
      }
    for (int c = 0; c < 4; ++c) {
      const __m512i ab = _mm512_unpacklo_epi32(column[c][0], column[c][1]),
                    ab2 = _mm512_unpackhi_epi32(column[c][0], column[c][1]);
      const __m512i cd = _mm512_unpacklo_epi32(column[c][2], column[c][3]),
                    cd2 = _mm512_unpackhi_epi32(column[c][2], column[c][3]);
      _mm512_storeu_si512(t + (c * 4 + 0) * 16, _mm512_unpacklo_epi64(ab, cd));
      _mm512_storeu_si512(t + (c * 4 + 1) * 16, _mm512_unpackhi_epi64(ab, cd));
      _mm512_storeu_si512(t + (c * 4 + 2) * 16, _mm512_unpacklo_epi64(ab2, cd2));
      _mm512_storeu_si512(t + (c * 4 + 3) * 16, _mm512_unpackhi_epi64(ab2, cd2));
    }
  }

  TRIL_BF16 static void block(const std::uint16_t* a, std::size_t row_tiles, const std::uint16_t* b, std::size_t depth,
                              std::size_t rows, const Sums& c) {
    if (rows == 1)
      some<1, Reads::in_order>(a, b, depth, c);
    else if (rows == 2)
      some<2, Reads::in_order>(a, b, depth, c);
    else if (rows <= kFewRows)
      some<kFewRows, Reads::in_order>(a, b, depth, c);
    else
      some<8, Reads::ahead>(a, b, depth, c);
    for (std::size_t i = 8; i < rows; i += 8)
      some<8, Reads::cached>(a + i / 16 * row_tiles * tile_values + i % 16 * 32, b, depth, c.down(i));
  }

  /// At most 32 rows by a compact panel, which every eight rows unpack in registers.
  TRIL_BF16 static void multiply_compact(const RowTiles& a, const CompactPanel& b, const Sums& c) {
    for (std::size_t i = 0; i < a.rows; i += 8) {
      const std::uint16_t* const tiles = a.tiles + i / 16 * a.next * tile_values + i % 16 * 32;
      const std::size_t rows = a.rows - i;
      if (rows == 1)
        some_compact<1>(tiles, b, c.down(i));
      else if (rows == 2)
        some_compact<2>(tiles, b, c.down(i));
      else if (rows <= kFewRows)
        some_compact<kFewRows>(tiles, b, c.down(i));
      else
        some_compact<8>(tiles, b, c.down(i));
    }
  }

 protected:
  /// Prefetches two tiles of B, 16 KiB ahead. Products of a few rows read B from memory.
  [[gnu::always_inline]] static void fetch(const std::uint16_t* b) {
    constexpr std::size_t ahead = 8192, line = 32;
    for (std::size_t i = 0; i < 2 * tile_values; i += line) __builtin_prefetch(b + ahead + i, 0, 2);
  }

 private:
  /// The bfloat16 values of low, then those of high.
  TRIL_BF16 static __m512i words(__m512 low, __m512 high) {
    const __m512bh both = _mm512_cvtne2ps_pbh(high, low);
    __m512i bits;
    __builtin_memcpy(&bits, &both, sizeof bits);
    return bits;
  }
  TRIL_BF16 static __m512 add_product(__m512 sum, __m512i a, __m512i b) {
    __m512bh x, y;
    __builtin_memcpy(&x, &a, sizeof x);
    __builtin_memcpy(&y, &b, sizeof y);
    return _mm512_dpbf16_ps(sum, x, y);
  }

  /// How a panel of B is read. Products of few rows are bound by memory. AMD's processors, for which these products are
  /// (processor.h), read it fastest in the order of its addresses and without prefetch instructions: one tile after the other. With
  /// more rows, each activation is used for both tiles at once, and the rows that read the panel first prefetch it.
  enum class Reads : std::uint8_t { in_order, ahead, cached };

  /// kRows rows by 32 columns. Each sum is in the same order however B is read.
  template <std::size_t kRows, Reads kReads>
  TRIL_BF16 static void some(const std::uint16_t* a, const std::uint16_t* b, std::size_t depth, const Sums& c) {
    __m512 sum[kRows][2];
    load<kRows>(c, sum);
    for (std::size_t l = 0; l < depth; ++l, a += tile_values, b += 2 * tile_values) {
      const auto* const x = reinterpret_cast<const int*>(a);
      if constexpr (kReads == Reads::ahead) fetch(b);
      if constexpr (kReads == Reads::in_order) {
        for (std::size_t t = 0; t < 2; ++t) {
          // Hidden from GCC, which otherwise keeps the activations for the second tile, and runs out of registers.
          const int* of_tile = x;
          __asm__("" : "+r"(of_tile));
#pragma GCC unroll 16
          for (std::size_t p = 0; p < 16; ++p) {
            const __m512i w = _mm512_loadu_si512(b + t * tile_values + p * 32);
#pragma GCC unroll 8
            for (std::size_t i = 0; i < kRows; ++i)
              sum[i][t] = add_product(sum[i][t], _mm512_set1_epi32(of_tile[i * 16 + p]), w);
          }
        }
      } else {
        for (std::size_t p = 0; p < 16; ++p) {
          const __m512i left = _mm512_loadu_si512(b + p * 32), right = _mm512_loadu_si512(b + tile_values + p * 32);
#pragma GCC unroll 8
          for (std::size_t i = 0; i < kRows; ++i) {
            const __m512i pair = _mm512_set1_epi32(x[i * 16 + p]);
            sum[i][0] = add_product(sum[i][0], pair, left);
            sum[i][1] = add_product(sum[i][1], pair, right);
          }
        }
      }
    }
    store<kRows>(sum, c);
  }

  /// kRows rows by a compact panel. It comes from memory, which is fastest without prefetch instructions, as in `some`.
  template <std::size_t kRows>
  TRIL_BF16 static void some_compact(const std::uint16_t* a, const CompactPanel& b, const Sums& c) {
    __m512 sum[kRows][2];
    load<kRows>(c, sum);
    CompactRight from = b.at;
    const __m512i low_bits = _mm512_set1_epi8(15);
    for (std::size_t l = 0; l < b.deep; ++l, a += tile_values)
#pragma GCC unroll 2
      for (std::size_t t = 0; t < 2; ++t, from = from.from_tile(1)) {
        const auto* x = reinterpret_cast<const int*>(a);
        __asm__("" : "+r"(x));  // as in `some`
        const auto add = [&](std::size_t p, __m512i w) __attribute__((always_inline)) TRIL_BF16 {
#pragma GCC unroll 8
          for (std::size_t i = 0; i < kRows; ++i)
            sum[i][t] = add_product(sum[i][t], _mm512_set1_epi32(x[i * 16 + p]), w);
        };
        if (from.is_whole()) {
          alignas(64) std::uint16_t tile[tile_values];
          from.copy_whole(tile);
          for (std::size_t p = 0; p < 16; ++p) add(p, _mm512_load_si512(tile + p * 32));
          continue;
        }
        const __m512i table = _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from.tables)));
#pragma GCC unroll 4
        for (std::size_t p = 0; p < 16; p += 4) {  // as UnpackRows
          const std::uint8_t* const at = from.tiles + p * 48;
          const __m512i codes = _mm512_loadu_si512(at), lower = _mm512_loadu_si512(at + 64),
                        lower2 = _mm512_loadu_si512(at + 128);
          const __m512i upper = _mm512_shuffle_epi8(table, _mm512_and_si512(codes, low_bits));
          add(p, _mm512_unpacklo_epi8(lower, upper)), add(p + 1, _mm512_unpackhi_epi8(lower, upper));
          const __m512i next = _mm512_and_si512(_mm512_srli_epi16(codes, 4), low_bits);
          const __m512i upper2 = _mm512_shuffle_epi8(table, next);
          add(p + 2, _mm512_unpacklo_epi8(lower2, upper2)), add(p + 3, _mm512_unpackhi_epi8(lower2, upper2));
        }
      }
    store<kRows>(sum, c);
  }

  template <std::size_t kRows>
  [[gnu::always_inline]] TRIL_BF16 static void load(const Sums& c, __m512 (&sum)[kRows][2]) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kRows; ++i) {
      sum[i][0] = c.from ? _mm512_loadu_ps(c.from + i * c.from_stride) : _mm512_setzero_ps();
      sum[i][1] = c.from ? _mm512_loadu_ps(c.from + i * c.from_stride + 16) : _mm512_setzero_ps();
    }
  }
  template <std::size_t kRows>
  [[gnu::always_inline]] TRIL_BF16 static void store(const __m512 (&sum)[kRows][2], const Sums& c) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kRows; ++i) {
      _mm512_storeu_ps(c.to + i * c.stride, sum[i][0]);
      _mm512_storeu_ps(c.to + i * c.stride + 16, sum[i][1]);
    }
  }
};

template <>
struct CompactProduct<PairProducts> {
  static constexpr std::size_t most_rows = 32;
  static void multiply(const RowTiles& a, const CompactPanel& b, const Sums& c) {
    PairProducts::multiply_compact(a, b, c);
  }
};

/// Products of tiles. Tiles 0-3 hold sums, 4 and 5 parts of A, 6 and 7 parts of B.
struct TileProducts : PairProducts {
  /// Products of up to 16 rows use tile shapes of 16 rows.
  static void begin(std::size_t most_rows = 32) { TileShapes::of_product(most_rows).load(); }
  TRIL_AMX static void end() { _tile_release(); }

  TRIL_AMX static void block(const std::uint16_t* a, std::size_t row_tiles, const std::uint16_t* b, std::size_t depth,
                             std::size_t rows, const Sums& c) {
    product(a, row_tiles, b, depth, rows, 32, c);
  }

  /// At most 16 rows by a compact panel. Each pair of tiles is unpacked while the tiles before are being multiplied.
  TRIL_AMX static void multiply_compact(const RowTiles& a, const CompactPanel& b, const Sums& c) {
    alignas(64) std::uint16_t tiles[2][2 * tile_values];
    load_upper(c);
    CompactRight from = b.at;
    for (std::size_t l = 0; l < b.deep; ++l, from = from.from_tile(2)) {
      from.fetch();
      std::uint16_t* const pair = tiles[l % 2];
      UnpackTiles(from, 2, pair);
      __asm__ volatile("" : : "r"(pair) : "memory");  // GCC does not know that the next instructions read it
      _tile_loadd(4, a.tiles + l * tile_values, 64);
      _tile_loadd(6, pair, 64);
      _tile_loadd(7, pair + tile_values, 64);
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
    }
    store_upper(c);
  }

  /// The product of packed blocks for up to 32 columns. At least sixteen rows and columns are read and written.
  TRIL_AMX static void product(const std::uint16_t* a, std::size_t row_tiles, const std::uint16_t* b, std::size_t depth,
                               std::size_t rows, std::size_t columns, const Sums& c) {
    const std::uint16_t* const below = a + row_tiles * tile_values;
    if (rows > 16 && columns > 16) return whole(a, below, b, depth, c);
    if (rows > 16) return left_half(a, below, b, depth, c);
    if (columns > 16) return upper_half(a, b, depth, c);
    if (c.from)
      _tile_loadd(0, c.from, c.from_stride * sizeof(float));
    else
      _tile_zero(0);
    for (std::size_t l = 0; l < depth; ++l, a += tile_values, b += 2 * tile_values) {
      _tile_loadd(4, a, 64);
      _tile_loadd(6, b, 64);
      _tile_dpbf16ps(0, 4, 6);
    }
    _tile_stored(0, c.to, c.stride * sizeof(float));
  }

 private:
  TRIL_AMX static void whole(const std::uint16_t* a, const std::uint16_t* below, const std::uint16_t* b,
                             std::size_t depth, const Sums& c) {
    if (c.from) {
      _tile_loadd(0, c.from, c.from_stride * sizeof(float));
      _tile_loadd(1, c.from + 16, c.from_stride * sizeof(float));
      _tile_loadd(2, c.from + 16 * c.from_stride, c.from_stride * sizeof(float));
      _tile_loadd(3, c.from + 16 * c.from_stride + 16, c.from_stride * sizeof(float));
    } else {
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
    }
    for (std::size_t l = 0; l < depth; ++l, a += tile_values, below += tile_values, b += 2 * tile_values) {
      _tile_loadd(4, a, 64);
      _tile_loadd(6, b, 64);
      _tile_loadd(5, below, 64);
      _tile_loadd(7, b + tile_values, 64);
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(1, 4, 7);
      _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, c.to, c.stride * sizeof(float));
    _tile_stored(1, c.to + 16, c.stride * sizeof(float));
    _tile_stored(2, c.to + 16 * c.stride, c.stride * sizeof(float));
    _tile_stored(3, c.to + 16 * c.stride + 16, c.stride * sizeof(float));
  }

  TRIL_AMX static void left_half(const std::uint16_t* a, const std::uint16_t* below, const std::uint16_t* b,
                                 std::size_t depth, const Sums& c) {
    if (c.from) {
      _tile_loadd(0, c.from, c.from_stride * sizeof(float));
      _tile_loadd(2, c.from + 16 * c.from_stride, c.from_stride * sizeof(float));
    } else {
      _tile_zero(0);
      _tile_zero(2);
    }
    for (std::size_t l = 0; l < depth; ++l, a += tile_values, below += tile_values, b += 2 * tile_values) {
      _tile_loadd(4, a, 64);
      _tile_loadd(6, b, 64);
      _tile_loadd(5, below, 64);
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(2, 5, 6);
    }
    _tile_stored(0, c.to, c.stride * sizeof(float));
    _tile_stored(2, c.to + 16 * c.stride, c.stride * sizeof(float));
  }

  /// The sums of 16 rows and 32 columns.
  [[gnu::always_inline]] TRIL_AMX static void load_upper(const Sums& c) {
    if (c.from) {
      _tile_loadd(0, c.from, c.from_stride * sizeof(float));
      _tile_loadd(1, c.from + 16, c.from_stride * sizeof(float));
    } else {
      _tile_zero(0);
      _tile_zero(1);
    }
  }
  [[gnu::always_inline]] TRIL_AMX static void store_upper(const Sums& c) {
    _tile_stored(0, c.to, c.stride * sizeof(float));
    _tile_stored(1, c.to + 16, c.stride * sizeof(float));
  }

  TRIL_AMX static void upper_half(const std::uint16_t* a, const std::uint16_t* b, std::size_t depth, const Sums& c) {
    load_upper(c);
    for (std::size_t l = 0; l < depth; ++l, a += tile_values, b += 2 * tile_values) {
      fetch(b);
      _tile_loadd(4, a, 64);
      _tile_loadd(6, b, 64);
      _tile_loadd(7, b + tile_values, 64);
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
    }
    store_upper(c);
  }
};

template <>
struct CompactProduct<TileProducts> {
  static constexpr std::size_t most_rows = 16;
  static void multiply(const RowTiles& a, const CompactPanel& b, const Sums& c) {
    TileProducts::multiply_compact(a, b, c);
  }
};

}  // namespace tril::kern::N_AVX3
#undef TRIL_BF16
#undef TRIL_AMX
#endif

#endif  // TRIL_KERN_BF16_AVX512_INL_H_

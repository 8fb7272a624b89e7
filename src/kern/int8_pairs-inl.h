// The product of a few rows with one panel on processors with AVX2 or AVX-512 but without VNNI. Included once for each instruction
// set; for all others it names the product of 16-bit pairs.
//
// An instruction multiplies unsigned by signed bytes and adds pairs of products in 16 bits. w + 128 is unsigned, so a pair is within
// 255 (|x0| + |x1|) if x0 and x1 have the same sign, and fits 16 bits if |x0 + x1| <= 128. Few pairs of a row are larger. These
// are divided into two parts, x = main + rest, and the rest is multiplied in a second pass. So the sums stay exact.
#if defined(TRIL_KERN_INT8_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_INT8_PAIRS_INL_H_
#undef TRIL_KERN_INT8_PAIRS_INL_H_
#else
#define TRIL_KERN_INT8_PAIRS_INL_H_
#endif

#include "hwy/highway.h"
#include "kern/int8-inl.h"

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

/// What follows the `depth` bytes of a rounded row.
struct RestOfRow {
  std::int32_t correction;  ///< -128 times the sum of the row
  std::uint32_t count;      ///< groups of four values with a rest
  // Then the numbers of these groups [depth / 4], in 16 bits, and their rests [depth / 4], four bytes each.

  static RestOfRow& of(std::int8_t* row, std::size_t depth) { return *reinterpret_cast<RestOfRow*>(row + depth); }
  static const RestOfRow& of(const std::int8_t* row, std::size_t depth) {
    return *reinterpret_cast<const RestOfRow*>(row + depth);
  }
  std::uint16_t* groups() { return reinterpret_cast<std::uint16_t*>(this + 1); }
  const std::uint16_t* groups() const { return reinterpret_cast<const std::uint16_t*>(this + 1); }
  std::int32_t* rests(std::size_t depth) { return reinterpret_cast<std::int32_t*>(groups() + depth / 4); }
  const std::int32_t* rests(std::size_t depth) const {
    return reinterpret_cast<const std::int32_t*>(groups() + depth / 4);
  }
};

/// See the beginning of the file.
struct PairedProducts {
  static constexpr const BlockKernels& blocks = kBlocksInPairs;
  using FewOfFourBits = FourBitPairs;
  static constexpr std::size_t row_bytes(std::size_t depth) { return int8_row_bytes(depth); }
  static void begin(std::size_t) {}
  static void end() {}
  /// As WidenedProducts::steps.
  static constexpr std::size_t steps(std::size_t rows, std::size_t deep) {
    return (rows + kMostRows - 1) / kMostRows * kPasses * deep;
  }

  /// Divides the large pairs of a row, and writes their rests and the sum after it.
  static void prepare(std::int8_t* q, std::size_t depth) {
    RestOfRow& rest = RestOfRow::of(q, depth);
    std::uint32_t count = 0;
    const __m256i unsigned_ones = _mm256_set1_epi8(1), ones = _mm256_set1_epi16(1), most = _mm256_set1_epi16(128);
    __m256i sums = _mm256_setzero_si256();
    for (std::size_t i = 0; i < depth; i += 32) {
      auto* const at = reinterpret_cast<__m256i*>(q + i);
      const __m256i x = _mm256_loadu_si256(at), pairs = _mm256_maddubs_epi16(unsigned_ones, x);
      sums = _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, ones));
      const __m256i large = _mm256_cmpgt_epi16(_mm256_abs_epi16(pairs), most);
      if (HWY_LIKELY(_mm256_testz_si256(large, large))) continue;
      // Half of a value, towards zero: (x + (x < 0)) >> 1. AVX2 shifts words alone.
      const __m256i towards = _mm256_sub_epi8(x, _mm256_cmpgt_epi8(_mm256_setzero_si256(), x));
      const __m256i shifted = _mm256_and_si256(_mm256_srli_epi16(towards, 1), _mm256_set1_epi8(0x7f));
      const __m256i sign = _mm256_and_si256(towards, _mm256_set1_epi8(-128));
      const __m256i half = _mm256_and_si256(_mm256_or_si256(shifted, sign), large);
      _mm256_storeu_si256(at, _mm256_sub_epi8(x, half));
      alignas(32) std::int32_t halves[8];
      _mm256_store_si256(reinterpret_cast<__m256i*>(halves), half);
      auto groups = static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(
          _mm256_cmpeq_epi32(_mm256_cmpeq_epi32(large, _mm256_setzero_si256()), _mm256_setzero_si256()))));
      for (; groups != 0; groups &= groups - 1) {
        const auto g = static_cast<std::size_t>(__builtin_ctz(groups));
        rest.groups()[count] = static_cast<std::uint16_t>(i / 4 + g);
        rest.rests(depth)[count++] = halves[g];
      }
    }
    alignas(32) std::int32_t lanes[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), sums);
    std::int32_t sum = 0;
    for (const std::int32_t lane : lanes) sum += lane;
    rest.correction = -128 * sum;
    rest.count = count;
  }

  /// c [32, 32] = a [rows, deep * 64] times a panel; prepared rows of a are a_stride bytes apart.
  static HWY_NOINLINE void block(const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b, std::size_t deep,
                                 std::size_t rows, const std::int32_t*, std::int32_t* HWY_RESTRICT c, Ahead& ahead) {
    for (std::size_t i = 0, n; i < rows; i += n) {
      n = smaller(rows - i, kMostRows);
      rows_of<1>(n, a + i * a_stride, a_stride, b, deep, c + i * 32, ahead);
    }
    for (std::size_t i = 0; i < rows; ++i) add_rest(a + i * a_stride, b, deep, c + i * 32);
  }

 private:
  using Bytes = hn::Repartition<std::uint8_t, Ints>;
  using ByteVec = hn::Vec<Bytes>;
  static constexpr std::size_t kColumns = hn::MaxLanes(Ints());
  // kMostRows rows by kVecs vectors at a time, and room in the registers for what they are made of: AVX2 passes over each tile of 16
  // columns, AVX-512 over both at once.
  static constexpr std::size_t kVecs = 2, kPasses = 16 / kColumns, kMostRows = kPasses == 2 ? 4 : 8;
  static constexpr std::size_t kStep = kPasses == 2 ? 32 : int8_tile_bytes;  // from one vector of weights to the next

  /// w + 128 for the columns of a vector.
  static HWY_INLINE ByteVec unsigned_at(const std::uint8_t* w) {
    return hn::Xor(hn::LoadU(Bytes(), w), hn::Set(Bytes(), 0x80));
  }
  /// sum + the products of w + 128 and four values of x.
  static HWY_INLINE IntVec added(IntVec sum, ByteVec w, std::int32_t four) {
    const hn::Repartition<std::int16_t, Ints> words;
    sum = AddPairs(sum, PairsOfBytes(w, hn::BitCast(Bytes(), hn::Set(Ints(), four))), hn::Set(words, 1));
    __asm__("" : "+v"(sum.raw));  // otherwise GCC adds in a tree, and runs out of registers
    return sum;
  }

  template <std::size_t kRows>
  static HWY_INLINE void rows_of(std::size_t rows, const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b,
                                 std::size_t deep, std::int32_t* HWY_RESTRICT c, Ahead& ahead) {
    if constexpr (kRows < kMostRows)
      if (rows > kRows) return rows_of<kRows + 1>(rows, a, a_stride, b, deep, c, ahead);
    for (std::size_t pass = 0; pass < kPasses; ++pass)
      some_rows<kRows>(a, a_stride, b + pass * int8_tile_bytes, deep, c + pass * 16, ahead);
  }

  template <std::size_t kRows>
  static HWY_NOINLINE void some_rows(const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b,
                                     std::size_t deep, std::int32_t* HWY_RESTRICT c, Ahead& to_come) {
    Ahead ahead = to_come;
    const Ints d;
    IntVec sums[kRows][kVecs];
    for (std::size_t r = 0; r < kRows; ++r)
      for (std::size_t v = 0; v < kVecs; ++v)
        sums[r][v] = hn::Set(d, RestOfRow::of(a + r * a_stride, deep * int8_tile_depth).correction);
    for (std::size_t l = 0; l < deep; ++l, a += int8_tile_depth, b += 2 * int8_tile_bytes) {
      ahead.step();
      for (std::size_t p = 0; p < 16; ++p) {
        ByteVec w[kVecs];
#pragma GCC unroll 2
        for (std::size_t v = 0; v < kVecs; ++v) w[v] = unsigned_at(b + p * 64 + v * kStep);
#pragma GCC unroll 8
        for (std::size_t r = 0; r < kRows; ++r) {
          std::int32_t four;
          std::memcpy(&four, a + r * a_stride + p * 4, sizeof(four));
#pragma GCC unroll 2
          for (std::size_t v = 0; v < kVecs; ++v) sums[r][v] = added(sums[r][v], w[v], four);
        }
      }
    }
    to_come = ahead;
    for (std::size_t r = 0; r < kRows; ++r)
      for (std::size_t v = 0; v < kVecs; ++v) hn::StoreU(sums[r][v], d, c + r * 32 + v * kColumns);
  }

  static HWY_INLINE void add_rest(const std::int8_t* row, const std::uint8_t* b, std::size_t deep,
                                  std::int32_t* HWY_RESTRICT c) {
    const std::size_t depth = deep * int8_tile_depth;
    const RestOfRow& rest = RestOfRow::of(row, depth);
    if (rest.count == 0) return;
    constexpr std::size_t vecs = 32 / kColumns;
    const Ints d;
    IntVec sums[vecs];
    for (std::size_t v = 0; v < vecs; ++v) sums[v] = hn::LoadU(d, c + v * kColumns);
    for (std::uint32_t i = 0; i < rest.count; ++i) {
      const std::size_t group = rest.groups()[i];
      const std::uint8_t* const at = b + group / 16 * 2 * int8_tile_bytes + group % 16 * 64;
#pragma GCC unroll 4
      for (std::size_t v = 0; v < vecs; ++v) {
        const std::size_t tile = v * kColumns / 16, column = v * kColumns % 16;
        sums[v] = added(sums[v], unsigned_at(at + tile * int8_tile_bytes + column * 4), rest.rests(depth)[i]);
      }
    }
    for (std::size_t v = 0; v < vecs; ++v) hn::StoreU(sums[v], d, c + v * kColumns);
  }
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#else

namespace tril::kern::HWY_NAMESPACE {
using PairedProducts = WidenedProducts;
}  // namespace tril::kern::HWY_NAMESPACE

#endif

#endif  // TRIL_KERN_INT8_PAIRS_INL_H_

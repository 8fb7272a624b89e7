// What the formats of blocks (block_format.h) share: scales of 32 columns, and lines of bytes. Included once for each
// instruction set.
#if defined(TRIL_KERN_BLOCK_LINES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_BLOCK_LINES_INL_H_
#undef TRIL_KERN_BLOCK_LINES_INL_H_
#else
#define TRIL_KERN_BLOCK_LINES_INL_H_
#endif

#include <cstring>

#include "hwy/highway.h"
#include "kern/block_format.h"
#include "kern/int8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

using Bytes = hn::Repartition<std::uint8_t, Ints>;
using ByteVec = hn::Vec<Bytes>;

/// The scales s_g and m_g of a section for 32 columns, by groups of 32 values.
struct alignas(64) ScaleBytes {
  std::uint8_t whole[8][32], least[8][32];
};
/// Vectors of the bytes of (at most) 32 columns.
using ColumnBytes = hn::CappedTag<std::uint8_t, 32>;

/// Calls f(c) for the first column of every vector of 32 columns.
template <class F>
HWY_INLINE void ForColumns(const F& f) {
  for (std::size_t c = 0; c < 32; c += hn::Lanes(Ints())) f(c);
}

HWY_INLINE IntVec BytesAt(const std::uint8_t* p) {
  const hn::Rebind<std::uint8_t, Ints> d8;
  return hn::PromoteTo(Ints(), hn::LoadU(d8, p));
}

HWY_INLINE Vec HalvesAt(const std::uint8_t* p) {
  const hn::Rebind<hwy::float16_t, Floats> d16;
  return hn::PromoteTo(Floats(), hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(p)));
}

/// Numbers of 8 bits, `row` [32 columns], from column c on, in 32 bits; or, if kPairs, each in both halves of 32 bits.
template <bool kPairs, bool kSigned>
HWY_INLINE IntVec WideScale(const std::uint8_t* row, std::size_t c) {
  if constexpr (kPairs) {
    // Number i as the lower bytes of two words; or as the upper ones, and then shifted.
    static constexpr auto places = [] {
      struct {
        alignas(64) std::uint8_t of[16][4] = {};
      } p;
      for (std::uint8_t i = 0; i < 16; ++i)
        for (std::size_t b = 0; b < 4; ++b) p.of[i][b] = (b % 2 == 1) == kSigned ? i : 0x80;
      return p;
    }();
    const hn::Repartition<std::int16_t, Ints> d16;
    const ByteVec numbers = hn::LoadDup128(Bytes(), row + c / 16 * 16);
    const ByteVec two = hn::TableLookupBytesOr0(numbers, hn::Load(Bytes(), places.of[c % 16]));
    return kSigned ? hn::BitCast(Ints(), hn::ShiftRight<8>(hn::BitCast(d16, two))) : hn::BitCast(Ints(), two);
  } else if constexpr (kSigned) {
    const hn::Rebind<std::int8_t, Ints> d8;
    return hn::PromoteTo(Ints(), hn::LoadU(d8, reinterpret_cast<const std::int8_t*>(row) + c));
  } else {
    return BytesAt(row + c);
  }
}

/// The lower and the upper four bits of each byte.
HWY_INLINE ByteVec LowHalf(ByteVec v) {
  return hn::And(v, hn::Set(Bytes(), 15));
}
HWY_INLINE ByteVec HighHalf(ByteVec v) {
  const hn::Repartition<std::uint16_t, Ints> d16;
  return LowHalf(hn::BitCast(Bytes(), hn::ShiftRight<4>(hn::BitCast(d16, v))));
}
/// v shifted in words of 16 bits; bits that cross into another byte must be masked away.
template <int kBits, class V>
HWY_INLINE V ShiftedLeft(V v) {
  const hn::DFromV<V> d;
  const hn::Repartition<std::uint16_t, decltype(d)> d16;
  return hn::BitCast(d, hn::ShiftLeft<kBits>(hn::BitCast(d16, v)));
}
template <int kBits, class V>
HWY_INLINE V ShiftedRight(V v) {
  const hn::DFromV<V> d;
  const hn::Repartition<std::uint16_t, decltype(d)> d16;
  return hn::BitCast(d, hn::ShiftRight<kBits>(hn::BitCast(d16, v)));
}

/// Four bits for each of a group's 32 values, in 4 lines: line p has wide line p in the lower and p + 4 in the upper
/// halves of bytes.
HWY_INLINE void UnpackHalves(const std::uint8_t* lines, ByteVec* wide) {
  for (std::size_t p = 0; p < 4; ++p) {
    const ByteVec both = hn::LoadU(Bytes(), lines + p * 64);
    wide[p] = LowHalf(both);
    wide[p + 4] = HighHalf(both);
  }
}

/// Five bits: such lines for the lower four, and one line whose bit p is the fifth bit of wide line p.
HWY_INLINE void UnpackFifths(const std::uint8_t* lines, ByteVec* wide) {
  UnpackHalves(lines, wide);
  const ByteVec fifth = hn::LoadU(Bytes(), lines + std::size_t{4} * 64), bit = hn::Set(Bytes(), 16);
  wide[0] = hn::Or(wide[0], hn::And(ShiftedLeft<4>(fifth), bit));
  wide[1] = hn::Or(wide[1], hn::And(ShiftedLeft<3>(fifth), bit));
  wide[2] = hn::Or(wide[2], hn::And(ShiftedLeft<2>(fifth), bit));
  wide[3] = hn::Or(wide[3], hn::And(ShiftedLeft<1>(fifth), bit));
  wide[4] = hn::Or(wide[4], hn::And(fifth, bit));
  wide[5] = hn::Or(wide[5], hn::And(ShiftedRight<1>(fifth), bit));
  wide[6] = hn::Or(wide[6], hn::And(ShiftedRight<2>(fifth), bit));
  wide[7] = hn::Or(wide[7], hn::And(ShiftedRight<3>(fifth), bit));
}

/// Four bytes, or bits of them, as words.
inline std::uint32_t word_at(const std::uint8_t* p) {
  std::uint32_t w;
  std::memcpy(&w, p, sizeof w);
  return w;
}
inline void put_word(std::uint8_t* p, std::uint32_t w) {
  std::memcpy(p, &w, sizeof w);
}

/// True if an f16 in a file is neither infinite nor NaN.
inline bool is_finite_half(const std::uint8_t* p) {
  return (p[1] & 0x7c) != 0x7c;
}

/// Packs such lines for one column (16 of them are a line) from 32 values in the order of Q4_0: value i in the lower,
/// i + 16 in the upper half of byte i.
inline void pack_halves(const std::uint8_t* q, std::uint8_t* lines) {
  for (std::size_t p = 0; p < 4; ++p) put_word(lines + p * 64, word_at(q + 4 * p));
}

/// Packs the line of the fifth bits for one column: in a file, bit i of four bytes belongs to value i.
inline void pack_fifths(const std::uint8_t* bits, std::uint8_t* line) {
  std::uint32_t fifth = 0;
  for (std::size_t p = 0; p < 8; ++p)
    for (std::size_t i = 0; i < 4; ++i) fifth |= (word_at(bits) >> (4 * p + i) & 1U) << (8 * i + p);
  put_word(line, fifth);
}

/// The scales of blocks of 32 values: d [groups][32 columns], f16.
struct ScaleEach {
  static constexpr bool has_whole_scales = false, has_minimums = false, has_block_minimums = false;
  static constexpr std::size_t header(std::size_t groups) { return groups * 64; }
  static bool is_finite(const std::uint8_t* block) { return is_finite_half(block); }
  static void pack_scale(const std::uint8_t* block, std::size_t g, std::size_t c, std::uint8_t* head) {
    std::memcpy(head + g * 64 + c * 2, block, 2);
  }
  static HWY_INLINE Vec single(const std::uint8_t* head, std::size_t g, std::size_t c) {
    return HalvesAt(head + g * 64 + c * 2);
  }
};

/// The scales d and minimums m of blocks of 32 values: d, m [groups][2][32 columns], f16.
struct ScaleAndMinimumEach {
  static constexpr bool has_whole_scales = false, has_minimums = false, has_block_minimums = true;
  static constexpr std::size_t header(std::size_t groups) { return groups * 128; }
  static bool is_finite(const std::uint8_t* block) { return is_finite_half(block) && is_finite_half(block + 2); }
  static void pack_scale(const std::uint8_t* block, std::size_t g, std::size_t c, std::uint8_t* head) {
    std::memcpy(head + g * 128 + c * 2, block, 2);
    std::memcpy(head + g * 128 + 64 + c * 2, block + 2, 2);
  }
  static HWY_INLINE Vec single(const std::uint8_t* head, std::size_t g, std::size_t c) {
    return HalvesAt(head + g * 128 + c * 2);
  }
  static HWY_INLINE Vec minimum_of(const std::uint8_t* head, std::size_t g, std::size_t c) {
    return HalvesAt(head + g * 128 + 64 + c * 2);
  }
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_BLOCK_LINES_INL_H_

// Q4_K: y = d s_g u - e m_g, u in 4 bits, s_g and m_g in 6 bits. A section of a panel:
//   d, e [32 columns], f16
//   [8 groups][32]  the lower four bits of s_g, and of m_g in the upper half of the byte
//   [4][32]         byte j: the upper two bits of s_j, m_j, s_(j + 4), m_(j + 4), from the lowest bits on
//   the lines of UnpackHalves
#if defined(TRIL_KERN_BLOCK_Q4_K_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_BLOCK_Q4_K_INL_H_
#undef TRIL_KERN_BLOCK_Q4_K_INL_H_
#else
#define TRIL_KERN_BLOCK_Q4_K_INL_H_
#endif

#include "kern/block_lines-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

/// The scales and minimums of Q4_K and Q5_K: 12 bytes in a file.
struct SixBitScales {
  static constexpr std::size_t bytes = std::size_t{16} * 32;

  // In the file, groups 0 ... 3 are in the lower six bits of bytes g and g + 4. Groups 4 ... 7 have their lower four bits in
  // the halves of byte g + 4 and their upper two in the upper two bits of bytes g - 4 and g.
  static void pack(const std::uint8_t* block, std::size_t c, std::uint8_t* head) {
    std::memcpy(head + c * 2, block, 2);
    std::memcpy(head + 64 + c * 2, block + 2, 2);
    const std::uint8_t* const p = block + 4;
    std::uint8_t s[8], m[8];
    for (std::size_t g = 0; g < 4; ++g) s[g] = p[g] & 63, m[g] = p[g + 4] & 63;
    for (std::size_t g = 4; g < 8; ++g) {
      s[g] = static_cast<std::uint8_t>((p[g + 4] & 15) | p[g - 4] >> 6 << 4);
      m[g] = static_cast<std::uint8_t>(p[g + 4] >> 4 | p[g] >> 6 << 4);
    }
    for (std::size_t g = 0; g < 8; ++g)
      head[128 + g * 32 + c] = static_cast<std::uint8_t>((s[g] & 15) | (m[g] & 15) << 4);
    for (std::size_t g = 0; g < 4; ++g)
      head[384 + g * 32 + c] =
          static_cast<std::uint8_t>(s[g] >> 4 | m[g] >> 4 << 2 | s[g + 4] >> 4 << 4 | m[g + 4] >> 4 << 6);
  }

  static HWY_INLINE void read(const std::uint8_t* head, ScaleBytes& s) {
    const ColumnBytes d;
    const auto low = hn::Set(d, 15), two = hn::Set(d, 3 << 4);
    for (std::size_t c = 0; c < 32; c += hn::Lanes(d))
      for (std::size_t g = 0; g < 4; ++g) {
        const auto first = hn::LoadU(d, head + 128 + g * 32 + c), second = hn::LoadU(d, head + 256 + g * 32 + c);
        const auto top = hn::LoadU(d, head + 384 + g * 32 + c);
        const auto join = [&](auto lower, auto upper)
                              HWY_ATTR { return hn::Or(hn::And(lower, low), hn::And(upper, two)); };
        hn::Store(join(first, ShiftedLeft<4>(top)), d, s.whole[g] + c);
        hn::Store(join(second, top), d, s.whole[g + 4] + c);
        hn::Store(join(ShiftedRight<4>(first), ShiftedLeft<2>(top)), d, s.least[g] + c);
        hn::Store(join(ShiftedRight<4>(second), ShiftedRight<2>(top)), d, s.least[g + 4] + c);
      }
  }
  template <bool kPairs>
  static HWY_INLINE IntVec whole(const ScaleBytes& s, std::size_t g, std::size_t c) {
    return WideScale<kPairs, false>(s.whole[g], c);
  }
  static HWY_INLINE IntVec least(const ScaleBytes& s, std::size_t j, std::size_t c) {
    return hn::Or(BytesAt(s.least[2 * j] + c), hn::ShiftLeft<16>(BytesAt(s.least[2 * j + 1] + c)));
  }
};

/// Word p of a group of 32 values as a word of such a line. In the file, groups 2 k and 2 k + 1 are the lower and the upper
/// halves of 32 bytes `q`.
inline std::uint32_t halves_of_word(const std::uint8_t* q, std::size_t g, std::size_t p) {
  const std::uint32_t shift = 4 * (g % 2), mask = 0x0f0f0f0f;
  return (word_at(q + 4 * p) >> shift & mask) | (word_at(q + 16 + 4 * p) >> shift & mask) << 4;
}

struct Q4_KBlocks {
  static constexpr std::size_t values = 256, bytes = 144;
  static constexpr std::size_t group = 32, lines = 4;
  static constexpr int offset = 0, most = 15;
  static constexpr std::size_t whole_lines = 8;
  static constexpr bool has_whole_scales = true, has_minimums = true, has_block_minimums = false;
  static constexpr std::size_t header(std::size_t) { return SixBitScales::bytes; }
  static bool is_finite(const std::uint8_t* block) { return is_finite_half(block) && is_finite_half(block + 2); }

  static void pack(const std::uint8_t* block, std::size_t g, std::size_t c, std::uint8_t* head, std::uint8_t* to) {
    if (g == 0) SixBitScales::pack(block, c, head);
    for (std::size_t p = 0; p < 4; ++p) put_word(to + p * 64, halves_of_word(block + 16 + g / 2 * 32, g, p));
  }
  static HWY_INLINE void read(const std::uint8_t* head, ScaleBytes& s) { SixBitScales::read(head, s); }
  template <bool kPairs>
  static HWY_INLINE IntVec whole(const std::uint8_t*, const ScaleBytes& s, std::size_t g, std::size_t c) {
    return SixBitScales::whole<kPairs>(s, g, c);
  }
  static HWY_INLINE IntVec least(const ScaleBytes& s, std::size_t j, std::size_t c) {
    return SixBitScales::least(s, j, c);
  }
  static HWY_INLINE void unpack(const std::uint8_t* from, ByteVec* wide) { UnpackHalves(from, wide); }
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_BLOCK_Q4_K_INL_H_

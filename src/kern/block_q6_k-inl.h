// Q6_K: y = d s_g (u - 32) in groups of 16, u in 6 bits, s_g a signed number of 8 bits. A section of a panel:
//   d [32 columns], f16; s_g [16 groups][32]
//   3 lines for a group: the lower four bits of wide lines 0 and 1 in the lower and the upper halves of bytes, the same of
//   wide lines 2 and 3, and the upper two bits of wide line p in bits 2 p
#if defined(TRIL_KERN_BLOCK_Q6_K_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_BLOCK_Q6_K_INL_H_
#undef TRIL_KERN_BLOCK_Q6_K_INL_H_
#else
#define TRIL_KERN_BLOCK_Q6_K_INL_H_
#endif

#include "kern/block_lines-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

struct Q6_KBlocks {
  static constexpr std::size_t values = 256, bytes = 210;
  static constexpr std::size_t group = 16, lines = 3;
  static constexpr int offset = 32, most = 63;
  static constexpr std::size_t whole_lines = 4;
  static constexpr bool has_whole_scales = true, has_minimums = false;
  static constexpr std::size_t header(std::size_t) { return 64 + 16 * 32; }
  static bool is_finite(const std::uint8_t* block) { return is_finite_half(block + 208); }

  // In each half h of a file's block, value 32 j + l has its lower four bits in the lower (j < 2) or the upper halves of
  // byte 64 h + 32 (j % 2) + l, and its upper two in bits 2 j of byte 128 + 32 h + l.
  static void pack(const std::uint8_t* block, std::size_t g, std::size_t c, std::uint8_t* head, std::uint8_t* to) {
    if (g == 0) std::memcpy(head + c * 2, block + 208, 2);
    head[64 + g * 32 + c] = block[192 + g];
    const std::size_t h = g / 8, j = g / 2 % 4, part = 16 * (g % 2);
    const std::uint8_t* const low = block + 64 * h + 32 * (j % 2) + part;
    const std::uint8_t* const high = block + 128 + 32 * h + part;
    std::uint32_t lower[4], upper = 0;
    for (std::size_t p = 0; p < 4; ++p) {
      lower[p] = word_at(low + 4 * p) >> 4 * (j / 2) & 0x0f0f0f0fU;
      upper |= (word_at(high + 4 * p) >> 2 * j & 0x03030303U) << 2 * p;
    }
    put_word(to, lower[0] | lower[1] << 4);
    put_word(to + 64, lower[2] | lower[3] << 4);
    put_word(to + 128, upper);
  }
  template <bool kPairs>
  static HWY_INLINE void scales(const std::uint8_t* head, std::size_t, BlockScales& s) {
    const Ints d;
    const hn::Rebind<std::int8_t, Ints> d8;
    ForColumns([&](std::size_t c) HWY_ATTR {
      hn::Store(HalvesAt(head + c * 2), Floats(), s.d + c);
      for (std::size_t g = 0; g < 16; ++g) {
        const IntVec one =
            hn::PromoteTo(d, hn::LoadU(d8, reinterpret_cast<const std::int8_t*>(head) + 64 + g * 32 + c));
        hn::Store(kPairs ? hn::Or(hn::And(one, hn::Set(d, 0xffff)), hn::ShiftLeft<16>(one)) : one, d, s.whole[g] + c);
      }
    });
  }
  static HWY_INLINE void unpack(const std::uint8_t* from, ByteVec* wide) {
    const ByteVec first = hn::LoadU(Bytes(), from), second = hn::LoadU(Bytes(), from + 64);
    const ByteVec upper = hn::LoadU(Bytes(), from + 128), two = hn::Set(Bytes(), 3 << 4);
    wide[0] = hn::Or(LowHalf(first), hn::And(ShiftedLeft<4>(upper), two));
    wide[1] = hn::Or(HighHalf(first), hn::And(ShiftedLeft<2>(upper), two));
    wide[2] = hn::Or(LowHalf(second), hn::And(upper, two));
    wide[3] = hn::Or(HighHalf(second), hn::And(ShiftedRight<2>(upper), two));
  }
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_BLOCK_Q6_K_INL_H_

// Q6_K: y = d s_g (u - 32) in groups of 16, u in 6 bits, s_g a signed number of 8 bits. A section of a panel:
//   d [32 columns], f16; s_g [16 groups][32]
//   3 lines for a group: wide lines 0, 1, 2 in the lower six bits of bytes; wide line 3 in the upper two bits of the three,
//   from its highest bits on
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
  static constexpr bool has_whole_scales = true, has_minimums = false, has_block_minimums = false;
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
    std::uint32_t w[4];
    for (std::size_t p = 0; p < 4; ++p)
      w[p] = (word_at(low + 4 * p) >> 4 * (j / 2) & 0x0f0f0f0fU) | (word_at(high + 4 * p) >> 2 * j & 0x03030303U) << 4;
    for (std::size_t p = 0; p < 3; ++p) put_word(to + 64 * p, w[p] | (w[3] >> (4 - 2 * p) & 0x03030303U) << 6);
  }
  static HWY_INLINE void read(const std::uint8_t*, ScaleBytes&) {}
  template <bool kPairs>
  static HWY_INLINE IntVec whole(const std::uint8_t* head, const ScaleBytes&, std::size_t g, std::size_t c) {
    return WideScale<kPairs, true>(head + 64 + g * 32, c);
  }
  static HWY_INLINE void unpack(const std::uint8_t* from, ByteVec* wide) {
    ByteVec line[3];
    for (std::size_t p = 0; p < 3; ++p) {
      line[p] = hn::LoadU(Bytes(), from + 64 * p);
      wide[p] = hn::And(line[p], hn::Set(Bytes(), 63));
    }
    const ByteVec upper = hn::And(ShiftedRight<2>(line[0]), hn::Set(Bytes(), 3 << 4));
    const ByteVec middle = hn::And(ShiftedRight<4>(line[1]), hn::Set(Bytes(), 3 << 2));
    wide[3] = hn::Or(hn::Or(upper, middle), hn::And(ShiftedRight<6>(line[2]), hn::Set(Bytes(), 3)));
  }
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_BLOCK_Q6_K_INL_H_

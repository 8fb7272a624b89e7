// Q5_K: y = d s_g u - e m_g, u in 5 bits. A section of a panel: scales as in Q4_K; the lines of UnpackFifths.
#if defined(TRIL_KERN_BLOCK_Q5_K_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_BLOCK_Q5_K_INL_H_
#undef TRIL_KERN_BLOCK_Q5_K_INL_H_
#else
#define TRIL_KERN_BLOCK_Q5_K_INL_H_
#endif

#include "kern/block_q4_k-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

struct Q5_KBlocks {
  static constexpr std::size_t values = 256, bytes = 176;
  static constexpr std::size_t group = 32, lines = 5;
  static constexpr int offset = 0, most = 31;
  static constexpr std::size_t whole_lines = 4;
  static constexpr bool has_whole_scales = true, has_minimums = true, has_block_minimums = false;
  static constexpr std::size_t header(std::size_t) { return SixBitScales::bytes; }
  static bool is_finite(const std::uint8_t* block) { return is_finite_half(block) && is_finite_half(block + 2); }

  // In the file, the fifth bit of value 32 g + i is bit g of byte i.
  static void pack(const std::uint8_t* block, std::size_t g, std::size_t c, std::uint8_t* head, std::uint8_t* to) {
    if (g == 0) SixBitScales::pack(block, c, head);
    for (std::size_t p = 0; p < 4; ++p) put_word(to + p * 64, halves_of_word(block + 48 + g / 2 * 32, g, p));
    std::uint32_t fifth = 0;
    for (std::size_t p = 0; p < 8; ++p) fifth |= (word_at(block + 16 + 4 * p) >> g & 0x01010101U) << p;
    put_word(to + std::size_t{4} * 64, fifth);
  }
  static HWY_INLINE void read(const std::uint8_t* head, ScaleBytes& s) { SixBitScales::read(head, s); }
  template <bool kPairs>
  static HWY_INLINE IntVec whole(const std::uint8_t*, const ScaleBytes& s, std::size_t g, std::size_t c) {
    return SixBitScales::whole<kPairs>(s, g, c);
  }
  static HWY_INLINE IntVec least(const ScaleBytes& s, std::size_t j, std::size_t c) {
    return SixBitScales::least(s, j, c);
  }
  static HWY_INLINE void unpack(const std::uint8_t* from, ByteVec* wide) { UnpackFifths(from, wide); }
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_BLOCK_Q5_K_INL_H_

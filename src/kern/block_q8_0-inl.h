// Q8_0: y = d (u - 128), a signed number of 8 bits in the file, u = number + 128. A section of a panel: d [groups][32
// columns], f16; 8 lines for a group, which are wide already except for the sign.
#if defined(TRIL_KERN_BLOCK_Q8_0_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_BLOCK_Q8_0_INL_H_
#undef TRIL_KERN_BLOCK_Q8_0_INL_H_
#else
#define TRIL_KERN_BLOCK_Q8_0_INL_H_
#endif

#include "kern/block_lines-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

struct Q8_0Blocks : ScaleEach {
  static constexpr std::size_t values = 32, bytes = 34;
  static constexpr std::size_t group = 32, lines = 8;
  static constexpr int offset = 128, most = 255;
  static constexpr std::size_t whole_lines = 0;

  static void pack(const std::uint8_t* block, std::size_t g, std::size_t c, std::uint8_t* head, std::uint8_t* to) {
    pack_scale(block, g, c, head);
    for (std::size_t p = 0; p < 8; ++p) put_word(to + p * 64, word_at(block + 2 + 4 * p) ^ 0x80808080U);
  }
  static HWY_INLINE void unpack(const std::uint8_t* from, ByteVec* wide) {
    for (std::size_t p = 0; p < 8; ++p) wide[p] = hn::LoadU(Bytes(), from + p * 64);
  }
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_BLOCK_Q8_0_INL_H_

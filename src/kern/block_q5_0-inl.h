// Q5_0: y = d (u - 16), u in 5 bits. A section of a panel: d [groups][32 columns], f16; the lines of UnpackFifths. In a file, the
// fifth bits of a block's values come after d, and then the lower four bits as in Q4_0.
#if defined(TRIL_KERN_BLOCK_Q5_0_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_BLOCK_Q5_0_INL_H_
#undef TRIL_KERN_BLOCK_Q5_0_INL_H_
#else
#define TRIL_KERN_BLOCK_Q5_0_INL_H_
#endif

#include "kern/block_lines-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

struct Q5_0Blocks : ScaleEach {
  static constexpr std::size_t values = 32, bytes = 22;
  static constexpr std::size_t group = 32, lines = 5;
  static constexpr int offset = 16, most = 31;
  // At the end, the sum of 16 products (u - 16) q is at most 16 * 16 * 127, which fits.
  static constexpr std::size_t whole_lines = 8;

  static void pack(const std::uint8_t* block, std::size_t g, std::size_t c, std::uint8_t* head, std::uint8_t* to) {
    pack_scale(block, g, c, head);
    pack_halves(block + 6, to);
    pack_fifths(block + 2, to + std::size_t{4} * 64);
  }
  static HWY_INLINE void unpack(const std::uint8_t* from, ByteVec* wide) { UnpackFifths(from, wide); }
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_BLOCK_Q5_0_INL_H_

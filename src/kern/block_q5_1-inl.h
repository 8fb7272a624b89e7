// Q5_1: y = d u + m, u in 5 bits. A section of a panel: d and m [groups][2][32 columns], f16; the lines of UnpackFifths.
#if defined(TRIL_KERN_BLOCK_Q5_1_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_BLOCK_Q5_1_INL_H_
#undef TRIL_KERN_BLOCK_Q5_1_INL_H_
#else
#define TRIL_KERN_BLOCK_Q5_1_INL_H_
#endif

#include "kern/block_lines-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

struct Q5_1Blocks : ScaleAndMinimumEach {
  static constexpr std::size_t values = 32, bytes = 24;
  static constexpr std::size_t group = 32, lines = 5;
  static constexpr int offset = 0, most = 31;
  static constexpr std::size_t whole_lines = 4;

  static void pack(const std::uint8_t* block, std::size_t g, std::size_t c, std::uint8_t* head, std::uint8_t* to) {
    pack_scale(block, g, c, head);
    pack_halves(block + 8, to);
    pack_fifths(block + 4, to + std::size_t{4} * 64);
  }
  static HWY_INLINE void unpack(const std::uint8_t* from, ByteVec* wide) { UnpackFifths(from, wide); }
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_BLOCK_Q5_1_INL_H_

// Q4_1: y = d u + m, u in 4 bits. A section of a panel: d and m [groups][2][32 columns], f16; the lines of UnpackHalves, as in
// Q4_0.
#if defined(TRIL_KERN_BLOCK_Q4_1_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_BLOCK_Q4_1_INL_H_
#undef TRIL_KERN_BLOCK_Q4_1_INL_H_
#else
#define TRIL_KERN_BLOCK_Q4_1_INL_H_
#endif

#include "kern/block_lines-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

struct Q4_1Blocks : ScaleAndMinimumEach {
  static constexpr std::size_t values = 32, bytes = 20;
  static constexpr std::size_t group = 32, lines = 4;
  static constexpr int offset = 0, most = 15;
  static constexpr std::size_t whole_lines = 8;

  static void pack(const std::uint8_t* block, std::size_t g, std::size_t c, std::uint8_t* head, std::uint8_t* to) {
    pack_scale(block, g, c, head);
    pack_halves(block + 4, to);
  }
  static HWY_INLINE void unpack(const std::uint8_t* from, ByteVec* wide) { UnpackHalves(from, wide); }
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_BLOCK_Q4_1_INL_H_

// Q4_0: y = d (u - 8), u in 4 bits. A section of a panel: d [groups][32 columns], f16; the lines of UnpackHalves. Value i
// of a file's block is in the lower, i + 16 in the upper half of byte i, which is already the order of a line.
#if defined(TRIL_KERN_BLOCK_Q4_0_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_BLOCK_Q4_0_INL_H_
#undef TRIL_KERN_BLOCK_Q4_0_INL_H_
#else
#define TRIL_KERN_BLOCK_Q4_0_INL_H_
#endif

#include "kern/block_lines-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

struct Q4_0Blocks : ScaleEach {
  static constexpr std::size_t values = 32, bytes = 18;  ///< of a block in a file
  static constexpr std::size_t group = 32, lines = 4;    ///< values with one scale; lines of 64 bytes for them
  static constexpr int offset = 8, most = 15;            ///< o, and the largest u
  static constexpr std::size_t whole_lines = 8;          ///< wide lines whose sums of pairs fit 16 bits

  static void pack(const std::uint8_t* block, std::size_t g, std::size_t c, std::uint8_t* head, std::uint8_t* to) {
    pack_scale(block, g, c, head);
    pack_halves(block + 2, to);
  }
  static HWY_INLINE void unpack(const std::uint8_t* from, ByteVec* wide) { UnpackHalves(from, wide); }
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_BLOCK_Q4_0_INL_H_

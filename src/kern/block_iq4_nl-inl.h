// IQ4_NL: y = d (u - 128), u - 128 one of 16 values chosen by 4 bits, those of IQ4_XS. A section of a panel: d [groups][32 columns],
// f16; the lines of UnpackHalves, which hold the codes.
#if defined(TRIL_KERN_BLOCK_IQ4_NL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_BLOCK_IQ4_NL_INL_H_
#undef TRIL_KERN_BLOCK_IQ4_NL_INL_H_
#else
#define TRIL_KERN_BLOCK_IQ4_NL_INL_H_
#endif

#include "kern/block_iq4_xs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

struct IQ4_NLBlocks : ScaleEach {
  static constexpr std::size_t values = 32, bytes = 18;
  static constexpr std::size_t group = 32, lines = 4;
  static constexpr int offset = 128, most = 255;
  static constexpr std::size_t whole_lines = 0;

  static void pack(const std::uint8_t* block, std::size_t g, std::size_t c, std::uint8_t* head, std::uint8_t* to) {
    pack_scale(block, g, c, head);
    pack_halves(block + 2, to);
  }
  static HWY_INLINE void unpack(const std::uint8_t* from, ByteVec* wide) { IQ4_XSBlocks::unpack(from, wide); }
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_BLOCK_IQ4_NL_INL_H_

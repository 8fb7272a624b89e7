// MXFP4: y = 2^(e - 128) (u - 12), u - 12 twice an E2M1 number (0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives), e a byte.
// A section of a panel: e [groups][32 columns]; the lines of UnpackHalves, which hold the codes.
#if defined(TRIL_KERN_BLOCK_MXFP4_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_BLOCK_MXFP4_INL_H_
#undef TRIL_KERN_BLOCK_MXFP4_INL_H_
#else
#define TRIL_KERN_BLOCK_MXFP4_INL_H_
#endif

#include "kern/block_lines-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

/// Twice the numbers plus 12, by code.
alignas(16) constexpr std::uint8_t kTwiceE2M1[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};

struct MXFP4Blocks {
  static constexpr std::size_t values = 32, bytes = 17;
  static constexpr std::size_t group = 32, lines = 4;
  static constexpr int offset = 12, most = 24;
  static constexpr std::size_t whole_lines = 8;
  static constexpr bool has_whole_scales = false, has_minimums = false, has_block_minimums = false;
  static constexpr std::size_t header(std::size_t groups) { return groups * 32; }
  // 12 * 2^(252 - 128) is the largest finite value.
  static bool is_finite(const std::uint8_t* block) { return block[0] < 253; }

  static void pack(const std::uint8_t* block, std::size_t g, std::size_t c, std::uint8_t* head, std::uint8_t* to) {
    head[g * 32 + c] = block[0];
    pack_halves(block + 1, to);
  }
  static HWY_INLINE Vec single(const std::uint8_t* head, std::size_t g, std::size_t c) {
    // 2^(e - 128) as bits; 2^-128 and 2^-127 are denormal.
    const Ints d;
    const IntVec e = BytesAt(head + g * 32 + c);
    const IntVec normal = hn::ShiftLeft<23>(hn::Sub(e, hn::Set(d, 1)));
    const IntVec least = hn::IfThenElse(hn::Eq(e, hn::Zero(d)), hn::Set(d, 1 << 21), hn::Set(d, 1 << 22));
    return hn::BitCast(Floats(), hn::IfThenElse(hn::Gt(e, hn::Set(d, 1)), normal, least));
  }
  static HWY_INLINE void unpack(const std::uint8_t* from, ByteVec* wide) {
    UnpackHalves(from, wide);
    const ByteVec table = hn::LoadDup128(Bytes(), kTwiceE2M1);
    for (std::size_t p = 0; p < 8; ++p) wide[p] = hn::TableLookupBytes(table, wide[p]);
  }
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_BLOCK_MXFP4_INL_H_

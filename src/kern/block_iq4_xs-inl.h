// IQ4_XS: y = d (s_g - 32) (u - 128), u - 128 one of 16 values chosen by 4 bits, s_g in 6 bits. A section of a panel:
//   d [32 columns], f16
//   [4][32]  the lower four bits of s_2j and, in the upper half of the byte, of s_(2j + 1)
//   [2][32]  the upper two bits of s_(4j) ... s_(4j + 3), from the lowest bits on
//   the lines of UnpackHalves, which hold the codes
#if defined(TRIL_KERN_BLOCK_IQ4_XS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_BLOCK_IQ4_XS_INL_H_
#undef TRIL_KERN_BLOCK_IQ4_XS_INL_H_
#else
#define TRIL_KERN_BLOCK_IQ4_XS_INL_H_
#endif

#include "kern/block_lines-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

/// The 16 values plus 128: denser near 0.
alignas(16) constexpr std::uint8_t kUnevenBytes[16] = {1,   24,  45,  63,  79,  93,  106, 118,
                                                       129, 141, 153, 166, 181, 197, 217, 241};

struct IQ4_XSBlocks {
  static constexpr std::size_t values = 256, bytes = 136;
  static constexpr std::size_t group = 32, lines = 4;
  static constexpr int offset = 128, most = 255;
  static constexpr std::size_t whole_lines = 0;
  static constexpr bool has_whole_scales = true, has_minimums = false, has_block_minimums = false;
  static constexpr std::size_t header(std::size_t) { return 64 + 6 * 32; }
  static bool is_finite(const std::uint8_t* block) { return is_finite_half(block); }

  static void pack(const std::uint8_t* block, std::size_t g, std::size_t c, std::uint8_t* head, std::uint8_t* to) {
    if (g == 0) {
      std::memcpy(head + c * 2, block, 2);
      for (std::size_t j = 0; j < 4; ++j) head[64 + j * 32 + c] = block[4 + j];
      for (std::size_t j = 0; j < 2; ++j) head[64 + (4 + j) * 32 + c] = block[2 + j];
    }
    pack_halves(block + 8 + 16 * g, to);
  }
  static HWY_INLINE void read(const std::uint8_t* head, ScaleBytes& s) {
    const ColumnBytes d;
    const auto low = hn::Set(d, 15), two = hn::Set(d, 3 << 4);
    for (std::size_t c = 0; c < 32; c += hn::Lanes(d))
      for (std::size_t g = 0; g < 8; g += 4) {
        const auto first = hn::LoadU(d, head + 64 + g / 2 * 32 + c), second = hn::LoadU(d, head + 96 + g / 2 * 32 + c);
        const auto top = hn::LoadU(d, head + 192 + g / 4 * 32 + c);
        const auto store = [&](auto lower, auto upper, std::size_t at) HWY_ATTR {
          hn::Store(hn::Sub(hn::Or(hn::And(lower, low), hn::And(upper, two)), hn::Set(d, 32)), d, s.whole[at] + c);
        };
        store(first, ShiftedLeft<4>(top), g);
        store(ShiftedRight<4>(first), ShiftedLeft<2>(top), g + 1);
        store(second, top, g + 2);
        store(ShiftedRight<4>(second), ShiftedRight<2>(top), g + 3);
      }
  }
  template <bool kPairs>
  static HWY_INLINE IntVec whole(const std::uint8_t*, const ScaleBytes& s, std::size_t g, std::size_t c) {
    return WideScale<kPairs, true>(s.whole[g], c);
  }
  static HWY_INLINE void unpack(const std::uint8_t* from, ByteVec* wide) {
    UnpackHalves(from, wide);
    const ByteVec table = hn::LoadDup128(Bytes(), kUnevenBytes);
    for (std::size_t p = 0; p < 8; ++p) wide[p] = hn::TableLookupBytes(table, wide[p]);
  }
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_BLOCK_IQ4_XS_INL_H_

// The scales of a section of a panel of blocks (block_format.h), for products of few rows and of many. Included once for each
// instruction set.
#if defined(TRIL_KERN_BLOCK_SCALES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_BLOCK_SCALES_INL_H_
#undef TRIL_KERN_BLOCK_SCALES_INL_H_
#else
#define TRIL_KERN_BLOCK_SCALES_INL_H_
#endif

#include "kern/block_lines-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

/// The scales of a section as they are in a panel, but for those that are split there.
/// kPairs: s_g in both halves of 32 bits.
template <class Format, bool kPairs>
class PanelScales {
 public:
  HWY_INLINE explicit PanelScales(const std::uint8_t* head) : head_(head) {
    if constexpr (Format::has_whole_scales) Format::read(head, bytes_);
  }
  /// s_g, or d of a group alone
  HWY_INLINE auto of(std::size_t g, std::size_t c) const {
    if constexpr (Format::has_whole_scales)
      return Format::template whole<kPairs>(head_, bytes_, g, c);
    else
      return Format::single(head_, g, c);
  }
  HWY_INLINE Vec d(std::size_t c) const { return HalvesAt(head_ + c * 2); }
  HWY_INLINE Vec e(std::size_t c) const { return HalvesAt(head_ + 64 + c * 2); }
  HWY_INLINE IntVec minimums(std::size_t j, std::size_t c) const { return Format::least(bytes_, j, c); }
  /// m of a group
  HWY_INLINE Vec block_minimum(std::size_t g, std::size_t c) const { return Format::minimum_of(head_, g, c); }

 private:
  const std::uint8_t* head_;
  ScaleBytes bytes_;
};

/// The same in the form that costs least to read.
template <class Format, bool kPairs>
struct ReadyScales {
  alignas(64) std::int32_t whole[16][32];  ///< s_g
  float single[8][32];                     ///< d of blocks of 32 values
  float block_minimums[8][32];             ///< m of such blocks
  std::int32_t least[4][32];               ///< m_2j and m_(2j + 1) in the lower and the upper 16 bits
  float d_of[32], e_of[32];

  HWY_INLINE void prepare(const std::uint8_t* head, std::size_t groups) {
    const PanelScales<Format, kPairs> panel(head);
    ForColumns([&](std::size_t c) HWY_ATTR {
      for (std::size_t g = 0; g < groups; ++g) {
        if constexpr (Format::has_whole_scales)
          hn::Store(panel.of(g, c), Ints(), whole[g] + c);
        else
          hn::Store(panel.of(g, c), Floats(), single[g] + c);
        if constexpr (Format::has_block_minimums) hn::Store(panel.block_minimum(g, c), Floats(), block_minimums[g] + c);
      }
      if constexpr (Format::has_whole_scales) hn::Store(panel.d(c), Floats(), d_of + c);
      if constexpr (Format::has_minimums) {
        hn::Store(panel.e(c), Floats(), e_of + c);
        for (std::size_t j = 0; j < 4; ++j) hn::Store(panel.minimums(j, c), Ints(), least[j] + c);
      }
    });
  }
  HWY_INLINE auto of(std::size_t g, std::size_t c) const {
    if constexpr (Format::has_whole_scales)
      return hn::Load(Ints(), whole[g] + c);
    else
      return hn::Load(Floats(), single[g] + c);
  }
  HWY_INLINE Vec d(std::size_t c) const { return hn::Load(Floats(), d_of + c); }
  HWY_INLINE Vec e(std::size_t c) const { return hn::Load(Floats(), e_of + c); }
  HWY_INLINE IntVec minimums(std::size_t j, std::size_t c) const { return hn::Load(Ints(), least[j] + c); }
  HWY_INLINE Vec block_minimum(std::size_t g, std::size_t c) const { return hn::Load(Floats(), block_minimums[g] + c); }
};

/// The scales of a vector of columns from `at` on, in registers, but for s_g.
template <class Format>
class ScalesOfColumns {
 public:
  template <bool kPairs>
  HWY_INLINE ScalesOfColumns(const PanelScales<Format, kPairs>& s, std::size_t groups, std::size_t at)
      : d_(hn::Zero(Floats())), e_(d_) {
    if constexpr (Format::has_whole_scales) d_ = s.d(at);
    if constexpr (!Format::has_whole_scales)
      for (std::size_t g = 0; g < block_depth / Format::group; ++g) single_[g] = g < groups ? s.of(g, at) : d_;
    if constexpr (Format::has_minimums) {
      e_ = s.e(at);
      for (std::size_t j = 0; j < 4; ++j) least_[j] = s.minimums(j, at);
    }
    if constexpr (Format::has_block_minimums)
      for (std::size_t g = 0; g < groups; ++g) block_minimums_[g] = s.block_minimum(g, at);
  }
  HWY_INLINE Vec of(std::size_t g) const { return single_[g]; }
  HWY_INLINE Vec d(std::size_t) const { return d_; }
  HWY_INLINE Vec e(std::size_t) const { return e_; }
  HWY_INLINE IntVec minimums(std::size_t j, std::size_t) const { return least_[j]; }
  HWY_INLINE Vec block_minimum(std::size_t g, std::size_t) const { return block_minimums_[g]; }

 private:
  Vec d_, e_, single_[block_depth / Format::group], block_minimums_[block_depth / Format::group];
  IntVec least_[4];
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_BLOCK_SCALES_INL_H_

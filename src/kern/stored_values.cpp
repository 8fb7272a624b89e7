// Values of weights in files as floats (stored_values.h).
#include "kern/stored_values.h"

#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/stored_values.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/kernels.h"
#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

using Halves = hn::Rebind<std::uint16_t, Floats>;

/// One vector of binary16 in float.
HWY_INLINE Vec Widened(hn::Vec<Halves> halves) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3  // by F16C
  return hn::PromoteTo(Floats(), hn::BitCast(hn::Rebind<hwy::float16_t, Floats>(), halves));
#else
  const hn::RebindToSigned<Floats> d;
  const auto all = hn::BitCast(d, hn::PromoteTo(hn::RebindToUnsigned<Floats>(), halves));
  const auto magnitude = hn::And(all, hn::Set(d, 0x7fff)), shifted = hn::ShiftLeft<13>(magnitude);
  const Vec small = hn::Mul(hn::ConvertTo(Floats(), magnitude), hn::Set(Floats(), 0x1p-24f));
  const auto normal = hn::Add(shifted, hn::Set(d, 0x38000000));  // the exponent's bias goes from 15 to 127
  const auto quiet = hn::IfThenElseZero(hn::Gt(magnitude, hn::Set(d, 0x7c00)), hn::Set(d, 0x400000));
  const auto endless = hn::Or(hn::Or(shifted, hn::Set(d, 0x7f800000)), quiet);  // infinity, NaN
  auto wide = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 0x400)), hn::BitCast(d, small), normal);
  wide = hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, 0x7bff)), endless, wide);
  const auto sign = hn::ShiftLeft<16>(hn::AndNot(hn::Set(d, 0x7fff), all));
  return hn::BitCast(Floats(), hn::Or(wide, sign));
#endif
}

void widen_f16(const std::byte* halves, float* y, std::size_t n) {
  const std::size_t lanes = hn::Lanes(Floats());
  std::uint16_t some[hn::MaxLanes(Halves())] = {};  // aligned for their type, as the file's bytes need not be
  float last[hn::MaxLanes(Floats())];
  for (std::size_t i = 0; i < n; i += lanes) {
    const std::size_t count = smaller(lanes, n - i);
    __builtin_memcpy(some, halves + i * sizeof some[0], count * sizeof some[0]);
    const Vec wide = Widened(hn::LoadU(Halves(), some));
    if (count == lanes) {
      hn::StoreU(wide, Floats(), y + i);
      continue;
    }
    hn::StoreU(wide, Floats(), last);
    __builtin_memcpy(y + i, last, count * sizeof last[0]);
  }
}

using Words = hn::CappedTag<std::uint32_t, 8>;  // a word's numbers or half of them
using Values = hn::Rebind<float, Words>;
constexpr std::size_t kLanes = hn::MaxLanes(Words()), kLevels = 16, kParts = kLevels / kLanes;

/// The values of the numbers 0 ... 15, in registers.
struct Levels {
  hn::Vec<Values> part[kParts];

  explicit HWY_INLINE Levels(const float* levels) {
    for (std::size_t p = 0; p < kParts; ++p) part[p] = hn::LoadU(Values(), levels + p * kLanes);
  }
  /// @param q  numbers below 16
  HWY_INLINE hn::Vec<Values> at(hn::Vec<Words> q) const {
    const auto lane = hn::IndicesFromVec(Values(), hn::And(q, hn::Set(Words(), kLanes - 1)));
    auto y = hn::TableLookupLanes(part[0], lane);
    const auto which = hn::AndNot(hn::Set(Words(), kLanes - 1), q);
    for (std::size_t p = 1; p < kParts; ++p) {
      const auto here = hn::Eq(which, hn::Set(Words(), static_cast<std::uint32_t>(p * kLanes)));
      y = hn::IfThenElse(hn::RebindMask(Values(), here), hn::TableLookupLanes(part[p], lane), y);
    }
    return y;
  }
};

void look_up_words(const float* levels, const SpacedWords& words, float* y) {
  const Levels table(levels);
  const auto lowest = hn::Set(Words(), kLevels - 1);
  for (std::size_t i = 0; i < words.count; ++i) {
    std::uint32_t word;
    __builtin_memcpy(&word, words.first + i * words.distance, sizeof word);
    for (std::size_t j = 0; j < 8; j += kLanes, y += kLanes) {
      const auto shift = hn::ShiftLeft<2>(hn::Iota(Words(), static_cast<std::uint32_t>(j)));
      hn::StoreU(table.at(hn::And(hn::Shr(hn::Set(Words(), word), shift), lowest)), Values(), y);
    }
  }
}

void look_up_columns(const float* levels, const std::uint32_t* words, int shift, std::size_t n, float* y) {
  const Levels table(levels);
  const auto lowest = hn::Set(Words(), kLevels - 1);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const auto q = hn::And(hn::ShiftRightSame(hn::LoadU(Words(), words + i), shift), lowest);
    hn::StoreU(table.at(q), Values(), y + i);
  }
  for (; i < n; ++i) y[i] = levels[words[i] >> shift & (kLevels - 1)];
}

}  // namespace
}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tril::kern {

HWY_EXPORT(widen_f16);
HWY_EXPORT(look_up_words);
HWY_EXPORT(look_up_columns);

void widen_f16(const std::byte* halves, float* y, std::size_t n) {
  static_cast<void>(best());  // reads TRIL_INSTRUCTION_SET
  HWY_DYNAMIC_DISPATCH(widen_f16)(halves, y, n);
}

void look_up_words(const float* levels, const SpacedWords& words, float* y) {
  static_cast<void>(best());
  HWY_DYNAMIC_DISPATCH(look_up_words)(levels, words, y);
}

void look_up_columns(const float* levels, const std::uint32_t* words, int shift, std::size_t n, float* y) {
  static_cast<void>(best());
  HWY_DYNAMIC_DISPATCH(look_up_columns)(levels, words, shift, n, y);
}

void limit_stored_values([[maybe_unused]] std::string_view table) {
#if defined(__x86_64__)  // Highway's better instruction sets have lower bits
  if (table == "generic")
    hwy::DisableTargets(2 * HWY_AVX2 - 1);
  else if (table == "avx2" || table == "avx2_vnni")
    hwy::DisableTargets(2 * HWY_AVX3 - 1);
#endif
}

}  // namespace tril::kern
#endif  // HWY_ONCE

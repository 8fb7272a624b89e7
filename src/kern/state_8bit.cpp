#include "kern/state_8bit.h"

#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/state_8bit.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

constexpr float largest_float = 3.40282347e38f;

// The codes of x = value / scale, as floats. Decade i begins at bounds[i], so that what lies between two decades goes to the
// nearer level. Within a decade of n intervals, interval j begins at 10^(i - 6) (0.1 + 0.9 j / n). No sum follows a product, which
// some compilers would fuse where the processor can: the codes are the same everywhere.
template <bool has_signs>
HWY_INLINE Vec CodesOf(const StateLevels& levels, Vec x) {
  const Floats d;
  const Vec size = hn::Abs(x);
  Vec intervals = hn::Set(d, static_cast<float>(state_intervals(0, has_signs)));
  Vec per_unit = hn::Set(d, static_cast<float>(state_intervals(0, has_signs) / (0.9 * state_decade(0))));
  Vec begin = hn::Set(d, static_cast<float>(0.1 * state_decade(0)));
  for (int i = 1; i < 7; ++i) {
    const int n = state_intervals(i, has_signs);
    const auto reached = hn::Ge(size, hn::Set(d, levels.bounds[i]));
    intervals = hn::IfThenElse(reached, hn::Set(d, static_cast<float>(n)), intervals);
    per_unit = hn::IfThenElse(reached, hn::Set(d, static_cast<float>(n / (0.9 * state_decade(i)))), per_unit);
    begin = hn::IfThenElse(reached, hn::Set(d, static_cast<float>(0.1 * state_decade(i))), begin);
  }
  const Vec at = hn::Mul(hn::Sub(size, begin), per_unit);
  const Vec last = hn::Sub(intervals, hn::Set(d, 1.0f));
  const Vec interval = SmallerOf(last, LargerOf(hn::Floor(at), hn::Zero(d)));  // 0 if x is not a number
  const Vec is_one = hn::Set(d, levels.bounds[7]);
  if constexpr (has_signs) {
    const Vec zero = hn::Set(d, 127.0f);
    const Vec magnitude = hn::IfThenElseZero(hn::Ge(size, hn::Set(d, levels.bounds[0])), hn::Add(intervals, interval));
    return hn::IfThenElse(hn::Ge(x, is_one), hn::Set(d, 255.0f), hn::Add(zero, hn::CopySign(magnitude, x)));
  } else {
    const Vec code = hn::IfThenElse(hn::Ge(x, is_one), hn::Set(d, 255.0f), hn::Add(last, interval));
    return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), code);
  }
}

// The codes of the n values y, of one block. @return its scale
template <bool has_signs>
HWY_INLINE float QuantizeBlock(const StateLevels& levels, const float* y, std::uint8_t* codes, std::size_t n) {
  const Floats d;
  const hn::Rebind<std::uint8_t, Floats> d8;
  const hn::RebindToSigned<Floats> di;
  Vec largest = hn::Zero(d);
  ForEach(n, [&](std::size_t i, auto io) HWY_ATTR { largest = LargerOf(hn::Abs(io.load(y + i)), largest); });
  const Vec scale = SmallerOf(hn::Set(d, largest_float), hn::MaxOfLanes(d, largest));
  const Vec divisor = hn::IfThenElse(hn::Gt(scale, hn::Zero(d)), scale, hn::Set(d, 1.0f));
  const auto codes_at = [&](std::size_t i, auto io) HWY_ATTR {
    const Vec code = CodesOf<has_signs>(levels, hn::Div(io.load(y + i), divisor));
    return hn::DemoteTo(d8, hn::ConvertTo(di, code));
  };
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(codes_at(i, Whole{}), d8, codes + i);
  if (i < n) {
    HWY_ALIGN std::uint8_t last[hn::MaxLanes(Floats())];
    hn::StoreU(codes_at(i, Part{n - i}), d8, last);
    for (std::size_t j = 0; i + j < n; ++j) codes[i + j] = last[j];
  }
  return hn::GetLane(scale);
}

void expand(const StateLevels& levels, const std::uint8_t* codes, const float* scales, float* y, std::size_t n) {
  for (std::size_t begin = 0, b = 0; begin < n; begin += state_block, ++b) {
    const std::size_t end = smaller(begin + state_block, n);
    for (std::size_t i = begin; i < end; ++i) y[i] = levels.value[codes[i]] * scales[b];
  }
}

void quantize_signed(const float* y, std::uint8_t* codes, float* scales, std::size_t n) {
  for (std::size_t at = 0, b = 0; at < n; at += state_block, ++b)
    scales[b] = QuantizeBlock<true>(signed_levels, y + at, codes + at, smaller(state_block, n - at));
}

void quantize_positive(const float* y, std::uint8_t* codes, float* scales, std::size_t n) {
  for (std::size_t at = 0, b = 0; at < n; at += state_block, ++b)
    scales[b] = QuantizeBlock<false>(positive_levels, y + at, codes + at, smaller(state_block, n - at));
}

}  // namespace
}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kern/kernels.h"

namespace tril::kern {

HWY_EXPORT(expand);
HWY_EXPORT(quantize_signed);
HWY_EXPORT(quantize_positive);

void expand_state(StateSigns signs, const std::uint8_t* codes, const float* scales, float* y, std::size_t n) {
  static_cast<void>(best());  // reads TRIL_INSTRUCTION_SET
  const StateLevels& levels = signs == StateSigns::any ? signed_levels : positive_levels;
  HWY_DYNAMIC_DISPATCH(expand)(levels, codes, scales, y, n);
}

void quantize_state(StateSigns signs, const float* y, std::uint8_t* codes, float* scales, std::size_t n) {
  static_cast<void>(best());
  if (signs == StateSigns::any)
    HWY_DYNAMIC_DISPATCH(quantize_signed)(y, codes, scales, n);
  else
    HWY_DYNAMIC_DISPATCH(quantize_positive)(y, codes, scales, n);
}

}  // namespace tril::kern
#endif  // HWY_ONCE

// The soft cap: y = cap tanh(x / cap), |y| < cap, dy/dx = 1 - (y / cap)^2        [Gemma 2, 2024, section 2; Bello et al. 2017]
#if defined(TRIL_KERN_SOFTCAP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_SOFTCAP_INL_H_
#undef TRIL_KERN_SOFTCAP_INL_H_
#else
#define TRIL_KERN_SOFTCAP_INL_H_
#endif

#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

struct Softcap {
  Vec cap, inverse, factor;

  /// @param scale  factor of x before it is capped
  explicit HWY_INLINE Softcap(float c, float scale = 1)
      : cap(hn::Set(Floats(), c)), inverse(hn::Set(Floats(), 1 / c)), factor(hn::Set(Floats(), scale / c)) {}
  HWY_INLINE Vec operator()(Vec x) const { return hn::Mul(cap, FastTanh(Floats(), hn::Mul(x, factor))); }
  /// At the result y; zero where a mask made it -inf.
  HWY_INLINE Vec slope(Vec y) const {
    const Vec t = LargerOf(hn::Mul(y, inverse), hn::Set(Floats(), -1.0f));
    return hn::NegMulAdd(t, t, hn::Set(Floats(), 1.0f));
  }
};

/// Caps n values; y may be x.
HWY_INLINE void cap_values(const Softcap& cap, std::size_t n, const float* x, float* y) {
  ForEach(n, [&](std::size_t j, auto io) HWY_ATTR { io.store(cap(io.load(x + j)), y + j); });
}
/// Caps the scores of one query in place.
HWY_INLINE void cap_scores(float c, std::size_t n, float* s) {
  cap_values(Softcap(c), n, s, s);
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_SOFTCAP_INL_H_

// The largest magnitude, from which 8-bit scales are computed. Included once for each instruction set.
#if defined(TRIL_KERN_LARGEST_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_LARGEST_INL_H_
#undef TRIL_KERN_LARGEST_INL_H_
#else
#define TRIL_KERN_LARGEST_INL_H_
#endif

#include "hwy/highway.h"
#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

/// The largest of n absolute values; NaN if one is NaN.
HWY_INLINE float LargestSize(const float* x, std::size_t n) {
  const Floats d;
  Vec most = hn::Zero(d), odd = hn::Zero(d);
  ForEach(n, [&](std::size_t j, auto io) HWY_ATTR {
    const Vec v = io.load(x + j);
    most = LargerOf(most, hn::Abs(v));
    odd = hn::MulAdd(v, hn::Zero(d), odd);
  });
  const float sum = hn::GetLane(hn::SumOfLanes(d, odd));
  return sum == 0 ? hn::GetLane(hn::MaxOfLanes(d, most)) : sum;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_LARGEST_INL_H_

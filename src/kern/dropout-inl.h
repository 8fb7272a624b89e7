// Dropout of a vector of consecutive elements, for loops with fused dropout. Included once for each instruction set.
#if defined(TRIL_KERN_DROPOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_DROPOUT_INL_H_
#undef TRIL_KERN_DROPOUT_INL_H_
#else
#define TRIL_KERN_DROPOUT_INL_H_
#endif

#include "kern/kernels.h"
#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

/// drop(v) for elements i, i + 1, ...
struct Drop {
  explicit Drop(const Dropout& d) : key(d.key), threshold(dropout_threshold(d.p)), factor(1.0f / (1.0f - d.p)) {}

  HWY_INLINE Vec operator()(Vec v, std::size_t i) const {
    const Floats d;
    const auto kept = Kept(d, key, threshold, static_cast<std::uint32_t>(i));
    return hn::IfThenElseZero(kept, hn::Mul(v, hn::Set(d, factor)));
  }

  RandomKey key;
  std::uint32_t threshold;
  float factor;
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_DROPOUT_INL_H_

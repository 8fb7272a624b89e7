// The best candidates so far, as a heap. Included once for each instruction set.
#if defined(TRIL_KERN_TOP_K_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_TOP_K_INL_H_
#undef TRIL_KERN_TOP_K_INL_H_
#else
#define TRIL_KERN_TOP_K_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

/// A heap of `size` candidates (values[i], indices[i]): none is better than its children, so the worst comes first.
struct Heap {
  float* values;
  std::int32_t* indices;
  std::size_t size;

  /// True if candidate (a, i) comes before (b, j) in the result.
  static HWY_INLINE bool better(float a, std::int32_t i, float b, std::int32_t j) {
    if (a > b) return true;
    if (a < b) return false;
    const bool a_is_nan = a != a, b_is_nan = b != b;
    return a_is_nan == b_is_nan ? i < j : b_is_nan;
  }

  /// Puts (v, index) into the free slot i, or below it: a child that is worse than it moves up.
  HWY_INLINE void sift(std::size_t i, float v, std::int32_t index) {
    for (std::size_t child = 2 * i + 1; child < size; child = 2 * i + 1) {
      if (child + 1 < size && better(values[child], indices[child], values[child + 1], indices[child + 1])) ++child;
      if (!better(v, index, values[child], indices[child])) break;
      values[i] = values[child];
      indices[i] = indices[child];
      i = child;
    }
    values[i] = v;
    indices[i] = index;
  }

  HWY_INLINE void offer(float v, std::int32_t index) {
    if (better(v, index, values[0], indices[0])) sift(0, v, index);
  }

  HWY_INLINE void build() {
    for (std::size_t i = size; i-- > 0;) sift(i, values[i], indices[i]);
  }

  /// Sorts, largest first: repeatedly moves the worst to the end.
  HWY_INLINE void sort() {
    while (size > 1) {
      --size;
      const float v = values[size];
      const std::int32_t index = indices[size];
      values[size] = values[0];
      indices[size] = indices[0];
      sift(0, v, index);
    }
  }
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_TOP_K_INL_H_

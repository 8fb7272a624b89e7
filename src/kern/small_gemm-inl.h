// Products of matrices with tens of rows and columns, of which attention computes thousands: no packing, no threads,
// no dispatch; operands of a few kilobytes that are in the first-level cache. The body is in small_gemm.cpp.
// Included once for each instruction set.
#if defined(TRIL_KERN_SMALL_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_SMALL_GEMM_INL_H_
#undef TRIL_KERN_SMALL_GEMM_INL_H_
#else
#define TRIL_KERN_SMALL_GEMM_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"
#include "kern/simd.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

/// C [m, n] = s_i (A [m, k] B [k, n] (+ C if accumulate)), s_i = row_scale[i], or `scale` if row_scale is null.
/// Element (i, l) of A is at a[i * a_row + l * a_col], so that a transposed A costs nothing; B and C are row-major.
struct SmallGemm {
  std::size_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  std::size_t a_row = 0, a_col = 1;
  const float* b = nullptr;
  std::size_t b_stride = 0;
  float* c = nullptr;
  std::size_t c_stride = 0;
  bool accumulate = false;
  float scale = 1;
  const float* row_scale = nullptr;
};

/// Reads and writes nothing beyond the n columns of B and C. With k = 0, C becomes zero, or C scaled.
void small_gemm(const SmallGemm& g);

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_SMALL_GEMM_INL_H_

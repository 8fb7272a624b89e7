// Causal convolution of each channel over a few tokens (recurrence.h).
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/short_convolution.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/fill-inl.h"
#include "kern/math-inl.h"
#include "kern/recurrence.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

/// The input that tap k of token t reads; null: zeros.
HWY_INLINE const float* input_of(const ShortConvolution& a, std::size_t t, std::size_t k) {
  const std::size_t at = t + k + 1;  // taps more than its token's number
  if (at >= a.taps) return a.x + (at - a.taps) * a.x_stride;
  return a.before ? a.before + (at - 1) * a.before_stride : nullptr;
}

void short_convolution(const ShortConvolution& a, float* y, std::size_t y_stride) {
  for (std::size_t t = 0; t < a.tokens; ++t, y += y_stride)
    ForEach(a.width, [&](std::size_t i, auto io) HWY_ATTR {
      Vec sum = a.bias ? io.load(a.bias + i) : hn::Zero(Floats());
      for (std::size_t k = 0; k < a.taps; ++k)
        if (const float* const x = input_of(a, t, k))
          sum = hn::MulAdd(io.load(a.w + k * a.w_stride + i), io.load(x + i), sum);
      io.store(sum, y + i);
    });
}

/// dx_s = sum over k of w_k dy_{s + taps - 1 - k}
void short_convolution_backward(const ShortConvolution& a, const float* dy, std::size_t dy_stride, float* dx,
                                std::size_t dx_stride, bool accumulate) {
  for (std::size_t s = 0; s < a.tokens; ++s, dx += dx_stride)
    ForEach(a.width, [&](std::size_t i, auto io) HWY_ATTR {
      Vec sum = accumulate ? io.load(dx + i) : hn::Zero(Floats());
      for (std::size_t k = 0; k < a.taps; ++k) {
        const std::size_t t = s + a.taps - 1 - k;
        if (t < a.tokens) sum = hn::MulAdd(io.load(a.w + k * a.w_stride + i), io.load(dy + t * dy_stride + i), sum);
      }
      io.store(sum, dx + i);
    });
}

/// dw_k += sum over t of dy_t * x_{t - taps + 1 + k}
void short_convolution_weights(const ShortConvolution& a, const float* dy, std::size_t dy_stride, float* dw) {
  for (std::size_t k = 0; k < a.taps; ++k, dw += a.w_stride)
    ForEach(a.width, [&](std::size_t i, auto io) HWY_ATTR {
      Vec sum = io.load(dw + i);
      for (std::size_t t = 0; t < a.tokens; ++t)
        if (const float* const x = input_of(a, t, k))
          sum = hn::MulAdd(io.load(dy + t * dy_stride + i), io.load(x + i), sum);
      io.store(sum, dw + i);
    });
}

}  // namespace

void fill_short_convolution(Kernels& k) {
  k.short_convolution = short_convolution;
  k.short_convolution_backward = short_convolution_backward;
  k.short_convolution_weights = short_convolution_weights;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

// Rotation of heads by position (rotary.h): one pass over x that reads a row of cosines and sines for each token.
#include "base/as_size.h"
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/rotary.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/fill-inl.h"
#include "kern/math-inl.h"
#include "kern/rotary.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

/// A head's pairs (i, i + half).
HWY_INLINE void RotateHalves(const Rotary& r, const float* cosines, const float* sines, const float* x, float* y) {
  const std::size_t half = r.dim / 2;
  const Vec sign = hn::Set(Floats(), r.transposed ? -1.0f : 1.0f);
  ForEach(half, [&](std::size_t i, auto io) HWY_ATTR {
    const Vec c = io.load(cosines + i), s = hn::Mul(sign, io.load(sines + i));
    const Vec a = io.load(x + i), b = io.load(x + half + i);
    const Vec ya = hn::NegMulAdd(s, b, hn::Mul(c, a)), yb = hn::MulAdd(c, b, hn::Mul(s, a));
    io.store(r.accumulate ? hn::Add(ya, io.load(y + i)) : ya, y + i);
    io.store(r.accumulate ? hn::Add(yb, io.load(y + half + i)) : yb, y + half + i);
  });
}

/// A head's pairs (2i, 2i + 1).
HWY_INLINE void RotateNeighbours(const Rotary& r, const float* cosines, const float* sines, const float* x, float* y) {
  const Floats d;
  const std::size_t half = r.dim / 2, lanes = hn::Lanes(d);
  const float sign = r.transposed ? -1.0f : 1.0f;
  std::size_t i = 0;
  for (; i + lanes <= half; i += lanes) {
    const Vec c = hn::LoadU(d, cosines + i), s = hn::Mul(hn::Set(d, sign), hn::LoadU(d, sines + i));
    Vec a, b;
    hn::LoadInterleaved2(d, x + 2 * i, a, b);
    Vec ya = hn::NegMulAdd(s, b, hn::Mul(c, a)), yb = hn::MulAdd(c, b, hn::Mul(s, a));
    if (r.accumulate) {
      hn::LoadInterleaved2(d, y + 2 * i, a, b);
      ya = hn::Add(ya, a), yb = hn::Add(yb, b);
    }
    hn::StoreInterleaved2(ya, yb, d, y + 2 * i);
  }
  for (; i < half; ++i) {
    const float c = cosines[i], s = sign * sines[i], a = x[2 * i], b = x[2 * i + 1];
    y[2 * i] = (r.accumulate ? y[2 * i] : 0.0f) + c * a - s * b;
    y[2 * i + 1] = (r.accumulate ? y[2 * i + 1] : 0.0f) + s * a + c * b;
  }
}

void rotary(const Rotary& r) {
  for (std::size_t t = 0; t < r.tokens; ++t) {
    const float *cosines = r.table + as_size(r.positions[t]) * r.dim, *sines = cosines + r.dim / 2;
    for (std::size_t h = 0; h < r.heads; ++h) {
      const float* x = r.x + t * r.x_stride + h * r.d;
      float* y = r.y + t * r.y_stride + h * r.d;
      if (r.interleaved)
        RotateNeighbours(r, cosines, sines, x, y);
      else
        RotateHalves(r, cosines, sines, x, y);
      if (x == y) continue;
      ForEach(r.d - r.dim, [&](std::size_t i, auto io) HWY_ATTR {
        const std::size_t j = r.dim + i;
        io.store(r.accumulate ? hn::Add(io.load(x + j), io.load(y + j)) : io.load(x + j), y + j);
      });
    }
  }
}

}  // namespace

void fill_rotary(Kernels& k) {
  k.rotary = rotary;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

// layer_norm and rms_norm over rows, forward and backward. A row is read from memory once and stays in the first cache
// for the further passes: the mean, then the centred variance (one pass of x and x^2 would cancel), then the result.
//   layer_norm: h = (x - mean) rstd, y = g h + b:   dx = rstd (g dy - mean(g dy) - h mean(g dy h)),  dg = dy h,  db =
//   dy rms_norm:   h = x / rms,         y = g h:       dx = (g dy - h mean(g dy h)) / rms,              dg = dy h
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/norms.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/fill-inl.h"
#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

HWY_INLINE float InverseRoot(float x) {
  return 1.0f / hn::GetLane(hn::Sqrt(hn::Set(Floats(), x)));
}

void layer_norm(const float* x, const float* g, const float* b, float eps, float* y, float* mean, float* rstd,
                std::size_t rows, std::size_t cols) {
  const Floats d;
  const float inv_cols = 1.0f / static_cast<float>(cols);
  for (std::size_t row = 0; row < rows; ++row, x += cols, y += cols) {
    const float mu = inv_cols * Sum(cols, [&](std::size_t j, auto io) HWY_ATTR { return io.load(x + j); });
    const Vec centre = hn::Set(d, mu);
    const float variance = inv_cols * Sum(cols, [&](std::size_t j, auto io) HWY_ATTR {
                             const Vec c = io.or_else(hn::Sub(io.load(x + j), centre), hn::Zero(Floats()));
                             return hn::Mul(c, c);
                           });
    const float r = InverseRoot(variance + eps);
    const Vec factor = hn::Set(d, r);
    ForEach(cols, [&](std::size_t j, auto io) HWY_ATTR {
      const Vec h = hn::Mul(hn::Sub(io.load(x + j), centre), factor);
      io.store(b ? hn::MulAdd(io.load(g + j), h, io.load(b + j)) : hn::Mul(io.load(g + j), h), y + j);
    });
    if (mean) mean[row] = mu;
    if (rstd) rstd[row] = r;
  }
}

/// Both gradients; rms_norm is the case without means.
struct NormGradient {
  const float *x, *g, *mean, *scale, *dy;
  float* dx;
  bool accumulate;
  float *dg, *db;
};

void norm_backward(const NormGradient& n, std::size_t rows, std::size_t cols) {
  const Floats d;
  const float inv_cols = 1.0f / static_cast<float>(cols);
  for (std::size_t row = 0; row < rows; ++row) {
    const float *x = n.x + row * cols, *dy = n.dy + row * cols;
    float* dx = n.dx ? n.dx + row * cols : nullptr;
    const Vec centre = hn::Set(d, n.mean ? n.mean[row] : 0.0f), factor = hn::Set(d, n.scale[row]);
    Vec mean_s = hn::Zero(d), mean_sh = hn::Zero(d);  // s = g dy
    if (dx) {
      if (n.mean)
        mean_s = hn::Set(d, inv_cols * Sum(cols, [&](std::size_t j, auto io)
                                                     HWY_ATTR { return hn::Mul(io.load(dy + j), io.load(n.g + j)); }));
      mean_sh = hn::Set(d, inv_cols * Sum(cols, [&](std::size_t j, auto io) HWY_ATTR {
                             const Vec h = hn::Mul(hn::Sub(io.load(x + j), centre), factor);
                             return hn::Mul(hn::Mul(io.load(dy + j), io.load(n.g + j)), h);
                           }));
    }
    ForEach(cols, [&](std::size_t j, auto io) HWY_ATTR {
      const Vec h = hn::Mul(hn::Sub(io.load(x + j), centre), factor), dyj = io.load(dy + j);
      if (n.dg) io.store(hn::MulAdd(dyj, h, io.load(n.dg + j)), n.dg + j);
      if (n.db) io.store(hn::Add(dyj, io.load(n.db + j)), n.db + j);
      if (dx) {
        const Vec s = hn::Sub(hn::Mul(dyj, io.load(n.g + j)), mean_s);
        const Vec dxj = hn::Mul(factor, hn::NegMulAdd(h, mean_sh, s));
        io.store(n.accumulate ? hn::Add(dxj, io.load(dx + j)) : dxj, dx + j);
      }
    });
  }
}

void layer_norm_backward(const float* x, const float* g, const float* mean, const float* rstd, const float* dy,
                         float* dx, bool accumulate, float* dg, float* db, std::size_t rows, std::size_t cols) {
  norm_backward({x, g, mean, rstd, dy, dx, accumulate, dg, db}, rows, cols);
}

void rms_norm(const float* x, const float* g, float eps, float* y, float* inv_rms, std::size_t rows, std::size_t cols) {
  const float inv_cols = 1.0f / static_cast<float>(cols);
  for (std::size_t row = 0; row < rows; ++row, x += cols, y += cols) {
    const float mean_square = inv_cols * Sum(cols, [&](std::size_t j, auto io) HWY_ATTR {
                                const Vec v = io.load(x + j);
                                return hn::Mul(v, v);
                              });
    const float r = InverseRoot(mean_square + eps);
    const Vec factor = hn::Set(Floats(), r);
    ForEach(cols, [&](std::size_t j, auto io)
                      HWY_ATTR { io.store(hn::Mul(io.load(g + j), hn::Mul(io.load(x + j), factor)), y + j); });
    if (inv_rms) inv_rms[row] = r;
  }
}

void rms_norm_backward(const float* x, const float* g, const float* inv_rms, const float* dy, float* dx,
                       bool accumulate, float* dg, std::size_t rows, std::size_t cols) {
  norm_backward({x, g, nullptr, inv_rms, dy, dx, accumulate, dg, nullptr}, rows, cols);
}

}  // namespace

void fill_norms(Kernels& k) {
  k.layer_norm = layer_norm;
  k.layer_norm_backward = layer_norm_backward;
  k.rms_norm = rms_norm;
  k.rms_norm_backward = rms_norm_backward;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

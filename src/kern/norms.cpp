// layer_norm and rms_norm over rows, forward and backward. A row is read from memory once and stays in the
// first-level cache for the other passes: the mean, then the centred variance (one pass of x and x^2 would cancel),
// then the result.
//   layer_norm: h = (x - mean) rstd, y = g h + b:  dx = rstd (g dy - mean(g dy) - h mean(g dy h)),  dg = dy h,  db = dy
//   rms_norm:   h = x / rms,         y = g h:      dx = (g dy - h mean(g dy h)) / rms,              dg = dy h
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

/// mean(s) and mean(s h) over one row, s = g dy, h = (x - centre) factor, as dx needs them.
struct RowMeans {
  Vec s, sh;
};
HWY_INLINE RowMeans MeansOf(const float* x, const float* g, const float* dy, Vec centre, Vec factor, std::size_t cols) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  Vec s0 = hn::Zero(d), s1 = s0, sh0 = s0, sh1 = s0;
  const auto add_to = [x, g, dy, centre, factor](std::size_t j, auto io, Vec& sum, Vec& sum_h) HWY_ATTR {
    const Vec s = hn::Mul(io.load(dy + j), io.load(g + j));
    sum = hn::Add(sum, s);
    sum_h = hn::MulAdd(s, hn::Mul(hn::Sub(io.load(x + j), centre), factor), sum_h);
  };
  std::size_t j = 0;
  for (; j + 2 * lanes <= cols; j += 2 * lanes) {
    add_to(j, Whole{}, s0, sh0);
    add_to(j + lanes, Whole{}, s1, sh1);
  }
  for (; j + lanes <= cols; j += lanes) add_to(j, Whole{}, s0, sh0);
  if (j < cols) add_to(j, Part{cols - j}, s1, sh1);
  const Vec inv_cols = hn::Set(d, 1.0f / static_cast<float>(cols));
  return {hn::Mul(hn::SumOfLanes(d, hn::Add(s0, s1)), inv_cols),
          hn::Mul(hn::SumOfLanes(d, hn::Add(sh0, sh1)), inv_cols)};
}

void norm_backward(const NormGradient& n, std::size_t rows, std::size_t cols) {
  const Floats d;
  const bool centred = n.mean != nullptr, accumulate = n.accumulate;
  const float* g = n.g;
  float *dg = n.dg, *db = n.db;
  for (std::size_t row = 0; row < rows; ++row) {
    const float *x = n.x + row * cols, *dy = n.dy + row * cols;
    float* dx = n.dx ? n.dx + row * cols : nullptr;
    const Vec centre = hn::Set(d, centred ? n.mean[row] : 0.0f), factor = hn::Set(d, n.scale[row]);
    RowMeans mean = MeansOf(x, g, dy, centre, factor, cols);
    if (!centred) mean.s = hn::Zero(d);
    ForEach(cols, [=](std::size_t j, auto io) HWY_ATTR {
      const Vec h = hn::Mul(hn::Sub(io.load(x + j), centre), factor), dyj = io.load(dy + j);
      if (dg) io.store(hn::MulAdd(dyj, h, io.load(dg + j)), dg + j);
      if (db) io.store(hn::Add(dyj, io.load(db + j)), db + j);
      if (dx) {
        const Vec s = hn::Sub(hn::Mul(dyj, io.load(g + j)), mean.s);
        const Vec v = hn::Mul(factor, hn::NegMulAdd(h, mean.sh, s));
        io.store(accumulate ? hn::Add(v, io.load(dx + j)) : v, dx + j);
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

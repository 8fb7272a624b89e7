// Softmax and the losses on it, over rows of logits. A row of a vocabulary stays in the second cache: one pass for its
// largest value, one for the sum of exp(x - max), one for the result; each element's exp is taken once wherever its
// place can hold it meanwhile.
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/softmax.cpp"
#include <cmath>

#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/fill-inl.h"
#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

/// What to subtract before exp: the row's largest value, or 0 where all are -inf (or NaN).
HWY_INLINE float Shift(const float* x, std::size_t cols) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const Vec lowest = hn::Set(d, -HUGE_VALF);
  Vec m0 = lowest, m1 = lowest, m2 = lowest, m3 = lowest;
  std::size_t j = 0;
  for (; j + 4 * lanes <= cols; j += 4 * lanes) {
    m0 = hn::Max(hn::LoadU(d, x + j), m0);
    m1 = hn::Max(hn::LoadU(d, x + j + lanes), m1);
    m2 = hn::Max(hn::LoadU(d, x + j + 2 * lanes), m2);
    m3 = hn::Max(hn::LoadU(d, x + j + 3 * lanes), m3);
  }
  ForEach(cols - j, [&](std::size_t i, auto io)
                        HWY_ATTR { m0 = hn::Max(io.or_else(io.load(x + j + i), hn::Set(Floats(), -HUGE_VALF)), m0); });
  const float m = hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(m0, m1), hn::Max(m2, m3))));
  return m == -HUGE_VALF ? 0.0f : m;
}

/// exp(x - shift), zero in the lanes that the row does not have.
template <class Io>
HWY_INLINE Vec ShiftedExp(Io io, const float* x, Vec shift) {
  const Floats d;
  return io.or_else(FastExp(d, hn::Sub(io.load(x), shift)), hn::Zero(d));
}

HWY_INLINE float LogSumExp(const float* x, std::size_t cols) {
  const float shift = Shift(x, cols);
  const Vec s = hn::Set(Floats(), shift);
  return shift + logf(Sum(cols, [&](std::size_t j, auto io) HWY_ATTR { return ShiftedExp(io, x + j, s); }));
}

void log_sum_exp(const float* x, float* lse, std::size_t rows, std::size_t cols) {
  for (std::size_t row = 0; row < rows; ++row) lse[row] = LogSumExp(x + row * cols, cols);
}

void log_softmax(const float* x, float* y, std::size_t rows, std::size_t cols) {
  for (std::size_t row = 0; row < rows; ++row, x += cols, y += cols) {
    const Vec lse = hn::Set(Floats(), LogSumExp(x, cols));
    ForEach(cols, [&](std::size_t j, auto io) HWY_ATTR { io.store(hn::Sub(io.load(x + j), lse), y + j); });
  }
}

void clear(float* y, std::size_t n) {
  ForEach(n, [&](std::size_t j, auto io) HWY_ATTR { io.store(hn::Zero(Floats()), y + j); });
}

void cross_entropy(const CrossEntropy& c, const float* logits, float* losses, float* d_logits, std::size_t rows,
                   std::size_t cols) {
  const Floats d;
  const float smooth = c.eps / static_cast<float>(cols);
  for (std::size_t row = 0; row < rows; ++row) {
    const float* x = logits + row * cols;
    float* dx = d_logits ? d_logits + row * cols : nullptr;
    if (c.targets[row] == c.ignore) {
      losses[row] = 0;
      if (dx) clear(dx, cols);
      continue;
    }
    const std::size_t target = static_cast<std::size_t>(c.targets[row]);
    const float weight = c.weights ? c.weights[row] : 1.0f, at_target = x[target];
    const float shift = Shift(x, cols);
    const Vec s = hn::Set(d, shift);
    // Sums of x - shift rather than of x: what is left of a large common offset would spoil the loss.
    const float smoothed =
        c.eps > 0
            ? smooth * Sum(cols, [&](std::size_t j, auto io)
                                     HWY_ATTR { return io.or_else(hn::Sub(io.load(x + j), s), hn::Zero(Floats())); })
            : 0.0f;
    const float sum = dx ? Sum(cols,
                               [&](std::size_t j, auto io) HWY_ATTR {
                                 const Vec e = ShiftedExp(io, x + j, s);
                                 io.store(e, dx + j);
                                 return e;
                               })
                         : Sum(cols, [&](std::size_t j, auto io) HWY_ATTR { return ShiftedExp(io, x + j, s); });
    losses[row] = weight * (logf(sum) - (1 - c.eps) * (at_target - shift) - smoothed);
    if (!dx) continue;
    const float scale = c.gradient_scale * weight;
    const Vec factor = hn::Set(d, scale / sum), less = hn::Set(d, scale * smooth);
    ForEach(cols,
            [&](std::size_t j, auto io) HWY_ATTR { io.store(hn::MulSub(io.load(dx + j), factor, less), dx + j); });
    dx[target] -= scale * (1 - c.eps);
  }
}

void distillation(const float* student, const float* teacher, const std::uint8_t* keep, float temperature,
                  float gradient_scale, float* losses, float* d_student, std::size_t rows, std::size_t cols) {
  const Floats d;
  const Vec inv_t = hn::Set(d, 1 / temperature);
  for (std::size_t row = 0; row < rows; ++row) {
    const float *s = student + row * cols, *t = teacher + row * cols;
    float* ds = d_student ? d_student + row * cols : nullptr;
    if (!keep[row]) {
      losses[row] = 0;
      if (ds) clear(ds, cols);
      continue;
    }
    const Vec shift_s = hn::Set(d, Shift(s, cols)), shift_t = hn::Set(d, Shift(t, cols));
    Vec sum_s = hn::Zero(d), sum_t = hn::Zero(d), sum_td = hn::Zero(d);
    ForEach(cols, [&](std::size_t j, auto io) HWY_ATTR {
      const Vec zero = hn::Zero(Floats());
      const Vec zs = hn::Mul(inv_t, hn::Sub(io.load(s + j), shift_s));
      const Vec zt = hn::Mul(inv_t, hn::Sub(io.load(t + j), shift_t));
      const Vec es = io.or_else(FastExp(Floats(), zs), zero), et = io.or_else(FastExp(Floats(), zt), zero);
      if (ds) io.store(es, ds + j);
      sum_s = hn::Add(sum_s, es);
      sum_t = hn::Add(sum_t, et);
      // A teacher's zero counts as zero even where the difference is infinite or -inf - -inf.
      sum_td = hn::Add(sum_td, hn::IfThenElse(hn::Eq(et, zero), zero, hn::Mul(et, hn::Sub(zt, zs))));
    });
    const float all_s = hn::GetLane(hn::SumOfLanes(d, sum_s)), all_t = hn::GetLane(hn::SumOfLanes(d, sum_t));
    const float difference = hn::GetLane(hn::SumOfLanes(d, sum_td)) / all_t;
    losses[row] = temperature * temperature * (difference - logf(all_t) + logf(all_s));
    if (!ds) continue;
    const float scale = gradient_scale * temperature;
    const Vec of_s = hn::Set(d, scale / all_s), of_t = hn::Set(d, scale / all_t);
    ForEach(cols, [&](std::size_t j, auto io) HWY_ATTR {
      const Vec et = FastExp(Floats(), hn::Mul(inv_t, hn::Sub(io.load(t + j), shift_t)));
      io.store(hn::MulSub(of_s, io.load(ds + j), hn::Mul(of_t, et)), ds + j);
    });
  }
}

}  // namespace

void fill_softmax(Kernels& k) {
  k.log_softmax = log_softmax;
  k.log_sum_exp = log_sum_exp;
  k.cross_entropy = cross_entropy;
  k.distillation = distillation;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

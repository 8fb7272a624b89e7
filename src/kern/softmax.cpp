// Softmax and its losses over rows of logits. A row of a vocabulary stays in the second-level cache: one pass for
// its largest value, one for the sum of exp(x - max), one for the result. Each element's exp is computed once if the
// output can hold it meanwhile.
#include "base/as_size.h"
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

/// The value to subtract before exp: the row's largest value, or 0 if all are -inf (or NaN).
HWY_INLINE float Shift(const float* x, std::size_t cols) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const Vec lowest = hn::Set(d, -HUGE_VALF);
  Vec m0 = lowest, m1 = lowest, m2 = lowest, m3 = lowest;
  std::size_t j = 0;
  for (; j + 4 * lanes <= cols; j += 4 * lanes) {
    m0 = LargerOf(hn::LoadU(d, x + j), m0);
    m1 = LargerOf(hn::LoadU(d, x + j + lanes), m1);
    m2 = LargerOf(hn::LoadU(d, x + j + 2 * lanes), m2);
    m3 = LargerOf(hn::LoadU(d, x + j + 3 * lanes), m3);
  }
  ForEach(cols - j, [&](std::size_t i, auto io)
                        HWY_ATTR { m0 = LargerOf(io.or_else(io.load(x + j + i), hn::Set(Floats(), -HUGE_VALF)), m0); });
  const float m = hn::GetLane(hn::MaxOfLanes(d, LargerOf(LargerOf(m0, m1), LargerOf(m2, m3))));
  return m == -HUGE_VALF ? 0.0f : m;
}

/// exp(x - shift), zero in the lanes beyond the row.
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
    const std::size_t target = as_size(c.targets[row]);
    const float weight = c.weights ? c.weights[row] : 1.0f, at_target = x[target];
    const float shift = Shift(x, cols);
    const Vec s = hn::Set(d, shift);
    // Sums of x - shift, not of x: rounding errors of a large common offset would spoil the loss.
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

void distillation(const float* student, const float* teacher, const float* weights, float temperature,
                  float gradient_scale, float* losses, float* d_student, std::size_t rows, std::size_t cols) {
  const Floats d;
  const Vec inv_t = hn::Set(d, 1 / temperature);
  for (std::size_t row = 0; row < rows; ++row) {
    const float *s = student + row * cols, *t = teacher + row * cols;
    float* ds = d_student ? d_student + row * cols : nullptr;
    if (weights[row] == 0) {
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
      // A zero of the teacher counts as zero, even if the difference is infinite or -inf - -inf.
      sum_td = hn::Add(sum_td, hn::IfThenElse(hn::Eq(et, zero), zero, hn::Mul(et, hn::Sub(zt, zs))));
    });
    const float all_s = hn::GetLane(hn::SumOfLanes(d, sum_s)), all_t = hn::GetLane(hn::SumOfLanes(d, sum_t));
    const float difference = hn::GetLane(hn::SumOfLanes(d, sum_td)) / all_t;
    losses[row] = weights[row] * temperature * temperature * (difference - logf(all_t) + logf(all_s));
    if (!ds) continue;
    const float scale = gradient_scale * weights[row] * temperature;
    const Vec of_s = hn::Set(d, scale / all_s), of_t = hn::Set(d, scale / all_t);
    ForEach(cols, [&](std::size_t j, auto io) HWY_ATTR {
      const Vec et = FastExp(Floats(), hn::Mul(inv_t, hn::Sub(io.load(t + j), shift_t)));
      io.store(hn::MulSub(of_s, io.load(ds + j), hn::Mul(of_t, et)), ds + j);
    });
  }
}

void r_drop(const CrossEntropy& c, float alpha, float* a, float* b, float* losses, bool gradients, std::size_t rows,
            std::size_t cols) {
  const Floats d;
  const float smooth = c.eps / static_cast<float>(cols);
  for (std::size_t row = 0; row < rows; ++row, a += cols, b += cols) {
    const std::int32_t target = c.targets[row];
    if (target == c.ignore) {
      losses[row] = 0;
      if (gradients) clear(a, cols), clear(b, cols);
      continue;
    }
    const float weight = c.weights ? c.weights[row] : 1.0f;
    const float shift_a = Shift(a, cols), shift_b = Shift(b, cols);
    const float at_target = a[target] - shift_a + (b[target] - shift_b);
    const Vec sa = hn::Set(d, shift_a), sb = hn::Set(d, shift_b), zero = hn::Zero(d);
    // With p = e^za / sum_a and q = e^zb / sum_b: log p - log q = (za - zb) - (log sum_a - log sum_b).
    Vec sums_a = zero, sums_b = zero, sums_ad = zero, sums_bd = zero, sums_z = zero;
    const auto difference = [](Vec za, Vec zb, Vec ea, Vec eb) HWY_ATTR {
      const Vec none = hn::Zero(Floats());  // a word with zero probability on either side contributes nothing
      return hn::IfThenElse(hn::Eq(LargerOf(ea, eb), none), none, hn::Sub(za, zb));
    };
    ForEach(cols, [&](std::size_t j, auto io) HWY_ATTR {
      const Vec none = hn::Zero(Floats());
      const Vec za = io.or_else(hn::Sub(io.load(a + j), sa), none), zb = io.or_else(hn::Sub(io.load(b + j), sb), none);
      const Vec ea = io.or_else(FastExp(Floats(), za), none), eb = io.or_else(FastExp(Floats(), zb), none);
      const Vec z = difference(za, zb, ea, eb);
      sums_a = hn::Add(sums_a, ea), sums_b = hn::Add(sums_b, eb);
      sums_ad = hn::MulAdd(ea, z, sums_ad), sums_bd = hn::MulAdd(eb, z, sums_bd);
      sums_z = hn::Add(sums_z, hn::Add(za, zb));
    });
    const float sum_a = hn::GetLane(hn::SumOfLanes(d, sums_a)), sum_b = hn::GetLane(hn::SumOfLanes(d, sums_b));
    const float lse_a = logf(sum_a), lse_b = logf(sum_b), offset = lse_a - lse_b;
    const float kl_ab = hn::GetLane(hn::SumOfLanes(d, sums_ad)) / sum_a - offset;
    const float kl_ba = offset - hn::GetLane(hn::SumOfLanes(d, sums_bd)) / sum_b;
    const float smoothed = c.eps > 0 ? smooth * hn::GetLane(hn::SumOfLanes(d, sums_z)) : 0.0f;
    const float entropies = lse_a + lse_b - (1 - c.eps) * at_target - smoothed;
    losses[row] = weight * (0.5f * entropies + 0.25f * alpha * (kl_ab + kl_ba));
    if (!gradients) continue;

    const float half = 0.5f * c.gradient_scale * weight, quarter = 0.25f * c.gradient_scale * weight * alpha;
    const Vec inv_a = hn::Set(d, 1 / sum_a), inv_b = hn::Set(d, 1 / sum_b), g = hn::Set(d, quarter);
    const Vec less = hn::Set(d, half * smooth);
    // half + quarter (1 +- (za - zb) -+ offset - KL), with all terms that are constant along the row in one number
    const Vec of_a = hn::Set(d, half + quarter * (1 - offset - kl_ab));
    const Vec of_b = hn::Set(d, half + quarter * (1 + offset - kl_ba));
    ForEach(cols, [&](std::size_t j, auto io) HWY_ATTR {
      const Vec za = hn::Sub(io.load(a + j), sa), zb = hn::Sub(io.load(b + j), sb);
      const Vec ea = FastExp(Floats(), za), eb = FastExp(Floats(), zb);
      const Vec gz = hn::Mul(g, difference(za, zb, ea, eb));
      const Vec p_a = hn::Mul(ea, inv_a), p_b = hn::Mul(eb, inv_b);
      io.store(hn::Sub(hn::MulSub(p_a, hn::Add(of_a, gz), hn::Mul(g, p_b)), less), a + j);
      io.store(hn::Sub(hn::MulSub(p_b, hn::Sub(of_b, gz), hn::Mul(g, p_a)), less), b + j);
    });
    a[target] -= half * (1 - c.eps), b[target] -= half * (1 - c.eps);
  }
}

}  // namespace

void fill_softmax(Kernels& k) {
  k.log_softmax = log_softmax;
  k.log_sum_exp = log_sum_exp;
  k.cross_entropy = cross_entropy;
  k.distillation = distillation;
  k.r_drop = r_drop;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

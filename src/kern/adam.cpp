// One step of Adam or AdamW over n values, each read and written once.
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/adam.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/fill-inl.h"
#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

void adam(const Adam& a, float* w, float* m, float* v, const float* g, std::size_t n) {
  const Floats d;
  const Vec beta1 = hn::Set(d, a.beta1), rest1 = hn::Set(d, 1 - a.beta1);
  const Vec beta2 = hn::Set(d, a.beta2), rest2 = hn::Set(d, 1 - a.beta2);
  const Vec gradient_scale = hn::Set(d, a.gradient_scale), l2 = hn::Set(d, a.l2), eps = hn::Set(d, a.eps);
  const Vec step = hn::Set(d, a.lr / a.bias1), inv_bias2 = hn::Set(d, 1 / a.bias2);
  const Vec decay = hn::Set(d, a.lr * a.decoupled_decay);
  ForEach(n, [&](std::size_t i, auto io) HWY_ATTR {
    const Vec wi = io.load(w + i);
    const Vec gi = hn::MulAdd(l2, wi, hn::Mul(gradient_scale, io.load(g + i)));
    const Vec mi = hn::MulAdd(beta1, io.load(m + i), hn::Mul(rest1, gi));
    const Vec vi = hn::MulAdd(beta2, io.load(v + i), hn::Mul(rest2, hn::Mul(gi, gi)));
    const Vec denominator = hn::Add(hn::Sqrt(hn::Mul(vi, inv_bias2)), eps);
    const Vec change = hn::MulAdd(decay, wi, hn::Div(hn::Mul(step, mi), denominator));
    io.store(mi, m + i);
    io.store(vi, v + i);
    io.store(hn::Sub(wi, change), w + i);
  });
}

}  // namespace

void fill_adam(Kernels& k) {
  k.adam = adam;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

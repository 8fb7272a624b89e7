// The recurrence of an SSRU and its gradient (ssru.h). Columns do not depend on each other: each vector of them goes through
// all tokens, with its state in a register.
#include "kern/ssru.h"

#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/ssru.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/fill-inl.h"
#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

void ssru(const Ssru& a) {
  const Floats d;
  ForEach(a.width, [&](std::size_t j, auto io) HWY_ATTR {
    Vec cell = a.state ? io.load(a.state + j) : hn::Zero(d);
    for (std::size_t t = 0; t < a.tokens; ++t) {
      const Vec x = io.load(a.x + t * a.x_stride + j), keep = Sigmoid(d, io.load(a.f + t * a.f_stride + j));
      cell = hn::MulAdd(keep, hn::Sub(cell, x), x);
      if (a.cells) io.store(cell, a.cells + t * a.width + j);
      io.store(LargerOf(cell, hn::Zero(d)), a.out + t * a.width + j);
    }
    if (a.state) io.store(cell, a.state + j);
  });
}

void ssru_backward(const SsruGradient& g) {
  const Floats d;
  const Ssru& a = g.forward;
  ForEach(a.width, [&](std::size_t j, auto io) HWY_ATTR {
    Vec later = hn::Zero(d);
    for (std::size_t t = a.tokens; t-- > 0;) {
      const std::size_t at = t * a.width + j;
      const Vec x = io.load(a.x + t * a.x_stride + j), keep = Sigmoid(d, io.load(a.f + t * a.f_stride + j));
      const Vec before = t > 0 ? io.load(a.cells + at - a.width) : hn::Zero(d);
      const Vec own = hn::IfThenElseZero(hn::Gt(io.load(a.cells + at), hn::Zero(d)), io.load(g.dy + at));
      const Vec dc = hn::Add(own, later);
      later = hn::Mul(keep, dc);
      const Vec dx = hn::Sub(dc, later);
      io.store(dx, g.dx + at);
      io.store(hn::Mul(hn::Mul(keep, dx), hn::Sub(before, x)), g.df + at);
    }
  });
}

}  // namespace

void fill_ssru(Kernels& k) {
  k.ssru = ssru;
  k.ssru_backward = ssru_backward;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

// Loops over vectors of n values: sums, scaling, dropout, activations and gates.
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/elementwise.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "base/half.h"
#include "kern/activation-inl.h"
#include "kern/dropout-inl.h"
#include "kern/fill-inl.h"
#include "kern/math-inl.h"
#include "kern/softcap-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

void add(const float* a, const float* b, float* y, std::size_t n) {
  ForEach(n, [&](std::size_t i, auto io) HWY_ATTR { io.store(hn::Add(io.load(a + i), io.load(b + i)), y + i); });
}

void axpy(float alpha, const float* x, float* y, std::size_t n) {
  const Vec s = hn::Set(Floats(), alpha);
  ForEach(n, [&](std::size_t i, auto io) HWY_ATTR { io.store(hn::MulAdd(s, io.load(x + i), io.load(y + i)), y + i); });
}

void scale(float alpha, const float* x, float* y, std::size_t n) {
  const Vec s = hn::Set(Floats(), alpha);
  ForEach(n, [&](std::size_t i, auto io) HWY_ATTR { io.store(hn::Mul(s, io.load(x + i)), y + i); });
}

void copy(const void* x, void* y, std::size_t bytes) {
  __builtin_memcpy(y, x, bytes);
}

void fill(float value, float* y, std::size_t n) {
  const Vec v = hn::Set(Floats(), value);
  ForEach(n, [&](std::size_t i, auto io) HWY_ATTR { io.store(v, y + i); });
}

double sum_squares(const float* x, std::size_t n) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> half;  // as many floats as a vector holds doubles
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto x0 = hn::PromoteTo(d, hn::LoadU(half, x + i)), x1 = hn::PromoteTo(d, hn::LoadU(half, x + i + lanes));
    const auto x2 = hn::PromoteTo(d, hn::LoadU(half, x + i + 2 * lanes));
    const auto x3 = hn::PromoteTo(d, hn::LoadU(half, x + i + 3 * lanes));
    s0 = hn::MulAdd(x0, x0, s0);
    s1 = hn::MulAdd(x1, x1, s1);
    s2 = hn::MulAdd(x2, x2, s2);
    s3 = hn::MulAdd(x3, x3, s3);
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return sum;
}

void round_bf16(const float* x, std::uint16_t* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = f32_to_bf16(x[i]);  // compilers vectorise this
}

void widen_bf16(const std::uint16_t* x, float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = bf16_to_f32(x[i]);
}

void softcap(float c, const float* x, float* y, std::size_t n) {
  cap_values(Softcap(c), n, x, y);
}

void softcap_backward(float c, const float* y, const float* dy, float* dx, bool accumulate, std::size_t n) {
  const Softcap cap(c);
  ForEach(n, [&](std::size_t i, auto io) HWY_ATTR {
    const Vec g = hn::Mul(io.load(dy + i), cap.slope(io.load(y + i)));
    io.store(accumulate ? hn::Add(io.load(dx + i), g) : g, dx + i);
  });
}

void clamp(float low, float high, const float* x, float* y, std::size_t n) {
  const Vec least = hn::Set(Floats(), low), most = hn::Set(Floats(), high);
  ForEach(n,
          [&](std::size_t i, auto io) HWY_ATTR { io.store(SmallerOf(most, LargerOf(least, io.load(x + i))), y + i); });
}

void clamp_backward(float low, float high, const float* x, const float* dy, float* dx, bool accumulate, std::size_t n) {
  const Vec least = hn::Set(Floats(), low), most = hn::Set(Floats(), high);
  ForEach(n, [&](std::size_t i, auto io) HWY_ATTR {
    const Vec v = io.load(x + i);
    const Vec g = hn::IfThenElseZero(hn::And(hn::Ge(v, least), hn::Le(v, most)), io.load(dy + i));
    io.store(accumulate ? hn::Add(io.load(dx + i), g) : g, dx + i);
  });
}

float dot(const float* a, const float* b, std::size_t n) {
  return Sum(n, [&](std::size_t i, auto io) HWY_ATTR { return hn::Mul(io.load(a + i), io.load(b + i)); });
}

void dropout(Dropout p, const float* x, float* y, std::size_t n) {
  const Drop drop(p);
  ForEach(n, [&](std::size_t i, auto io) HWY_ATTR { io.store(drop(io.load(x + i), i), y + i); });
}

void add_dropout(Dropout p, const float* h, const float* x, float* y, std::size_t n) {
  const Drop drop(p);
  ForEach(n,
          [&](std::size_t i, auto io) HWY_ATTR { io.store(hn::Add(io.load(h + i), drop(io.load(x + i), i)), y + i); });
}

void axpy_dropout(Dropout p, const float* dy, float* dx, std::size_t n) {
  const Drop drop(p);
  ForEach(n, [&](std::size_t i, auto io)
                 HWY_ATTR { io.store(hn::Add(io.load(dx + i), drop(io.load(dy + i), i)), dx + i); });
}

void activate(Activation name, const float* x, float* y, std::size_t n) {
  WithActivation(name, [&](auto f) HWY_ATTR {
    ForEach(n, [&](std::size_t i, auto io) HWY_ATTR { io.store(f.value(io.load(x + i)), y + i); });
  });
}

/// Stores v at p, or adds it to the value there.
template <class Io>
HWY_INLINE void StoreOrAdd(Io io, Vec v, float* p, bool accumulate) {
  io.store(accumulate ? hn::Add(v, io.load(p)) : v, p);
}

void activate_backward(Activation name, const float* x, const float* dy, float* dx, bool accumulate, std::size_t n) {
  WithActivation(name, [&](auto f) HWY_ATTR {
    ForEach(n, [&](std::size_t i, auto io) HWY_ATTR {
      StoreOrAdd(io, hn::Mul(io.load(dy + i), f.both(io.load(x + i)).slope), dx + i, accumulate);
    });
  });
}

void gated(Activation name, const float* gate, const float* up, float* y, std::size_t n) {
  WithActivation(name, [&](auto f) HWY_ATTR {
    ForEach(n, [&](std::size_t i, auto io)
                   HWY_ATTR { io.store(hn::Mul(f.value(io.load(gate + i)), io.load(up + i)), y + i); });
  });
}

void gated_backward(Activation name, const float* gate, const float* up, const float* dy, float* d_gate, float* d_up,
                    bool accumulate, std::size_t n) {
  WithActivation(name, [&](auto f) HWY_ATTR {
    ForEach(n, [&](std::size_t i, auto io) HWY_ATTR {
      const ValueAndSlope at_gate = f.both(io.load(gate + i));
      const Vec g = io.load(dy + i), u = io.load(up + i);
      StoreOrAdd(io, hn::Mul(hn::Mul(g, u), at_gate.slope), d_gate + i, accumulate);
      StoreOrAdd(io, hn::Mul(g, at_gate.value), d_up + i, accumulate);
    });
  });
}

}  // namespace

void fill_elementwise(Kernels& k) {
  k.add = add;
  k.axpy = axpy;
  k.scale = scale;
  k.fill = fill;
  k.copy = copy;
  k.sum_squares = sum_squares;
  k.round_bf16 = round_bf16;
  k.widen_bf16 = widen_bf16;
  k.softcap = softcap;
  k.softcap_backward = softcap_backward;
  k.clamp = clamp;
  k.clamp_backward = clamp_backward;
  k.dot = dot;
  k.dropout = dropout;
  k.add_dropout = add_dropout;
  k.axpy_dropout = axpy_dropout;
  k.activate = activate;
  k.activate_backward = activate_backward;
  k.gated = gated;
  k.gated_backward = gated_backward;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

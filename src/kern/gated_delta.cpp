// The gated delta rule (recurrence.h), token by token. Columns of S do not depend on each other, so a vector of columns
// passes through all tokens before the next one does: its part of S stays in the nearest cache. A token reads it twice
// and writes it once.
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/gated_delta.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <cmath>

#include "kern/fill-inl.h"
#include "kern/math-inl.h"
#include "kern/recurrence-inl.h"
#include "kern/recurrence.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

std::size_t gated_delta_scratch(std::size_t d_k) {
  return ColumnsScratch(d_k);
}

std::size_t gated_delta_backward_scratch(std::size_t d_k, std::size_t tokens) {
  return BackInChunksScratch(d_k, tokens);
}

/// One token's step of a vector of columns: from has S_{t-1} and `to` gets S_t, rows of them `stride` apart; v is the
/// token's. @return S_t^T q_t
template <class Io>
HWY_INLINE Vec step(const GatedDelta& a, std::size_t t, Io io, const float* from, float* to, std::size_t stride,
                    Vec v) {
  const Floats d;
  const float *q = a.q + t * a.q_stride, *k = a.k + t * a.k_stride;
  const Vec decay = hn::Set(d, a.decay[t * a.decay_stride]), beta = hn::Set(d, a.beta[t * a.beta_stride]);
  Vec known = hn::Zero(d);
  for (std::size_t i = 0; i < a.d_k; ++i) known = hn::MulAdd(hn::Set(d, k[i]), io.load(from + i * stride), known);
  const Vec u = hn::Mul(beta, hn::NegMulAdd(decay, known, v));
  Vec y = hn::Zero(d);
  for (std::size_t i = 0; i < a.d_k; ++i) {
    const Vec s = hn::MulAdd(hn::Set(d, k[i]), u, hn::Mul(decay, io.load(from + i * stride)));
    io.store(s, to + i * stride);
    y = hn::MulAdd(hn::Set(d, q[i]), s, y);
  }
  return y;
}

void gated_delta(const GatedDelta& a, float* state, float* y, std::size_t y_stride, float* scratch) {
  const Vec scale = hn::Set(Floats(), a.scale);
  const StateMatrix of_head{a.d_k, a.d_v, a.tokens, state, scratch};
  ForEach(a.d_v, [&](std::size_t c, auto io) HWY_ATTR {
    ThroughTokens(of_head, c, io, [&](float* s, std::size_t stride) HWY_ATTR {
      for (std::size_t t = 0; t < a.tokens; ++t) {
        const Vec result = step(a, t, io, s, s, stride, io.load(a.v + t * a.v_stride + c));
        io.store(hn::Mul(scale, result), y + t * y_stride + c);
      }
    });
  });
}

/// The gradient of one token, from S_{t-1} and S_t, and ds, that of S_t by later tokens, which becomes that of S_{t-1}.
/// dy has the scale.
template <class Io>
HWY_INLINE void step_backward(const GatedDelta& a, const GatedDeltaGradient& g, std::size_t t, std::size_t c, Io io,
                              const float* before, const float* after, float* ds) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const float *q = a.q + t * a.q_stride, *k = a.k + t * a.k_stride;
  float *dq = g.dq + t * g.dq_stride, *dk = g.dk + t * g.dk_stride, *dv = g.dv + t * g.dv_stride + c;
  const Vec decay = hn::Set(d, a.decay[t * a.decay_stride]), beta = hn::Set(d, a.beta[t * a.beta_stride]);
  const Vec dy = hn::Mul(hn::Set(d, a.scale), io.load(g.dy + t * g.dy_stride + c));
  Vec known = hn::Zero(d), du = hn::Zero(d);
  for (std::size_t i = 0; i < a.d_k; ++i) {
    const Vec all = hn::MulAdd(hn::Set(d, q[i]), dy, io.load(ds + i * lanes));
    io.store(all, ds + i * lanes);
    dq[i] += hn::GetLane(hn::SumOfLanes(d, hn::Mul(dy, io.load(after + i * lanes))));
    known = hn::MulAdd(hn::Set(d, k[i]), io.load(before + i * lanes), known);
    du = hn::MulAdd(hn::Set(d, k[i]), all, du);
  }
  const Vec error = hn::NegMulAdd(decay, known, io.load(a.v + t * a.v_stride + c)), u = hn::Mul(beta, error);
  const Vec d_error = hn::Mul(beta, du);
  io.store(hn::Add(d_error, io.load(dv)), dv);
  g.d_beta[t * g.d_beta_stride] += hn::GetLane(hn::SumOfLanes(d, hn::Mul(du, error)));
  Vec d_decay = hn::Zero(d);
  for (std::size_t i = 0; i < a.d_k; ++i) {
    const Vec s = io.load(before + i * lanes), all = io.load(ds + i * lanes);
    const Vec through_k = hn::NegMulAdd(hn::Mul(decay, s), d_error, hn::Mul(all, u));
    dk[i] += hn::GetLane(hn::SumOfLanes(d, through_k));
    const Vec decayed = hn::NegMulAdd(hn::Set(d, k[i]), d_error, all);  // the gradient of a S_{t-1}
    d_decay = hn::MulAdd(decayed, s, d_decay);
    io.store(hn::Mul(decay, decayed), ds + i * lanes);
  }
  g.d_decay[t * g.d_decay_stride] += hn::GetLane(hn::SumOfLanes(d, d_decay));
}

void gated_delta_backward(const GatedDelta& a, const GatedDeltaGradient& g, float* scratch) {
  const std::size_t lanes = hn::Lanes(Floats());
  ForEach(a.d_v, [&](std::size_t c, auto io) HWY_ATTR {
    BackInChunks(
        a.d_k * lanes, a.tokens, scratch,
        [&](std::size_t t, const float* from, float* to)
            HWY_ATTR { step(a, t, io, from, to, lanes, io.load(a.v + t * a.v_stride + c)); },
        [&](std::size_t t, const float* before, const float* after, float* ds)
            HWY_ATTR { step_backward(a, g, t, c, io, before, after, ds); });
  });
}

void delta_decay(const float* a, std::size_t a_stride, const float* log_rate, const float* bias, float* decay,
                 std::size_t tokens, std::size_t heads) {
  for (std::size_t t = 0; t < tokens; ++t)
    for (std::size_t h = 0; h < heads; ++h) {
      const double x = static_cast<double>(a[t * a_stride + h]) + static_cast<double>(bias[h]);
      decay[t * heads + h] = static_cast<float>(std::exp(-std::exp(static_cast<double>(log_rate[h])) * SoftplusOf(x)));
    }
}

void delta_decay_backward(const float* a, std::size_t a_stride, const float* log_rate, const float* bias,
                          const float* d_decay, float* da, float* d_log_rate, std::size_t tokens, std::size_t heads) {
  for (std::size_t t = 0; t < tokens; ++t)
    for (std::size_t h = 0; h < heads; ++h) {
      const double x = static_cast<double>(a[t * a_stride + h]) + static_cast<double>(bias[h]);
      const double rate = std::exp(static_cast<double>(log_rate[h])), plus = SoftplusOf(x);
      const double g = static_cast<double>(d_decay[t * heads + h]) * std::exp(-rate * plus) * -rate;
      da[t * heads + h] = static_cast<float>(g / (1 + std::exp(-x)));
      d_log_rate[t * heads + h] = static_cast<float>(g * plus);
    }
}

}  // namespace

void fill_gated_delta(Kernels& k) {
  k.gated_delta_scratch = gated_delta_scratch;
  k.gated_delta_backward_scratch = gated_delta_backward_scratch;
  k.gated_delta = gated_delta;
  k.gated_delta_backward = gated_delta_backward;
  k.delta_decay = delta_decay;
  k.delta_decay_backward = delta_decay_backward;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

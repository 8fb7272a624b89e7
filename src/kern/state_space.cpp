// The selective state space (recurrence.h), token by token. As in gated_delta.cpp, a vector of columns of S passes through all
// tokens before the next one does. A token reads and writes its part of S once.
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/state_space.cpp"
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

std::size_t state_space_scratch(std::size_t d_state) {
  return ColumnsScratch(d_state);
}

std::size_t state_space_backward_scratch(std::size_t d_state, std::size_t tokens) {
  return BackInChunksScratch(d_state, tokens);
}

/// One token's step of a vector of columns: from has S_{t-1} and `to` gets S_t, rows of them `stride` apart; x is the token's.
/// @return S_t^T C_t, by four partial sums, so that one addition need not wait for the one before
template <class Io>
HWY_INLINE Vec state_step(const StateSpace& a, std::size_t t, Io io, const float* from, float* to, std::size_t stride,
                          Vec x) {
  const Floats d;
  const float *b = a.b + t * a.b_stride, *c = a.c + t * a.c_stride;
  const Vec decay = hn::Set(d, a.decay[t * a.step_stride]), u = hn::Mul(hn::Set(d, a.dt[t * a.step_stride]), x);
  const auto row = [&](std::size_t i, Vec sum) HWY_ATTR {
    const Vec s = hn::MulAdd(hn::Set(d, b[i]), u, hn::Mul(decay, io.load(from + i * stride)));
    io.store(s, to + i * stride);
    return hn::MulAdd(hn::Set(d, c[i]), s, sum);
  };
  Vec y0 = hn::Zero(d), y1 = y0, y2 = y0, y3 = y0;
  std::size_t i = 0;
  for (; i + 4 <= a.d_state; i += 4) {
    y0 = row(i, y0), y1 = row(i + 1, y1), y2 = row(i + 2, y2), y3 = row(i + 3, y3);
  }
  for (; i < a.d_state; ++i) y0 = row(i, y0);
  return hn::Add(hn::Add(y0, y1), hn::Add(y2, y3));
}

void state_space(const StateSpace& a, float* state, float* y, std::size_t y_stride, float* scratch) {
  const Vec skip = hn::Set(Floats(), a.skip);
  const StateMatrix of_head{a.d_state, a.d_head, a.tokens, state, scratch};
  ForEach(a.d_head, [&](std::size_t column, auto io) HWY_ATTR {
    ThroughTokens(of_head, column, io, [&](float* s, std::size_t stride) HWY_ATTR {
      for (std::size_t t = 0; t < a.tokens; ++t) {
        const Vec x = io.load(a.x + t * a.x_stride + column);
        io.store(hn::MulAdd(skip, x, state_step(a, t, io, s, s, stride, x)), y + t * y_stride + column);
      }
    });
  });
}

/// The gradient of one token: see BackInChunks().
template <class Io>
HWY_INLINE void state_step_backward(const StateSpace& a, const StateSpaceGradient& g, std::size_t t, std::size_t column,
                                    Io io, const float* before, const float* after, float* ds) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d), step = t * a.step_stride;
  const float *b = a.b + t * a.b_stride, *c = a.c + t * a.c_stride;
  float *db = g.db + t * g.db_stride, *dc = g.dc + t * g.dc_stride, *dx = g.dx + t * g.dx_stride + column;
  const Vec decay = hn::Set(d, a.decay[step]), dt = hn::Set(d, a.dt[step]);
  const Vec x = io.load(a.x + t * a.x_stride + column), dy = io.load(g.dy + t * g.dy_stride + column);
  const Vec u = hn::Mul(dt, x);
  Vec du = hn::Zero(d), d_decay = du;
  for (std::size_t i = 0; i < a.d_state; ++i) {
    const Vec all = hn::MulAdd(hn::Set(d, c[i]), dy, io.load(ds + i * lanes));
    dc[i] += hn::GetLane(hn::SumOfLanes(d, hn::Mul(dy, io.load(after + i * lanes))));
    db[i] += hn::GetLane(hn::SumOfLanes(d, hn::Mul(all, u)));
    du = hn::MulAdd(hn::Set(d, b[i]), all, du);
    d_decay = hn::MulAdd(all, io.load(before + i * lanes), d_decay);
    io.store(hn::Mul(decay, all), ds + i * lanes);
  }
  io.store(hn::Add(io.load(dx), hn::MulAdd(dt, du, hn::Mul(hn::Set(d, a.skip), dy))), dx);
  g.d_dt[step] += hn::GetLane(hn::SumOfLanes(d, hn::Mul(du, x)));
  g.d_decay[step] += hn::GetLane(hn::SumOfLanes(d, d_decay));
  *g.d_skip += hn::GetLane(hn::SumOfLanes(d, hn::Mul(dy, x)));
}

void state_space_backward(const StateSpace& a, const StateSpaceGradient& g, float* scratch) {
  const std::size_t lanes = hn::Lanes(Floats());
  ForEach(a.d_head, [&](std::size_t column, auto io) HWY_ATTR {
    BackInChunks(
        a.d_state * lanes, a.tokens, scratch,
        [&](std::size_t t, const float* from, float* to)
            HWY_ATTR { state_step(a, t, io, from, to, lanes, io.load(a.x + t * a.x_stride + column)); },
        [&](std::size_t t, const float* before, const float* after, float* ds)
            HWY_ATTR { state_step_backward(a, g, t, column, io, before, after, ds); });
  });
}

void state_steps(const float* raw, std::size_t raw_stride, const float* bias, const float* log_rate, float* dt,
                 float* decay, std::size_t tokens, std::size_t heads) {
  for (std::size_t t = 0; t < tokens; ++t)
    for (std::size_t h = 0; h < heads; ++h) {
      const double step = SoftplusOf(static_cast<double>(raw[t * raw_stride + h]) + static_cast<double>(bias[h]));
      dt[t * heads + h] = static_cast<float>(step);
      decay[t * heads + h] = static_cast<float>(std::exp(-std::exp(static_cast<double>(log_rate[h])) * step));
    }
}

void state_steps_backward(const float* raw, std::size_t raw_stride, const float* bias, const float* log_rate,
                          const float* d_dt, const float* d_decay, float* d_raw, float* d_log_rate, std::size_t tokens,
                          std::size_t heads) {
  for (std::size_t t = 0; t < tokens; ++t)
    for (std::size_t h = 0; h < heads; ++h) {
      const std::size_t at = t * heads + h;
      const double x = static_cast<double>(raw[t * raw_stride + h]) + static_cast<double>(bias[h]);
      const double rate = std::exp(static_cast<double>(log_rate[h])), step = SoftplusOf(x);
      const double g = static_cast<double>(d_decay[at]) * std::exp(-rate * step) * -rate;  // of the exponent's step
      d_raw[at] = static_cast<float>((g + static_cast<double>(d_dt[at])) / (1 + std::exp(-x)));
      d_log_rate[at] = static_cast<float>(g * step);
    }
}

}  // namespace

void fill_state_space(Kernels& k) {
  k.state_space_scratch = state_space_scratch;
  k.state_space_backward_scratch = state_space_backward_scratch;
  k.state_space = state_space;
  k.state_space_backward = state_space_backward;
  k.state_steps = state_steps;
  k.state_steps_backward = state_steps_backward;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

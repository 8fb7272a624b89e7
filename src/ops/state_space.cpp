// state_space: S_t = a_t S_{t-1} + dt_t B_t x_t^T,  y_t = S_t^T C_t + D x_t      [Dao & Gu 2024, "Transformers are SSMs", section 7]
//              dt = softplus(raw + bias),  a = exp(-r dt),  r = exp(log_rate)
//   with E_t the gradient of S_t:  E_t += C_t dy_t^T,  dC_t = S_t dy_t,  dB_t = dt_t E_t x_t,  du = E_t^T B_t,
//   dx_t = dt_t du + D dy_t,  da_t = E_t . S_{t-1},  E_{t-1} = a_t E_t,  dD = sum of dy_t . x_t,
//   d raw_t = (du . x_t - r a_t da_t) sigmoid(raw_t + bias),  d bias = sum of d raw,  d log_rate = sum of -r dt_t a_t da_t
//   x, y [N, H d_head]   B, C [N, G d_state]   raw, dt, a [N, H]   saves all inputs, dt and a; the backward pass
//   recomputes the states, 64 tokens at a time.
#include "ops/state_space.h"

#include "kern/recurrence.h"
#include "ops/row_heads.h"
#include "ops/sizes.h"

namespace tril::ops {
namespace {

struct StateHeads {
  std::int64_t heads, groups, d_state, d_head;
  std::int64_t group_of(std::int64_t h) const { return h / (heads / groups); }
};

StateHeads state_heads(const StateSpace& in, std::int64_t groups, const Rows& rows) {
  const auto [N, values] = in.x.dims<2>("state_space: x");
  const auto [Nb, keys] = in.b.dims<2>("state_space: b");
  const auto [Nr, heads] = in.raw.dims<2>("state_space: raw");
  check(heads > 0 && groups > 0 && heads % groups == 0 && keys % groups == 0 && values % heads == 0, "state_space",
        "x {} of {} heads and b {} of {} groups", in.x.shape(), heads, in.b.shape(), groups);
  check(rows.tokens() == N, "state_space", "{} tokens in rows of {}", N, rows.tokens());
  check_shape(in.b, {N, keys}, "state_space: b");
  check_shape(in.c, {N, keys}, "state_space: c");
  check_shape(in.raw, {N, heads}, "state_space: raw");
  check_shape(in.bias, {heads}, "state_space: bias");
  check_shape(in.log_rate, {heads}, "state_space: log_rate");
  check_shape(in.skip, {heads}, "state_space: skip");
  return {heads, groups, keys / groups, values / heads};
}

/// One call's inputs, sizes, rows, and steps dt and a [N, H].
struct Scan {
  StateSpace in;
  StateHeads n;
  Rows rows;
  Tensor dt, decay;
};

const float* scan_at(const Tensor& x, std::int64_t token, std::int64_t column) {
  return x.data<float>() + token * x.row_stride() + column;
}

// Of head h in row r.
kern::StateSpace scan_arguments(const Scan& s, std::int64_t r, std::int64_t h) {
  const std::int64_t first = s.rows.begin(r), group = s.n.group_of(h) * s.n.d_state;
  kern::StateSpace a;
  a.x = scan_at(s.in.x, first, h * s.n.d_head), a.x_stride = z(s.in.x.row_stride());
  a.b = scan_at(s.in.b, first, group), a.b_stride = z(s.in.b.row_stride());
  a.c = scan_at(s.in.c, first, group), a.c_stride = z(s.in.c.row_stride());
  a.dt = scan_at(s.dt, first, h), a.decay = scan_at(s.decay, first, h), a.step_stride = z(s.n.heads);
  a.tokens = z(s.rows.length(r)), a.d_state = z(s.n.d_state), a.d_head = z(s.n.d_head);
  a.skip = s.in.skip.data<float>()[h];
  return a;
}

// Of each token and head: the products B u^T and S^T C.
double scan_flops(const StateHeads& n, std::int64_t tokens) {
  return 2 * product_flops(tokens * n.heads, n.d_state, n.d_head);
}

void scan_backward(Context& c, const Scan& s, const Tensor& dy, Grads& d) {
  const StateSpace& in = s.in;
  const auto& [heads, groups, d_state, d_head] = s.n;
  const Shape steps{in.raw.size(0), heads};
  Tensor dx = c.zeros(in.x.shape()), db = c.zeros(in.b.shape()), dc = c.zeros(in.c.shape()), d_dt = c.zeros(steps),
         d_decay = c.zeros(steps), d_skip = c.zeros({heads});
  Tensor scratch = c.empty_vector(c.kernels().state_space_backward_scratch(z(d_state), z(s.rows.longest())));
  for (std::int64_t r = 0; r < s.rows.count(); ++r)
    for (std::int64_t h = 0; h < heads && s.rows.length(r) > 0; ++h) {
      const std::int64_t first = s.rows.begin(r), group = s.n.group_of(h) * d_state;
      kern::StateSpaceGradient g;
      g.dy = scan_at(dy, first, h * d_head), g.dy_stride = z(dy.row_stride());
      g.dx = dx.data<float>() + first * dx.row_stride() + h * d_head, g.dx_stride = z(dx.row_stride());
      g.db = db.data<float>() + first * db.row_stride() + group, g.db_stride = z(db.row_stride());
      g.dc = dc.data<float>() + first * dc.row_stride() + group, g.dc_stride = z(dc.row_stride());
      g.d_decay = d_decay.data<float>() + first * heads + h, g.d_dt = d_dt.data<float>() + first * heads + h;
      g.d_skip = d_skip.data<float>() + h;
      c.kernels().state_space_backward(scan_arguments(s, r, h), g, scratch.data<float>());
    }
  Tensor d_raw = c.empty(steps), d_rate = c.empty(steps);
  const std::size_t N = z(in.raw.size(0)), H = z(heads);
  c.kernels().state_steps_backward(in.raw.data<float>(), z(in.raw.row_stride()), in.bias.data<float>(),
                                   in.log_rate.data<float>(), d_dt.data<float>(), d_decay.data<float>(),
                                   d_raw.data<float>(), d_rate.data<float>(), N, H);
  if (float* const to = sum_into(c, d.into(c, in.log_rate))) c.kernels().column_sums(d_rate.data<float>(), to, N, H);
  if (float* const to = sum_into(c, d.into(c, in.bias))) c.kernels().column_sums(d_raw.data<float>(), to, N, H);
  if (float* const to = sum_into(c, d.into(c, in.skip))) c.kernels().axpy(1, d_skip.data<float>(), to, H);
  pass_rows_on(c, dx, d.into(c, in.x)), pass_rows_on(c, db, d.into(c, in.b)), pass_rows_on(c, dc, d.into(c, in.c));
  pass_rows_on(c, d_raw, d.into(c, in.raw));
}

}  // namespace

// The heads of rows are divided among threads.
Tensor state_space(Context& c, const StateSpace& in, std::int64_t groups, const Rows& rows, States states) {
  const StateHeads n = state_heads(in, groups, rows);
  if (states) {
    check(!c.tape(), "state_space", "states have no gradient");
    check_states(states, rows, state_space_state(n.heads, n.d_state, n.d_head), "state_space: states");
  }
  const std::int64_t N = in.x.size(0), width = n.heads * n.d_head;
  Tensor y = c.empty({N, width});
  const auto size = static_cast<std::int64_t>(c.kernels().state_space_scratch(z(n.d_state)));
  Tensor scratch = c.empty({c.threads(), size});
  const auto time = c.timed("state_space", states ? "step" : "forward",
                            [&] { return Work{.flops = scan_flops(n, N), .bytes = bytes_of(in.x, in.b, in.c, y)}; });
  Scan s{in, n, rows, c.empty({N, n.heads}), c.empty({N, n.heads})};
  c.kernels().state_steps(in.raw.data<float>(), z(in.raw.row_stride()), in.bias.data<float>(),
                          in.log_rate.data<float>(), s.dt.data<float>(), s.decay.data<float>(), z(N), z(n.heads));
  for_rows_and_heads(c, rows, n.heads, [&](int thread, std::int64_t r, std::int64_t h) {
    c.kernels().state_space(scan_arguments(s, r, h), states ? states.of(r) + h * n.d_state * n.d_head : nullptr,
                            y.data<float>() + rows.begin(r) * width + h * n.d_head, z(width),
                            scratch.data<float>() + thread * size);
  });
  if (c.tape())
    c.tape()->record("state_space", {&in.x, &in.b, &in.c, &in.raw, &in.bias, &in.log_rate, &in.skip}, y,
                     [s](Context& k, const Tensor& dy, Grads& d) {
                       k.worked([&] {
                         return Work{.flops = 4 * scan_flops(s.n, dy.size(0)),
                                     .bytes = 2 * bytes_of(s.in.x, s.in.b, s.in.c, dy)};
                       });
                       scan_backward(k, s, dy, d);
                     });
  return y;
}

}  // namespace tril::ops

// gated_delta: S_t = a_t S_{t-1} + k_t u_t^T,  u_t = b_t (v_t - a_t S_{t-1}^T k_t),  y_t = s S_t^T q_t
//                                                                       [Yang et al. 2025, "Gated Delta Networks", eq. 10]
//   with D_t the gradient of S_t:  D_t += s q_t dy_t^T,  dq_t = s S_t dy_t,  du_t = D_t^T k_t,  dv_t = b_t du_t,
//   db_t = du_t . u_t / b_t,  dk_t = D_t u_t - a_t S_{t-1} dv_t,  E = D_t - k_t dv_t^T,  da_t = E . S_{t-1},  D_{t-1} = a_t E
//   q, k [N, Hk d_k]   v, y [N, H d_v]   a, b [N, H]   saves all inputs; the backward pass recomputes the states,
//   64 tokens at a time.
//
// delta_decay: y = exp(-r softplus(x)),  r = exp(log_rate),  x = a + bias               [Gu & Dao 2024, section 3.5.2]
//   da = -r sigmoid(x) y dy,  d bias = sum of da,  d log_rate = sum of -r softplus(x) y dy   saves a
#include "ops/gated_delta.h"

#include <algorithm>

#include "kern/recurrence.h"
#include "ops/row_heads.h"
#include "ops/sizes.h"

namespace tril::ops {
namespace {

struct DeltaHeads {
  std::int64_t heads, key_heads, d_k, d_v;
};

DeltaHeads heads_of(const GatedDelta& x, std::int64_t key_heads, const Rows& rows) {
  const auto [N, keys] = x.k.dims<2>("gated_delta: k");
  const auto [Nv, values] = x.v.dims<2>("gated_delta: v");
  const auto [Na, heads] = x.decay.dims<2>("gated_delta: decay");
  check(heads > 0 && key_heads > 0 && heads % key_heads == 0 && keys % key_heads == 0 && values % heads == 0,
        "gated_delta", "k {} of {} heads and v {} of {}", x.k.shape(), key_heads, x.v.shape(), heads);
  check(rows.tokens() == N, "gated_delta", "{} tokens in rows of {}", N, rows.tokens());
  check_shape(x.q, {N, keys}, "gated_delta: q");
  check_shape(x.v, {N, values}, "gated_delta: v");
  check_shape(x.decay, {N, heads}, "gated_delta: decay");
  check_shape(x.beta, {N, heads}, "gated_delta: beta");
  return {heads, key_heads, keys / key_heads, values / heads};
}

// Head h's values at the first of the row's tokens.
const float* at(const Tensor& x, std::int64_t token, std::int64_t column) {
  return x.data<float>() + token * x.row_stride() + column;
}

kern::GatedDelta arguments(const GatedDelta& x, const DeltaHeads& n, const Rows& rows, std::int64_t r, std::int64_t h) {
  const std::int64_t first = rows.begin(r), key_head = h / (n.heads / n.key_heads);
  kern::GatedDelta a;
  a.q = at(x.q, first, key_head * n.d_k), a.q_stride = z(x.q.row_stride());
  a.k = at(x.k, first, key_head * n.d_k), a.k_stride = z(x.k.row_stride());
  a.v = at(x.v, first, h * n.d_v), a.v_stride = z(x.v.row_stride());
  a.decay = at(x.decay, first, h), a.decay_stride = z(x.decay.row_stride());
  a.beta = at(x.beta, first, h), a.beta_stride = z(x.beta.row_stride());
  a.tokens = z(rows.length(r)), a.d_k = z(n.d_k), a.d_v = z(n.d_v);
  a.scale = x.scale;
  return a;
}

// Of each token and head: S k, k u^T and S q.
double flops_of(const DeltaHeads& n, std::int64_t tokens) {
  return 3 * product_flops(tokens * n.heads, n.d_k, n.d_v);
}

void backward(Context& c, const GatedDelta& x, const DeltaHeads& n, const Rows& rows, const Tensor& dy, Grads& d) {
  Tensor dq = c.zeros(x.q.shape()), dk = c.zeros(x.k.shape()), dv = c.zeros(x.v.shape()),
         d_decay = c.zeros(x.decay.shape()), d_beta = c.zeros(x.beta.shape());
  Tensor scratch = c.empty_vector(c.kernels().gated_delta_backward_scratch(z(n.d_k), z(rows.longest())));
  for (std::int64_t r = 0; r < rows.count(); ++r)
    for (std::int64_t h = 0; h < n.heads && rows.length(r) > 0; ++h) {
      const std::int64_t first = rows.begin(r), key = h / (n.heads / n.key_heads) * n.d_k;
      kern::GatedDeltaGradient g;
      g.dy = at(dy, first, h * n.d_v), g.dy_stride = z(dy.row_stride());
      g.dq = dq.data<float>() + first * dq.row_stride() + key, g.dq_stride = z(dq.row_stride());
      g.dk = dk.data<float>() + first * dk.row_stride() + key, g.dk_stride = z(dk.row_stride());
      g.dv = dv.data<float>() + first * dv.row_stride() + h * n.d_v, g.dv_stride = z(dv.row_stride());
      g.d_decay = d_decay.data<float>() + first * n.heads + h, g.d_decay_stride = z(n.heads);
      g.d_beta = d_beta.data<float>() + first * n.heads + h, g.d_beta_stride = z(n.heads);
      c.kernels().gated_delta_backward(arguments(x, n, rows, r, h), g, scratch.data<float>());
    }
  pass_rows_on(c, dq, d.into(c, x.q)), pass_rows_on(c, dk, d.into(c, x.k)), pass_rows_on(c, dv, d.into(c, x.v));
  pass_rows_on(c, d_decay, d.into(c, x.decay)), pass_rows_on(c, d_beta, d.into(c, x.beta));
}

}  // namespace

// The heads of rows are divided among threads.
Tensor gated_delta(Context& c, const GatedDelta& x, std::int64_t key_heads, const Rows& rows, States states) {
  const DeltaHeads n = heads_of(x, key_heads, rows);
  if (states) {
    check(!c.tape(), "gated_delta", "states have no gradient");
    check_states(states, rows, gated_delta_state(n.heads, n.d_k, n.d_v), "gated_delta: states");
  }
  const std::int64_t N = x.v.size(0), width = n.heads * n.d_v;
  Tensor y = c.empty({N, width});
  const auto size = static_cast<std::int64_t>(c.kernels().gated_delta_scratch(z(n.d_k)));
  Tensor scratch = c.empty({c.threads(), size});
  const auto time = c.timed("gated_delta", states ? "step" : "forward",
                            [&] { return Work{.flops = flops_of(n, N), .bytes = bytes_of(x.q, x.k, x.v, y)}; });
  for_rows_and_heads(c, rows, n.heads, [&](int thread, std::int64_t r, std::int64_t h) {
    c.kernels().gated_delta(arguments(x, n, rows, r, h), states ? states.of(r) + h * n.d_k * n.d_v : nullptr,
                            y.data<float>() + rows.begin(r) * width + h * n.d_v, z(width),
                            scratch.data<float>() + thread * size);
  });
  if (c.tape())
    c.tape()->record(
        "gated_delta", {&x.q, &x.k, &x.v, &x.decay, &x.beta}, y, [x, n, rows](Context& k, const Tensor& dy, Grads& d) {
          k.worked(
              [&] { return Work{.flops = 4 * flops_of(n, dy.size(0)), .bytes = 2 * bytes_of(x.q, x.k, x.v, dy)}; });
          backward(k, x, n, rows, dy, d);
        });
  return y;
}

Tensor delta_decay(Context& c, const Tensor& a, const Tensor& log_rate, const Tensor& bias) {
  const auto [N, H] = a.dims<2>("delta_decay: a");
  check_shape(log_rate, {H}, "delta_decay: log_rate");
  check_shape(bias, {H}, "delta_decay: bias");
  Tensor y = c.empty({N, H});
  const auto time = c.timed("delta_decay", "forward", [&] { return Work{.bytes = bytes_of(a, y)}; });
  c.kernels().delta_decay(a.data<float>(), z(a.row_stride()), log_rate.data<float>(), bias.data<float>(),
                          y.data<float>(), z(N), z(H));
  if (c.tape())
    c.tape()->record("delta_decay", {&a, &log_rate, &bias}, y,
                     [a, log_rate, bias](Context& k, const Tensor& dy, Grads& d) {
                       k.worked([&] { return Work{.bytes = bytes_of(a, dy, dy)}; });
                       Tensor da = k.empty(a.shape()), d_rate = k.empty(a.shape());
                       const std::size_t N_ = z(a.size(0)), H_ = z(a.size(1));
                       k.kernels().delta_decay_backward(a.data<float>(), z(a.row_stride()), log_rate.data<float>(),
                                                        bias.data<float>(), dy.data<float>(), da.data<float>(),
                                                        d_rate.data<float>(), N_, H_);
                       if (float* const to = sum_into(k, d.into(k, log_rate)))
                         k.kernels().column_sums(d_rate.data<float>(), to, N_, H_);
                       if (float* const to = sum_into(k, d.into(k, bias)))
                         k.kernels().column_sums(da.data<float>(), to, N_, H_);
                       pass_rows_on(k, da, d.into(k, a));
                     });
  return y;
}

}  // namespace tril::ops

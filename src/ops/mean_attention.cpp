// mean_attention: W = 1/n sum over chosen heads h of P_h,  P_h = softmax(S_h),  S_h = scale q_h k_h^T
//   dP_h = dW / n    dS_h = P_h (dP_h - sum(dP_h P_h))    dq_h += scale dS_h k_h    dk_h += scale dS_h^T q_h
//   q [Nq, H d_k]   k [Nk, Hkv d_k]   W: [q_len, k_len] of each row
// Saves q and k; P_h is recomputed.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/sizes.h"

namespace tril::ops {
namespace {

kern::MeanAttention arguments(const Tensor& q, const Tensor& k, const Spans& spans, const MeanAttentionOptions& o) {
  const std::int64_t heads = o.num_heads, kv_heads = o.num_kv_heads;
  const auto [Nq, Dq] = q.dims<2>("mean_attention: q");
  const auto [Nk, Dk] = k.dims<2>("mean_attention: k");
  check(heads > 0 && kv_heads > 0 && heads % kv_heads == 0 && Dq % heads == 0 && Dk == Dq / heads * kv_heads,
        "mean_attention", "q {} of {} heads, k {} of {}", q.shape(), heads, k.shape(), kv_heads);
  for (const kern::RowSpan& s : *spans)
    check(s.q_begin >= 0 && s.q_len >= 0 && s.k_begin >= 0 && s.k_len >= 0 && s.q_begin + s.q_len <= Nq &&
              s.k_begin + s.k_len <= Nk,
          "mean_attention", "a row of queries [{}, +{}) and keys [{}, +{}) of {} and {}", s.q_begin, s.q_len, s.k_begin,
          s.k_len, Nq, Nk);
  for (const std::int32_t h : o.chosen)
    check(h >= 0 && h < heads && std::count(o.chosen.begin(), o.chosen.end(), h) == 1, "mean_attention",
          "head {} of {} does not exist, or is named twice", h, heads);
  const std::int64_t d_k = Dq / heads;
  kern::MeanAttention a;
  a.q = q.data<float>(), a.k = k.data<float>();
  a.q_stride = z(q.row_stride()), a.k_stride = z(k.row_stride());
  a.rows = spans->data(), a.num_rows = spans->size();
  a.heads = z(heads), a.kv_heads = z(kv_heads), a.d_k = z(d_k);
  a.scale = o.scale != 0 ? o.scale : 1.0f / std::sqrt(static_cast<float>(d_k));
  a.chosen = o.chosen.data(), a.num_chosen = o.chosen.size();
  return a;
}

std::int64_t most_keys(const Spans& spans) {
  std::int32_t most = 1;
  for (const kern::RowSpan& s : *spans) most = std::max(most, s.k_len);
  return most;
}

}  // namespace

Tensor mean_attention(Context& c, const Tensor& q, const Tensor& k, const Spans& spans,
                      const MeanAttentionOptions& options) {
  MeanAttentionOptions o = options;
  if (o.num_kv_heads == 0) o.num_kv_heads = o.num_heads;
  if (o.chosen.empty()) {
    o.chosen.resize(z(o.num_heads));
    std::iota(o.chosen.begin(), o.chosen.end(), 0);
  }
  const kern::MeanAttention a = arguments(q, k, spans, o);
  std::int64_t total = 0;
  for (const kern::RowSpan& s : *spans) total += static_cast<std::int64_t>(s.q_len) * s.k_len;
  Tensor w = c.empty({total});
  Tensor scratch = c.empty({most_keys(spans)});
  const auto time = c.timed("mean_attention", "forward", [&] { return Work{.bytes = bytes_of(q, k, w)}; });
  c.kernels().mean_attention(a, w.data<float>(), scratch.data<float>());

  if (c.tape())
    c.tape()->record("mean_attention", {&q, &k}, w, [q, k, spans, o](Context& x, const Tensor& dw, Grads& d) {
      const auto place = [&](const Tensor& value) {
        const Grads::Target to = d.into(x, value);
        if (to && !to.accumulate) clear(x, to.grad);
        return to.grad;
      };
      Tensor dq = place(q), dk = place(k);
      const kern::MeanAttention args = arguments(q, k, spans, o);
      Tensor work = x.empty({most_keys(spans) + static_cast<std::int64_t>(args.d_k)});
      x.kernels().mean_attention_backward(args, dw.data<float>(), dq ? dq.data<float>() : nullptr,
                                          dq ? z(dq.row_stride()) : 0, dk ? dk.data<float>() : nullptr,
                                          dk ? z(dk.row_stride()) : 0, work.data<float>());
    });
  return w;
}

}  // namespace tril::ops

// linear_attention: y_i = phi(q_i) S / phi(q_i) z,  phi(x) = elu(x) + 1        [Katharopoulos et al. 2020, eq. 5, 9]
//   S = sum_j phi(k_j) v_j^T,  z = sum_j phi(k_j), over all keys of the row or those with j <= i
//   q, k [N, H d_k]   v, y [N, H d_v]   saves q, k, v; S and z are built up again on the way back (two sweeps)
#include <algorithm>

#include "ops/sizes.h"

namespace tril::ops {
namespace {

kern::LinearAttention arguments(const Tensor& q, const Tensor& k, const Tensor& v, const Spans& spans,
                                std::int64_t heads, bool causal) {
  const auto [Nq, Dq] = q.dims<2>("linear_attention: q");
  const auto [Nv, Dv] = v.dims<2>("linear_attention: v");
  check(heads > 0 && Dq % heads == 0 && Dv % heads == 0, "linear_attention",
        "q {} and v {} do not divide into {} heads", q.shape(), v.shape(), heads);
  check_shape(k, {Nv, Dq}, "linear_attention: k");
  kern::LinearAttention a;
  a.q = q.data<float>(), a.k = k.data<float>(), a.v = v.data<float>();
  a.q_stride = z(q.row_stride()), a.k_stride = z(k.row_stride()), a.v_stride = z(v.row_stride());
  if (spans) a.rows = spans->data(), a.num_rows = spans->size();
  a.heads = z(heads), a.d_k = z(Dq / heads), a.d_v = z(Dv / heads);
  a.causal = causal;
  return a;
}

// So many products of d_k by d_v for each query and each key, in every head. Forward: each key adds to S, each query reads it.
double flops_of(const kern::LinearAttention& a, const Tensor& q, int of_query, const Tensor& k, int of_key) {
  const std::int64_t products = of_query * q.size(0) + of_key * k.size(0);
  return product_flops(products, static_cast<std::int64_t>(a.heads * a.d_k), static_cast<std::int64_t>(a.d_v));
}

}  // namespace

Tensor linear_attention(Context& c, const Tensor& q, const Tensor& k, const Tensor& v, const Spans& spans,
                        std::int64_t heads, bool causal) {
  const kern::LinearAttention a = arguments(q, k, v, spans, heads, causal);
  for (const kern::RowSpan& s : *spans) {
    check(s.q_begin >= 0 && s.q_begin + s.q_len <= q.size(0) && s.k_begin >= 0 && s.k_begin + s.k_len <= k.size(0),
          "linear_attention", "a row of queries [{}, +{}) and keys [{}, +{}) of {} and {}", s.q_begin, s.q_len,
          s.k_begin, s.k_len, q.size(0), k.size(0));
    check(!causal || s.q_len == s.k_len, "linear_attention",
          "causal: {} queries and {} keys in a row; they must be as many", s.q_len, s.k_len);
  }
  const Cover cover = cover_of(spans, q.size(0), k.size(0));
  const Tensor y = c.empty({q.size(0), static_cast<std::int64_t>(a.heads * a.d_v)});
  if (!cover.queries) clear(c, y);
  const Tensor scratch = c.empty({static_cast<std::int64_t>(c.kernels().linear_attention_scratch(a.d_k, a.d_v))});
  const auto time = c.timed("linear_attention", "forward",
                            [&] { return Work{.flops = flops_of(a, q, 1, k, 1), .bytes = bytes_of(q, k, v, y)}; });
  c.kernels().linear_attention(a, y.data<float>(), z(y.row_stride()), scratch.data<float>());
  if (c.tape()) {
    c.tape()->record(
        "linear_attention", {&q, &k, &v}, y,
        [q, k, v, spans, heads, causal, cover](Context& x, const Tensor& dy, Grads& d) {
          const kern::LinearAttention args = arguments(q, k, v, spans, heads, causal);
          // S and its gradient once more, dq of each query, dk and dv of each key.
          x.worked([&] { return Work{.flops = flops_of(args, q, 2, k, 3), .bytes = bytes_of(q, k, v, dy, q, k, v)}; });
          const Tensor dq = x.empty(q.shape()), dk = x.empty(k.shape()), dv = x.empty(v.shape());
          const bool add = !cover.queries || !cover.keys;  // rows that share tokens, or leave some out
          if (add) clear(x, dq), clear(x, dk), clear(x, dv);
          const Tensor work =
              x.empty({static_cast<std::int64_t>(x.kernels().linear_attention_scratch(args.d_k, args.d_v))});
          x.kernels().linear_attention_backward(args, dy.data<float>(), z(dy.row_stride()), dq.data<float>(),
                                                z(dq.row_stride()), dk.data<float>(), z(dk.row_stride()),
                                                dv.data<float>(), z(dv.row_stride()), add, work.data<float>());
          pass_rows_on(x, dq, d.into(x, q));
          pass_rows_on(x, dk, d.into(x, k));
          pass_rows_on(x, dv, d.into(x, v));
        });
  }
  return y;
}

Tensor linear_attention_step(Context& c, const Tensor& q, const Tensor& k, const Tensor& v, const Rows& rows,
                             const Tensor& state, std::int64_t heads) {
  const Spans spans = spans_of(rows, rows);
  const kern::LinearAttention a = arguments(q, k, v, spans, heads, true);
  check(rows.tokens() == q.size(0), "linear_attention_step", "{} tokens in rows of {}", q.size(0), rows.tokens());
  check_shape(state, {rows.count(), static_cast<std::int64_t>(a.heads * (a.d_k * a.d_v + a.d_k))},
              "linear_attention_step: state");
  const Tensor y = c.empty({q.size(0), static_cast<std::int64_t>(a.heads * a.d_v)});
  const auto time = c.timed("linear_attention", "step",
                            [&] { return Work{.flops = flops_of(a, q, 1, k, 1), .bytes = bytes_of(q, k, v, y)}; });
  c.kernels().linear_attention_step(a, state.data<float>(), y.data<float>(), z(y.row_stride()));
  return y;
}

}  // namespace tril::ops

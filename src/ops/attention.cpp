// attention: y = P v,  P = softmax(S),  S = scale q k^T + bias + mask, head by head        [Vaswani et al. 2017, eq. 1]
//   dv = P^T dy    dP = dy v^T    dS = P (dP - sum(dy y))    dq = scale dS k    dk = scale dS^T q
//   with a soft cap S = cap tanh(scale q k^T / cap) + mask,  dS <- dS (1 - (S / cap)^2)           [Gemma 2, 2024]
//   with sink logits s [H] each row of P has one more column exp(s - lse), without a value:  ds = -sum of exp(s - lse) (dy . y)
//   dbias of a distance = sum of dS over the pairs of a query and a key at that distance
//   q [Nq, H d_k]   k [Nk, Hkv d_k]   v [Nk, Hkv d_v]   y [Nq, H d_v]   bias [H, distances]
// Saves q, k, v, y and the log-sum-exp of each row of S [Nq, H]; P is recomputed tile by tile [Dao et al. 2022, alg.
// 4].
#include <algorithm>
#include <cmath>

#include "ops/observed_attention.h"
#include "ops/shares.h"
#include "ops/sizes.h"

namespace tril::ops {
namespace {

struct Heads {
  std::int64_t heads, kv_heads, d_k, d_v;
};

Heads heads_of(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o) {
  const std::int64_t heads = o.num_heads, kv_heads = o.num_kv_heads ? o.num_kv_heads : heads;
  const auto [Nq, Dq] = q.dims<2>("attention: q");
  const auto [Nk, Dk] = k.dims<2>("attention: k");
  const auto [Nv, Dv] = v.dims<2>("attention: v");
  check(heads > 0 && kv_heads > 0 && heads % kv_heads == 0, "attention", "{} key heads do not divide {} heads",
        kv_heads, heads);
  check(Dq % heads == 0, "attention", "q {} is not divisible by {} heads", q.shape(), heads);
  check(Dv % kv_heads == 0, "attention", "v {} is not divisible by {} heads", v.shape(), kv_heads);
  check(Dk == Dq / heads * kv_heads, "attention", "k {} should have {} heads of {}", k.shape(), kv_heads, Dq / heads);
  check(Nk == Nv, "attention", "{} keys and {} values", Nk, Nv);
  return {heads, kv_heads, Dq / heads, Dv / kv_heads};
}

kern::Attention arguments(const Tensor& q, const Tensor& k, const Tensor& v, const Spans& spans,
                          const AttentionOptions& o, kern::Dropout drop) {
  const Heads h = heads_of(q, k, v, o);
  kern::Attention a;
  a.q = q.data<float>(), a.k = k.data<float>(), a.v = v.data<float>();
  a.q_stride = z(q.row_stride()), a.k_stride = z(k.row_stride()), a.v_stride = z(v.row_stride());
  a.rows = spans->data(), a.num_rows = spans->size();
  a.heads = z(h.heads), a.kv_heads = z(h.kv_heads), a.d_k = z(h.d_k), a.d_v = z(h.d_v);
  a.scale = o.scale != 0 ? o.scale : 1.0f / std::sqrt(static_cast<float>(h.d_k));
  a.softcap = o.softcap;
  check(o.softcap >= 0 && (o.softcap == 0 || !o.bias.table), "attention", "invalid soft cap of {}{}", o.softcap,
        o.bias.table ? " over scores with a bias" : "");
  if (o.sink_logits) check_shape(o.sink_logits, {h.heads}, "attention: sink logits");
  if (o.sink_logits) a.sink_logits = o.sink_logits.data<float>();
  a.mask = o.mask.kind;
  a.window = o.mask.window;
  a.masked_is_minus_1e9 = o.mask.masked_is_minus_1e9;
  a.dropout = drop;
  a.bf16 = o.bf16;
  std::int32_t most_queries = 0, most_keys = 0;
  for (const kern::RowSpan& s : *spans)
    most_queries = std::max(most_queries, s.q_len), most_keys = std::max(most_keys, s.k_len);
  a.bias = bias_of(o.bias, heads_of(q, k, v, o).heads, most_queries, most_keys);
  if (a.mask == kern::MaskKind::explicit01) {
    const auto [B, H, Tq, Tk] = o.mask.allow.dims<4>("attention: mask");
    check_dense(o.mask.allow, DType::u8, "attention: mask");
    check((B == 1 || B == std::ssize(*spans)) && (H == 1 || H == h.heads), "attention: mask",
          "{} for {} rows and {} heads", o.mask.allow.shape(), spans->size(), h.heads);
    for (const kern::RowSpan& s : *spans)
      check((Tq == 1 || s.q_len <= Tq) && s.k_len <= Tk, "attention: mask", "{} for a row of {} queries and {} keys",
            o.mask.allow.shape(), s.q_len, s.k_len);
    a.allow = o.mask.allow.data<std::uint8_t>();
    a.allow_row_stride = B == 1 ? 0 : z(H * Tq * Tk);
    a.allow_head_stride = H == 1 ? 0 : z(Tq * Tk);
    a.allow_query_stride = Tq == 1 ? 0 : z(Tk);
  }
  return a;
}

// Pairs of a query and a key that the mask allows, over all heads. An explicit mask is not evaluated: all pairs count. A mask
// of near keys counts as many for the first and last queries as for the others.
double pairs_of(const kern::Attention& a) {
  double pairs = 0;
  for (const kern::RowSpan& s : std::span(a.rows, a.num_rows)) {
    for (std::int32_t i = 0; i < s.q_len && a.mask == kern::MaskKind::causal; ++i) {
      const std::int32_t seen = std::max(0, i + 1 + s.k_len - s.q_len);
      pairs += a.window > 0 ? std::min(seen, a.window) : seen;
    }
    if (a.mask == kern::MaskKind::causal) continue;
    const std::int32_t most = a.mask == kern::MaskKind::near ? std::min(s.k_len, 2 * a.window + 1) : s.k_len;
    pairs += static_cast<double>(s.q_len) * static_cast<double>(most);
  }
  return pairs * static_cast<double>(a.heads);
}

// The work of `by_k` products with a side of d_k and `by_v` with one of d_v.
Work work_of(const kern::Attention& a, double by_k, double by_v, double bytes) {
  const double widths = by_k * static_cast<double>(a.d_k) + by_v * static_cast<double>(a.d_v);
  return product_work(a.bf16, 2 * pairs_of(a) * widths, bytes);
}

// Key heads [first, first + count) of a, and the query heads that share them.
kern::Attention heads_of(kern::Attention a, std::size_t first, std::size_t count) {
  const std::size_t group = a.heads / a.kv_heads;
  a.q += first * group * a.d_k, a.k += first * a.d_k, a.v += first * a.d_v;
  if (a.bias) a.bias.at_zero += first * group * a.bias.stride;
  if (a.sink_logits) a.sink_logits += first * group;
  if (a.allow) a.allow += first * group * a.allow_head_stride;
  a.heads = count * group, a.kv_heads = count;
  return a;
}

// Without a tape threads divide the heads: with one, each worker has its own part of a batch.
void share_heads(Context& c, const kern::Attention& a, Tensor y) {
  const auto kv_heads = static_cast<std::int64_t>(a.kv_heads);
  const bool divides =
      c.threads() > 1 && kv_heads > 1 && work_of(a, 1, 1, 0).flops + work_of(a, 1, 1, 0).mixed_flops >= 1 << 21;
  const std::size_t needed = (c.kernels().attention_scratch(a.d_k, a.d_v) + 15) / 16 * 16;
  const std::int64_t parts = divides ? std::min<std::int64_t>(c.threads(), kv_heads) : 1;
  Tensor scratch = c.empty({parts, static_cast<std::int64_t>(needed)});
  const auto compute = [&](int member, std::int64_t first, std::int64_t end) {
    const kern::Attention part = heads_of(a, z(first), z(end - first));
    c.kernels().attention(part, y.data<float>() + z(first) * (a.heads / a.kv_heads) * a.d_v, z(y.row_stride()), nullptr,
                          scratch.data<float>() + member * scratch.size(1));
  };
  divides ? c.share_out(kv_heads, compute) : compute(0, 0, kv_heads);
}

void check_spans(const Spans& spans, std::int64_t Nq, std::int64_t Nk) {
  for (const kern::RowSpan& s : *spans)
    check(s.q_begin >= 0 && s.q_len >= 0 && s.k_begin >= 0 && s.k_len >= 0 && s.q_begin + s.q_len <= Nq &&
              s.k_begin + s.k_len <= Nk,
          "attention", "a row of queries [{}, +{}) and keys [{}, +{}) of {} and {}", s.q_begin, s.q_len, s.k_begin,
          s.k_len, Nq, Nk);
}

}  // namespace

Spans spans_of(const Rows& q, const Rows& k) {
  check(q.count() == k.count(), "attention", "{} rows of queries and {} of keys", q.count(), k.count());
  std::vector<kern::RowSpan> spans;
  spans.reserve(z(q.count()));
  for (std::int64_t i = 0; i < q.count(); ++i) spans.push_back({q.begin(i), q.length(i), k.begin(i), k.length(i)});
  return std::make_shared<const std::vector<kern::RowSpan>>(std::move(spans));
}

std::optional<Tensor> observed_attention(Context& c, const QueriesKeysValues& in, const Spans& spans,
                                         const AttentionOptions& o) {
  return observed_attention(c, in, arguments(in.q, in.k, in.v, spans, o, {}));
}

Tensor attention(Context& c, const QueriesKeysValues& in, const Spans& spans, const AttentionOptions& o) {
  const Tensor &q = in.q, &k = in.k, &v = in.v;
  const Heads h = heads_of(q, k, v, o);
  const std::int64_t Nq = q.size(0);
  check_spans(spans, Nq, k.size(0));
  const kern::Dropout drop = draw_dropout(c, o.dropout);
  const kern::Attention a = arguments(q, k, v, spans, o, drop);
  if (c.observer())
    if (std::optional<Tensor> replaced = observed_attention(c, in, a)) return *replaced;

  const Cover cover = cover_of(spans, Nq, k.size(0));
  Tensor y = c.empty({Nq, h.heads * h.d_v});
  if (!cover.queries) clear(c, y);
  Tensor lse = c.tape() ? c.empty({Nq, h.heads}) : Tensor();
  const auto time = c.timed("attention", "forward", [&] { return work_of(a, 1, 1, bytes_of(q, k, v, y)); });
  if (!c.tape() && drop.p == 0) {
    share_heads(c, a, y);
    return y;
  }
  Tensor scratch = c.empty_vector(c.kernels().attention_scratch(a.d_k, a.d_v));
  c.kernels().attention(a, y.data<float>(), z(y.row_stride()), lse ? lse.data<float>() : nullptr,
                        scratch.data<float>());

  if (c.tape()) {
    c.tape()->record("attention", {&q, &k, &v, &o.bias.table, &o.sink_logits}, y,
                     [q, k, v, y, lse, spans, o, drop, cover](Context& x, const Tensor& dy, Grads& d) {
                       auto dq = d.into(x, q), dk = d.into(x, k), dv = d.into(x, v);
                       // The kernel stores row by row. Gradients of tokens that rows share or leave out, and of q, k, v
                       // if they are the same tensor, are added to zeros instead.
                       const bool same = q.id() == k.id() || q.id() == v.id() || k.id() == v.id();
                       const auto target = [&](Grads::Target& t, const Tensor& value, bool covered) {
                         Tensor to = t ? t.grad : x.empty(value.shape());
                         if (!t.accumulate && (same || !covered)) clear(x, to), t.accumulate = true;
                         return to;
                       };
                       Tensor to_q = target(dq, q, cover.queries), to_k = target(dk, k, cover.keys),
                              to_v = target(dv, v, cover.keys);
                       kern::AttentionGradient g;
                       g.out = y.data<float>(), g.d_out = dy.data<float>(), g.lse = lse.data<float>();
                       g.out_stride = g.d_out_stride = z(y.row_stride());
                       g.dq = to_q.data<float>(), g.dk = to_k.data<float>(), g.dv = to_v.data<float>();
                       g.dq_stride = z(to_q.row_stride()), g.dk_stride = z(to_k.row_stride()),
                       g.dv_stride = z(to_v.row_stride());
                       if (float* const d_bias = sum_into(x, d.into(x, o.bias.table))) g.d_bias = d_bias + o.bias.zero;
                       g.d_sinks = sum_into(x, d.into(x, o.sink_logits));
                       g.accumulate_q = dq.accumulate, g.accumulate_k = dk.accumulate, g.accumulate_v = dv.accumulate;
                       const kern::Attention args = arguments(q, k, v, spans, o, drop);
                       x.worked([&] { return work_of(args, 3, 2, bytes_of(q, k, v, y, dy, q, k, v)); });
                       Tensor work = x.empty_vector(x.kernels().attention_scratch(args.d_k, args.d_v));
                       x.kernels().attention_backward(args, g, work.data<float>());
                     });
  }
  return y;
}

}  // namespace tril::ops

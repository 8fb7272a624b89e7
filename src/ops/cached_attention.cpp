// cached_attention: y = softmax(scale q k^T + bias + mask) v for the last tokens of each row, over keys and values
// in a cache [Vaswani et al. 2017, eq. 1], with a window and attention sinks [Xiao et al. 2024, section 3] if the
// mask has them. No gradient.
#include <algorithm>
#include <cmath>

#include "ops/sizes.h"

namespace tril::ops {
namespace {

kern::CachedAttention arguments(const Tensor& q, const CachedKeysValues& kv, const CachedRows& rows,
                                const AttentionOptions& o) {
  const std::int64_t heads = o.num_heads, kv_heads = o.num_kv_heads ? o.num_kv_heads : heads;
  const auto [N, Dq] = q.dims<2>("cached_attention: q");
  const auto [S, Dk] = kv.keys.dims<2>("cached_attention: keys");
  const auto [Sv, Dv] = kv.values.dims<2>("cached_attention: values");
  check(heads > 0 && kv_heads > 0 && heads % kv_heads == 0, "cached_attention", "{} key heads do not divide {} heads",
        kv_heads, heads);
  check(Dq % heads == 0 && Dv % kv_heads == 0 && Dk == Dq / heads * kv_heads && S == Sv, "cached_attention",
        "q {}, keys {} and values {} do not fit {} heads and {} key heads", q.shape(), kv.keys.shape(),
        kv.values.shape(), heads, kv_heads);
  check(rows.slots.size() == rows.lengths.size() && rows.slots.size() == rows.queries.size(), "cached_attention",
        "slots of {} rows, {} lengths, {} counts of queries", rows.slots.size(), rows.lengths.size(),
        rows.queries.size());
  std::int64_t total = 0;
  for (std::size_t r = 0; r < rows.queries.size(); ++r) {
    check(rows.queries[r] >= 0 && rows.queries[r] <= rows.lengths[r], "cached_attention",
          "row {} has {} queries and {} keys", r, rows.queries[r], rows.lengths[r]);
    total += rows.queries[r];
  }
  check(total == N, "cached_attention", "{} queries in rows of {}", N, total);

  kern::CachedAttention a;
  a.q = q.data<float>(), a.q_stride = z(q.row_stride());
  if (kv.key_scales) {
    check_shape(kv.key_scales, {S, kv_heads}, "cached_attention: scales of keys");
    check_shape(kv.value_scales, {S, kv_heads}, "cached_attention: scales of values");
    a.k8 = kv.keys.data<std::int8_t>(), a.v8 = kv.values.data<std::int8_t>();
    a.k_scales = kv.key_scales.data<float>(), a.v_scales = kv.value_scales.data<float>();
    a.scale_stride = z(kv_heads);
  } else {
    a.k = kv.keys.data<float>(), a.v = kv.values.data<float>();
  }
  a.k_stride = z(kv.keys.row_stride()), a.v_stride = z(kv.values.row_stride());
  a.slots = rows.slots.data(), a.lengths = rows.lengths.data(), a.queries = rows.queries.data();
  a.num_rows = rows.slots.size();
  a.heads = z(heads), a.kv_heads = z(kv_heads), a.d_k = z(Dq / heads), a.d_v = z(Dv / kv_heads);
  a.scale = o.scale != 0 ? o.scale : 1.0f / std::sqrt(static_cast<float>(a.d_k));
  a.softcap = o.softcap;
  check(o.softcap >= 0 && (o.softcap == 0 || !o.bias.table), "cached_attention", "invalid soft cap of {}{}", o.softcap,
        o.bias.table ? " over scores with a bias" : "");
  if (o.sink_logits) check_shape(o.sink_logits, {heads}, "cached_attention: sink logits");
  if (o.sink_logits) a.sink_logits = o.sink_logits.data<float>();
  a.window = o.mask.window, a.sinks = o.mask.sinks;
  std::int32_t most_keys = 0, most_queries = 0;
  for (std::size_t r = 0; r < rows.lengths.size(); ++r)
    most_keys = std::max(most_keys, rows.lengths[r]), most_queries = std::max(most_queries, rows.queries[r]);
  a.bias = bias_of(o.bias, heads, most_queries, most_keys);
  return a;
}

Work work_of(const kern::CachedAttention& a) {
  double pairs = 0, keys = 0;
  for (std::size_t r = 0; r < a.num_rows; ++r) {
    const std::int32_t kept = a.window > 0 ? a.window + a.sinks : a.lengths[r];
    keys += std::min(a.lengths[r], kept + a.queries[r]);
    for (std::int32_t i = 0; i < a.queries[r]; ++i) pairs += std::min(a.lengths[r] - i, kept);
  }
  const double width = static_cast<double>(a.d_k + a.d_v);
  return {.flops = 2 * pairs * static_cast<double>(a.heads) * width,
          .bytes = keys * static_cast<double>(a.kv_heads) * width * (a.k8 ? 1 : 4)};
}

// Rows [first, first + count) of a; their queries begin `queries_before` queries after a's.
kern::CachedAttention rows_of(kern::CachedAttention a, std::size_t first, std::size_t count,
                              std::size_t queries_before) {
  a.q += queries_before * a.q_stride;
  a.slots += first, a.lengths += first, a.queries += first;
  a.num_rows = count;
  return a;
}

// Key heads [first, first + count) of a, and the query heads that share them.
kern::CachedAttention heads_of(kern::CachedAttention a, std::size_t first, std::size_t count) {
  const std::size_t group = a.heads / a.kv_heads;
  a.q += first * group * a.d_k;
  if (a.k8) {
    a.k8 += first * a.d_k, a.v8 += first * a.d_v;
    a.k_scales += first, a.v_scales += first;
  } else {
    a.k += first * a.d_k, a.v += first * a.d_v;
  }
  if (a.bias) a.bias.at_zero += first * group * a.bias.stride;
  if (a.sink_logits) a.sink_logits += first * group;
  a.heads = count * group, a.kv_heads = count;
  return a;
}

// The part of one thread of a team: some of several rows, or some heads of one row.
struct Share {
  kern::CachedAttention attention;
  std::size_t offset;  // of its result
};

// The number of parts of a: each has some of several rows, or some heads of one row.
std::int64_t parts_of(const Context& c, const kern::CachedAttention& a) {
  if (c.threads() == 1) return 1;
  const Work work = work_of(a);
  if (work.bytes < 1 << 17 && work.flops < 1 << 21) return 1;
  return std::min<std::int64_t>(c.threads(), static_cast<std::int64_t>(a.num_rows > 1 ? a.num_rows : a.kv_heads));
}

Share share_of(const kern::CachedAttention& a, std::size_t part, std::size_t parts, std::size_t out_stride) {
  if (parts == 1) return {a, 0};
  const std::size_t units = a.num_rows > 1 ? a.num_rows : a.kv_heads;
  const std::size_t first = units * part / parts, count = units * (part + 1) / parts - first;
  if (a.num_rows == 1) return {heads_of(a, first, count), first * (a.heads / a.kv_heads) * a.d_v};
  std::size_t queries = 0;
  for (std::size_t r = 0; r < first; ++r) queries += z(a.queries[r]);
  return {rows_of(a, first, count, queries), queries * out_stride};
}

}  // namespace

Mask window_and_sinks(Context& c, const Spans& spans, std::int32_t window, std::int32_t sinks) {
  std::int32_t q_len = 1, k_len = 1;
  for (const kern::RowSpan& s : *spans) q_len = std::max(q_len, s.q_len), k_len = std::max(k_len, s.k_len);
  std::vector<std::uint8_t> allow(spans->size() * z(q_len) * z(k_len), 0);
  for (std::size_t r = 0; r < spans->size(); ++r)
    for (std::int32_t i = 0; i < (*spans)[r].q_len; ++i) {
      const std::int32_t at = i + (*spans)[r].k_len - (*spans)[r].q_len;
      std::uint8_t* row = &allow[(r * z(q_len) + z(i)) * z(k_len)];
      for (std::int32_t j = 0; j < (*spans)[r].k_len; ++j) row[j] = j <= at && (j > at - window || j < sinks);
    }
  return Mask::explicit01(c.upload<std::uint8_t>(allow, {std::ssize(*spans), 1, q_len, k_len}));
}

Tensor cached_attention(Context& c, const Tensor& q, const CachedKeysValues& kv, const CachedRows& rows,
                        const AttentionOptions& o) {
  const kern::CachedAttention a = arguments(q, kv, rows, o);
  Tensor y = c.empty({q.size(0), static_cast<std::int64_t>(a.heads * a.d_v)});
  const std::size_t stride = z(y.row_stride());
  const std::int64_t parts = parts_of(c, a);
  const auto share = [&](std::int64_t part) { return share_of(a, z(part), z(parts), stride); };
  std::size_t needed = 0;
  for (std::int64_t p = 0; p < parts; ++p)
    needed = std::max(needed, c.kernels().cached_attention_scratch(share(p).attention));
  Tensor scratch = c.empty({parts, static_cast<std::int64_t>((needed + 15) / 16 * 16)});
  const auto time = c.timed("cached_attention", "forward", [&] { return work_of(a); });
  c.share_out(parts, [&](int, std::int64_t first, std::int64_t end) {
    for (std::int64_t p = first; p < end; ++p) {
      const Share s = share(p);
      c.kernels().cached_attention(s.attention, y.data<float>() + s.offset, stride,
                                   scratch.data<float>() + p * scratch.size(1));
    }
  });
  return y;
}

void copy_into(Context& c, const Tensor& x, Tensor y) {
  check(x.dtype() == y.dtype() && x.is_dense() && y.is_dense() && x.count() <= y.count(), "copy_into",
        "{} of {} does not go into {} of {}", x.shape(), x.dtype(), y.shape(), y.dtype());
  const auto copy = [&]<class T>(T*) { c.kernels().copy(x.data<T>(), y.data<T>(), x.bytes()); };
  x.dtype() == DType::i8 ? copy(static_cast<std::int8_t*>(nullptr)) : copy(static_cast<float*>(nullptr));
}

void quantize_slots(Context& c, const Tensor& x, std::span<const std::int32_t> slots, Tensor to, Tensor scales) {
  const auto [N, D] = x.dims<2>("quantize_slots");
  const auto [num_slots, num_kv_heads] = scales.dims<2>("quantize_slots: scales");
  check(std::ssize(slots) == N && D % num_kv_heads == 0, "quantize_slots", "{} slots for {} of {} heads", slots.size(),
        x.shape(), num_kv_heads);
  check_shape(to, {to.size(0), D}, "quantize_slots");
  check(num_slots == to.size(0), "quantize_slots", "scales {} for {}", scales.shape(), to.shape());
  kern::QuantizeSlots a;
  a.x = x.data<float>(), a.x_stride = z(x.row_stride()), a.rows = z(N);
  a.heads = z(num_kv_heads), a.d = z(D / num_kv_heads);
  a.slots = slots.data(), a.to = to.data<std::int8_t>(), a.scales = scales.data<float>();
  c.kernels().quantize_slots(a);
}

}  // namespace tril::ops

// cached_attention: y = softmax(scale q k^T + bias + mask) v for the last tokens of each row, over keys and values
// in a cache [Vaswani et al. 2017, eq. 1], with a window and attention sinks [Xiao et al. 2024, section 3] if the
// mask has them. No gradient.
#include <algorithm>
#include <cmath>

#include "ops/shares.h"
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
  check(rows.generated.empty() || rows.generated.size() == rows.slots.size(), "cached_attention",
        "{} rows are generated or not, of {}", rows.generated.size(), rows.slots.size());
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
  if (!rows.generated.empty()) a.generated = rows.generated.data();
  a.num_rows = rows.slots.size();
  a.heads = z(heads), a.kv_heads = z(kv_heads), a.d_k = z(Dq / heads), a.d_v = z(Dv / kv_heads);
  a.scale = o.scale != 0 ? o.scale : 1.0f / std::sqrt(static_cast<float>(a.d_k));
  a.softcap = o.softcap;
  check(o.softcap >= 0 && (o.softcap == 0 || !o.bias.table), "cached_attention", "invalid soft cap of {}{}", o.softcap,
        o.bias.table ? " over scores with a bias" : "");
  if (o.sink_logits) check_shape(o.sink_logits, {heads}, "cached_attention: sink logits");
  if (o.sink_logits) a.sink_logits = o.sink_logits.data<float>();
  a.window = o.mask.window, a.sinks = o.mask.sinks;
  a.bf16 = o.bf16;
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
  if (a.generated) a.generated += first;
  a.num_rows = count;
  return a;
}

// Query heads [first, first + count) of a: whole groups of heads that share keys, or a part of one group.
kern::CachedAttention heads_of(kern::CachedAttention a, std::size_t first, std::size_t count) {
  const std::size_t group = a.heads / a.kv_heads, kv_first = first / group;
  a.q += first * a.d_k;
  if (a.k8) {
    a.k8 += kv_first * a.d_k, a.v8 += kv_first * a.d_v;
    a.k_scales += kv_first, a.v_scales += kv_first;
  } else {
    a.k += kv_first * a.d_k, a.v += kv_first * a.d_v;
  }
  if (a.bias) a.bias.at_zero += first * a.bias.stride;
  if (a.sink_logits) a.sink_logits += first;
  a.heads = count, a.kv_heads = std::max<std::size_t>(1, count / group);
  return a;
}

// True if a is worth dividing among threads.
bool is_shared(const Context& c, const kern::CachedAttention& a) {
  if (c.threads() == 1) return false;
  const Work work = work_of(a);
  return work.bytes >= 1 << 17 || work.flops >= 1 << 21;
}

// Rows of many queries as several rows: a block of queries sees the keys up to its last one.
struct QueryBlocks {
  std::vector<const std::int32_t*> slots;
  std::vector<std::int32_t> lengths, queries;
  std::vector<std::uint8_t> generated;

  QueryBlocks(const kern::CachedAttention& a, int threads) {
    const bool divides =
        divides_queries(threads, static_cast<std::int64_t>(a.num_rows), static_cast<std::int64_t>(a.heads));
    for (std::size_t r = 0; r < a.num_rows; ++r)
      for (std::int32_t begin = 0; begin < std::max(1, a.queries[r]);) {
        const std::int32_t left = a.queries[r] - begin, count = divides ? query_block(left) : left;
        slots.push_back(a.slots[r]);
        lengths.push_back(a.lengths[r] - (a.queries[r] - begin - count));
        queries.push_back(count);
        if (a.generated) generated.push_back(a.generated[r]);
        begin += std::max(1, count);
      }
  }
  // The same attention over these rows.
  kern::CachedAttention of(kern::CachedAttention a) const {
    a.slots = slots.data(), a.lengths = lengths.data(), a.queries = queries.data(), a.num_rows = slots.size();
    if (a.generated) a.generated = generated.data();
    return a;
  }
};

// How threads divide a: its heads, row after row. A unit is some heads of a row that share keys.
struct Division {
  std::int64_t units_of_row, heads_of_unit;
  std::vector<std::int64_t> begins;  // of parts, and the end of the last

  std::int64_t parts() const { return std::ssize(begins) - 1; }
};

// Pairs of a query and a key in a row, for one head.
double pairs_of_row(const kern::CachedAttention& a, std::size_t r) {
  const std::int32_t kept = a.window > 0 ? a.window + a.sinks : a.lengths[r];
  double pairs = 0;
  for (std::int32_t i = 0; i < a.queries[r]; ++i) pairs += std::min(a.lengths[r] - i, kept);
  return pairs;
}

// Parts of about equal work: rows differ in their keys and queries.
Division division_of(int threads, const kern::CachedAttention& a) {
  const auto heads = static_cast<std::int64_t>(a.heads), kv_heads = static_cast<std::int64_t>(a.kv_heads),
             rows = static_cast<std::int64_t>(a.num_rows);
  const bool has_prompts = *std::max_element(a.queries, a.queries + rows) > least_queries;
  const KeyHeadParts shape = key_head_parts(threads, rows, heads, kv_heads, has_prompts);
  Division d{shape.units_of_row, shape.heads_of_unit, {0}};
  std::vector<double> until{0};  // the work of the rows before
  for (std::size_t r = 0; r < a.num_rows; ++r) until.push_back(until.back() + pairs_of_row(a, r));
  const std::int64_t parts = std::min<std::int64_t>(threads, rows * d.units_of_row);
  std::int64_t r = 0;
  for (std::int64_t part = 1; part < parts; ++part) {
    const double target = until.back() * static_cast<double>(part) / static_cast<double>(parts);
    while (r + 1 < rows && until[z(r + 1)] <= target) ++r;
    const double of_row = until[z(r + 1)] - until[z(r)];
    const double share = of_row > 0 ? (target - until[z(r)]) / of_row : 0;
    const std::int64_t within = std::llround(share * static_cast<double>(d.units_of_row));
    d.begins.push_back(std::max(d.begins.back(), r * d.units_of_row + within));
  }
  d.begins.push_back(rows * d.units_of_row);
  return d;
}

// Calls f(arguments, offset of their result) for pieces of a part: whole rows, whole groups of heads, parts of a group.
template <class F>
void for_pieces(const kern::CachedAttention& a, const Division& d, std::int64_t part, std::size_t out_stride,
                const F& f) {
  if (d.parts() == 1) return f(a, 0);
  const std::int64_t units_of_group = static_cast<std::int64_t>(a.heads / a.kv_heads) / d.heads_of_unit;
  std::size_t row = 0, queries = 0;  // before the piece
  for (std::int64_t unit = d.begins[z(part)]; unit < d.begins[z(part + 1)];) {
    const std::int64_t left = d.begins[z(part + 1)] - unit, within = unit % d.units_of_row;
    for (; row < z(unit / d.units_of_row); ++row) queries += z(a.queries[row]);
    if (within == 0 && left >= d.units_of_row) {
      const std::int64_t rows = left / d.units_of_row;
      f(rows_of(a, row, z(rows), queries), queries * out_stride);
      unit += rows * d.units_of_row;
      continue;
    }
    std::int64_t units = std::min(left, d.units_of_row - within);
    units = within % units_of_group == 0 && units >= units_of_group
                ? units / units_of_group * units_of_group
                : std::min(units, units_of_group - within % units_of_group);
    const std::size_t first = z(within * d.heads_of_unit);
    f(heads_of(rows_of(a, row, 1, queries), first, z(units * d.heads_of_unit)), queries * out_stride + first * a.d_v);
    unit += units;
  }
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
  const kern::CachedAttention whole = arguments(q, kv, rows, o);
  Tensor y = c.empty({q.size(0), static_cast<std::int64_t>(whole.heads * whole.d_v)});
  const std::size_t stride = z(y.row_stride());
  const auto time = c.timed("cached_attention", "forward", [&] { return work_of(whole); });
  if (!is_shared(c, whole)) {
    Tensor scratch = c.empty_vector(c.kernels().cached_attention_scratch(whole));
    c.kernels().cached_attention(whole, y.data<float>(), stride, scratch.data<float>());
    return y;
  }
  const QueryBlocks blocks(whole, c.threads());
  const kern::CachedAttention a = blocks.of(whole);
  const Division division = division_of(c.threads(), a);
  const std::int64_t parts = division.parts();
  std::size_t needed = 0;
  for (std::int64_t p = 0; p < parts; ++p)
    for_pieces(a, division, p, stride, [&](const kern::CachedAttention& piece, std::size_t) {
      needed = std::max(needed, c.kernels().cached_attention_scratch(piece));
    });
  Tensor scratch = c.empty({parts, static_cast<std::int64_t>((needed + 15) / 16 * 16)});
  c.share_out(parts, [&](int, std::int64_t first, std::int64_t end) {
    for (std::int64_t p = first; p < end; ++p)
      for_pieces(a, division, p, stride, [&](const kern::CachedAttention& piece, std::size_t offset) {
        c.kernels().cached_attention(piece, y.data<float>() + offset, stride,
                                     scratch.data<float>() + p * scratch.size(1));
      });
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
  const auto [N, width] = x.dims<2>("quantize_slots");
  const std::int64_t D = width;
  const auto [num_slots, num_kv_heads] = scales.dims<2>("quantize_slots: scales");
  check(std::ssize(slots) == N && D % num_kv_heads == 0, "quantize_slots", "{} slots for {} of {} heads", slots.size(),
        x.shape(), num_kv_heads);
  check_shape(to, {to.size(0), D}, "quantize_slots");
  check(num_slots == to.size(0), "quantize_slots", "scales {} for {}", scales.shape(), to.shape());
  kern::QuantizeSlots a;
  a.x = x.data<float>(), a.x_stride = z(x.row_stride()), a.rows = z(N);
  a.heads = z(num_kv_heads), a.d = z(D / num_kv_heads);
  a.slots = slots.data(), a.to = to.data<std::int8_t>(), a.scales = scales.data<float>();
  share_rows(c, N, D, [&](std::int64_t first, std::int64_t end) {
    kern::QuantizeSlots part = a;
    part.x += z(first) * a.x_stride, part.slots += first, part.rows = z(end - first);
    c.kernels().quantize_slots(part);
  });
}

}  // namespace tril::ops

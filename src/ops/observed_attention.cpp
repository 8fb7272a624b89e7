// S = scale q k^T + bias + mask,  P = softmax(S),  y = P v, head by head and in double: attention.cpp says it all at once.
// Linear attention: P = phi(q) phi(k) of the allowed pairs, divided by their sum (linear_attention.cpp).
#include "ops/observed_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/as_size.h"
#include "ops/allowed_pairs.h"
#include "ops/sizes.h"
#include "tensor/observer.h"

namespace tril::ops {
namespace {

// The operands of one row in the host's memory. Head h reads keys and values of head h / group.
struct HostRow {
  std::vector<float> q, k, v;
  std::size_t heads, group, d_k, d_v, queries, keys;

  template <class Arguments>
  HostRow(const QueriesKeysValues& in, const Arguments& a, std::size_t kv_heads, std::size_t r)
      : heads(a.heads), group(a.heads / kv_heads), d_k(a.d_k), d_v(a.d_v) {
    const kern::RowSpan& s = a.rows[r];
    queries = as_size(s.q_len), keys = as_size(s.k_len);
    q = host_copy<float>(in.q.rows(s.q_begin, s.q_begin + s.q_len));
    k = host_copy<float>(in.k.rows(s.k_begin, s.k_begin + s.k_len));
    v = host_copy<float>(in.v.rows(s.k_begin, s.k_begin + s.k_len));
  }
  std::size_t pairs() const { return queries * keys; }
  template <class F>
  double product(std::size_t h, std::size_t i, std::size_t j, const F& of) const {
    const float* const x = q.data() + (i * heads + h) * d_k;
    const float* const y = k.data() + (j * (heads / group) + h / group) * d_k;
    double sum = 0;
    for (std::size_t n = 0; n < d_k; ++n) sum += of(x[n]) * of(y[n]);
    return sum;
  }
};

// [H, Tq, Tk] of one row, [rows, H, Tq, Tk] of rows of equal lengths, else flat.
Shape shape_by_head(std::span<const kern::RowSpan> rows, std::int64_t heads) {
  const Shape s = shape_of_weights(rows, heads);
  return rows.size() == 1 ? Shape{s[1], s[2], s[3]} : s;
}

// Asks before the second computation takes its memory: the bias, if there is one, scores, masked scores and weights, and the copies that
// are shown.
void ask_for_pairs(Context& c, std::span<const kern::RowSpan> rows, std::size_t heads, bool has_bias) {
  const auto values = shape_of_weights(rows, static_cast<std::int64_t>(heads)).count();
  c.observer()->ask(observed(c, "weights") ? "weights" : "scores",
                    values * (has_bias ? 4 : 3) * std::int64_t{sizeof(float)});
}

// The values of a point after the observer has seen them.
template <class T>
bool shown(Context& c, const char* name, std::vector<T>& values, const Shape& shape,
           SourceLine at = {__builtin_FILE(), __builtin_LINE()}) {
  if (!observed(c, name)) return false;
  Tensor x = c.upload<T>(values, shape);
  if (!observe(c, name, x, at)) return false;
  check(x.shape() == shape, name, "an observer replaced {} by {}", shape, x.shape());
  values = host_copy<T>(x);
  return true;
}

// The bias of each pair and head: a function of their distance.
void append_bias(std::vector<float>& bias, const HostRow& row, const kern::RelativeBias& of_distance) {
  for (std::size_t h = 0; h < row.heads; ++h)
    for (std::size_t i = 0; i < row.queries; ++i)
      for (std::size_t j = 0; j < row.keys; ++j) {
        const auto position =
            static_cast<std::ptrdiff_t>(i + row.keys - row.queries);  // the last query's is the last key's
        bias.push_back((of_distance.at_zero + h * of_distance.stride)[static_cast<std::ptrdiff_t>(j) - position]);
      }
}

// @param bias  in the order of the scores, from the row's first one; empty: there is none
void append_scores(std::vector<float>& scores, const HostRow& row, const kern::Attention& a,
                   std::span<const float> bias) {
  std::size_t pair = 0;
  for (std::size_t h = 0; h < row.heads; ++h)
    for (std::size_t i = 0; i < row.queries; ++i)
      for (std::size_t j = 0; j < row.keys; ++j) {
        double s = row.product(h, i, j, [](float x) { return static_cast<double>(x); }) * static_cast<double>(a.scale);
        if (a.softcap > 0) s = static_cast<double>(a.softcap) * std::tanh(s / static_cast<double>(a.softcap));
        if (!bias.empty()) s += static_cast<double>(bias[pair++]);
        scores.push_back(static_cast<float>(s));
      }
}

// Softmax of each row of scores; a sink is one more logit without a value. A row without any key has zeros.
void softmax_of(const HostRow& row, std::span<const float> scores, const float* sinks, std::span<float> weights) {
  for (std::size_t r = 0; r < row.heads * row.queries; ++r) {
    const float* const s = scores.data() + r * row.keys;
    const double sink = sinks ? static_cast<double>(sinks[r / row.queries]) : -std::numeric_limits<double>::infinity();
    double most = sink;
    for (std::size_t j = 0; j < row.keys; ++j) most = std::max(most, static_cast<double>(s[j]));
    if (std::isinf(most)) continue;
    double sum = std::exp(sink - most);
    for (std::size_t j = 0; j < row.keys; ++j) sum += std::exp(static_cast<double>(s[j]) - most);
    for (std::size_t j = 0; j < row.keys; ++j)
      weights[r * row.keys + j] = static_cast<float>(std::exp(static_cast<double>(s[j]) - most) / sum);
  }
}

// P v into the rows of y that begin at the row's first query.
void mix_values(const HostRow& row, std::span<const float> weights, std::span<float> y) {
  std::vector<double> sum(row.d_v);
  for (std::size_t h = 0; h < row.heads; ++h)
    for (std::size_t i = 0; i < row.queries; ++i) {
      std::fill(sum.begin(), sum.end(), 0.0);
      for (std::size_t j = 0; j < row.keys; ++j) {
        const double w = static_cast<double>(weights[(h * row.queries + i) * row.keys + j]);
        const float* const v = row.v.data() + (j * (row.heads / row.group) + h / row.group) * row.d_v;
        for (std::size_t n = 0; n < row.d_v; ++n) sum[n] += w * static_cast<double>(v[n]);
      }
      for (std::size_t n = 0; n < row.d_v; ++n) y[(i * row.heads + h) * row.d_v + n] = static_cast<float>(sum[n]);
    }
}

Tensor result_of(Context& c, const std::vector<HostRow>& rows, const kern::RowSpan* spans, std::int64_t queries,
                 std::span<const float> weights) {
  const std::size_t width = rows.empty() ? 0 : rows[0].heads * rows[0].d_v;
  std::vector<float> y(as_size(queries) * width, 0.0f);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::size_t n = rows[r].heads * rows[r].pairs();
    mix_values(rows[r], weights.first(n), std::span(y).subspan(as_size(spans[r].q_begin) * width));
    weights = weights.subspan(n);
  }
  return c.upload<float>(y, {queries, static_cast<std::int64_t>(width)});
}

template <class Arguments>
std::vector<HostRow> rows_of(const QueriesKeysValues& in, const Arguments& a, std::size_t kv_heads) {
  std::vector<HostRow> rows;
  for (std::size_t r = 0; r < a.num_rows; ++r) rows.emplace_back(in, a, kv_heads, r);
  return rows;
}

// The mask after the observer has seen it: of each pair and head. True if it was replaced.
bool show_mask(Context& c, const std::vector<HostRow>& rows, const kern::Attention& a, std::vector<bool>& allowed) {
  std::vector<std::uint8_t> mask = host_copy<std::uint8_t>(allowed_pairs(c, a));
  const std::span<const kern::RowSpan> spans(a.rows, a.num_rows);
  const bool by_head = std::ssize(mask) == shape_of_weights(spans, static_cast<std::int64_t>(a.heads)).count();
  const std::size_t heads = by_head ? a.heads : 1;
  const bool replaced = shown(c, "mask", mask, shape_by_head(spans, static_cast<std::int64_t>(heads)));
  std::size_t begin = 0;
  for (const HostRow& row : rows) {
    for (std::size_t h = 0; h < row.heads; ++h)
      for (std::size_t p = 0; p < row.pairs(); ++p)
        allowed.push_back(mask[begin + (by_head ? h * row.pairs() : 0) + p] != 0);
    begin += heads * row.pairs();
  }
  return replaced;
}

// One number, which no edit changes: a pass computes it nowhere.
void show_softcap(Context& c, float cap) {
  if (!observed(c, "softcap")) return;
  Tensor x = c.upload<float>(std::vector<float>{cap}, {1, 1});
  observe(c, "softcap", x);
}

double phi(float x) {
  return x > 0 ? static_cast<double>(x) + 1 : std::exp(static_cast<double>(x));
}

}  // namespace

std::optional<Tensor> observed_attention(Context& c, const QueriesKeysValues& in, const kern::Attention& a) {
  if (a.num_rows == 0) return std::nullopt;
  if (a.softcap > 0) show_softcap(c, a.softcap);
  const bool any = (a.bias && observed(c, "bias")) || observed(c, "scores") || observed(c, "mask") ||
                   observed(c, "masked_scores") || observed(c, "weights");
  if (!any) return std::nullopt;
  const std::span<const kern::RowSpan> spans(a.rows, a.num_rows);
  ask_for_pairs(c, spans, a.heads, static_cast<bool>(a.bias));
  const std::vector<HostRow> rows = rows_of(in, a, a.kv_heads);
  const Shape shape = shape_by_head(spans, static_cast<std::int64_t>(a.heads));
  std::vector<float> bias, scores;
  if (a.bias)
    for (const HostRow& row : rows) append_bias(bias, row, a.bias);
  bool replaced = a.bias && shown(c, "bias", bias, shape);
  scores.reserve(as_size(shape.count()));
  for (const HostRow& row : rows)
    append_scores(scores, row, a, a.bias ? std::span(bias).subspan(scores.size()) : std::span<const float>());
  replaced |= shown(c, "scores", scores, shape);

  std::vector<bool> allowed;
  replaced |= show_mask(c, rows, a, allowed);
  const float forbidden = a.masked_is_minus_1e9 ? -1e9f : -std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (!allowed[i]) scores[i] = forbidden;
  replaced |= shown(c, "masked_scores", scores, shape);
  if (!replaced && !observed(c, "weights")) return std::nullopt;

  std::vector<float> weights(scores.size(), 0.0f);
  std::size_t begin = 0;
  for (const HostRow& row : rows) {
    const std::size_t n = row.heads * row.pairs();
    softmax_of(row, std::span(scores).subspan(begin, n), a.sink_logits, std::span(weights).subspan(begin, n));
    begin += n;
  }
  replaced |= shown(c, "weights", weights, shape);
  if (!replaced) return std::nullopt;
  return result_of(c, rows, a.rows, in.q.size(0), weights);
}

std::optional<Tensor> observed_linear_attention(Context& c, const QueriesKeysValues& in,
                                                const kern::LinearAttention& a) {
  if ((!observed(c, "mask") && !observed(c, "weights")) || a.num_rows == 0) return std::nullopt;
  const std::span<const kern::RowSpan> spans(a.rows, a.num_rows);
  ask_for_pairs(c, spans, a.heads, /*has_bias=*/false);
  const std::vector<HostRow> rows = rows_of(in, a, a.heads);
  std::vector<bool> allowed;
  bool replaced = show_mask(c, rows,
                            {.rows = a.rows,
                             .num_rows = a.num_rows,
                             .heads = a.heads,
                             .mask = a.causal ? kern::MaskKind::causal : kern::MaskKind::full},
                            allowed);
  std::vector<float> weights(allowed.size(), 0.0f);
  std::size_t at = 0;
  for (const HostRow& row : rows)
    for (std::size_t h = 0; h < row.heads; ++h)
      for (std::size_t i = 0; i < row.queries; ++i, at += row.keys) {
        std::vector<double> products(row.keys, 0.0);
        double sum = 0;
        for (std::size_t j = 0; j < row.keys; ++j)
          if (allowed[at + j]) sum += products[j] = row.product(h, i, j, phi);
        for (std::size_t j = 0; j < row.keys && sum > 0; ++j) weights[at + j] = static_cast<float>(products[j] / sum);
      }
  replaced |= shown(c, "weights", weights, shape_by_head(spans, static_cast<std::int64_t>(a.heads)));
  if (!replaced) return std::nullopt;
  return result_of(c, rows, a.rows, in.q.size(0), weights);
}

}  // namespace tril::ops

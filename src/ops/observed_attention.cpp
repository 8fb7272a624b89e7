// S = scale q k^T + bias + mask,  P = softmax(S),  y = P v, head by head and in double: attention.cpp says it all at once.
#include "ops/observed_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/as_size.h"
#include "ops/allowed_pairs.h"
#include "tensor/observer.h"

namespace tril::ops {
namespace {

// The operands of one row in the host's memory. Head h reads keys and values of head h / group.
struct HostRow {
  std::vector<float> q, k, v;
  std::size_t heads, group, d_k, d_v, queries, keys;

  HostRow(const QueriesKeysValues& in, const kern::Attention& a)
      : heads(a.heads), group(a.heads / a.kv_heads), d_k(a.d_k), d_v(a.d_v) {
    const kern::RowSpan& s = a.rows[0];
    queries = as_size(s.q_len), keys = as_size(s.k_len);
    q = host_copy<float>(in.q.rows(s.q_begin, s.q_begin + s.q_len));
    k = host_copy<float>(in.k.rows(s.k_begin, s.k_begin + s.k_len));
    v = host_copy<float>(in.v.rows(s.k_begin, s.k_begin + s.k_len));
  }
  Shape by_head() const {
    return {static_cast<std::int64_t>(heads), static_cast<std::int64_t>(queries), static_cast<std::int64_t>(keys)};
  }
  double product(std::size_t h, std::size_t i, std::size_t j) const {
    const float* const x = q.data() + (i * heads + h) * d_k;
    const float* const y = k.data() + (j * (heads / group) + h / group) * d_k;
    double sum = 0;
    for (std::size_t n = 0; n < d_k; ++n) sum += static_cast<double>(x[n]) * static_cast<double>(y[n]);
    return sum;
  }
};

// The values of a point after the observer has seen them.
template <class T>
bool shown(Context& c, const char* name, std::vector<T>& values, const Shape& shape) {
  if (!observed(c, name)) return false;
  Tensor x = c.upload<T>(values, shape);
  if (!observe(c, name, x)) return false;
  check(x.shape() == shape, name, "an observer replaced {} by {}", shape, x.shape());
  values = host_copy<T>(x);
  return true;
}

std::vector<float> scores_of(const HostRow& row, const kern::Attention& a) {
  std::vector<float> scores;
  scores.reserve(row.heads * row.queries * row.keys);
  for (std::size_t h = 0; h < row.heads; ++h)
    for (std::size_t i = 0; i < row.queries; ++i)
      for (std::size_t j = 0; j < row.keys; ++j) {
        double s = row.product(h, i, j) * static_cast<double>(a.scale);
        if (a.softcap > 0) s = static_cast<double>(a.softcap) * std::tanh(s / static_cast<double>(a.softcap));
        const auto position =
            static_cast<std::ptrdiff_t>(i + row.keys - row.queries);  // the last query's is the last key's
        if (a.bias)
          s += static_cast<double>((a.bias.at_zero + h * a.bias.stride)[static_cast<std::ptrdiff_t>(j) - position]);
        scores.push_back(static_cast<float>(s));
      }
  return scores;
}

// Softmax of each row; a sink is one more logit without a value. A row without any key has zeros.
std::vector<float> softmax_of(const HostRow& row, const std::vector<float>& scores, const std::vector<float>& sinks) {
  std::vector<float> weights(scores.size(), 0.0f);
  for (std::size_t r = 0; r < row.heads * row.queries; ++r) {
    const float* const s = scores.data() + r * row.keys;
    const double sink =
        sinks.empty() ? -std::numeric_limits<double>::infinity() : static_cast<double>(sinks[r / row.queries]);
    double most = sink;
    for (std::size_t j = 0; j < row.keys; ++j) most = std::max(most, static_cast<double>(s[j]));
    if (std::isinf(most)) continue;
    double sum = std::exp(sink - most);
    for (std::size_t j = 0; j < row.keys; ++j) sum += std::exp(static_cast<double>(s[j]) - most);
    for (std::size_t j = 0; j < row.keys; ++j)
      weights[r * row.keys + j] = static_cast<float>(std::exp(static_cast<double>(s[j]) - most) / sum);
  }
  return weights;
}

Tensor result_of(Context& c, const HostRow& row, const std::vector<float>& weights) {
  std::vector<float> y(row.queries * row.heads * row.d_v, 0.0f);
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
  return c.upload<float>(y, {static_cast<std::int64_t>(row.queries), static_cast<std::int64_t>(row.heads * row.d_v)});
}

}  // namespace

std::optional<Tensor> observed_attention(Context& c, const QueriesKeysValues& in, const kern::Attention& a) {
  const bool any =
      observed(c, "scores") || observed(c, "mask") || observed(c, "masked_scores") || observed(c, "weights");
  if (!any) return std::nullopt;
  check(a.num_rows == 1 && a.rows[0].q_len == in.q.size(0), "attention", "an observed pass has one row, not {}",
        a.num_rows);
  const HostRow row(in, a);
  std::vector<float> scores = scores_of(row, a);
  bool replaced = shown(c, "scores", scores, row.by_head());

  const Tensor pairs = allowed_pairs(c, a);
  std::vector<std::uint8_t> allowed = host_copy<std::uint8_t>(pairs);
  const Shape by_head = row.by_head();
  const std::int64_t masks = std::ssize(allowed) / std::max<std::int64_t>(by_head[1] * by_head[2], 1);
  replaced |= shown(c, "mask", allowed, {masks, by_head[1], by_head[2]});
  const float forbidden = a.masked_is_minus_1e9 ? -1e9f : -std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (allowed[i % allowed.size()] == 0) scores[i] = forbidden;
  replaced |= shown(c, "masked_scores", scores, by_head);
  if (!replaced && !observed(c, "weights")) return std::nullopt;

  std::vector<float> sinks;
  if (a.sink_logits) sinks.assign(a.sink_logits, a.sink_logits + a.heads);
  std::vector<float> weights = softmax_of(row, scores, sinks);
  replaced |= shown(c, "weights", weights, by_head);
  if (!replaced) return std::nullopt;
  return result_of(c, row, weights);
}

}  // namespace tril::ops

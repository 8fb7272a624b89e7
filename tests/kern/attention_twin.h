// A case of ragged attention, its arguments in guarded memory, and its definition in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kern/attention.h"
#include "kern/support.h"

namespace tril::kern::attention_test {

inline constexpr double none = -std::numeric_limits<double>::infinity();

struct Case {
  std::string name;
  std::size_t heads = 1, kv_heads = 1, d_k = 8, d_v = 8;
  std::vector<std::pair<int, int>> rows;  ///< q_len, k_len
  MaskKind mask = MaskKind::full;
  int window = 0;
  bool minus_1e9 = false;
  float p = 0;
  bool fused = false;  ///< q, k, v are columns of one buffer; every row has q_len == k_len
  bool accumulate = false;
  bool mask_for_each_head = false;
  double spread = 1;  ///< standard deviation of q and k
  bool bf16 = false;  ///< products may round their operands: 8 bits remain
  bool bias = false;  ///< by distance
  float softcap = 0;  ///< of scores
  bool sink_logits = false;
};

/// The arguments of one case, in guarded memory. Two tokens before the rows and one after belong to no row.
struct Data {
  static constexpr std::size_t gap = 2;
  const Case& c;
  std::size_t q_tokens = gap, k_tokens = gap, q_stride, k_stride, v_stride;
  std::vector<RowSpan> rows;
  std::vector<std::uint8_t> allow;
  std::size_t max_q = 0, max_k = 0, bias_zero = 0;
  Floats32 q, k, v, bias, sinks;
  Attention a;

  static std::size_t tokens(const Case& c, bool queries) {
    std::size_t n = gap + 1;
    for (auto [q_len, k_len] : c.rows) n += static_cast<std::size_t>(queries ? q_len : k_len);
    return n;
  }
  /// From -(the longest k_len - 1) to the longest q_len - 1: the minimum that callers provide.
  static std::size_t distances(const Case& c) {
    int q = 1, k = 1;
    for (auto [q_len, k_len] : c.rows) q = std::max(q, q_len), k = std::max(k, k_len);
    return static_cast<std::size_t>(q + k - 1);
  }
  explicit Data(const Case& c_, std::size_t slack)
      : c(c_),
        q_stride(c.fused ? 2 * c.kv_heads * c.d_k + c.heads * c.d_k + c.kv_heads * c.d_v : c.heads * c.d_k + 3),
        k_stride(c.fused ? q_stride : c.kv_heads * c.d_k),
        v_stride(c.fused ? q_stride : c.kv_heads * c.d_v + 1),
        q(tokens(c, true) * q_stride, slack),
        k(c.fused ? 0 : tokens(c, false) * k_stride, slack),
        v(c.fused ? 0 : tokens(c, false) * v_stride, slack),
        bias(c.bias ? c.heads * distances(c) : 0, slack),
        sinks(c.sink_logits ? c.heads : 0, slack) {
    for (auto [q_len, k_len] : c.rows) {
      rows.push_back({static_cast<int>(q_tokens), q_len, static_cast<int>(k_tokens), k_len});
      q_tokens += static_cast<std::size_t>(q_len), k_tokens += static_cast<std::size_t>(k_len);
      max_q = std::max(max_q, static_cast<std::size_t>(q_len)),
      max_k = std::max(max_k, static_cast<std::size_t>(k_len));
    }
    ++q_tokens, ++k_tokens;
    fill_normal(q, 1, c.spread);
    fill_normal(k, 2, c.spread);
    fill_normal(v, 3);
    a.q = q.data();
    a.k = c.fused ? q.data() + c.heads * c.d_k : k.data();
    a.v = c.fused ? q.data() + (c.heads + c.kv_heads) * c.d_k : v.data();
    a.q_stride = q_stride, a.k_stride = k_stride, a.v_stride = v_stride;
    a.rows = rows.data(), a.num_rows = rows.size();
    a.heads = c.heads, a.kv_heads = c.kv_heads, a.d_k = c.d_k, a.d_v = c.d_v;
    a.scale = 1.0f / std::sqrt(static_cast<float>(c.d_k));
    a.mask = c.mask, a.window = c.window, a.masked_is_minus_1e9 = c.minus_1e9;
    a.dropout = {c.p, random_key(5, 6)};
    a.bf16 = c.bf16;
    a.softcap = c.softcap;
    fill_normal(sinks, 10);
    if (c.sink_logits) a.sink_logits = sinks.data();
    if (c.bias) {
      fill_normal(bias, 8);
      bias_zero = std::max<std::size_t>(max_k, 1) - 1;
      a.bias = {bias.data() + bias_zero, distances(c)};
    }
    if (c.mask == MaskKind::explicit01) {
      a.allow_query_stride = max_k + 1;
      a.allow_head_stride = c.mask_for_each_head ? max_q * a.allow_query_stride : 0;
      a.allow_row_stride = (c.mask_for_each_head ? c.heads : 1) * max_q * a.allow_query_stride;
      allow.resize(rows.size() * a.allow_row_stride);
      RandomSequence random(9, 9);
      for (auto& x : allow) x = random.below(3) != 0;
      for (std::size_t i = 0; i < allow.size(); i += a.allow_query_stride) {  // some queries see no or few keys
        const auto kind = random.below(6);
        for (std::size_t j = 0; j < max_k && kind < 2; ++j) allow[i + j] = kind == 1 && j == max_k / 2;
      }
      a.allow = allow.data();
    }
  }
};

inline bool visible(const Attention& a, std::size_t r, std::size_t h, int i, int j) {
  const int position = i + a.rows[r].k_len - a.rows[r].q_len;
  switch (a.mask) {
    case MaskKind::full:
      return true;
    case MaskKind::causal:
      return j <= position && (a.window == 0 || j > position - a.window);
    case MaskKind::near:
      return std::abs(j - position) <= a.window;
    case MaskKind::explicit01:
      return a.allow[r * a.allow_row_stride + h * a.allow_head_stride +
                     static_cast<std::size_t>(i) * a.allow_query_stride + static_cast<std::size_t>(j)] != 0;
  }
  return false;
}

/// Biases [heads, distances], where `zero` is distance 0.
struct Biases {
  std::vector<double> x;
  std::size_t zero = 0, stride = 0;
  std::size_t at(std::size_t h, int distance) const {
    return h * stride + static_cast<std::size_t>(static_cast<int>(zero) + distance);
  }
};

/// The definition, in double. Everything is [tokens, heads * d]; gradients are those of sum(out * d_out).
struct Twin {
  std::vector<double> out, lse, weights, dq, dk, dv, d_bias, d_sinks;

  Twin(const Attention& a, std::size_t q_tokens, std::size_t k_tokens, const std::vector<double>& d_out,
       const std::vector<double>& q, const std::vector<double>& k, const std::vector<double>& v, const Biases& bias)
      : out(q_tokens * a.heads * a.d_v),
        lse(q_tokens * a.heads),
        dq(q_tokens * a.heads * a.d_k),
        dk(k_tokens * a.kv_heads * a.d_k),
        dv(k_tokens * a.kv_heads * a.d_v),
        d_bias(bias.x.size()),
        d_sinks(a.sink_logits ? a.heads : 0) {
    for (std::size_t r = 0; r < a.num_rows; ++r) {
      const RowSpan s = a.rows[r];
      for (std::size_t h = 0; h < a.heads; ++h) {
        const std::size_t g = h / (a.heads / a.kv_heads);
        const RandomKey key = sub_key(a.dropout.key, r * a.heads + h);
        for (int i = 0; i < s.q_len; ++i) {
          const std::size_t n = static_cast<std::size_t>(s.k_len), token = static_cast<std::size_t>(s.q_begin + i);
          const double* qi = &q[(token * a.heads + h) * a.d_k];
          const auto key_token = [&](std::size_t j) {
            return (static_cast<std::size_t>(s.k_begin) + j) * a.kv_heads + g;
          };
          std::vector<double> score(n), slope(n), p(n), drop(n), dp(n);
          double highest = none, sum = 0;
          for (std::size_t j = 0; j < n; ++j) {
            for (std::size_t c = 0; c < a.d_k; ++c) score[j] += qi[c] * k[key_token(j) * a.d_k + c];
            score[j] *= static_cast<double>(a.scale);
            const double cap = static_cast<double>(a.softcap), t = cap > 0 ? std::tanh(score[j] / cap) : 0;
            if (cap > 0) score[j] = cap * t;
            slope[j] = static_cast<double>(a.scale) * (1 - t * t);
            if (!bias.x.empty()) score[j] += bias.x[bias.at(h, static_cast<int>(j) - (i + s.k_len - s.q_len))];
            if (!visible(a, r, h, i, static_cast<int>(j))) score[j] = a.masked_is_minus_1e9 ? -1e9 : none;
            highest = std::max(highest, score[j]);
          }
          for (std::size_t j = 0; j < n; ++j) sum += p[j] = highest == none ? 0 : std::exp(score[j] - highest);
          const double sink = a.sink_logits && sum > 0 ? std::exp(static_cast<double>(a.sink_logits[h]) - highest) : 0;
          sum += sink;
          lse[token * a.heads + h] = sum > 0 ? highest + std::log(sum) : none;
          double mean = 0;
          for (std::size_t j = 0; j < n; ++j) {
            if (sum > 0) p[j] /= sum;
            weights.push_back(p[j]);
            const auto index =
                static_cast<std::uint32_t>(i) * static_cast<std::uint32_t>(n) + static_cast<std::uint32_t>(j);
            drop[j] = random_bits(key, index) < dropout_threshold(a.dropout.p)
                          ? 0
                          : 1 / (1 - static_cast<double>(a.dropout.p));
            for (std::size_t c = 0; c < a.d_v; ++c) {
              const std::size_t o = (token * a.heads + h) * a.d_v + c, at = key_token(j) * a.d_v + c;
              out[o] += p[j] * drop[j] * v[at];
              dv[at] += p[j] * drop[j] * d_out[o];
              dp[j] += drop[j] * d_out[o] * v[at];
            }
            mean += p[j] * dp[j];
          }
          if (sum > 0 && a.sink_logits) d_sinks[h] -= sink / sum * mean;
          for (std::size_t j = 0; j < n; ++j) {
            if (!visible(a, r, h, i, static_cast<int>(j))) continue;  // a constant: no gradient
            const double db = p[j] * (dp[j] - mean), ds = db * slope[j];
            if (!bias.x.empty()) d_bias[bias.at(h, static_cast<int>(j) - (i + s.k_len - s.q_len))] += db;
            for (std::size_t c = 0; c < a.d_k; ++c) {
              dq[(token * a.heads + h) * a.d_k + c] += ds * k[key_token(j) * a.d_k + c];
              dk[key_token(j) * a.d_k + c] += ds * qi[c];
            }
          }
        }
      }
    }
  }
};

inline std::vector<double> dense(const float* x, std::size_t stride, std::size_t rows, std::size_t cols) {
  std::vector<double> y;
  for (std::size_t i = 0; i < rows; ++i) y.insert(y.end(), x + i * stride, x + i * stride + cols);
  return y;
}

inline Biases biases(const Data& d) {
  return {{d.bias.data(), d.bias.data() + d.bias.size()}, d.bias_zero, d.a.bias.stride};
}

}  // namespace tril::kern::attention_test

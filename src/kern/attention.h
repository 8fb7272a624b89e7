// Arguments of the attention kernels of the table (kernels.h): rows, masks, strides.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kern/dropout.h"

namespace tril::kern {

/// Neighbouring queries of a row that the kernels compute together, in tiles that begin at the row's first query.
inline constexpr int queries_of_tile = 64;

/// Which keys of its row a query may see. Query i of a row of q_len queries and k_len keys is at position i + k_len
/// - q_len: the last query sees the last key.
enum class MaskKind : std::uint8_t {
  full,        ///< every key of the row
  causal,      ///< keys at or before the query's position; with window > 0, only the last `window` of these
  near,        ///< keys at most `window` positions before or after the query's
  explicit01,  ///< allow[...] = 1
};

/// One row of a ragged attention: its queries and its keys, as ranges of tokens.
struct RowSpan {
  std::int32_t q_begin = 0, q_len = 0, k_begin = 0, k_len = 0;
};

/// A bias added to scaled scores that depends on head and distance: T5's buckets, ALiBi's slopes or any other such
/// function [Raffel et al. 2020, section 2.1; Press et al. 2022]. It must be defined for every distance from
/// -(k_len - 1) to q_len - 1 of every row.
struct RelativeBias {
  const float* at_zero = nullptr;  ///< head h's for a key at position j and a query at i: at_zero[h * stride + j - i]
  std::size_t stride = 0;

  explicit operator bool() const { return at_zero != nullptr; }
};

/// softmax(q k^T * scale + bias) v over ragged rows, head by head, or with a soft cap softmax(cap tanh(q k^T * scale /
/// cap)) v. Head h of token t is at q + t * q_stride + h * d_k, and likewise
/// k (+ (h / group) * d_k) and v (+ (h / group) * d_v), group = heads / kv_heads; strides are in floats.
struct Attention {
  const float *q = nullptr, *k = nullptr, *v = nullptr;
  std::size_t q_stride = 0, k_stride = 0, v_stride = 0;
  const RowSpan* rows = nullptr;
  std::size_t num_rows = 0;
  std::size_t heads = 1, kv_heads = 1, d_k = 0, d_v = 0;
  float scale = 1;
  float softcap = 0;  ///< of scaled scores; not combined with a bias; 0: none [Gemma 2, 2024, section 2]
  RelativeBias bias;
  /// [heads] or null: one more logit for each head, without a value: exp(logit) is in the sum of every softmax
  /// [gpt-oss model card: OpenAI 2025, section 2.2].
  const float* sink_logits = nullptr;
  MaskKind mask = MaskKind::full;
  std::int32_t window = 0;              ///< causal and near; causal: 0 means no window
  const std::uint8_t* allow = nullptr;  ///< explicit01: [rows][1 or heads][q_len][k_len] with these strides in bytes
  std::size_t allow_row_stride = 0, allow_head_stride = 0, allow_query_stride = 0;
  /// The value of a masked score. -inf: a query that sees no key gets zeros. -1e9: such a query attends evenly to
  /// all keys of its row (also under `causal`, so that both conventions work with every mask).
  bool masked_is_minus_1e9 = false;
  Dropout
      dropout;  ///< on the weights; the stream of row r, head h is sub_key(key, r * heads + h), index query * k_len + key
  bool bf16 = false;  ///< operands of products may be rounded to bfloat16 if that is faster
};

/// Further arguments of the backward pass of attention.
struct AttentionGradient {
  const float *out = nullptr, *d_out = nullptr;  ///< forward's result and its gradient
  std::size_t out_stride = 0, d_out_stride = 0;
  const float* lse = nullptr;  ///< [tokens of q, heads]: log-sum-exp of the scaled, masked scores
  float *dq = nullptr, *dk = nullptr, *dv = nullptr;
  std::size_t dq_stride = 0, dk_stride = 0, dv_stride = 0;
  bool accumulate_q = false, accumulate_k = false, accumulate_v = false;
  float* d_sinks = nullptr;  ///< [heads] of sink_logits, always added to; null: not wanted
  float* d_bias = nullptr;   ///< of the bias, in its layout, from distance 0; always added to; null: not wanted
};

/// The last queries of each row against the keys and values of its sequence, which are in slots of a cache: key j of
/// row r is at k + slots[r][j] * k_stride. Query i of a row of n queries and m keys has the position of key m - n + i
/// and sees the keys up to it: all of them or, with a window, the last `window` and the first `sinks` of the row.
struct CachedAttention {
  const float* q = nullptr;
  const float *k = nullptr, *v = nullptr;  ///< null if the cache holds 8-bit values:
  /// value = int8 * scale, a scale for each token and key head: at [slot * scale_stride + head]
  const std::int8_t *k8 = nullptr, *v8 = nullptr;
  const float *k_scales = nullptr, *v_scales = nullptr;
  std::size_t scale_stride = 0;
  std::size_t q_stride = 0, k_stride = 0, v_stride = 0;
  const std::int32_t* const* slots = nullptr;  ///< [rows] pointers to lengths[r] slot numbers
  const std::int32_t* lengths = nullptr;       ///< [rows] number of keys, including those of the queries
  const std::int32_t* queries = nullptr;       ///< [rows] queries, at most lengths[r]; null: one each
  /// [rows] whether the queries are of generated tokens: then up to 32 have the bits that each has alone; null: none are
  const std::uint8_t* generated = nullptr;
  std::size_t num_rows = 0;
  std::size_t heads = 1, kv_heads = 1, d_k = 0, d_v = 0;
  float scale = 1;
  float softcap = 0;                   ///< as in Attention
  RelativeBias bias;                   ///< distances in the order of the row's slots
  const float* sink_logits = nullptr;  ///< [heads] or null, as in Attention
  std::int32_t window = 0, sinks = 0;  ///< window 0: none, and sinks are ignored
  bool bf16 =
      false;  ///< as in Attention; a few queries of a row, and those of generated tokens, are computed in float32
};

/// Keys or values to be written into 8-bit slots: row i of x goes to slot slots[i]. Each head is divided by its
/// scale, its largest magnitude / 127, and rounded to nearest.
struct QuantizeSlots {
  const float* x = nullptr;
  std::size_t x_stride = 0, rows = 0, heads = 1, d = 0;
  const std::int32_t* slots = nullptr;
  std::int8_t* to = nullptr;  ///< [slots, heads * d]
  float* scales = nullptr;    ///< [slots, heads]
};

/// The mean over some heads of the weights softmax(scale q k^T); a query sees all keys of its row. Layout as in
/// Attention.
struct MeanAttention {
  const float *q = nullptr, *k = nullptr;
  std::size_t q_stride = 0, k_stride = 0;
  const RowSpan* rows = nullptr;
  std::size_t num_rows = 0;
  std::size_t heads = 1, kv_heads = 1, d_k = 0;
  float scale = 1;
  const std::int32_t* chosen = nullptr;  ///< [num_chosen] the heads to average
  std::size_t num_chosen = 0;
};

/// The loss that compares attention weights with the wanted ones, per query (see ops::alignment_loss).
enum class AlignmentCost : std::uint8_t { ce, mse, mult };

/// y_i = phi(q_i) S / phi(q_i) z, phi(x) = elu(x) + 1, S = sum phi(k_j) v_j^T, z = sum phi(k_j), over all keys of the row or,
/// when causal, those with j <= i [Katharopoulos et al. 2020, eq. 5, 9]. Layout as in Attention, heads == kv_heads, not scaled.
struct LinearAttention {
  const float *q = nullptr, *k = nullptr, *v = nullptr;
  std::size_t q_stride = 0, k_stride = 0, v_stride = 0;
  const RowSpan* rows = nullptr;
  std::size_t num_rows = 0;
  std::size_t heads = 1, d_k = 0, d_v = 0;
  bool causal = false;
};

}  // namespace tril::kern

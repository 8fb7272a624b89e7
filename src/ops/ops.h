// All ops: functions of tensors that record their gradient on the context's tape, if there is one. Each has its own
// file, which begins with the formula, the derivative and what is saved.
//
// N: the number of tokens of a ragged batch, over all rows. All values are f32, ids are i32.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/rows.h"
#include "kern/attention.h"
#include "kern/compact_bf16.h"
#include "kern/gemm_int8.h"
#include "kern/memory_attention.h"
#include "ops/states.h"
#include "tensor/context.h"

namespace tril::ops {

using kern::Activation;

// --- arithmetic.cpp ---

/// a + b, same shapes.
Tensor add(Context& c, const Tensor& a, const Tensor& b);
/// alpha * x.
Tensor scale(Context& c, const Tensor& x, float alpha);
/// Zeroes each value with probability p and scales the others by 1 / (1 - p); returns x itself unless the context
/// is training. [Srivastava et al. 2014]
Tensor dropout(Context& c, const Tensor& x, float p);
/// h + dropout(x, p), in one pass.
Tensor residual(Context& c, const Tensor& h, const Tensor& x, float p);

// --- linear.cpp ---

/// A matrix [out, in], packed: in the blocks of `format`, which are all in `values` (kern/block_format.h), or, without one, in
/// integers of `bits` bits with scales (kern/gemm_int8.h).
struct QuantizedMatrix {
  Shape shape;
  int bits = 8;
  kern::BlockFormat format = kern::BlockFormat::none;
  Tensor values, multipliers;  ///< u8; multipliers only with 4 bits
  Tensor scales, sums;         ///< f32, i32

  explicit operator bool() const { return static_cast<bool>(values); }
  kern::QuantizedRight right() const;
};

/// W^T of a matrix W [out, in] as a compact right operand (kern/compact_bf16.h).
struct CompactMatrix {
  Tensor tiles, tables, rest;  ///< u8

  explicit operator bool() const { return static_cast<bool>(tiles); }
  /// Without the first rows of W, which are a multiple of 32.
  kern::CompactRight right(std::int64_t in, std::int64_t rows = 0) const;
};

/// A weight matrix [out, in], copies of it that products read faster, or both. With packed copies or a compact one, products use
/// mixed precision: operands are rounded to bfloat16, sums and results are float32 (kern/gemm_bf16.h). With a
/// quantised weight, x is rounded to 8 bits row by row, and there are no gradients. Training needs `value`.
struct Weight {
  Weight() = default;
  /// From a matrix and those of its copies that exist. Implicit, so that a tensor can be passed as a weight.
  Weight(Tensor matrix, Tensor its_transposed = {}, Tensor its_packed = {}, Tensor its_packed_transposed = {})
      : shape(matrix ? matrix.shape() : Shape{}),
        value(std::move(matrix)),
        transposed(std::move(its_transposed)),
        packed(std::move(its_packed)),
        packed_transposed(std::move(its_packed_transposed)) {}

  Shape shape;  ///< [out, in], also without `value`
  Tensor value;
  Tensor transposed;         ///< W^T [in, out]
  Tensor packed;             ///< W^T as a right operand, for x W^T
  Tensor packed_transposed;  ///< W as a right operand, for dz W
  CompactMatrix compact;     ///< in place of `packed`, without gradients
  QuantizedMatrix quantized;

  std::int64_t out() const { return shape[0]; }
  std::int64_t in() const { return shape[1]; }
  bool is_bf16() const { return packed || compact; }  ///< operands of products with it are rounded to bfloat16
};

struct LinearOptions {
  Activation activation = Activation::none;
  Tensor residual;    ///< [N, out], added last; may be none
  float dropout = 0;  ///< on the result, before the residual is added; only in training
};

/// y = residual + dropout(f(x W^T + b)): x [N, in], W [out, in], b [out] or none -> [N, out].
Tensor linear(Context& c, const Tensor& x, const Weight& w, const Tensor& b, const LinearOptions& options = {});

/// Hidden states x [N, D] and the output layer that gives logits: x W^T + b, W [V, D], b [V] or none.
struct Projected {
  Tensor x;
  Weight w;
  Tensor b;
};

// --- projected_top_k.cpp ---

/// The best values of each row of x W^T + b, W [V, D]; if W is quantised, without the product in memory.
struct Best {
  Tensor values;    ///< [N, k] largest first (ties: smaller id first); -inf if there are fewer than k
  Tensor ids;       ///< [N, k] i32; -1 if there are fewer
  Tensor log_sums;  ///< [N] log(sum(exp)) over all V, if requested
};
/// The output layer of some consecutive rows of x.
struct OutputPart {
  std::int64_t rows = 0;
  Weight w;
  Tensor b;                                ///< or none
  std::span<const std::int32_t> ids = {};  ///< of W's rows, ascending; empty: 0, 1, ...
};
/// @param parts      of all N rows of x
/// @param forbidden  [N] for each row the ids that are excluded from the result, or empty
Best projected_top_k(Context& c, const Tensor& x, std::span<const OutputPart> parts, std::int64_t k,
                     std::span<const std::vector<std::int32_t>> forbidden, bool log_sums);

// --- embedding.cpp ---

/// scale * table[ids]: ids [N], table [V, D] -> [N, D]. Ids outside [0, V) are an Error. The row of padding_id (-1:
/// none) gets no gradient.
Tensor embedding(Context& c, const Tensor& table, const Tensor& ids, float scale, std::int32_t padding_id);
/// The same for a table [V, D] that is stored in any form, without a gradient.
Tensor embedding(Context& c, const Weight& table, const Tensor& ids, float scale);
/// Rows ids [N] of a weight [out, in], stored in any form, as float32 [N, in]; no gradient.
Tensor rows_of(Context& c, const Weight& w, const Tensor& ids);
/// Rows ids [N] of a weight [out, in] as a weight of their own: of integers like the weight, or else in float32; no gradient.
Weight select_rows(Context& c, const Weight& w, const Tensor& ids);
/// x + table[positions]: x [N, D], table [T, D], positions [N] -> [N, D]. Positions beyond the table are an Error.
Tensor add_positions(Context& c, const Tensor& x, const Tensor& table, const Tensor& positions);

// --- layer_norm.cpp, rms_norm.cpp ---

/// g * (x - mean) / sqrt(var + eps) + b over the last dimension: x [N, D], g [D], b [D] or none. [Ba et al. 2016]
Tensor layer_norm(Context& c, const Tensor& x, const Tensor& g, const Tensor& b, float eps);
/// g * x / sqrt(mean(x^2) + eps). [Zhang & Sennrich 2019]
Tensor rms_norm(Context& c, const Tensor& x, const Tensor& g, float eps);

// --- activation.cpp ---

Tensor activate(Context& c, Activation f, const Tensor& x);
/// f(gate) * up: the gated linear unit's product. [Shazeer 2020]
Tensor gated(Context& c, Activation f, const Tensor& gate, const Tensor& up);

// --- memory_attention.cpp ---

/// Keys and values of a memory, packed for decode steps (kern/memory_attention.h).
struct PackedMemory {
  kern::MemoryForm form = kern::MemoryForm::bf16;
  Tensor bytes;
  std::vector<std::size_t> offsets;  ///< by row
  std::vector<std::int32_t> lengths;
  std::int64_t num_heads = 1, num_kv_heads = 1, d_k = 0, d_v = 0;
};

struct MemoryHeads {
  kern::MemoryForm form = kern::MemoryForm::bf16;
  std::int64_t num_heads = 1, num_kv_heads = 1;
};
/// keys [S, num_kv_heads * d_k] and values [S, num_kv_heads * d_v] of `rows`, each of at least one token.
PackedMemory pack_memory(Context& c, const Tensor& keys, const Tensor& values, const Rows& rows,
                         const MemoryHeads& heads);
/// Attention of queries q [N, num_heads * d_k]; each span's queries attend to all keys of its row of the memory ->
/// [N, num_heads * d_v]. No gradient.
Tensor memory_attention(Context& c, const Tensor& q, const PackedMemory& memory,
                        std::span<const kern::MemorySpan> spans, float scale = 0);

// --- attention.cpp ---

/// The queries and keys of each row of an attention; made once for all layers of a step.
using Spans = std::shared_ptr<const std::vector<kern::RowSpan>>;

/// Each row of q attends to the row of k with the same number.
Spans spans_of(const Rows& q, const Rows& k);

/// Which keys of its row a query may attend to.
struct Mask {
  kern::MaskKind kind = kern::MaskKind::full;
  std::int32_t window = 0;  ///< causal: the last `window` keys only; 0: all. near: see there
  Tensor allow;             ///< explicit01: u8 [B, 1 or H, Tq, Tk], 1 = may attend; Tq = 1 applies to every query
  bool masked_is_minus_1e9 = false;  ///< see kern::Attention
  /// With a window: the first `sinks` keys of a row stay visible too [Xiao et al. 2024]. Only over a cache;
  /// window_and_sinks() gives the same as an explicit mask.
  std::int32_t sinks = 0;

  static Mask full() { return {}; }
  static Mask causal(std::int32_t window = 0, std::int32_t sinks = 0) {
    return {kern::MaskKind::causal, window, {}, false, window > 0 ? sinks : 0};
  }
  /// Each token sees those at most `distance` tokens before and after it.
  static Mask near(std::int32_t distance) { return {kern::MaskKind::near, distance, {}, false}; }
  static Mask explicit01(Tensor allow) { return {kern::MaskKind::explicit01, 0, std::move(allow), false}; }
};

/// A number per head and distance that is added to scaled scores: T5's buckets, ALiBi's slopes.
struct RelativeBias {
  Tensor table;           ///< [H, distances]; none: nothing is added
  std::int64_t zero = 0;  ///< the column of distance 0; for a key at position j and a query at i it is zero + j - i
};

struct AttentionOptions {
  std::int64_t num_heads = 1;
  std::int64_t num_kv_heads = 0;  ///< 0: as many as num_heads; otherwise a divisor of it
  Mask mask;
  float scale = 0;    ///< 0: 1 / sqrt(d_k)
  float dropout = 0;  ///< on the weights; only while training
  float softcap = 0;  ///< scores become softcap tanh(scores / softcap), and have no bias then; 0: they stay as they are
  bool bf16 = false;  ///< in mixed precision: operands of products may be rounded to bfloat16 (kern/attention_bf16.cpp)
  Tensor sink_logits = {};  ///< [H] or none: one more logit of each head, without a value (kern::Attention)
  /// Distances from 1 - (longest k_len) to (longest q_len) - 1; the last query of a row has the position of its last key.
  RelativeBias bias = {};
};

/// The operands of attention, head by head: q [Nq, H * d_k], k [Nk, Hkv * d_k], v [Nk, Hkv * d_v]. They may be slices of
/// columns.
struct QueriesKeysValues {
  Tensor q, k, v;
};

/// softmax(q k^T * scale + bias) v, head by head [Vaswani et al. 2017, eq. 1], in tiles with a running softmax:
/// memory grows with N. Returns [Nq, H * d_v]. `spans` gives each row's tokens of q and k. An observer sees the scores, the
/// mask and the weights (observed_attention.h).
Tensor attention(Context& c, const QueriesKeysValues& in, const Spans& spans, const AttentionOptions& options);

// --- cached_attention.cpp ---

/// A causal mask with a window and sinks as an explicit mask for rows of the given spans: [rows, 1, longest q,
/// longest k].
Mask window_and_sinks(Context& c, const Spans& spans, std::int32_t window, std::int32_t sinks);

/// Keys [slots, Hkv * d_k] and values [slots, Hkv * d_v] of a cache: f32, or i8 with a scale for each slot and key
/// head, [slots, Hkv].
struct CachedKeysValues {
  Tensor keys, values, key_scales, value_scales;
};
/// The slots of a row's lengths[r] keys, in order; the last queries[r] of them belong to the queries.
struct CachedRows {
  std::span<const std::int32_t* const> slots;
  std::span<const std::int32_t> lengths, queries;
  /// Whether a row's queries are of generated tokens: then up to 32 have the bits that each has alone. Empty: none are.
  std::span<const std::uint8_t> generated = {};
};

/// The last queries of each row against all keys of the row up to their own, which are in a cache: q [N, H * d_k]
/// -> [N, H * d_v]. The mask is causal; its window and sinks count in the order of the row's slots. No gradient.
Tensor cached_attention(Context& c, const Tensor& q, const CachedKeysValues& kv, const CachedRows& rows,
                        const AttentionOptions& options);
/// Copies x to the beginning of the larger y; both are dense and of one type.
void copy_into(Context& c, const Tensor& x, Tensor y);
/// Rounds keys or values x [N, Hkv * d] into the slots of an 8-bit cache: to [slots, Hkv * d], scales [slots, Hkv].
void quantize_slots(Context& c, const Tensor& x, std::span<const std::int32_t> slots, Tensor to, Tensor scales);

// --- mean_attention.cpp, alignment_loss.cpp ---

struct MeanAttentionOptions {
  std::int64_t num_heads = 1;
  std::int64_t num_kv_heads = 0;     ///< 0: num_heads
  std::vector<std::int32_t> chosen;  ///< the heads to average, without duplicates; empty: all
  float scale = 0;                   ///< of scores; 0: 1 / sqrt(d_k)
};

/// The mean over heads of softmax(scale q k^T); every query sees all keys of its row: q [Nq, H * d_k], k [Nk, Hkv *
/// d_k] -> [q_len, k_len] of each row, row after row, in one flat tensor.
Tensor mean_attention(Context& c, const Tensor& q, const Tensor& k, const Spans& spans,
                      const MeanAttentionOptions& options);

using kern::AlignmentCost;

struct AlignmentLossOptions {
  AlignmentCost cost = AlignmentCost::ce;
  double normalizer = 1;  ///< divisor of the sum over queries
};

/// The distance of attention weights, as returned by mean_attention(), from the wanted ones in the same layout ->
/// [1]. Queries without wanted weights do not count.
Tensor alignment_loss(Context& c, const Tensor& weights, const Tensor& wanted, const Spans& spans,
                      const AlignmentLossOptions& options);

// --- linear_attention.cpp ---

struct LinearAttentionOptions {
  std::int64_t num_heads = 1;
  bool causal = false;  ///< a query attends to the keys up to its own position; otherwise to all keys of its row
};
/// Attention with the kernel phi(x) = elu(x) + 1 in place of the exponential [Katharopoulos et al. 2020]: time O(T).
/// Layout as in attention().
Tensor linear_attention(Context& c, const QueriesKeysValues& in, const Spans& spans,
                        const LinearAttentionOptions& options);
/// Number of values of a row's state: S [d_k, d_v] and z [d_k] of each head.
constexpr std::int64_t linear_attention_state(std::int64_t num_heads, std::int64_t d_k, std::int64_t d_v) {
  return num_heads * d_k * (d_v + 1);
}
struct LinearStates {
  States states;  ///< of linear_attention_state() values
  std::int64_t num_heads = 1;
};
/// The recurrent form of the causal op: the next tokens of each row, q, k [N, H * d_k], v [N, H * d_v] -> [N, H *
/// d_v]. They are added to the row's state. Constant time and memory per token. No gradient.
Tensor linear_attention_step(Context& c, const QueriesKeysValues& in, const Rows& rows, LinearStates states);

// --- cross_entropy.cpp, projected_cross_entropy.cpp, r_drop.cpp, projected_distillation.cpp ---

struct LossOptions {
  float label_smoothing = 0;    ///< spread over the whole vocabulary [Szegedy et al. 2016, section 7]
  std::int32_t ignore_id = -1;  ///< targets with this id do not count
  double normalizer = 0;        ///< divisor of the sum of losses; 0: the number of targets that count
  Tensor weights;               ///< [N] f32, a factor for each target's loss; may be none
  float softcap = 0;            ///< of logits that the loss itself computes (ops/softcap.h); 0: none
};

/// Cross-entropy of logits [N, V] against targets [N] -> [1].
Tensor cross_entropy(Context& c, const Tensor& logits, const Tensor& targets, const LossOptions& options);

/// The same for logits = x W^T + b, computed in chunks of rows, so that the [N, V] logits never exist: x [N, D], W
/// [V, D], b [V] or none -> [1]. If a tape records, the gradients are computed in the same pass.
Tensor projected_cross_entropy(Context& c, const Projected& p, const Tensor& targets, const LossOptions& options);

/// log p(target) for each row of the same logits -> [N]. No gradient.
Tensor target_log_probs(Context& c, const Projected& p, const Tensor& targets, float softcap = 0);

/// R-Drop [Liang et al. 2021]: x [2 N, D] holds two passes over the same N targets with different dropout, one pass
/// after the other. Returns [1]: the mean of both cross-entropies + alpha / 2 times the mean of both divergences
/// between them. Computed in chunks like projected_cross_entropy; the normalizer and the weights [N] refer to
/// targets, not to rows.
Tensor r_drop(Context& c, const Projected& p, const Tensor& targets, const LossOptions& options, float alpha);

/// A student and its teachers, which need the same N and V but may have another width D.
struct Distillation {
  const Projected& student;
  std::span<const Projected> teachers;  ///< at least one
};
struct DistillationOptions {
  float temperature = 1;
  float mix = 0.5f;  ///< weight of the teachers' part; the targets have the rest
};

/// (1 - mix) * projected_cross_entropy + mix * T^2 KL(teachers || student) at temperature T [Hinton et al. 2015;
/// Kim & Rush 2016, section 3.1] -> [1], in chunks of rows like projected_cross_entropy. Several teachers are combined by
/// the geometric mean of their distributions. Teachers get no gradient.
Tensor projected_distillation(Context& c, const Distillation& models, const Tensor& targets, const LossOptions& loss,
                              const DistillationOptions& options);

// --- checkpoint.cpp ---

/// y = block(c, x) without keeping the block's intermediate values on the tape: the backward pass recomputes them
/// with the same random numbers [Chen et al. 2016]. Besides x, `block` may use any parameters and any tensors that
/// are constant during the step.
Tensor checkpoint(Context& c, const std::function<Tensor(Context&, const Tensor&)>& block, const Tensor& x);

}  // namespace tril::ops

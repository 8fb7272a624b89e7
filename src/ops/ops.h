// Every op: a function of tensors that records its gradient on the context's tape, if there is one. One file each; the
// formula, the derivative and what is saved stand at the head of that file.
//
// N: tokens of a ragged batch, all rows together. All values are f32, ids are i32.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/rows.h"
#include "kern/attention.h"
#include "kern/gemm_int8.h"
#include "kern/memory_attention.h"
#include "tensor/context.h"

namespace tril::ops {

using kern::Activation;

// --- arithmetic.cpp ---

/// a + b, same shapes.
Tensor add(Context& c, const Tensor& a, const Tensor& b);
/// alpha * x.
Tensor scale(Context& c, const Tensor& x, float alpha);
/// Zeroes each value with probability p and scales the others by 1 / (1 - p); x itself unless the context is training.
/// [Srivastava et al. 2014]
Tensor dropout(Context& c, const Tensor& x, float p);
/// h + dropout(x, p), in one pass.
Tensor residual(Context& c, const Tensor& h, const Tensor& x, float p);

// --- linear.cpp ---

/// A matrix [out, in] of whole numbers with scales, packed (kern/gemm_int8.h).
struct QuantizedMatrix {
  Shape shape;
  int bits = 8;
  Tensor values, multipliers;  ///< u8; multipliers with 4 bits alone
  Tensor scales, sums;         ///< f32, i32

  explicit operator bool() const { return static_cast<bool>(values); }
  kern::QuantizedRight right() const;
};

/// A matrix of weights [out, in], or the copies that products read faster, or both. Where packed ones are there, products
/// are mixed: operands rounded to bfloat16, sums and results float32 (kern/gemm_bf16.h). Where it is quantised, x is
/// rounded to 8 bits row by row, and there are no gradients. Training needs `value`.
struct Weight {
  Tensor value;
  Tensor transposed;         ///< W^T [in, out]
  Tensor packed;             ///< W^T as a right operand, for x W^T
  Tensor packed_transposed;  ///< W as a right operand, for dz W
  QuantizedMatrix quantized;
  Shape given = {};  ///< the shape where there is no value

  const Shape& shape() const { return value ? value.shape() : given; }
  std::int64_t out() const { return shape()[0]; }
  std::int64_t in() const { return shape()[1]; }
};

struct LinearOptions {
  Activation activation = Activation::none;
  Tensor residual;    ///< [N, out], added last; may be none
  float dropout = 0;  ///< on the result, before the residual is added; only while training
};

/// y = residual + dropout(f(x W^T + b)): x [N, in], W [out, in], b [out] or none -> [N, out].
Tensor linear(Context& c, const Tensor& x, const Weight& w, const Tensor& b, const LinearOptions& options = {});

/// Hidden states x [N, D] and what makes logits of them: x W^T + b, W [V, D], b [V] or none.
struct Projected {
  Tensor x;
  Weight w;
  Tensor b;
};

// --- projected_top_k.cpp ---

/// The best of each row of x W^T + b, W [V, D] quantised, without the product in memory.
struct Best {
  Tensor values;    ///< [N, k] largest first (of equals the smaller id first); -inf where there are no more
  Tensor ids;       ///< [N, k] i32; -1 there
  Tensor log_sums;  ///< [N] log(sum(exp)) over all V, where it was asked for
};
/// @param forbidden  [N] for each row the ids that are not to be among its best, or empty
Best projected_top_k(Context& c, const Projected& p, std::int64_t k,
                     std::span<const std::vector<std::int32_t>> forbidden, bool log_sums);

// --- embedding.cpp ---

/// scale * table[ids]: ids [N], table [V, D] -> [N, D]. Ids outside [0, V) are an Error. The row of padding_id (-1:
/// none) gets no gradient.
Tensor embedding(Context& c, const Tensor& table, const Tensor& ids, float scale, std::int32_t padding_id);
/// The same of a quantised table [V, D], which has no gradient.
Tensor embedding(Context& c, const QuantizedMatrix& table, const Tensor& ids, float scale);
/// The rows ids [N] of a weight [out, in], in whatever form it is kept, as float32 [N, in]; no gradient.
Tensor rows_of(Context& c, const Weight& w, const Tensor& ids);
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

/// Keys and values of a memory as decoding reads them, step by step (kern/memory_attention.h).
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
/// Queries q [N, num_heads * d_k] against them, each span's against all keys of its row of the memory:
/// [N, num_heads * d_v]. No gradient.
Tensor memory_attention(Context& c, const Tensor& q, const PackedMemory& memory,
                        std::span<const kern::MemorySpan> spans, float scale = 0);

// --- attention.cpp ---

/// For each row of an attention, which tokens are its queries and which its keys; made once for all layers of a step.
using Spans = std::shared_ptr<const std::vector<kern::RowSpan>>;

/// Each row of q against the row of k with the same number.
Spans spans_of(const Rows& q, const Rows& k);

/// Who may attend to whom, besides the rows.
struct Mask {
  kern::MaskKind kind = kern::MaskKind::full;
  std::int32_t window = 0;  ///< causal: the last `window` keys only; 0: all
  Tensor allow;             ///< explicit01: u8 [B, 1 or H, Tq, Tk], 1 = may attend; Tq = 1 stands for every query
  bool masked_is_minus_1e9 = false;  ///< see kern::Attention
  /// With a window: the first `sinks` keys of a row stay in sight too [Xiao et al. 2024]. Over a cache only;
  /// window_and_sinks() is the same as an explicit mask.
  std::int32_t sinks = 0;

  static Mask full() { return {}; }
  static Mask causal(std::int32_t window = 0, std::int32_t sinks = 0) {
    return {kern::MaskKind::causal, window, {}, false, window > 0 ? sinks : 0};
  }
  static Mask explicit01(Tensor allow) { return {kern::MaskKind::explicit01, 0, std::move(allow), false}; }
};

/// A number for each head and distance, which is added to scaled scores: T5's buckets, ALiBi's slopes.
struct RelativeBias {
  Tensor table;           ///< [H, distances]; none: nothing is added
  std::int64_t zero = 0;  ///< the column of distance 0; that of a key at position j and a query at i is zero + j - i
};

struct AttentionOptions {
  std::int64_t num_heads = 1;
  std::int64_t num_kv_heads = 0;  ///< 0: as many as num_heads; otherwise a divisor of it
  Mask mask;
  float scale = 0;    ///< 0: 1 / sqrt(d_k)
  float dropout = 0;  ///< on the weights; only while training
  float softcap = 0;  ///< scores become softcap tanh(scores / softcap), and have no bias then; 0: they stay as they are
  bool bf16 = false;  ///< in mixed precision: operands of products may be rounded to bfloat16 (kern/attention_bf16.cpp)
  Tensor sink_logits = {};  ///< [H] or none: one more logit of each head, whose weight no value takes (kern::Attention)
  /// Distances from 1 - (longest k_len) to (longest q_len) - 1; the last query of a row stands where its last key does.
  RelativeBias bias = {};
};

/// softmax(q k^T * scale + bias) v, head by head [Vaswani et al. 2017, eq. 1], in tiles with a running softmax: memory grows
/// with N. q [Nq, H * d_k], k [Nk, Hkv * d_k], v [Nk, Hkv * d_v] -> [Nq, H * d_v]; they may be slices of columns.
/// `spans` says for each row which of q's and k's tokens are its own. While the context probes, the weights are sent as
/// "weights": row after row [H, q_len, k_len], as one [B, H, Tq, Tk] where all rows are alike.
Tensor attention(Context& c, const Tensor& q, const Tensor& k, const Tensor& v, const Spans& spans,
                 const AttentionOptions& options);

// --- cached_attention.cpp ---

/// A causal mask with a window and sinks, written out for rows of the given spans: [rows, 1, longest q, longest k].
Mask window_and_sinks(Context& c, const Spans& spans, std::int32_t window, std::int32_t sinks);

/// Keys [slots, Hkv * d_k] and values [slots, Hkv * d_v] of a cache: f32, or i8 with a scale for each slot and key head,
/// [slots, Hkv].
struct CachedKeysValues {
  Tensor keys, values, key_scales, value_scales;
};
/// Which slots hold a row's lengths[r] keys, in their order; the last queries[r] of them are those of the queries.
struct CachedRows {
  std::span<const std::int32_t* const> slots;
  std::span<const std::int32_t> lengths, queries;
};

/// The last queries of each row against all keys of the row up to their own, which lie in a cache: q [N, H * d_k] ->
/// [N, H * d_v]. The mask is causal; its window and sinks count in the order of the row's slots. No gradient.
Tensor cached_attention(Context& c, const Tensor& q, const CachedKeysValues& kv, const CachedRows& rows,
                        const AttentionOptions& options);
/// The values of x at the beginning of the larger y, both dense and of one type.
void copy_into(Context& c, const Tensor& x, Tensor y);
/// Rounds keys or values x [N, Hkv * d] into slots of a cache of 8 bits: to [slots, Hkv * d], scales [slots, Hkv].
void quantize_slots(Context& c, const Tensor& x, std::span<const std::int32_t> slots, Tensor to, Tensor scales);

// --- mean_attention.cpp, alignment_loss.cpp ---

struct MeanAttentionOptions {
  std::int64_t num_heads = 1;
  std::int64_t num_kv_heads = 0;     ///< 0: num_heads
  std::vector<std::int32_t> chosen;  ///< heads that the mean is taken over, none twice; none: all
  float scale = 0;                   ///< of scores; 0: 1 / sqrt(d_k)
};

/// The mean over heads of softmax(scale q k^T), every query seeing all keys of its row: q [Nq, H * d_k], k [Nk, Hkv
/// * d_k] -> rows' [q_len, k_len], one behind the other, as one flat tensor.
Tensor mean_attention(Context& c, const Tensor& q, const Tensor& k, const Spans& spans,
                      const MeanAttentionOptions& options);

using kern::AlignmentCost;

/// How far weights of attention, as mean_attention() gives them, are from those wanted, laid out alike -> [1]. The sum over
/// queries is divided by `normalizer`. Queries for which nothing is wanted do not count.
Tensor alignment_loss(Context& c, const Tensor& weights, const Tensor& wanted, const Spans& spans, AlignmentCost cost,
                      double normalizer);

// --- linear_attention.cpp ---

/// Attention with the kernel phi(x) = elu(x) + 1 in place of the exponential [Katharopoulos et al. 2020]: O(T) in time.
/// Layout as in attention(); every query of a row sees all its keys, or those up to its own position when causal.
struct LinearAttentionOptions {
  std::int64_t num_heads = 1;
  bool causal = false;
};
Tensor linear_attention(Context& c, const Tensor& q, const Tensor& k, const Tensor& v, const Spans& spans,
                        const LinearAttentionOptions& options);
/// Values of a row's state: S [d_k, d_v] and z [d_k] of each head.
constexpr std::int64_t linear_attention_state(std::int64_t num_heads, std::int64_t d_k, std::int64_t d_v) {
  return num_heads * d_k * (d_v + 1);
}
struct LinearStates {
  Tensor values;                        ///< [.., linear_attention_state()]
  std::span<const std::int32_t> slots;  ///< of each row: which of them is its state
  std::int64_t num_heads = 1;
};
/// The recurrent form of the causal one: the next tokens of each row, q, k [N, H * d_k], v [N, H * d_v] -> [N, H * d_v].
/// The state of each row, zeros at first, takes them in: no
/// slot comes twice, and those of rows without tokens are not looked at. Constant time and memory a token. No gradient.
Tensor linear_attention_step(Context& c, const Tensor& q, const Tensor& k, const Tensor& v, const Rows& rows,
                             LinearStates states);

// --- cross_entropy.cpp, projected_cross_entropy.cpp, r_drop.cpp, projected_distillation.cpp ---

struct LossOptions {
  float label_smoothing = 0;    ///< spread over the whole vocabulary [Szegedy et al. 2016, section 7]
  std::int32_t ignore_id = -1;  ///< targets that do not count
  double normalizer = 0;        ///< the sum of losses is divided by this; 0: by the number of targets that count
  Tensor weights;               ///< [N] f32, a factor of each target's loss; may be none
  float softcap = 0;            ///< of logits that a loss makes by itself (ops/softcap.h); 0: none
};

/// Cross-entropy of logits [N, V] against targets [N] -> [1].
Tensor cross_entropy(Context& c, const Tensor& logits, const Tensor& targets, const LossOptions& options);

/// The same of logits = x W^T + b, computed in chunks of rows, so that the [N, V] logits never exist: x [N, D], W [V,
/// D], b [V] or none -> [1]. Where a tape records, the gradients are made in the same pass.
Tensor projected_cross_entropy(Context& c, const Projected& p, const Tensor& targets, const LossOptions& options);

/// log p(target) for each row of the same logits -> [N]. No gradient.
Tensor target_log_probs(Context& c, const Projected& p, const Tensor& targets, float softcap = 0);

/// R-Drop [Liang et al. 2021]: x [2 N, D] holds two passes of the same N targets under different dropout, pass after
/// pass -> [1]: the mean of both cross-entropies + alpha / 2 times the mean of both divergences between them. In chunks
/// as projected_cross_entropy; the normalizer and the weights [N] are those of targets, not of rows.
Tensor r_drop(Context& c, const Projected& p, const Tensor& targets, const LossOptions& options, float alpha);

struct DistillationOptions {
  float temperature = 1;
  float mix = 0.5f;  ///< of the teachers' part; the targets have the rest
};

/// (1 - mix) * projected_cross_entropy + mix * T^2 KL(teachers || student) at temperature T [Hinton et al. 2015; Kim &
/// Rush 2016, section 3.1], in chunks of rows like the former; several teachers (of any width, of the same V and N) are
/// the geometric mean of their distributions. They get no gradient. -> [1]
Tensor projected_distillation(Context& c, const Projected& student, std::span<const Projected> teachers,
                              const Tensor& targets, const LossOptions& loss, const DistillationOptions& options);

// --- checkpoint.cpp ---

/// y = block(c, x), keeping nothing of the block's inside on the tape: the backward pass computes it again, with the
/// same random numbers [Chen et al. 2016]. `block` may use any parameters and tensors that are constants of the step
/// besides x.
Tensor checkpoint(Context& c, const std::function<Tensor(Context&, const Tensor&)>& block, const Tensor& x);

}  // namespace tril::ops

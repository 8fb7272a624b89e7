// Multi-head attention with its projections: MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W_O [Vaswani et al.
// 2017, 3.2.2].
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/attention_heads.h"
#include "nn/head_norm.h"
#include "nn/kv_cache.h"
#include "nn/layers.h"
#include "nn/relative_bias.h"
#include "nn/rotary.h"

namespace tril::nn {

/// Keys and values, normalised and rotated, that later layers of the same call read: by the number of the layer that computed
/// them.
struct SharedKeysValues {
  struct Pair {
    Tensor keys, values;
  };
  std::map<std::int64_t, Pair> of_layer;
};

/// Shared by the self-attention of all layers of one call: the rows, the mask, and the cache of earlier keys and
/// values.
class SelfCall {
 public:
  struct Options {
    KvCache* cache = nullptr;            ///< gets these tokens; null: there are no earlier tokens, and none are kept
    const RelativeBias* bias = nullptr;  ///< added to the scores, by distance; null: none
    /// The rotations of queries and keys; each layer has the index of its own (Attention::Options::rotary); empty: none.
    std::span<const RotaryPositions> rotaries = {};
    std::span<const std::int32_t> prompt_lengths = {};  ///< see DecoderInput
    /// With the full mask: in layers with a window, a token sees this many tokens before and after it; 0: such layers need a
    /// causal mask.
    std::int32_t near = 0;
  };
  /// @param mask  of the rows among themselves; with a cache it must be causal, and if the cache keeps a window,
  /// the mask's window and sinks must equal the cache's
  SelfCall(Context& c, const Rows& rows, ops::Mask mask, const Options& options);
  SelfCall(Context& c, const Rows& rows, ops::Mask mask) : SelfCall(c, rows, std::move(mask), Options()) {}

  /// A copy for a layer with its own relative position bias.
  SelfCall with_bias(Context& c, const RelativeBias& bias) const;

  const Rows& rows() const { return rows_; }
  const ops::Mask& mask() const { return mask_; }
  /// The states from which a recurrent layer continues; none without a cache, where every row begins. @throws Error naming
  /// `where` if the mask or the cache does not suit such a layer
  ops::States states(std::int64_t layer, std::string_view where) const;

 private:
  friend class Attention;
  friend class LatentAttention;
  std::int64_t most_keys() const;  // the largest number of keys of a row

  Rows rows_;
  ops::Mask mask_;
  ops::RelativeBias bias_;
  std::vector<ops::Rotation> rotations_, query_rotations_;  // query_rotations_: if they differ
  ops::Spans spans_;                                        // queries and keys of this call's tokens alone
  KvCache* cache_ = nullptr;
  bool alone_ = false;                      // there are no earlier tokens: the cache need not be read
  std::vector<const std::int32_t*> slots_;  // by row, with a cache
  std::vector<std::int32_t> lengths_, queries_;
  std::vector<std::uint8_t> generated_;  // by row, with a cache: whether all its tokens come after its prompt
  std::vector<std::int32_t> states_;     // by row, with a cache that keeps states: the slot, or -1
  std::shared_ptr<SharedKeysValues> shared_ = std::make_shared<SharedKeysValues>();
  std::optional<ops::Mask> near_;  // of layers with a window on both sides
  ops::Mask with_sinks_;           // mask_ with sinks, as an explicit mask
};

/// Receives the weights of one layer's cross-attention while it runs.
struct AttentionTap {
  AttentionHeads of;  ///< its layer is not negative
  Tensor weights;     ///< ops::mean_attention's result: [tokens, tokens of memory] of each row
  ops::Spans spans;   ///< of these weights
  Tensor keys;        ///< unpacked keys of that layer if the memory is packed: computed once per source
};

/// Shared by the cross-attention of all layers of one call.
struct CrossCall {
  ops::Spans spans;
  ops::Mask mask;
  std::vector<kern::MemorySpan> memory_spans;  ///< the same for packed keys and values; empty: not usable
  AttentionTap* tap = nullptr;
  /// A copy of the tap's layer: other layers may be recomputed for their gradients after the tap is gone.
  std::int64_t tapped_layer = -1;

  bool taps(std::int64_t layer) const { return layer == tapped_layer; }
};

/// One layer's part in a CrossCall.
struct CrossLayer {
  const CrossCall& call;
  std::int64_t layer;
};

class Attention {
 public:
  enum class Projections : std::uint8_t {
    separate,  ///< q, k, v
    qkv,       ///< one matrix, q's rows first, then k's, then v's (self-attention)
    q_kv,      ///< q, and one matrix for k and v (cross-attention)
    q_k,       ///< q and k; the values are the keys before their norm and rotation (self-attention)
    q_alone,   ///< q; keys and values are those of the layer `keys_of` (self-attention)
  };
  /// Norms of queries and keys.
  struct HeadNorms {
    HeadNorm::Options each;
    bool after_rotation = false;  ///< false: before it
    std::string q = "q_norm", k = "k_norm";
  };
  struct Options {
    std::int64_t d_model = 0, num_heads = 1;
    std::int64_t num_kv_heads = 0;  ///< 0: num_heads
    std::int64_t d_k = 0, d_v = 0;  ///< per head; 0: d_model / num_heads
    std::int64_t d_memory = 0;      ///< width of the memory; 0: d_model
    Projections projections = Projections::separate;
    bool bias = true, out_bias = true;
    std::int64_t depth = 1;   ///< Linear::Options::depth of every matrix
    float dropout = 0;        ///< of the weights
    float scale = 0;          ///< of scores; 0: 1 / sqrt(d_k)
    float softcap = 0;        ///< for self-attention: scaled scores become softcap tanh(scores / softcap); 0: none
    std::int32_t window = 0;  ///< for self-attention: a token sees itself and window - 1 tokens before it; 0: all
    HeadNorms head_norms;
    bool norms_values = false;   ///< each head's values are normalised as its keys are, without a weight
    std::int64_t keys_of = -1;   ///< with q_alone: the number of an earlier layer, whose keys and values this one reads
    bool keys_are_read = false;  ///< such a layer reads this one's keys and values
    std::int32_t rotary = 0;     ///< index among the call's rotary positions; -1: none
    float clip = 0;              ///< queries, keys and values are clamped to +-clip; 0: no clamping
    /// For self-attention: the query matrix has twice as many rows, the second half for a gate: result * sigmoid(gate).
    bool result_gate = false;
    /// For self-attention: a projection without bias; `gate_function` of its values scale the heads' results; "": none
    std::string gate = {};
    ops::Activation gate_function = ops::Activation::sigmoid;  ///< of `gate`
    bool gates_values = false;  ///< one gate for each value of a head's result; false: one for each head
    bool sink_logits = false;   ///< a learned logit for each head that has a weight but no value: prefix.sinks [heads]
    std::string result_norm = {};  ///< name of an RMSNorm of all heads' results, before the last product; "": none
    float result_norm_eps = 1e-6f;
    /// Self-attention with phi(x) = elu(x) + 1 in place of the softmax [Katharopoulos et al. 2020]: as many key heads as
    /// query heads; no dropout, cap, scale or window.
    bool linear = false;
    std::string q = "q_proj", k = "k_proj", v = "v_proj", qkv = "qkv_proj", kv = "kv_proj", out = "out_proj";
  };
  struct KeysValues {
    Tensor keys, values;
    std::shared_ptr<const ops::PackedMemory> packed = {};  ///< in place of keys and values
  };

  Attention() = default;
  /// Declares the projections under `prefix`; its last component is the attention's scope name.
  Attention(Parameters& p, const std::string& prefix, const Options& options);

  /// Self-attention of tokens x [N, d_model] (and of those in the cache, at layer number `layer`).
  Tensor self(Context& c, const Tensor& x, const SelfCall& call, std::int64_t layer,
              const ops::LinearOptions& out = {}) const;
  /// Attention of tokens x to keys and values of a memory.
  Tensor cross(Context& c, const Tensor& x, const KeysValues& memory, const CrossLayer& at,
               const ops::LinearOptions& out = {}) const;
  /// Keys and values of a memory [S, d_model], for cross().
  KeysValues keys_values(Context& c, const Tensor& memory) const;
  /// keys_values() in packed form, unless the weights are float32.
  KeysValues packed(Context& c, const KeysValues& memory, const Rows& rows) const;
  /// Queries, keys and values from three sources: q [Nq, d_model], k and v [Nk, d_model].
  Tensor forward(Context& c, const Tensor& q, const Tensor& k, const Tensor& v, const CrossCall& call) const;

  /// The cache layout that self-attention needs.
  KvCache::Layer kept() const {
    if (o_.projections == Projections::q_alone) return {.key_size = 0, .value_size = 0, .num_kv_heads = 0};
    if (o_.linear) return {.state_size = ops::linear_attention_state(o_.num_heads, d_k(), d_v())};
    return {.key_size = key_size(), .value_size = value_size(), .num_kv_heads = kv_heads()};
  }
  std::int64_t key_size() const { return kv_heads() * d_k(); }
  std::int64_t value_size() const { return kv_heads() * d_v(); }

 private:
  std::int64_t kv_heads() const { return o_.num_kv_heads ? o_.num_kv_heads : o_.num_heads; }
  std::int64_t d_k() const { return o_.d_k ? o_.d_k : o_.d_model / o_.num_heads; }
  std::int64_t d_v() const { return o_.d_v ? o_.d_v : d_k(); }
  ops::AttentionOptions op(ops::Mask mask, const ops::RelativeBias& bias = {}) const;
  Tensor linear(Context& c, const Tensor& q, const KeysValues& kv, const SelfCall& call, std::int64_t layer) const;
  Tensor prepared(Context& c, const Tensor& x, std::span<const ops::Rotation> rotations, const HeadNorm& norm,
                  std::int64_t heads) const;
  Tensor clipped(Context& c, const Tensor& x) const;
  Tensor result(Context& c, const Tensor& y, const ops::LinearOptions& out) const;
  std::int64_t q_size() const { return o_.num_heads * d_k(); }
  std::int64_t q_rows() const { return o_.result_gate ? 2 * q_size() : q_size(); }

  Options o_;
  std::string name_;
  Linear q_, k_, v_, qkv_, kv_, out_, gate_;
  HeadNorm q_norm_, k_norm_, v_norm_;
  std::optional<Norm> result_norm_;
  Parameter* sinks_ = nullptr;
  const Stack* stack_ = nullptr;  // of q, k, v if they are separate
};

}  // namespace tril::nn

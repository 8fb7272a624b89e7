// The interface of all families: named weights, and the computation from ids to hidden states to logits. The same
// code trains (the context has a tape) and serves (no tape, but a cache).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/rows.h"
#include "base/special_ids.h"
#include "model/spec/dropout.h"
#include "nn/attention.h"
#include "nn/expert_feed_forward.h"
#include "nn/kv_cache.h"
#include "nn/parameters.h"
#include "nn/rotary.h"

namespace tril::model {

/// The encoder's output with its rows, and the keys and values that each decoder layer computes from it. encode()
/// computes them once, unless a tape records: a training step computes them where they are used.
struct Memory {
  Tensor states;  ///< [S, d_model]
  Rows rows;
  struct Layer {
    Tensor keys, values;                              ///< [S, num_heads * d_k], [S, num_heads * d_v]
    std::shared_ptr<const ops::PackedMemory> packed;  ///< in place of keys and values, if weights are not float32
  };
  std::vector<Layer> layers;
  /// By token: the adapter of its source (nn/adapters.h); empty: the model's own choice for all.
  std::vector<std::int32_t> adapters;
};

/// The input of one decoder call: the tokens of any number of rows.
struct DecoderInput {
  std::span<const std::int32_t> ids;  ///< [N]
  Rows rows;                          ///< row i's tokens begin at position rows.start(i)
  const Memory* memory = nullptr;     ///< encoder-decoder: the memory for cross-attention
  /// The row of memory for each row; empty: row i attends to row i. Equal numbers must be neighbours.
  std::span<const std::int32_t> memory_rows;
  /// [rows] the length of each row's prompt, of which these tokens may be a chunk; later tokens are generated.
  /// Length-dependent angles (nn/rotary.h) and attention to a cache (kern/attention.h) use it. Empty: all tokens up to the
  /// end of these rows are prompt.
  std::span<const std::int32_t> prompt_lengths = {};
  /// Holds keys and values of earlier tokens and receives those of these; null: each row begins at position 0 and
  /// nothing is kept.
  nn::KvCache* cache = nullptr;
  ops::Mask self_mask = ops::Mask::causal();
  ops::Mask memory_mask = ops::Mask::full();
  nn::AttentionTap* tap = nullptr;   ///< receives one layer's cross-attention weights; may be null
  nn::RouterTap* routers = nullptr;  ///< receives the choices of each mixture of experts; may be null
};

/// How files store a weight.
struct StoredAs {
  std::vector<std::string> names;  ///< the first is used for writing; all are accepted for reading
  bool transposed = false;         ///< files have [in, out], the model has [out, in]
  bool optional = false;           ///< if files omit it, it is zero
  float added = 0;                 ///< files store the values minus this
  /// Row i of the model is row row_order[i] of the files; empty: the same order. Quantised matrices are in the model's
  /// order.
  std::vector<std::int32_t> row_order = {};
  /// Files store `count` weights of this shape in one tensor [count, ...]; this weight is number `index`. count 0: it has a
  /// tensor of its own. A file may also store it under its own name, in the model's layout.
  struct Part {
    std::int64_t index = 0, count = 0;
  } part = {};
};

/// Why a family's files may hold a tensor that is not one of its weights.
enum class Redundant : std::uint8_t {
  no,              ///< they may not: such a tensor is an error
  embedding_copy,  ///< the embedding table under another name, which must have the same values
  computed,        ///< Model::computed_values(), which it must repeat
  unused,          ///< nothing reads it: values that `transformers` computes anew, or parts of a larger model
};

/// What a family's cache keeps for each row.
enum class CacheForm : std::uint8_t {
  tokens,  ///< keys and values of each token
  states,  ///< a recurrent state instead of tokens: in float32, without a window
  both,    ///< a state in some layers, keys and values in others
};

/// The product that turns hidden states into logits: hidden W^T + b, with a soft cap in some families.
struct OutputProjection {
  ops::Weight weight;                     ///< [V, d_model]
  Tensor bias;                            ///< [V] or none
  float softcap = 0;                      ///< logits are softcap tanh(logits / softcap); 0: none
  const nn::Parameter* matrix = nullptr;  ///< the weight, which adapters may change

  static OutputProjection of(const nn::Parameter& matrix, Tensor bias = {}, float softcap = 0) {
    return {matrix, std::move(bias), softcap, &matrix};
  }
};

class Model {
 public:
  virtual ~Model() = default;

  /// "marian", "padded_decoder", ...: a name in model_io/source/registry.h
  virtual std::string family() const = 0;
  /// The complete config.json.
  virtual std::string config_json() const = 0;
  virtual std::int64_t vocab_size() const = 0;  ///< of the output
  virtual std::int64_t source_vocab_size() const { return vocab_size(); }
  virtual std::int64_t d_model() const = 0;
  virtual std::int64_t max_positions() const = 0;  ///< 0: no limit
  /// What its KV cache keeps.
  virtual CacheForm cache_form() const { return CacheForm::tokens; }
  /// How the angles of its rotary positions depend on row lengths.
  virtual nn::LengthDependence length_dependence() const { return {}; }
  virtual SpecialIds special_ids() const = 0;
  virtual bool has_encoder() const = 0;
  /// Number of decoder layers with cross-attention; 0 without an encoder.
  virtual std::int64_t cross_layers() const { return 0; }
  /// Number of heads of each cross-attention.
  virtual std::int64_t cross_heads() const { return 0; }
  /// True if its cross-attention weights can be recorded (nn::AttentionTap): not those of scores with a soft cap.
  virtual bool records_cross_attention() const { return true; }

  /// All dropouts of its configuration.
  virtual std::vector<Dropout> dropouts() const = 0;

  /// For mixtures of experts: the number of experts per token in each layer; 0: none.
  virtual std::int64_t experts_per_token() const { return 0; }

  /// How this family's files store the weight `p`.
  virtual StoredAs stored_as(const nn::Parameter& p) const { return {{p.name}}; }
  /// Whether files of this family may hold the tensor `name`, which is not one of its weights.
  virtual Redundant redundant(std::string_view) const { return Redundant::no; }
  /// The first rows [rows, d_model] of what this model computes in place of a tensor that is Redundant::computed.
  virtual std::vector<float> computed_values(std::int64_t /*rows*/) const { return {}; }

  /// Encoder-decoder: the memory of source rows. ids [S].
  virtual Memory encode(Context& c, std::span<const std::int32_t> ids, const Rows& rows,
                        const ops::Mask& mask = ops::Mask::full()) const;
  /// Hidden states [N, d_model] of the decoder's tokens.
  virtual Tensor decode(Context& c, const DecoderInput& input) const = 0;
  virtual OutputProjection output() const = 0;
  /// A cache that grows with the tokens, or null if the family has none.
  virtual std::unique_ptr<nn::KvCache> make_cache(Context& c) const = 0;

  nn::Parameters& parameters() { return parameters_; }
  const nn::Parameters& parameters() const { return parameters_; }

  /// The heads that were trained to align tokens; nothing if there are none.
  const std::optional<nn::AttentionHeads>& alignment_heads() const { return alignment_heads_; }
  void set_alignment_heads(std::optional<nn::AttentionHeads> heads) { alignment_heads_ = std::move(heads); }

  /// True if layers are recomputed in the backward pass instead of keeping their intermediate values. This takes less
  /// memory and about a third more time.
  bool gradient_checkpointing() const { return gradient_checkpointing_; }
  void set_gradient_checkpointing(bool on) { gradient_checkpointing_ = on; }

 protected:
  nn::Parameters parameters_;
  bool gradient_checkpointing_ = false;
  std::optional<nn::AttentionHeads> alignment_heads_;
};

/// A tap of `heads`, or without them of all heads of the last layer.
/// @throws Error(usage) if the model has no such layer or head
nn::AttentionTap tap_of(const Model& m, const std::optional<nn::AttentionHeads>& heads);

/// m.output(), changed by the adapter of the current rows.
/// @throws Error(usage) if the rows have different adapters
OutputProjection output(const Context& c, const Model& m);

/// Whether logits have the soft cap that some families put on them.
enum class Capped { no, yes };

/// logits [N, V] of hidden states [N, d_model].
Tensor logits(Context& c, const Model& m, const Tensor& hidden, Capped capped = Capped::yes);

}  // namespace tril::model

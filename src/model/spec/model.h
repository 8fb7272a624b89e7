// What every family offers: named weights, and the way from ids to hidden states to logits. The same code trains (the
// context has a tape) and serves (it has none, and a cache).
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

/// The encoder's output with its rows, and the keys and values that every decoder layer made of it (made once, by
/// encode(), unless a tape records: a training step makes them where they are used).
struct Memory {
  Tensor states;  ///< [S, d_model]
  Rows rows;
  struct Layer {
    Tensor keys, values;                              ///< [S, num_heads * d_k], [S, num_heads * d_v]
    std::shared_ptr<const ops::PackedMemory> packed;  ///< in their place, where weights are not float32 either
  };
  std::vector<Layer> layers;
};

/// One call of a decoder: tokens of any number of rows.
struct DecoderInput {
  std::span<const std::int32_t> ids;  ///< [N]
  Rows rows;                          ///< row i's tokens begin at position rows.start(i)
  const Memory* memory = nullptr;     ///< encoder-decoder: what the rows attend to
  /// Which row of memory each row attends to; empty: row i to row i. Equal numbers must be neighbours.
  std::span<const std::int32_t> memory_rows;
  /// [rows] tokens that each row was given, of which these may be a portion; what comes behind them it generated. Only
  /// angles ask for it that depend on lengths (nn/rotary.h). Empty: as many as it has with these.
  std::span<const std::int32_t> given = {};
  /// Where keys and values of earlier tokens are and these tokens' go; null: each row begins at position 0 and nothing
  /// is kept.
  nn::KvCache* cache = nullptr;
  ops::Mask self_mask = ops::Mask::causal();
  ops::Mask memory_mask = ops::Mask::full();
  nn::AttentionTap* tap = nullptr;   ///< told what one layer's cross-attention looks at; null: nobody asks
  nn::RouterTap* routers = nullptr;  ///< told how each mixture of experts chose; null: nobody asks
};

/// The heads of one decoder layer whose mean cross-attention says what a token is aligned to.
struct AlignmentHeads {
  std::int64_t layer = -1;          ///< -1: the last
  std::vector<std::int32_t> heads;  ///< none: all
};

/// How files hold a weight, where that is not as the model does.
struct StoredAs {
  std::vector<std::string> names;  ///< the one it is written under first, then others it may be read under
  bool transposed = false;         ///< files have [in, out] where the model has [out, in]
  bool optional = false;           ///< files that leave it out mean zero
  float added = 0;                 ///< files have the values less this
  /// Row i of the model's is row row_order[i] of the files', whatever its width; empty: the same. Quantised matrices are
  /// as the model has them.
  std::vector<std::int32_t> row_order = {};
  /// Files hold `count` weights of this shape in one tensor [count, ...], of which this is number `index`; count 0: it is
  /// a tensor of its own. A file may hold it under its own name too, then as the model has it.
  struct Part {
    std::int64_t index = 0, count = 0;
  } part = {};
};

/// The matrix that turns hidden states into logits: hidden W^T + b, capped where the family says so.
struct OutputProjection {
  ops::Weight weight;  ///< [V, d_model]
  Tensor bias;         ///< [V] or none
  float softcap = 0;   ///< logits are softcap tanh(logits / softcap); 0: none
};

class Model {
 public:
  virtual ~Model() = default;

  /// "marian", "padded_decoder", ...: the names of model_io/registry.h
  virtual std::string family() const = 0;
  /// config.json, complete.
  virtual std::string config_json() const = 0;
  virtual std::int64_t vocab_size() const = 0;  ///< of the output
  virtual std::int64_t source_vocab_size() const { return vocab_size(); }
  virtual std::int64_t d_model() const = 0;
  virtual std::int64_t max_positions() const = 0;  ///< 0: no bound
  /// Whether its self-attention is linear: its cache keeps a state a row, in float32, without a window.
  virtual bool is_linear() const { return false; }
  /// How the angles of its rotary positions depend on the lengths of rows.
  virtual nn::LengthDependence length_dependence() const { return {}; }
  virtual SpecialIds special_ids() const = 0;
  virtual bool has_encoder() const = 0;
  /// Layers of the decoder, each with its cross-attention; a model without an encoder has none.
  virtual std::int64_t cross_layers() const { return 0; }
  /// Of each cross-attention.
  virtual std::int64_t cross_heads() const { return 0; }

  /// All that its configuration has.
  virtual std::vector<Dropout> dropouts() const = 0;

  /// Of mixtures of experts: how many a token goes to in each layer; 0: there are none.
  virtual std::int64_t experts_per_token() const { return 0; }

  /// How this family's files hold the weight `p`.
  virtual StoredAs stored_as(const nn::Parameter& p) const { return {{p.name}}; }
  /// Whether files of this family may also hold a tensor `name` that nothing is to be read from: a tied or computed one.
  virtual bool is_redundant(std::string_view) const { return false; }

  /// Encoder-decoder: the memory of source rows. ids [S].
  virtual Memory encode(Context& c, std::span<const std::int32_t> ids, const Rows& rows,
                        const ops::Mask& mask = ops::Mask::full()) const;
  /// Hidden states [N, d_model] of the decoder's tokens.
  virtual Tensor decode(Context& c, const DecoderInput& input) const = 0;
  virtual OutputProjection output() const = 0;
  /// A cache with room for as many tokens as come, or null where the family has none.
  virtual std::unique_ptr<nn::KvCache> make_cache(Context& c) const = 0;

  nn::Parameters& parameters() { return parameters_; }
  const nn::Parameters& parameters() const { return parameters_; }

  /// The heads that were trained to say what a token is aligned to; nothing where none were.
  const std::optional<AlignmentHeads>& alignment_heads() const { return alignment_heads_; }
  void set_alignment_heads(std::optional<AlignmentHeads> heads) { alignment_heads_ = std::move(heads); }

  /// Whether layers are computed again in the backward pass instead of keeping their inside: less memory, about a third
  /// more time.
  bool gradient_checkpointing() const { return gradient_checkpointing_; }
  void set_gradient_checkpointing(bool on) { gradient_checkpointing_ = on; }

 protected:
  nn::Parameters parameters_;
  bool gradient_checkpointing_ = false;
  std::optional<AlignmentHeads> alignment_heads_;
};

/// A tap of `heads`, or, where there is nothing, of all heads of the last layer.
/// @throws Error(usage) where the model has no such layer or head
nn::AttentionTap tap_of(const Model& m, const std::optional<AlignmentHeads>& heads);

/// logits [N, V] of hidden states [N, d_model].
Tensor logits(Context& c, const Model& m, const Tensor& hidden);

}  // namespace tril::model

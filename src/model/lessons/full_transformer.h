// full_transformer: the encoder-decoder of "Attention is all you need" with explicit padding masks that add -1e9,
// concatenated sinusoids and eps 1e-6, like a widely taught implementation. With share_norm2, norm2 of the decoder also
// follows the feed-forward, as in one published version, instead of a norm of its own. forward() makes the masks of padded
// rectangles; encode() and decode(), with which it is trained and translates, take ragged rows, which need none.
#pragma once

#include "format/json_file.h"
#include "model/spec/stack.h"

namespace tril::model {

struct FullTransformerConfig {
  std::int64_t vocab_size = 0, d_model = 0, num_heads = 1, d_ff = 0, num_layers = 1;
  bool share_norm2 = false;
  std::int32_t pad_idx = 0;
  std::int32_t eos_token_id = -1, decoder_start_token_id = -1;  ///< of a model that translates; -1: none
  float eps = 1e-6f, dropout = 0;
};

class FullTransformer : public Model {
 public:
  explicit FullTransformer(const FullTransformerConfig& config);

  std::string family() const override { return "full_transformer"; }
  std::string config_json() const override;
  std::int64_t vocab_size() const override { return config_.vocab_size; }
  std::int64_t d_model() const override { return config_.d_model; }
  std::int64_t max_positions() const override { return 0; }
  SpecialIds special_ids() const override {
    return {.pad = config_.pad_idx, .eos = config_.eos_token_id, .decoder_start = config_.decoder_start_token_id};
  }
  std::vector<Dropout> dropouts() const override { return {{"dropout", config_.dropout}}; }
  bool has_encoder() const override { return true; }
  std::int64_t cross_layers() const override { return config_.num_layers; }
  std::int64_t cross_heads() const override { return config_.num_heads; }
  Memory encode(Context& c, std::span<const std::int32_t> ids, const Rows& rows,
                const ops::Mask& mask = ops::Mask::full()) const override;
  Tensor decode(Context& c, const DecoderInput& input) const override;
  OutputProjection output() const override { return OutputProjection::of(*output_.weight(), output_.bias()->value); }
  std::unique_ptr<nn::KvCache> make_cache(Context& c) const override { return cache_for(c, decoder_layers_); }

  /// Logits [B * T, V] of rectangular batches padded with pad_idx: source [B, S], target [B, T]. The masks are
  /// made inside.
  Tensor forward(Context& c, std::span<const std::int32_t> source, std::span<const std::int32_t> target,
                 std::int64_t batch) const;

 private:
  Tensor embed(Context& c, const nn::Embedding& e, std::span<const std::int32_t> ids, const Rows& rows) const;

  FullTransformerConfig config_;
  nn::Embedding source_embedding_, target_embedding_;
  nn::SinusoidalPositions positions_;
  std::vector<nn::PostNormLayer> encoder_layers_, decoder_layers_;
  nn::Linear output_;
};

/// Makes the model from config.json; weights are neither allocated nor set.
std::unique_ptr<Model> make_full_transformer(const JsonObject& config);

}  // namespace tril::model

// marian: MarianMT, the encoder-decoder of OPUS-MT and of what `tril train` makes. Post-norm, concatenated sinusoids,
// embedding * sqrt(d), output tied to the decoder's embedding plus a bias for each word. Weight names, config.json and
// defaults as Hugging Face has them (MarianConfig, MarianMTModel).
#pragma once

#include "model/json_file.h"
#include "model/stack.h"

namespace tril::model {

struct MarianConfig {
  std::int64_t vocab_size = 0;          ///< of the source
  std::int64_t decoder_vocab_size = 0;  ///< of the target; equal where embeddings are shared
  std::int64_t d_model = 512;
  std::int64_t encoder_layers = 6, decoder_layers = 6;
  std::int64_t encoder_attention_heads = 8, decoder_attention_heads = 8;
  std::int64_t encoder_ffn_dim = 2048, decoder_ffn_dim = 2048;
  std::string activation_function = "relu";
  bool scale_embedding = true;
  bool share_encoder_decoder_embeddings = true;
  bool tie_word_embeddings = true;  ///< false: the output has a matrix of its own (lm_head.weight)
  std::int64_t max_position_embeddings = 512;
  std::int32_t pad_token_id = 0, eos_token_id = 0, bos_token_id = -1, decoder_start_token_id = 0,
               forced_eos_token_id = -1;
  double init_std = 0.02;
  float dropout = 0.1f;  ///< on embeddings and on each sublayer's result
  float attention_dropout = 0, activation_dropout = 0;
  double encoder_layerdrop = 0, decoder_layerdrop = 0;  ///< probability that training leaves a layer out of an update
  float embedding_dropout = -1;  ///< on embeddings alone; -1: as `dropout`. Not in config.json: training only

  /// Sizes and ids checked; Error names the key that is wrong.
  void validate(std::string_view where) const;
};

/// config.json as Hugging Face writes it, of version 4 or 5. A key that changes results and is not supported is an
/// Error.
MarianConfig marian_config(const JsonObject& config);

class Marian : public Model {
 public:
  explicit Marian(const MarianConfig& config);

  const MarianConfig& config() const { return config_; }
  std::string family() const override { return "marian"; }
  std::string config_json() const override;
  std::int64_t vocab_size() const override { return config_.decoder_vocab_size; }
  std::int64_t source_vocab_size() const override { return config_.vocab_size; }
  std::int64_t d_model() const override { return config_.d_model; }
  std::int64_t max_positions() const override { return config_.max_position_embeddings; }
  SpecialIds special_ids() const override;
  bool has_encoder() const override { return true; }
  std::int64_t cross_layers() const override { return config_.decoder_layers; }
  std::int64_t cross_heads() const override { return config_.decoder_attention_heads; }
  StoredAs stored_as(const nn::Parameter& p) const override;
  bool is_redundant(std::string_view name) const override;
  Memory encode(Context& c, std::span<const std::int32_t> ids, const Rows& rows,
                const ops::Mask& mask = ops::Mask::full()) const override;
  Tensor decode(Context& c, const DecoderInput& input) const override;
  OutputProjection output() const override;
  std::unique_ptr<nn::KvCache> make_cache(Context& c) const override { return cache_for(c, decoder_layers_); }

 private:
  Tensor embed(Context& c, const nn::Embedding& e, std::span<const std::int32_t> ids, const Rows& rows) const;

  MarianConfig config_;
  nn::Embedding source_embedding_, target_embedding_;
  nn::SinusoidalPositions positions_;
  std::vector<nn::PostNormLayer> encoder_layers_, decoder_layers_;
  nn::Parameter *output_ = nullptr, *final_logits_bias_ = nullptr;
};

/// config.json -> the model, weights neither allocated nor set.
std::unique_ptr<Model> make_marian(const JsonObject& config);

}  // namespace tril::model

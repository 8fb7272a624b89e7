// The kin of BART: encoder-decoders that differ in where norms stand and how positions are told, and are alike in all
// else, the names of their weights included. Names, config.json and defaults as Hugging Face has them.
//
//   family   norms                         positions                       embedding  logits
//   bart     after each sublayer           learned                         LayerNorm  + bias   [Lewis et al. 2020]
//   mbart    before, and one at the end    learned                         LayerNorm  + bias   [Liu et al. 2020]
//   m2m_100  before, and one at the end    sinusoids of Tensor2Tensor      * sqrt(d)           [Fan et al. 2021], NLLB
//   pegasus  before, and one at the end    sinusoids                       * sqrt(d)  + bias   [Zhang et al. 2020]
//   marian   after each sublayer           sinusoids                       * sqrt(d)  + bias   marian.h
#pragma once

#include "format/json_file.h"
#include "model/spec/stack.h"

namespace tril::model {

/// What a family of the kin is, whatever its sizes.
struct BartFamily {
  std::string_view name;          ///< model_type in config.json
  std::string_view architecture;  ///< the class of `transformers`
  bool pre_norm = false;          ///< a norm before each sublayer and one behind the last layer; else one after each
  bool embedding_norm = false;    ///< a norm over the sum of embeddings and positions
  bool logits_bias = true;        ///< final_logits_bias, a number for each word
  enum class Positions : std::uint8_t {
    sinusoids,           ///< from 0, all sines before all cosines
    sinusoids_from_pad,  ///< with other frequencies, from the padding's id + 1
    learned,             ///< a table for each side, of which two rows stand before the first position
  } positions = Positions::sinusoids;
};

struct BartConfig {
  std::int64_t vocab_size = 0;          ///< of the source
  std::int64_t decoder_vocab_size = 0;  ///< of the target; equal where embeddings are shared
  std::int64_t d_model = 512;
  std::int64_t encoder_layers = 6, decoder_layers = 6;
  std::int64_t encoder_attention_heads = 8, decoder_attention_heads = 8;
  std::int64_t encoder_ffn_dim = 2048, decoder_ffn_dim = 2048;
  std::string activation_function = "relu";
  bool scale_embedding = true;
  bool share_encoder_decoder_embeddings = true;  ///< only Marian's files can say no while the output is tied
  bool tie_word_embeddings = true;               ///< false: the output has a matrix of its own (lm_head.weight)
  std::int64_t max_position_embeddings = 512;
  std::int32_t pad_token_id = 0, eos_token_id = 0, bos_token_id = -1, decoder_start_token_id = 0,
               forced_eos_token_id = -1;
  double init_std = 0.02;
  float dropout = 0.1f;  ///< on embeddings and on each sublayer's result
  float attention_dropout = 0, activation_dropout = 0;
  double encoder_layerdrop = 0, decoder_layerdrop = 0;  ///< probability that training leaves a layer out of an update
  float embedding_dropout = -1;    ///< on embeddings alone; -1: as `dropout`. Not in config.json: training only
  bool depth_scaled_init = false;  ///< nn::Init::at_depth of each layer's matrices. Likewise

  std::vector<Dropout> dropouts() const {
    return {{"dropout", dropout}, {"attention_dropout", attention_dropout}, {"activation_dropout", activation_dropout}};
  }
  /// Sizes and ids checked; Error names the key that is wrong.
  void validate(std::string_view where) const;
};

/// config.json as Hugging Face writes it, of version 4 or 5. A key that changes results and is not supported is an
/// Error. @param otherwise  what absent keys mean
BartConfig read_bart_config(const JsonObject& config, const BartFamily& family, const BartConfig& otherwise);

/// What the kin has in common: everything but its layers.
class Bart : public Model {
 public:
  const BartConfig& config() const { return config_; }
  std::string family() const override { return std::string(family_->name); }
  std::string config_json() const override;
  std::int64_t vocab_size() const override { return config_.decoder_vocab_size; }
  std::int64_t source_vocab_size() const override { return config_.vocab_size; }
  std::int64_t d_model() const override { return config_.d_model; }
  std::int64_t max_positions() const override { return config_.max_position_embeddings; }
  SpecialIds special_ids() const override;
  std::vector<Dropout> dropouts() const override { return config_.dropouts(); }
  bool has_encoder() const override { return true; }
  std::int64_t cross_layers() const override { return config_.decoder_layers; }
  std::int64_t cross_heads() const override { return config_.decoder_attention_heads; }
  StoredAs stored_as(const nn::Parameter& p) const override;
  bool is_redundant(std::string_view name) const override;
  OutputProjection output() const override;

 protected:
  /// Declares what stands before the layers and behind them.
  Bart(const BartFamily& family, const BartConfig& config);

  struct Side {
    std::string name;  ///< of its weights, and its scope: "model.encoder"
    nn::Embedding embedding;
    nn::LearnedPositions learned;  ///< where the family has them
    nn::Norm embedding_norm;       ///< likewise
    nn::Norm final_norm;           ///< likewise
  };
  /// Declares a side's positions and norms, which a family may not have.
  void complete(Side& side);
  Tensor embed(Context& c, const Side& side, std::span<const std::int32_t> ids, const Rows& rows) const;

  const BartFamily* family_;
  BartConfig config_;
  Side encoder_, decoder_;

 private:
  nn::SinusoidalPositions sinusoids_;
  nn::Parameter *output_ = nullptr, *final_logits_bias_ = nullptr;
};

/// With its layers, which are nn::PostNormLayer or nn::PreNormLayer as family.pre_norm says.
template <class Layer>
class BartLike : public Bart {
 public:
  BartLike(const BartFamily& family, const BartConfig& config);

  Memory encode(Context& c, std::span<const std::int32_t> ids, const Rows& rows,
                const ops::Mask& mask = ops::Mask::full()) const override;
  Tensor decode(Context& c, const DecoderInput& input) const override;
  std::unique_ptr<nn::KvCache> make_cache(Context& c) const override { return cache_for(c, decoder_layers_); }

 private:
  /// Layer i (from 0) of the decoder or of the encoder.
  Layer layer(bool decoder, std::int64_t i);

  std::vector<Layer> encoder_layers_, decoder_layers_;
};

extern template class BartLike<nn::PostNormLayer>;
extern template class BartLike<nn::PreNormLayer>;

/// config.json, whose model_type is bart, mbart, m2m_100 or pegasus -> the model, weights neither allocated nor set.
std::unique_ptr<Model> make_bart(const JsonObject& config);
/// The same of a config.
std::unique_ptr<Model> make_bart(std::string_view family, const BartConfig& config);

}  // namespace tril::model

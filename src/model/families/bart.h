// The BART family: encoder-decoders that differ in the place of norms and in their positions. Everything else is the same,
// including the names of weights. Names, config.json and defaults are those of Hugging Face.
//
//   family            norms                       positions                   embedding   logits
//   bart              after each sublayer         learned                     LayerNorm   + bias  [Lewis et al. 2020]
//   plbart            after each sublayer         learned                     LayerNorm   + bias  [Ahmad et al. 2021]
//   mvp               after each sublayer         learned                     LayerNorm   + bias  [Tang et al. 2023]
//   mbart             before, and one at the end  learned                     LayerNorm   + bias  [Liu et al. 2020]
//   m2m_100           before, and one at the end  sinusoids of Tensor2Tensor  * sqrt(d)           [Fan et al. 2021], NLLB
//   pegasus           before, and one at the end  sinusoids                   * sqrt(d)   + bias  [Zhang et al. 2020]
//   blenderbot        before, and one at the end  learned, from row 0         * sqrt(d)   + bias  [Roller et al. 2021]
//   blenderbot-small  after each sublayer         learned, from row 0         LayerNorm*  + bias  [Roller et al. 2021]
//   marian            after each sublayer         sinusoids                   * sqrt(d)   + bias  marian.h
//   (marian_nmt.h: like marian or m2m_100, with the numbers of the Marian toolkit; opennmt.h: any of these with a table of
//   positions)
//   * decoder: over word embeddings, before positions are added; encoder: over the sums
#pragma once

#include "format/json_file.h"
#include "model/families/bart_config.h"
#include "model/families/bart_variants.h"
#include "model/spec/stack.h"

namespace tril::model {

/// The common parts of all these models: everything but the layers.
class Bart : public Model {
 public:
  const BartConfig& config() const { return config_; }
  /// A model of the same family with another config, weights neither allocated nor set.
  virtual std::unique_ptr<Model> with(const BartConfig& config) const = 0;
  std::string family() const override { return std::string(family_->name); }
  std::string config_json() const override { return bart_config_json(config_, *family_); }
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
  Redundant redundant(std::string_view name) const override;
  std::vector<float> computed_values(std::int64_t rows) const override { return sinusoids_.table(rows); }
  OutputProjection output() const override;

 protected:
  /// Declares everything before and after the layers.
  Bart(const BartFamily& family, const BartConfig& config);

  struct Side {
    std::string name;  ///< the prefix of its weights, and its scope: "model.encoder"
    nn::Embedding embedding;
    nn::LearnedPositions learned;  ///< if the family has them
    nn::Norm embedding_norm;       ///< if the family has it
    bool norms_words = false;      ///< embedding_norm comes before positions are added
    nn::Norm final_norm;           ///< if the family has it
  };
  /// Declares a side's positions and norms, if the family has them.
  void complete(Side& side);
  Tensor embed(Context& c, const Side& side, std::span<const std::int32_t> ids, const Rows& rows) const;

  const BartFamily* family_;
  BartConfig config_;
  Side encoder_, decoder_;

 private:
  nn::SinusoidalPositions sinusoids_;
  nn::Parameter *output_ = nullptr, *final_logits_bias_ = nullptr;
};

/// Adds the layers: nn::PreNormLayer if family.pre_norm, else nn::PostNormLayer; with family.ssru the decoder has
/// nn::PreNormSsruLayer or nn::PostNormSsruLayer.
template <class Layer, class DecoderLayer = Layer>
class BartLike : public Bart {
 public:
  BartLike(const BartFamily& family, const BartConfig& config);

  std::unique_ptr<Model> with(const BartConfig& config) const override {
    return std::make_unique<BartLike>(*family_, config);
  }
  Memory encode(Context& c, std::span<const std::int32_t> ids, const Rows& rows,
                const ops::Mask& mask = ops::Mask::full()) const override;
  Tensor decode(Context& c, const DecoderInput& input) const override;
  CacheForm cache_form() const override { return family_->ssru ? CacheForm::states : CacheForm::tokens; }
  std::unique_ptr<nn::KvCache> make_cache(Context& c) const override { return cache_for(c, decoder_layers_); }

 private:
  /// Layer i (from 0) of the decoder or of the encoder.
  template <class L>
  L layer(bool decoder, std::int64_t i);

  std::vector<Layer> encoder_layers_;
  std::vector<DecoderLayer> decoder_layers_;
};

extern template class BartLike<nn::PostNormLayer>;
extern template class BartLike<nn::PreNormLayer>;
extern template class BartLike<nn::PostNormLayer, nn::PostNormSsruLayer>;
extern template class BartLike<nn::PreNormLayer, nn::PreNormSsruLayer>;

/// Makes the model from config.json, whose model_type bart_variant() knows. Weights are neither allocated nor set.
std::unique_ptr<Model> make_bart(const JsonObject& config);
/// The same from a config.
std::unique_ptr<Model> make_bart(std::string_view family, const BartConfig& config);

}  // namespace tril::model

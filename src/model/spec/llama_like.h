// Llama's decoder and its variants: rotary positions, RMS norms, grouped key heads, a gated feed-forward, no biases
// [Touvron et al. 2023]. The variations of related families are switches of LlamaLikeConfig; a family's own file sets
// them, with its config.json keys and names.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/spec/llama_like_config.h"
#include "model/spec/stack.h"

namespace tril::model {

class LlamaLike : public Model {
 public:
  explicit LlamaLike(LlamaLikeConfig config);

  const LlamaLikeConfig& config() const { return config_; }
  std::string family() const override { return config_.family; }
  std::string config_json() const override;
  std::int64_t vocab_size() const override { return config_.vocab_size; }
  std::int64_t d_model() const override { return config_.hidden_size; }
  std::int64_t max_positions() const override;
  SpecialIds special_ids() const override;
  std::vector<Dropout> dropouts() const override {
    const auto& k = config_;
    return {{"attention_dropout", k.attention_dropout},
            {"embedding_dropout", k.embedding_dropout},
            {"residual_dropout", std::max(k.residual_dropout, k.feed_forward_dropout)}};
  }
  CacheForm cache_form() const override;
  bool has_encoder() const override { return false; }
  nn::LengthDependence length_dependence() const override { return config_.rope.length_dependence(); }
  StoredAs stored_as(const nn::Parameter& p) const override;
  Redundant redundant(std::string_view name) const override;
  Tensor decode(Context& c, const DecoderInput& input) const override;
  OutputProjection output() const override {
    return OutputProjection::of(*output_, output_bias_ ? output_bias_->value : Tensor(), config_.logit_softcap);
  }
  std::int64_t experts_per_token() const override { return config_.experts.per_token; }
  std::unique_ptr<nn::KvCache> make_cache(Context& c) const override { return cache_for(c, layers_); }

 private:
  nn::DecoderLayer make_layer(std::int64_t i);
  void make_mixer(nn::DecoderLayer& layer, std::int64_t i);
  void make_attention(nn::DecoderLayer& layer, std::int64_t i);
  void make_latent_attention(nn::DecoderLayer& layer);
  void make_recurrence(nn::DecoderLayer& layer);
  void make_feed_forward(nn::DecoderLayer& layer, std::int64_t i);
  void make_experts(nn::DecoderLayer& layer, const nn::GatedFeedForward::Options& dense, float limit);
  nn::ExpertFeedForward::Options experts_of(const nn::GatedFeedForward::Options& dense) const;
  void make_layer_input(nn::DecoderLayer& layer);
  void store_fused(const std::string& prefix, const nn::GatedFeedForward::Options& expert);

  LlamaLikeConfig config_;
  std::vector<nn::RotaryPositions> rotaries_;
  nn::Embedding embedding_;
  std::vector<nn::DecoderLayer> layers_;
  nn::Norm final_norm_;
  std::optional<nn::Norm> embedding_norm_;
  std::optional<nn::LayerInputs> layer_inputs_;
  nn::Parameter *output_ = nullptr, *output_bias_ = nullptr;
  std::map<std::string, StoredAs> stored_;  // by name: the weights that files store in another order or tensor
};

}  // namespace tril::model

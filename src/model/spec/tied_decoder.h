// tied_decoder: a decoder-only language model. Pre-norm, one fused q/k/v projection, learned positions, exact gelu,
// a final norm, and an output tied to the embedding.
#pragma once

#include "format/json_file.h"
#include "model/spec/stack.h"

namespace tril::model {

struct TiedDecoderConfig {
  std::int64_t vocab_size = 0, d_model = 0, num_heads = 1, d_ff = 0, num_layers = 1, max_length = 0;
  float eps = 1e-5f, dropout = 0;
  bool causal = true;  ///< false: each token sees all tokens, including those to predict
};

class TiedDecoder : public Model {
 public:
  explicit TiedDecoder(const TiedDecoderConfig& config);

  std::string family() const override { return "tied_decoder"; }
  std::string config_json() const override;
  std::int64_t vocab_size() const override { return config_.vocab_size; }
  std::int64_t d_model() const override { return config_.d_model; }
  std::int64_t max_positions() const override { return config_.max_length; }
  SpecialIds special_ids() const override { return {}; }
  std::vector<Dropout> dropouts() const override { return {{"dropout", config_.dropout}}; }
  bool has_encoder() const override { return false; }
  Tensor decode(Context& c, const DecoderInput& input) const override;
  OutputProjection output() const override { return OutputProjection::of(*embedding_.table()); }
  std::unique_ptr<nn::KvCache> make_cache(Context& c) const override { return cache_for(c, layers_); }

 private:
  TiedDecoderConfig config_;
  nn::Embedding embedding_;
  nn::LearnedPositions positions_;
  std::vector<nn::PreNormLayer> layers_;
  nn::Norm final_norm_;
};

/// Makes the model from config.json; weights are neither allocated nor set.
std::unique_ptr<Model> make_tied_decoder(const JsonObject& config);

}  // namespace tril::model

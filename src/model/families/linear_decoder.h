// linear_decoder: a decoder-only language model with linear self-attention [Katharopoulos et al. 2020]. Pre-norm,
// one fused q/k/v projection, a final norm, and an output tied to the embedding, like GPT-2. Positions are
// sinusoids, so a text may have any length. A row's cache is S and z of each head, and does not grow.
#pragma once

#include "format/json_file.h"
#include "model/spec/hidden_act.h"
#include "model/spec/stack.h"

namespace tril::model {

struct LinearDecoderConfig {
  std::int64_t vocab_size = 0, d_model = 256, num_heads = 4, d_ff = 1024, num_layers = 4;
  HiddenAct activation = HiddenAct::gelu_new;
  float dropout = 0;            ///< of each sublayer's result
  float embedding_dropout = 0;  ///< of embeddings
  float eps = 1e-5f;
  std::int32_t bos_token_id = -1, eos_token_id = -1, pad_token_id = -1;
};

class LinearDecoder : public Model {
 public:
  explicit LinearDecoder(const LinearDecoderConfig& config);

  std::string family() const override { return "linear_decoder"; }
  std::string config_json() const override;
  std::int64_t vocab_size() const override { return config_.vocab_size; }
  std::int64_t d_model() const override { return config_.d_model; }
  std::int64_t max_positions() const override { return 0; }
  CacheForm cache_form() const override { return CacheForm::states; }
  SpecialIds special_ids() const override;
  std::vector<Dropout> dropouts() const override {
    return {{"dropout", config_.dropout}, {"embedding_dropout", config_.embedding_dropout}};
  }
  bool has_encoder() const override { return false; }
  Tensor decode(Context& c, const DecoderInput& input) const override;
  OutputProjection output() const override { return OutputProjection::of(*embedding_.table()); }
  std::unique_ptr<nn::KvCache> make_cache(Context& c) const override { return cache_for(c, layers_); }

 private:
  LinearDecoderConfig config_;
  nn::Embedding embedding_;
  nn::SinusoidalPositions positions_;
  std::vector<nn::PreNormLayer> layers_;
  nn::Norm final_norm_;
};

/// Makes the model from config.json; weights are neither allocated nor set.
std::unique_ptr<Model> make_linear_decoder(const JsonObject& config);

}  // namespace tril::model

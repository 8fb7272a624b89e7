// opt: GPT-3's decoder as in the Open Pre-trained Transformers [Zhang et al. 2022, section 2.1]: learned positions
// with two extra rows, relu, biases everywhere, an output tied to the embedding. The 350M model has its norms after
// the sublayers, and its embedding width differs from that of its layers.
#pragma once

#include "model/spec/config_reader.h"
#include "model/spec/stack.h"

namespace tril::model {

struct OptConfig {
  std::int64_t vocab_size = 50272, hidden_size = 768, ffn_dim = 3072, num_hidden_layers = 12, num_attention_heads = 12;
  std::int64_t word_embed_proj_dim = 768, max_position_embeddings = 2048;
  HiddenAct activation_function = HiddenAct::relu;
  bool do_layer_norm_before = true, remove_final_layer_norm = false;
  float dropout = 0.1f, attention_dropout = 0;
  double layerdrop = 0, init_std = 0.02;
  bool tie_word_embeddings = true;
  std::int32_t pad_token_id = 1, bos_token_id = 2, eos_token_id = 2;
};

class Opt : public Model {
 public:
  explicit Opt(const OptConfig& config);

  std::string family() const override { return "opt"; }
  std::string config_json() const override;
  std::int64_t vocab_size() const override { return config_.vocab_size; }
  std::int64_t d_model() const override { return config_.word_embed_proj_dim; }
  std::int64_t max_positions() const override { return config_.max_position_embeddings; }
  SpecialIds special_ids() const override;
  std::vector<Dropout> dropouts() const override {
    return {{"dropout", config_.dropout}, {"attention_dropout", config_.attention_dropout}};
  }
  bool has_encoder() const override { return false; }
  StoredAs stored_as(const nn::Parameter& p) const override;
  Redundant redundant(std::string_view name) const override;
  Tensor decode(Context& c, const DecoderInput& input) const override;
  OutputProjection output() const override { return OutputProjection::of(*output_); }
  std::unique_ptr<nn::KvCache> make_cache(Context& c) const override;

 private:
  OptConfig config_;
  nn::Embedding embedding_;
  nn::LearnedPositions positions_;
  std::optional<nn::Linear> project_in_, project_out_;
  std::vector<nn::PreNormLayer> pre_norm_;  // one of the two is empty
  std::vector<nn::PostNormLayer> post_norm_;
  std::optional<nn::Norm> final_norm_;
  nn::Parameter* output_ = nullptr;
};

}  // namespace tril::model

// Decoders with LayerNorm, a plain feed-forward and rotary positions over a part of each head, whose sublayers stand side
// by side: GPT-NeoX and Phi. What distinguishes them are names and switches, which their own files give.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/spec/config_reader.h"
#include "model/spec/stack.h"
#include "nn/parallel_layer.h"

namespace tril::model {

struct ParallelDecoderConfig {
  std::string family, architecture;
  std::int64_t vocab_size = 0, hidden_size = 0, intermediate_size = 0;
  std::int64_t num_hidden_layers = 0, num_attention_heads = 0;
  std::int64_t num_key_value_heads = 0;  ///< 0: num_attention_heads
  std::int64_t max_position_embeddings = 2048;
  std::string hidden_act = "gelu";
  double layer_norm_eps = 1e-5, initializer_range = 0.02;
  bool tie_word_embeddings = false;
  float attention_dropout = 0, hidden_dropout = 0, embedding_dropout = 0;
  std::int32_t bos_token_id = -1, eos_token_id = -1, pad_token_id = -1;
  nn::RotaryOptions rope;
  double partial_rotary_factor = 1;
  bool own_rotary_names = false;  ///< !RotaryDefaults::reads_top_level

  bool parallel = true;  ///< false: one sublayer after the other
  bool attention_bias = true;
  bool one_norm = false;  ///< the feed-forward reads what the attention reads
  bool output_bias = false;
  bool head_by_head = false;  ///< files have one matrix of q, k, v for each head, head after head
  nn::Attention::HeadNorms head_norms;
  struct Names {
    std::string embedding, layers, attention, out, qkv, first, second, final_norm, output;
  } names;
  nlohmann::json own_keys = nlohmann::json::object();  ///< keys of config.json that this family alone has
};

/// The keys that both have. What they are where config.json leaves them out is what `defaults` says.
ParallelDecoderConfig read_parallel_decoder(ConfigReader& config, ParallelDecoderConfig defaults);

class ParallelDecoder : public Model {
 public:
  explicit ParallelDecoder(ParallelDecoderConfig config);

  std::string family() const override { return config_.family; }
  std::string config_json() const override;
  std::int64_t vocab_size() const override { return config_.vocab_size; }
  std::int64_t d_model() const override { return config_.hidden_size; }
  std::int64_t max_positions() const override;
  SpecialIds special_ids() const override;
  std::vector<Dropout> dropouts() const override {
    return {{"attention_dropout", config_.attention_dropout},
            {"hidden_dropout", config_.hidden_dropout},
            {"embedding_dropout", config_.embedding_dropout}};
  }
  bool has_encoder() const override { return false; }
  nn::LengthDependence length_dependence() const override { return rotary_.options().length_dependence(); }
  StoredAs stored_as(const nn::Parameter& p) const override;
  bool is_redundant(std::string_view name) const override;
  Tensor decode(Context& c, const DecoderInput& input) const override;
  OutputProjection output() const override;
  std::unique_ptr<nn::KvCache> make_cache(Context& c) const override;

 private:
  void add_layer(std::int64_t i);

  ParallelDecoderConfig config_;
  nn::RotaryPositions rotary_;
  nn::Embedding embedding_;
  std::vector<nn::ParallelLayer> parallel_;  // or
  std::vector<nn::PreNormLayer> sequential_;
  nn::Norm final_norm_;
  nn::Parameter *output_ = nullptr, *output_bias_ = nullptr;
};

}  // namespace tril::model

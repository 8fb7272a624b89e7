// The decoder that Llama began and others vary: rotary positions, RMS norms, grouped key heads, a gated feed-forward, no
// biases [Touvron et al. 2023]. What a family of this line changes are switches here; its own file says which, with its
// keys of config.json and its names.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/spec/config_reader.h"
#include "model/spec/stack.h"
#include "nn/decoder_layer.h"

namespace tril::model {

struct LlamaLikeConfig {
  std::string family, architecture;  ///< "llama", "LlamaForCausalLM"

  std::int64_t vocab_size = 32000, hidden_size = 4096, intermediate_size = 11008;
  std::int64_t num_hidden_layers = 32, num_attention_heads = 32;
  std::int64_t num_key_value_heads = 0;  ///< 0: num_attention_heads
  std::int64_t head_dim = 0;             ///< 0: hidden_size / num_attention_heads
  std::int64_t max_position_embeddings = 2048;
  std::string hidden_act = "silu";
  double rms_norm_eps = 1e-6, initializer_range = 0.02;
  bool tie_word_embeddings = false;
  float attention_dropout = 0;
  std::int32_t bos_token_id = 1, eos_token_id = 2, pad_token_id = -1;
  nn::RotaryOptions rope;
  bool turns_part_of_head = false;  ///< as partial_rotary_factor says

  // What families of the line vary.
  bool attention_bias = false, attention_out_bias = false, mlp_bias = false;
  bool fused_projections = false;       ///< qkv_proj and gate_up_proj
  std::vector<std::int32_t> windows;    ///< of each layer, 0: none; empty: none anywhere
  nn::Attention::HeadNorms head_norms;  ///< of queries and keys
  float attention_scale = 0;            ///< of scores; 0: 1 / sqrt(head_dim)
  float embedding_scale = 1, residual_scale = 1, logit_scale = 1;
  float attention_softcap = 0, logit_softcap = 0;               ///< of scaled scores and of logits; 0: none
  std::int64_t num_local_experts = 0, num_experts_per_tok = 0;  ///< of the feed-forward; 0: it is one for all
  bool norms_store_offset = false;                              ///< files hold norms' weights less one
  float embedding_dropout = 0, residual_dropout = 0;
  enum class Norms : std::uint8_t { before, after, both } norms = Norms::before;  ///< of each sublayer

  /// Keys of config.json that this family alone has.
  nlohmann::json own_keys = nlohmann::json::object();
  /// How config.json spells hidden_act.
  std::string hidden_act_key = "hidden_act";

  std::int64_t d_head() const { return head_dim ? head_dim : hidden_size / num_attention_heads; }
  std::int64_t kv_heads() const { return num_key_value_heads ? num_key_value_heads : num_attention_heads; }
  std::int32_t window(std::int64_t layer) const {
    return windows.empty() ? 0 : windows[static_cast<std::size_t>(layer)];
  }
};

/// The keys that the whole line has. What they are where config.json leaves them out is what `defaults` says.
LlamaLikeConfig read_llama_like(ConfigReader& config, LlamaLikeConfig defaults);

/// sliding_window: 0 where it is null.
std::int32_t read_window(ConfigReader& config, std::int32_t otherwise);
/// How config.json has it.
nlohmann::json window_json(std::int32_t window);
/// windows of layers: those that layer_types says, or else layers i for which slides(i); the window itself elsewhere 0.
std::vector<std::int32_t> read_layer_windows(ConfigReader& config, std::int64_t layers, std::int32_t window,
                                             const std::function<bool(std::int64_t)>& slides);
/// "full_attention" or "sliding_attention" for each layer.
nlohmann::json layer_types_json(const std::vector<std::int32_t>& windows);
/// Qwen's keys: use_sliding_window, sliding_window, and max_window_layers, below which no layer slides. Sets windows and
/// own_keys.
void read_upper_windows(ConfigReader& config, LlamaLikeConfig& k);

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
            {"residual_dropout", k.residual_dropout}};
  }
  bool has_encoder() const override { return false; }
  nn::LengthDependence length_dependence() const override { return rotary_.options().length_dependence(); }
  StoredAs stored_as(const nn::Parameter& p) const override;
  bool is_redundant(std::string_view name) const override;
  Tensor decode(Context& c, const DecoderInput& input) const override;
  OutputProjection output() const override { return {output_->weight(), {}, config_.logit_softcap}; }
  std::int64_t experts_per_token() const override { return config_.num_experts_per_tok; }
  std::unique_ptr<nn::KvCache> make_cache(Context& c) const override { return cache_for(c, layers_); }

 private:
  nn::DecoderLayer make_layer(std::int64_t i);

  LlamaLikeConfig config_;
  nn::RotaryPositions rotary_;
  nn::Embedding embedding_;
  std::vector<nn::DecoderLayer> layers_;
  nn::Norm final_norm_;
  nn::Parameter* output_ = nullptr;
};

}  // namespace tril::model

// GPT's decoder and its variants: LayerNorm, attention, a feed-forward of two products [Radford et al. 2018]. Positions are
// learned, sinusoidal, rotary or a bias by distance; the sublayers are sequential or parallel. A family is a set of
// switches and names in GptLikeConfig; its own file sets them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/spec/config_reader.h"
#include "model/spec/stack.h"
#include "nn/decoder_layer.h"

namespace tril::model {

/// A key of config.json: the family's own name, and the name that `transformers` reads for all families (empty: none).
/// An empty own name: the family has no such key.
struct Spelling {
  std::string own, common = {};
};

struct GptLikeKeys {
  Spelling hidden_size{"hidden_size"}, intermediate_size{"intermediate_size"};
  Spelling num_hidden_layers{"num_hidden_layers"}, num_attention_heads{"num_attention_heads"};
  Spelling max_position_embeddings{"max_position_embeddings"};
  Spelling hidden_act{"hidden_act"}, layer_norm_eps{"layer_norm_eps"}, initializer_range{"initializer_range"};
  Spelling attention_dropout{"attention_dropout"}, hidden_dropout, embedding_dropout, activation_dropout, layerdrop;
};

struct GptLikeConfig {
  std::string family, architecture;
  GptLikeKeys keys;
  std::int64_t vocab_size = 0, hidden_size = 0;
  std::int64_t intermediate_size = 0;  ///< 0: 4 hidden_size
  std::int64_t num_hidden_layers = 0, num_attention_heads = 0;
  std::int64_t num_key_value_heads = 0;         ///< 0: num_attention_heads
  std::int64_t max_position_embeddings = 2048;  ///< 0: no bound
  HiddenAct hidden_act = HiddenAct::gelu;
  double layer_norm_eps = 1e-5, initializer_range = 0.02;
  bool tie_word_embeddings = false;
  float attention_dropout = 0;   ///< on attention weights
  float hidden_dropout = 0;      ///< on each sublayer's result
  float embedding_dropout = 0;   ///< on embeddings
  float activation_dropout = 0;  ///< between the two products of the feed-forward
  float layerdrop = 0;           ///< the probability of left_out()
  std::int32_t bos_token_id = -1, eos_token_id = -1, pad_token_id = -1;

  enum class Positions : std::uint8_t { rotary, learned, sinusoidal, alibi } positions = Positions::rotary;
  nn::RotaryOptions rope;
  double partial_rotary_factor = 1;
  bool turns_part_of_head = false;   ///< partial_rotary_factor is the rotated share of each head
  bool rope_parameters = true;       ///< rotary: config.json has the keys that rotary_config.h reads
  bool own_rotary_names = false;     ///< !RotaryDefaults::reads_top_level
  std::int32_t position_offset = 0;  ///< learned: unused first rows of the table; sinusoidal: the number of position 0

  bool parallel = true;  ///< false: one sublayer after the other
  bool attention_bias = true, attention_out_bias = true, feed_forward_bias = true, norm_bias = true;
  bool one_norm = false;  ///< attention and feed-forward read the same normed input
  bool output_bias = false;
  bool embedding_norm = false;
  float embedding_scale = 1;
  float attention_scale = 0;          ///< of scores; 0: 1 / sqrt(d_head)
  std::vector<std::int32_t> windows;  ///< of each layer, 0: none; empty: none anywhere
  nn::Attention::HeadNorms head_norms;
  /// How files store the fused matrix of q, k, v: in `groups` of heads, each with its rows of q, then k, then v. One group
  /// is the model's order.
  struct Fused {
    std::int64_t groups = 1;
    bool values_before_keys = false;
  } fused;
  struct Names {
    std::string prefix;  ///< of all names below except `output`; files of the bare model lack it
    std::string embedding, positions, embedding_norm, layers, attention;
    std::string qkv;  ///< empty: q_proj, k_proj, v_proj
    std::string out;
    std::string self_norm = "input_layernorm", feed_forward_norm = "post_attention_layernorm";
    std::string feed_forward = "mlp";  ///< empty: its two products are named directly below the layer
    std::string first, second, final_norm, output = "lm_head";
  } names;
  nlohmann::json own_keys = nlohmann::json::object();  ///< config.json keys of this family only

  std::int64_t d_ff() const { return intermediate_size ? intermediate_size : 4 * hidden_size; }
  std::int64_t kv_heads() const { return num_key_value_heads ? num_key_value_heads : num_attention_heads; }
};

/// The keys of GPT-2's configurations.
GptLikeKeys gpt2_keys();

/// Reads the keys of defaults.keys and those of all families. `defaults` holds the values of absent keys.
GptLikeConfig read_gpt_like(ConfigReader& config, GptLikeConfig defaults);

class GptLike : public Model {
 public:
  explicit GptLike(GptLikeConfig config);

  std::string family() const override { return config_.family; }
  std::string config_json() const override;
  std::int64_t vocab_size() const override { return config_.vocab_size; }
  std::int64_t d_model() const override { return config_.hidden_size; }
  std::int64_t max_positions() const override;
  SpecialIds special_ids() const override;
  std::vector<Dropout> dropouts() const override;
  bool has_encoder() const override { return false; }
  nn::LengthDependence length_dependence() const override {
    return rotary_ ? rotary_->options().length_dependence() : nn::LengthDependence();
  }
  StoredAs stored_as(const nn::Parameter& p) const override;
  Redundant redundant(std::string_view name) const override;
  Tensor decode(Context& c, const DecoderInput& input) const override;
  OutputProjection output() const override;
  std::unique_ptr<nn::KvCache> make_cache(Context& c) const override;

 private:
  void add_positions();
  void add_layer(std::int64_t i);
  nn::Attention attention(const std::string& layer, std::int64_t i);

  GptLikeConfig config_;
  nn::Embedding embedding_;
  std::optional<nn::Norm> embedding_norm_;
  std::optional<nn::RotaryPositions> rotary_;  // or
  std::optional<nn::LearnedPositions> learned_;
  std::optional<nn::SinusoidalPositions> sinusoids_;
  std::optional<nn::RelativeBias> alibi_;
  std::vector<nn::DecoderLayer> layers_;
  nn::Norm final_norm_;
  nn::Parameter *output_ = nullptr, *output_bias_ = nullptr;
};

}  // namespace tril::model

// falcon_h1: Llama with Mamba-2 beside attention in every layer, and factors of embeddings, keys, the inputs and results of both,
// gates, feed-forwards and logits [TII 2025, "Falcon-H1", section 2].
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/families/mamba2_keys.h"
#include "model/spec/llama_like.h"

namespace tril::model {
namespace {

float read_factor(ConfigReader& reader, LlamaLikeConfig& k, const char* key) {
  return static_cast<float>(read_own_number(reader, k, key, 1));
}

// `count` factors; ones if the key is absent.
std::vector<float> read_factors(ConfigReader& reader, LlamaLikeConfig& k, const char* key, std::size_t count) {
  const std::vector<double> given = reader.get(key, std::vector<double>(count, 1.0));
  if (given.size() != count)
    reader.json().fail_at(key, fmt::format("has {} factors, expected {}", given.size(), count));
  k.own_keys[key] = given;
  std::vector<float> factors;
  for (const double factor : given) {
    if (!is_positive_float(std::abs(factor)))
      reader.json().fail_at(key, fmt::format("{} is not a factor in float32 other than 0", factor));
    factors.push_back(static_cast<float>(factor));
  }
  return factors;
}

// The factors of attention are parts of that of its scores and that of its result: without biases all of it is linear.
void read_attention_factors(ConfigReader& reader, LlamaLikeConfig& k, nn::AttentionAndMamba2::Options& both) {
  const float in = read_factor(reader, k, "attention_in_multiplier"), keys = read_factor(reader, k, "key_multiplier");
  k.attention_scale = in * in * keys / std::sqrt(static_cast<float>(k.d_head()));
  both.attention_scale = in * read_factor(reader, k, "attention_out_multiplier");
  for (const float product : {k.attention_scale, both.attention_scale})
    if (!is_positive_float(std::abs(product)))
      reader.json().fail_at("attention_in_multiplier",
                            "and the other multipliers of attention do not fit into float32");
  if (k.attention_bias && (in != 1 || keys != 1 || both.attention_scale != 1))
    reader.json().fail_at("attention_bias", "is not supported together with multipliers of attention");
}

void read_mamba_factors(ConfigReader& reader, LlamaLikeConfig& k, nn::AttentionAndMamba2::Options& both) {
  both.mamba.input_scale = read_factor(reader, k, "ssm_in_multiplier");
  both.mamba_scale = read_factor(reader, k, "ssm_out_multiplier");
  std::ranges::copy(read_factors(reader, k, "ssm_multipliers", 5), both.mamba.part_scales.begin());
}

}  // namespace

std::unique_ptr<Model> make_falcon_h1(const JsonObject& config) {
  ConfigReader reader(config, "falcon_h1");
  LlamaLikeConfig k{.family = "falcon_h1", .architecture = "FalconH1ForCausalLM"};
  k.vocab_size = 128000, k.intermediate_size = 14336, k.num_key_value_heads = 8;
  k.max_position_embeddings = 8192, k.norm_eps = 1e-5, k.pad_token_id = 0;
  k.norm_names = {.before_feed_forward = "pre_ff_layernorm", .last = "model.final_layernorm"};
  k.feed_forward_name = "feed_forward";
  k = read_llama_like(reader, std::move(k));
  read_attention_bias(reader, k);
  k.mlp_bias = read_own_bool(reader, k, "mlp_bias", false);

  nn::AttentionAndMamba2::Options both;
  const std::string width = "mamba_d_ssm";
  const std::int64_t inner = reader.says_null(width) ? 0 : reader.size(width, 1024);
  k.own_keys[width] = inner == 0 ? nlohmann::json(nullptr) : nlohmann::json(inner);
  if (inner > 0) check_size(config, width, inner, 1 << 20);
  both.mamba = read_mamba2(reader, k, inner);
  both.mamba.out_bias = read_own_bool(reader, k, "projectors_bias", false);
  const bool norms = read_own_bool(reader, k, "mamba_rms_norm", false);
  const bool before = read_own_bool(reader, k, "mamba_norm_before_gate", true);
  using Norm = nn::Mamba2::GatedNorm;
  both.mamba.norm = !norms ? Norm::none : before ? Norm::before_gate : Norm::after_gate;
  read_attention_factors(reader, k, both);
  read_mamba_factors(reader, k, both);
  k.beside_attention = both;

  const std::vector<float> of_feed_forward = read_factors(reader, k, "mlp_multipliers", 2);
  k.gate_scale = of_feed_forward[0], k.feed_forward_scale = of_feed_forward[1];
  k.embedding_scale = read_factor(reader, k, "embedding_multiplier");
  k.logit_scale = read_factor(reader, k, "lm_head_multiplier");
  // Settings of outputs, and keys of the publisher's program without an effect.
  reader.ignore({"num_logits_to_keep", "attn_layer_indices", "mamba_use_mlp", "mlp_expansion_factor",
                 "mamba_intermediate_size", "expansion_factor", "layers_block_type", "layer_types"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

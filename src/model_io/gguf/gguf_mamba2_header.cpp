// The metadata of GGUF files of the families with Mamba-2, as tril writes it.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/as_size.h"
#include "base/error.h"
#include "model_io/gguf/gguf_config.h"
#include "model_io/gguf/gguf_gemma4.h"
#include "model_io/gguf/gguf_layers.h"
#include "model_io/gguf/gguf_mamba2.h"
#include "model_io/gguf/gguf_mamba2_layers.h"
#include "model_io/gguf/gguf_rope.h"

namespace tril::model {

namespace {

using Json = nlohmann::json;

std::string family_in(const Json& config) {
  return config.at("model_type").get<std::string>();
}

// A value for each layer: `value` where a layer is of the kind, else 0.
std::vector<std::int32_t> of_layers(const Json& types, bool (*is)(const Json&), std::int32_t value) {
  std::vector<std::int32_t> values;
  for (const Json& type : types) values.push_back(is(type) ? value : 0);
  return values;
}

// Adds keys of one architecture.
class Adder {
 public:
  explicit Adder(GgufHeader& h) : h_(h) {}
  template <class T>
  void operator()(const char* key, const T& value) const {
    h_.metadata.add(fmt::format("{}.{}", h_.architecture, key), value);
  }

 private:
  GgufHeader& h_;
};

void write_key_length(const Json& config, const Adder& add) {
  for (const char* key : {"attention.key_length", "attention.value_length"})
    add(key, config.at("head_dim").get<std::uint32_t>());
}

void write_granite_hybrid(const Json& config, GgufHeader& h) {
  const Adder add(h);
  const Json& types = config.at("layer_types");
  const auto size = [&](const char* key) { return config.at(key).get<std::uint32_t>(); };
  need_of_llama_cpp(config.at("mamba_expand") == 2, config, "mamba_expand");
  const bool experts = size("num_local_experts") > 0;
  add("feed_forward_length", size(experts ? "intermediate_size" : "shared_intermediate_size"));
  add("expert_count", size("num_local_experts"));
  add("expert_used_count", size("num_experts_per_tok"));
  add("expert_shared_feed_forward_length", size("shared_intermediate_size"));
  add("attention.head_count_kv", of_layers(types, is_attention_layer, config.at("num_key_value_heads")));
  add("ssm.inner_size", size("mamba_n_heads") * size("mamba_d_head"));
  write_key_length(config, add);
  const bool rotates = config.at("position_embedding_type") == "rope";
  add("rope.scaling.finetuned", rotates);
  if (rotates) write_gguf_rope(config, h);
}

// llama.cpp rotates the first values of a head with the frequencies of a head of that width, and so does bamba; but its converter puts
// the rows in the order of whole heads. Written as whole heads, the order and the frequencies are the same for both.
void write_bamba(const Json& config, GgufHeader& h) {
  const Adder add(h);
  need_of_llama_cpp(config.at("mamba_expand") == 2, config, "mamba_expand");
  const Json& rope = config.at("rope_parameters");
  need_of_llama_cpp(rope.value("rope_type", "default") == "default", config, "rope_parameters");
  const std::int64_t head_dim = config.at("head_dim");
  const Json& attending = config.at("attn_layer_indices");
  std::vector<std::int32_t> key_heads(as_size(layers_of(config)));
  for (const std::int64_t layer : attending.get<std::vector<std::int64_t>>())
    if (layer >= 0 && layer < layers_of(config)) key_heads[as_size(layer)] = config.at("num_key_value_heads");
  add("attention.head_count_kv", key_heads);
  add("ssm.inner_size",
      config.at("mamba_n_heads").get<std::uint32_t>() * config.at("mamba_d_head").get<std::uint32_t>());
  write_key_length(config, add);
  add("rope.scaling.finetuned", true);
  add("rope.dimension_count", static_cast<std::uint32_t>(head_dim));
  const double theta = config.at("rope_theta");
  add("rope.freq_base", static_cast<float>(theta));
  h.rope_factors = part_rotary_factors(theta, rotated_rows(config), head_dim);
}

void write_falcon_h1(const Json& config, GgufHeader& h) {
  const Adder add(h);
  if (config.at("mamba_rms_norm") == true)
    need_of_llama_cpp(config.at("mamba_norm_before_gate") == false, config, "mamba_norm_before_gate");
  if (config.at("tie_word_embeddings") == true)
    need_of_llama_cpp(config.at("lm_head_multiplier") == config.at("embedding_multiplier"), config,
                      "lm_head_multiplier");
  add("ssm.inner_size",
      config.at("mamba_n_heads").get<std::uint32_t>() * config.at("mamba_d_head").get<std::uint32_t>());
  write_key_length(config, add);
  write_gguf_rope(config, h);
}

void write_pure_mamba2(const Json& config, GgufHeader& h) {
  const Adder add(h);
  add("ssm.inner_size", config.at("num_heads").get<std::uint32_t>() * config.at("head_dim").get<std::uint32_t>());
  for (const char* key : {"attention.head_count", "feed_forward_length"}) add(key, std::uint32_t{0});
}

void write_nemotron_experts(const Json& config, const Adder& add) {
  for (const auto& [key, hf] : {std::pair{"expert_count", "n_routed_experts"},
                                {"expert_used_count", "num_experts_per_tok"},
                                {"expert_feed_forward_length", "moe_intermediate_size"},
                                {"expert_shared_feed_forward_length", "moe_shared_expert_intermediate_size"},
                                {"expert_group_count", "n_group"},
                                {"expert_group_used_count", "topk_group"}})
    add(key, config.at(hf).get<std::uint32_t>());
  add("expert_shared_count", std::uint32_t{1});
  add("expert_weights_norm", config.at("norm_topk_prob").get<bool>());
  add("expert_weights_scale", config.at("routed_scaling_factor").get<float>());
}

void write_nemotron_h(const Json& config, GgufHeader& h) {
  const Adder add(h);
  const Json& types = config.at("layers_block_type");
  const bool experts = has_layer(types, is_expert_layer);
  need_of_llama_cpp(!experts || !has_layer(types, is_feed_forward_layer), config,
                    "layers_block_type");  // has one kind of feed-forward
  add("feed_forward_length", of_layers(types, experts ? is_expert_layer : is_feed_forward_layer,
                                       config.at(experts ? "moe_intermediate_size" : "intermediate_size")));
  add("attention.head_count_kv", of_layers(types, is_attention_layer, config.at("num_key_value_heads")));
  for (const char* key : {"attention.layer_norm_epsilon", "attention.layer_norm_rms_epsilon"})
    add(key, config.at("layer_norm_epsilon").get<float>());
  add("ssm.inner_size",
      config.at("mamba_num_heads").get<std::uint32_t>() * config.at("mamba_head_dim").get<std::uint32_t>());
  write_key_length(config, add);
  add("rope.scaling.finetuned", false);
  if (experts) write_nemotron_experts(config, add);
}

}  // namespace

std::int64_t mamba2_groups_of(const Json& config) {
  return config.at(mamba2_size_keys(family_in(config)).groups);
}

std::int64_t rotated_rows(const Json& config) {
  const double part = config.at("partial_rotary_factor"), rows = config.at("head_dim").get<double>() * part;
  return static_cast<std::int64_t>(rows) / 2 * 2;
}

std::vector<float> part_rotary_factors(double theta, std::int64_t rotated, std::int64_t head_dim) {
  std::vector<float> factors(as_size(head_dim / 2), kNotRotated);
  for (std::int64_t i = 0; i < rotated / 2; ++i) {
    const auto pair = static_cast<double>(2 * i);
    factors[as_size(i)] =
        static_cast<float>(std::pow(theta, pair / static_cast<double>(rotated) - pair / static_cast<double>(head_dim)));
  }
  return factors;
}

Json without_mamba2(const Json& config) {
  if (family_in(config) != "granitemoehybrid") return config;
  const Json& types = config.at("layer_types");
  if (has_layer(types, is_mamba_layer)) return config;
  // llama.cpp's converter makes a granite of it, or a granitemoe with a shared expert.
  need_of_llama_cpp(config.at("position_embedding_type") == "rope", config, "position_embedding_type");
  Json granite = config;
  const bool experts = config.at("num_local_experts") != 0;
  granite["model_type"] = experts ? "granitemoeshared" : "granite";
  if (!experts) granite["intermediate_size"] = config.at("shared_intermediate_size");
  return granite;
}

std::string_view mamba2_gguf_architecture(const Json& config) {
  const std::string family = family_in(config);
  return family == "nemotron_h" && has_layer(config.at("layers_block_type"), is_expert_layer)
             ? "nemotron_h_moe"
             : gguf_architecture(family);
}

void write_gguf_mamba2(const Json& config, GgufHeader& h) {
  const std::string family = family_in(config);
  if (family == "granitemoehybrid")
    write_granite_hybrid(config, h);
  else if (family == "bamba")
    write_bamba(config, h);
  else if (family == "falcon_h1")
    write_falcon_h1(config, h);
  else if (family == "nemotron_h")
    write_nemotron_h(config, h);
  else
    write_pure_mamba2(config, h);
}

}  // namespace tril::model

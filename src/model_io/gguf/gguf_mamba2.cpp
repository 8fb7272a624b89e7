#include "model_io/gguf/gguf_mamba2.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/as_size.h"
#include "base/error.h"
#include "model/spec/rotary_config.h"
#include "model_io/gguf/gguf_config.h"
#include "model_io/gguf/gguf_mamba2_layers.h"
#include "model_io/gguf/gguf_rope.h"

namespace tril::model {
namespace {

using Json = nlohmann::json;
using Kind = GgufKey::Kind;

std::string family_of_config(const Json& config) {
  return config.at("model_type").get<std::string>();
}

// The value of a key for each layer; one number stands for all.
std::vector<std::int64_t> value_of_layers(GgufReader& r, const char* key, std::int64_t layers) {
  const GgufEntry* const e = r.find(key);
  if (!e || !e->is_array) return std::vector<std::int64_t>(as_size(layers), r.needed_count(key));
  auto values = *r.get<std::vector<std::int64_t>>(key);
  if (std::ssize(values) < layers) r.fail_at(key, fmt::format("has {} values for {} layers", values.size(), layers));
  values.resize(as_size(layers));  // further ones are of layers that predict further tokens
  return values;
}

// The value that all layers have whose value is not 0; 0: there is no such layer.
std::int64_t only_value(GgufReader& r, const char* key, const std::vector<std::int64_t>& values) {
  std::int64_t found = 0;
  for (const std::int64_t value : values) {
    if (value < 0 || value > 0x7fffffff) r.fail_at(key, fmt::format("{} is not a valid size", value));
    if (value != 0 && found != 0 && value != found)
      r.fail_at(key, fmt::format("{} in one layer and {} in another are not supported", found, value));
    if (value != 0) found = value;
  }
  return found;
}

// The width of a head of Mamba-2.
std::int64_t read_mamba_head(GgufReader& r, const Json& config) {
  constexpr const char* kKey = "ssm.inner_size";
  const std::int64_t inner = r.needed_count(kKey), heads = config.at(mamba2_size_keys(family_of_config(config)).heads);
  if (inner % heads != 0) r.fail_at(kKey, fmt::format("{} heads do not divide {}", heads, inner));
  return inner / heads;
}

// The width of Mamba-2 as a multiple of the model's.
std::int64_t read_expansion(GgufReader& r, const Json& config) {
  constexpr const char* kKey = "ssm.inner_size";
  const std::int64_t inner = r.needed_count(kKey), width = d_model_of(config);
  if (inner % width != 0)
    r.fail_at(kKey, fmt::format("{} is not supported: a {} model has a multiple of its width {}", inner,
                                family_of_config(config), width));
  return inner / width;
}

bool has_tensor(const GgufReader& r, std::string_view name, std::int64_t layer) {
  return layer >= 0 && r.file().find_tensor(fmt::format("blk.{}.{}", layer, name));
}

// The first layer of a kind; -1: there is none.
std::int64_t first_layer(const Json& types, bool (*is)(const Json&)) {
  const auto found = std::find_if(types.begin(), types.end(), is);
  return found == types.end() ? -1 : found - types.begin();
}

void read_granite_feed_forward(GgufReader& r, Json& config) {
  const std::int64_t width = r.needed_count("feed_forward_length"),
                     experts = r.get<std::int64_t>("expert_count").value_or(0);
  constexpr const char* kShared = "expert_shared_feed_forward_length";
  config["intermediate_size"] = width;
  config["num_local_experts"] = experts == 0 ? 0 : r.needed_count("expert_count");
  config["num_experts_per_tok"] = experts == 0 ? 0 : r.needed_count("expert_used_count");
  r.ignore("expert_used_count");
  // Without experts, llama.cpp does not use the width of the shared one.
  config["shared_intermediate_size"] = experts == 0 ? width : r.count(kShared).value_or(0);
  r.ignore(kShared);
}

void read_granite_hybrid(GgufReader& r, Json& config) {
  constexpr const char* kKeyHeads = "attention.head_count_kv";
  const std::vector<std::int64_t> heads = value_of_layers(r, kKeyHeads, layers_of(config));
  Json types = Json::array();
  for (const std::int64_t n : heads) types.push_back((n == 0 ? kMambaLayer : kAttentionLayer).name);
  config["layer_types"] = types;
  const std::int64_t key_heads = only_value(r, kKeyHeads, heads);
  config["num_key_value_heads"] = key_heads == 0 ? config.at("num_attention_heads") : Json(key_heads);
  config["mamba_expand"] = read_expansion(r, config);
  config["mamba_d_head"] = read_mamba_head(r, config);
  read_granite_feed_forward(r, config);
  read_head_size(r, config);
  config["attention_bias"] = has_tensor(r, "attn_q.bias", first_layer(types, is_attention_layer));
  const bool rotates = r.get<bool>("rope.scaling.finetuned").value_or(true);
  config["position_embedding_type"] = rotates ? "rope" : "nope";
  if (rotates)
    read_gguf_rope(r, config);
  else
    r.ignore("rope.dimension_count");
}

// Which values of a head are rotated: those of the first pairs. tril's files say it by divisors of the frequencies of whole heads,
// llama.cpp's converter by their number.
void read_bamba_rotary(GgufReader& r, Json& config) {
  const std::int64_t head_dim = config.at("head_dim");
  std::int64_t rotated = r.count("rope.dimension_count").value_or(head_dim);
  if (rotated > head_dim || rotated % 2 != 0)
    r.fail_at("rope.dimension_count",
              fmt::format("{} values of a head of {} cannot be rotated in pairs", rotated, head_dim));
  if (r.file().find_tensor("rope_freqs.weight")) {
    const std::vector<double> factors = rope_factors_of(r, "rope_freqs.weight", rotated);
    const auto is_near = [](double a, float b) { return std::fabs(a - static_cast<double>(b)) <= 1e-5 * a; };
    rotated = 2 * (std::ranges::find_if(factors, [](double f) { return f >= static_cast<double>(kNotRotated); }) -
                   factors.begin());
    if (rotated == 0 ||
        !std::ranges::equal(factors, part_rotary_factors(config.at("rope_theta"), rotated, head_dim), is_near))
      fail(fmt::format("{}: rope_freqs.weight", r.file().path()),
           "is supported only if it makes the frequencies those of a part of each head");
  }
  const double part = partial_factor(rotated, head_dim);
  config["partial_rotary_factor"] = part;
  config["rope_parameters"] = {
      {"rope_type", "default"}, {"rope_theta", config.at("rope_theta")}, {"partial_rotary_factor", part}};
  if (const auto factor = r.number("rope.scaling.factor"); factor && *factor != 1)
    r.fail_at("rope.scaling.factor", fmt::format("{} is not supported", *factor), "only 1 is");
}

void read_bamba(GgufReader& r, Json& config) {
  constexpr const char* kKeyHeads = "attention.head_count_kv";
  const std::vector<std::int64_t> heads = value_of_layers(r, kKeyHeads, layers_of(config));
  Json attention = Json::array();
  for (std::size_t i = 0; i < heads.size(); ++i)
    if (heads[i] != 0) attention.push_back(i);
  config["attn_layer_indices"] = attention;
  const std::int64_t key_heads = only_value(r, kKeyHeads, heads);
  config["num_key_value_heads"] = key_heads == 0 ? config.at("num_attention_heads") : Json(key_heads);
  config["mamba_expand"] = read_expansion(r, config);
  config["mamba_d_head"] = read_mamba_head(r, config);
  config["attention_bias"] = !attention.empty() && has_tensor(r, "attn_q.bias", attention[0].get<std::int64_t>());
  config["mlp_bias"] = has_tensor(r, "ffn_up.bias", 0);
  read_head_size(r, config);
  read_bamba_rotary(r, config);
  if (!r.get<bool>("rope.scaling.finetuned").value_or(true))
    r.fail_at("rope.scaling.finetuned", "false is not supported: a bamba model rotates queries and keys");
}

void read_falcon_h1(GgufReader& r, Json& config) {
  config["mamba_d_ssm"] = r.needed_count("ssm.inner_size");
  config["mamba_d_head"] = read_mamba_head(r, config);
  config["mamba_rms_norm"] = has_tensor(r, "ssm_norm.weight", 0);
  config["mamba_norm_before_gate"] = false;  // llama.cpp norms behind it
  config["attention_bias"] = has_tensor(r, "attn_q.bias", 0);
  config["mlp_bias"] = has_tensor(r, "ffn_up.bias", 0);
  read_head_size(r, config);
  read_gguf_rope(r, config);
}

void read_pure_mamba2(GgufReader& r, Json& config) {
  config["expand"] = read_expansion(r, config);
  config["head_dim"] = read_mamba_head(r, config);
  for (const char* key : {"attention.head_count", "feed_forward_length"}) r.ignore(key);
}

void read_nemotron_experts(GgufReader& r, Json& config) {
  config["n_routed_experts"] = r.needed_count("expert_count");
  config["num_experts_per_tok"] = r.needed_count("expert_used_count");
  config["moe_intermediate_size"] = r.needed_count("expert_feed_forward_length");
  config["moe_shared_expert_intermediate_size"] = r.needed_count("expert_shared_feed_forward_length");
  config["norm_topk_prob"] = r.get<bool>("expert_weights_norm").value_or(false);
  config["routed_scaling_factor"] = r.number("expert_weights_scale").value_or(1);
  config["n_group"] = r.count("expert_group_count").value_or(1);
  config["topk_group"] = r.count("expert_group_used_count").value_or(1);
  if (const auto n = r.count("expert_shared_count"); n && *n != 1)
    r.fail_at("expert_shared_count", fmt::format("{} is not supported: a nemotron_h model has one", *n));
}

void read_nemotron_h(GgufReader& r, Json& config) {
  constexpr const char *kKeyHeads = "attention.head_count_kv", *kWidth = "feed_forward_length";
  read_further_layers(r, config);
  const std::int64_t layers = layers_of(config);
  const std::vector<std::int64_t> heads = value_of_layers(r, kKeyHeads, layers),
                                  widths = value_of_layers(r, kWidth, layers);
  const bool experts = r.get<std::int64_t>("expert_count").value_or(0) > 0;
  Json types = Json::array();
  for (std::size_t i = 0; i < heads.size(); ++i)
    types.push_back((widths[i] != 0  ? (experts ? kExpertLayer : kFeedForwardLayer)
                     : heads[i] != 0 ? kAttentionLayer
                                     : kMambaLayer)
                        .name);
  config["layers_block_type"] = types;
  const std::int64_t key_heads = only_value(r, kKeyHeads, heads), width = only_value(r, kWidth, widths);
  config["num_key_value_heads"] = key_heads == 0 ? config.at("num_attention_heads") : Json(key_heads);
  if (width != 0) config["intermediate_size"] = width;
  if (experts) read_nemotron_experts(r, config);
  config["mamba_head_dim"] = read_mamba_head(r, config);
  read_head_size(r, config);
  const auto epsilon = r.number("attention.layer_norm_rms_epsilon"), other = r.number("attention.layer_norm_epsilon");
  if (!epsilon && !other) r.fail_at("attention.layer_norm_epsilon", "is missing");
  config["layer_norm_epsilon"] = epsilon ? *epsilon : *other;
  config["attention_bias"] = has_tensor(r, "attn_q.bias", first_layer(types, is_attention_layer));
  config["mlp_bias"] = has_tensor(r, "ffn_up.bias", first_layer(types, is_feed_forward_layer));
  for (const char* key : {"dimension_count", "freq_base", "scaling.finetuned"})  // no positions
    r.ignore(fmt::format("rope.{}", key));
}

}  // namespace

Mamba2SizeKeys mamba2_size_keys(std::string_view family) {
  if (family == "mamba2") return {"conv_kernel", "state_size", "n_groups", "num_heads"};
  if (family == "nemotron_h") return {"conv_kernel", "ssm_state_size", "n_groups", "mamba_num_heads"};
  return {"mamba_d_conv", "mamba_d_state", "mamba_n_groups", "mamba_n_heads"};
}

std::vector<GgufKey> mamba2_gguf_keys(std::string_view model_type) {
  const Mamba2SizeKeys sizes = mamba2_size_keys(model_type);
  std::vector<GgufKey> keys{{"context_length", "max_position_embeddings"},
                            {"embedding_length", "hidden_size"},
                            {"block_count", "num_hidden_layers"},
                            {"ssm.conv_kernel", sizes.taps},
                            {"ssm.state_size", sizes.state},
                            {"ssm.group_count", sizes.groups},
                            {"ssm.time_step_rank", sizes.heads}};
  if (model_type != "mamba2") keys.push_back({"attention.head_count", "num_attention_heads"});
  if (model_type != "nemotron_h")
    keys.push_back({"attention.layer_norm_rms_epsilon", model_type == "mamba2" ? "layer_norm_epsilon" : "rms_norm_eps",
                    Kind::number});
  if (is_any(model_type, {"bamba", "falcon_h1"})) keys.push_back({"feed_forward_length", "intermediate_size"});
  if (model_type == "falcon_h1") {
    keys.push_back({"attention.head_count_kv", "num_key_value_heads"});
  }
  if (is_any(model_type, {"bamba", "falcon_h1", "granitemoehybrid"}))
    keys.push_back({"rope.freq_base", "rope_theta", Kind::number, /*required=*/false});
  if (model_type == "granitemoehybrid")
    for (const auto& [gguf, hf] : {std::pair{"attention.scale", "attention_multiplier"},
                                   {"embedding_scale", "embedding_multiplier"},
                                   {"residual_scale", "residual_multiplier"},
                                   {"logit_scale", "logits_scaling"}})
      keys.push_back({gguf, hf, Kind::number});
  return keys;
}

void read_gguf_mamba2(GgufReader& r, Json& config) {
  const std::string family = family_of_config(config);
  if (is_any(family, {"bamba", "falcon_h1", "granitemoehybrid"}) && !config.contains("rope_theta"))
    config["rope_theta"] = 10000.0;
  if (family == "granitemoehybrid")
    read_granite_hybrid(r, config);
  else if (family == "bamba")
    read_bamba(r, config);
  else if (family == "falcon_h1")
    read_falcon_h1(r, config);
  else if (family == "nemotron_h")
    read_nemotron_h(r, config);
  else
    read_pure_mamba2(r, config);
}

}  // namespace tril::model

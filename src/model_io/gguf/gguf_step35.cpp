#include "model_io/gguf/gguf_step35.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/as_size.h"
#include "base/error.h"
#include "model_io/gguf/gguf_config.h"
#include "model_io/gguf/gguf_keys.h"
#include "model_io/gguf/gguf_layers.h"
#include "model_io/gguf/gguf_rope.h"

namespace tril::model {
namespace {

using Json = nlohmann::json;

constexpr double kPartOfFullHeads = 0.5;  // that llama.cpp rotates in layers without a window
constexpr float kLeastLimit = 1e-6f;      // below it llama.cpp bounds nothing
constexpr std::pair<const char*, const char*> kLimits[] = {{"swiglu_clamp_exp", "swiglu_limits"},
                                                           {"swiglu_clamp_shexp", "swiglu_limits_shared"}};

std::int64_t part_of_head(std::int64_t head_dim) {
  return static_cast<std::int64_t>(kPartOfFullHeads * static_cast<double>(head_dim));
}

// The number of heads of each layer: that of the layers without a window is the usual one.
void read_heads(GgufReader& r, Json& config) {
  constexpr const char *kHeads = "attention.head_count", *kKeyHeads = "attention.head_count_kv";
  const Json& types = config.at("layer_types");
  const std::vector<std::int64_t> heads = sizes_by_layer(r, kHeads, std::ssize(types), FurtherLayers::dropped),
                                  key_heads = sizes_by_layer(r, kKeyHeads, std::ssize(types), FurtherLayers::dropped);
  if (std::ranges::count(key_heads, key_heads[0]) != std::ssize(key_heads))
    r.fail_at(kKeyHeads, "layers with different numbers are not supported");
  config["num_key_value_heads"] = key_heads[0];
  const auto full =
      std::find_if(types.begin(), types.end(), [](const Json& type) { return !has_sliding_window(type); });
  const std::int64_t usual = full == types.end() ? heads[0] : heads[as_size(full - types.begin())];
  config["num_attention_heads"] = usual;
  Json per_layer = Json::object();
  for (std::size_t i = 0; i < heads.size(); ++i)
    if (heads[i] != usual) per_layer[std::to_string(i)] = {{"num_attention_heads", heads[i]}};
  config["per_layer_config"] = per_layer;
}

void read_experts(GgufReader& r, Json& config) {
  Json types = Json::array();
  for (std::int64_t i = 0; i < layers_of(config); ++i)
    types.push_back(r.file().find_tensor(fmt::format("blk.{}.ffn_gate_inp.weight", i)) ? "sparse" : "dense");
  config["mlp_layer_types"] = types;
  config["moe_router_scaling_factor"] = r.number("expert_weights_scale").value_or(1);
  // Without it, llama.cpp's weights of experts are not those of the family.
  constexpr const char* kNorm = "expert_weights_norm";
  if (!r.get<bool>(kNorm).value_or(false))
    r.fail_at(kNorm, "must be true: the family's weights of experts add up to 1");
  r.ignore("leading_dense_block_count");  // the tensors tell
  for (const auto& [key, hf] : kLimits) {
    if (!r.find(key)) continue;
    auto limits = r.get<std::vector<double>>(key).value_or(std::vector<double>());
    if (std::ssize(limits) < layers_of(config))
      r.fail_at(key, fmt::format("has {} values for {} layers", limits.size(), layers_of(config)));
    limits.resize(as_size(layers_of(config)));
    config[hf] = limits;
  }
}

void read_step35_rotary(GgufReader& r, Json& config) {
  const std::int64_t head_dim = config.at("head_dim");
  for (const char* key : {"rope.dimension_count", "rope.dimension_count_swa"})
    if (const auto n = r.count(key); n && *n != head_dim)
      r.fail_at(key, fmt::format("{} is not supported for heads of {}", *n, head_dim));
  if (const auto factor = r.number("rope.scaling.factor"); factor && *factor != 1)
    r.fail_at("rope.scaling.factor", fmt::format("{} is not supported", *factor), "only 1 is");
  const double theta = r.number("rope.freq_base").value_or(1e4);
  config["rope_parameters"] = {
      {"full_attention",
       {{"rope_type", "default"}, {"rope_theta", theta}, {"partial_rotary_factor", kPartOfFullHeads}}},
      {"sliding_attention",
       {{"rope_type", "default"}, {"rope_theta", r.number("rope.freq_base_swa").value_or(theta)}}}};
  if (r.file().find_tensor("rope_freqs.weight")) {
    std::vector<double> factors = rope_factors_of(r, "rope_freqs.weight", head_dim);
    const std::int64_t rotated = part_of_head(head_dim);
    if (std::any_of(factors.begin() + rotated / 2, factors.end(), [](double f) { return f != 1; }))
      fail(fmt::format("{}: rope_freqs.weight", r.file().path()),
           fmt::format("has other values than 1 after the {} of the rotated pairs", rotated / 2),
           "an older converter of llama.cpp wrote those of whole heads: convert the model again");
    factors.resize(as_size(rotated / 2));
    config["rope_parameters"]["full_attention"].update(
        scaling_by_factors(factors, theta, rotated, config.at("max_position_embeddings").get<std::int64_t>()));
  }
  config.erase("rope_theta");
}

// The limits of each layer; 0: none.
std::vector<float> limits_to_write(const Json& config, const char* key) {
  std::vector<float> limits;
  for (const Json& limit : config.at(key)) {
    limits.push_back(limit.is_null() ? 0.0f : limit.get<float>());
    need_of_llama_cpp(limits.back() == 0 || limits.back() > kLeastLimit, config, key);
  }
  return limits;
}

std::int64_t heads_in(const Json& config, std::size_t layer) {
  const Json own = config.at("per_layer_config").value(std::to_string(layer), Json::object());
  return own.value("num_attention_heads", config.at("num_attention_heads").get<std::int64_t>());
}

double part_of(const Json& rope) {
  return rope.value("partial_rotary_factor", 1.0);
}

}  // namespace

void read_gguf_step35(GgufReader& r, Json& config) {
  read_further_layers(r, config);
  config["layer_types"] = layer_types_by_window(r, layers_of(config), FurtherLayers::dropped);
  config["sliding_window"] = r.needed_count("attention.sliding_window");
  read_heads(r, config);
  const std::int64_t head_dim = r.needed_count("attention.key_length");
  if (const auto d = r.count("attention.value_length"); d && *d != head_dim)
    r.fail_at("attention.value_length", fmt::format("{} is not supported with keys of length {}", *d, head_dim));
  config["head_dim"] = head_dim;
  read_experts(r, config);
  read_step35_rotary(r, config);
}

void write_gguf_step35(const Json& config, GgufHeader& h) {
  const auto add = [&](const std::string& key, const auto& value) {
    h.metadata.add(fmt::format("{}.{}", h.architecture, key), value);
  };
  const Json &full = config.at("rope_parameters").at("full_attention"),
             &sliding = config.at("rope_parameters").at("sliding_attention");
  const std::string scaling = full.value("rope_type", "default");
  need_of_llama_cpp(is_any(scaling, {"default", "llama3"}) && sliding.value("rope_type", "default") == "default" &&
                        part_of(full) == kPartOfFullHeads && part_of(sliding) == 1,
                    config, "rope_parameters");
  need_of_llama_cpp(config.at("query_pre_attn_scalar") == config.at("head_dim"), config, "query_pre_attn_scalar");
  std::vector<std::int32_t> heads, key_heads;
  std::vector<bool> slides;
  for (const Json& type : config.at("layer_types")) {
    heads.push_back(static_cast<std::int32_t>(heads_in(config, slides.size())));
    key_heads.push_back(config.at("num_key_value_heads").get<std::int32_t>());
    slides.push_back(has_sliding_window(type));
  }
  add("attention.head_count", heads);
  add("attention.head_count_kv", key_heads);
  add("attention.sliding_window", config.at("sliding_window").get<std::uint32_t>());
  add("attention.sliding_window_pattern", slides);
  for (const char* key : {"attention.key_length", "attention.value_length"})
    add(key, config.at("head_dim").get<std::uint32_t>());
  add("rope.freq_base", full.at("rope_theta").get<float>());
  add("rope.freq_base_swa", sliding.at("rope_theta").get<float>());
  if (scaling == "llama3") {  // the layers with a window do not use it
    const std::int64_t head_dim = config.at("head_dim");
    const auto factors = llama3_factors(full, full.at("rope_theta"), part_of_head(head_dim));
    h.rope_factors.assign(factors.begin(), factors.end());
    h.rope_factors.resize(as_size(head_dim / 2), 1.0f);
  }
  add("expert_weights_scale", config.at("moe_router_scaling_factor").get<float>());
  add("expert_weights_norm", true);
  const Json& kinds = config.at("mlp_layer_types");
  add("leading_dense_block_count",
      static_cast<std::uint32_t>(std::ranges::find(kinds, Json("sparse")) - kinds.begin()));
  for (const auto& [key, hf] : kLimits)
    if (config.contains(hf)) add(key, limits_to_write(config, hf));
}

}  // namespace tril::model

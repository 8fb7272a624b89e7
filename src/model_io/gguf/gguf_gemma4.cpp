#include "model_io/gguf/gguf_gemma4.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/as_size.h"
#include "base/error.h"
#include "kern/gguf_blocks.h"
#include "model/spec/rotary_config.h"
#include "model_io/gguf/gguf_config.h"
#include "model_io/gguf/gguf_layers.h"
#include "model_io/gguf/gguf_rope.h"

namespace tril::model {
namespace {

using Json = nlohmann::json;
using Form = GgufRule::Form;

// The value that all layers of one kind have.
std::int64_t of_kind(GgufReader& r, const char* key, const Json& types, bool sliding) {
  const std::vector<std::int64_t> values = sizes_by_layer(r, key, std::ssize(types), FurtherLayers::refused);
  std::int64_t found = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (has_sliding_window(types[i]) != sliding) continue;
    if (found != 0 && values[i] != found)
      r.fail_at(key, fmt::format("{} in layer {} and {} in an earlier layer of its kind", values[i], i, found));
    found = values[i];
  }
  return found;
}

std::int64_t same_for_values(GgufReader& r, const char* key, const char* value_key) {
  const std::int64_t size = r.needed_count(key);
  if (const auto d = r.count(value_key); d && *d != size)
    r.fail_at(value_key, fmt::format("{} is not supported with keys of length {}", *d, size));
  return size;
}

// The width of the first feed-forward; the layers that read the keys of earlier ones may have twice as much.
void read_feed_forwards(GgufReader& r, Json& config) {
  constexpr const char* kKey = "feed_forward_length";
  const std::int64_t layers = layers_of(config), own = layers - config.at("num_kv_shared_layers").get<std::int64_t>();
  const std::vector<std::int64_t> widths = sizes_by_layer(r, kKey, layers, FurtherLayers::refused);
  const std::int64_t width = widths.front();
  const bool wide = widths.back() != width;
  for (std::int64_t i = 0; i < layers; ++i)
    if (widths[as_size(i)] != width * (wide && i >= own ? 2 : 1))
      r.fail_at(kKey,
                fmt::format("{} in layer {} is not supported after {} in the first", widths[as_size(i)], i, width));
  config["intermediate_size"] = width;
  config["use_double_wide_mlp"] = wide;
}

void read_shared_keys(GgufReader& r, Json& config) {
  constexpr const char* kKey = "attention.shared_kv_layers";
  const std::int64_t layers = layers_of(config), shared = r.get<std::int64_t>(kKey).value_or(0);
  if (shared < 0 || shared >= layers) r.fail_at(kKey, fmt::format("{} of {} layers cannot share", shared, layers));
  config["num_kv_shared_layers"] = shared;
}

// How many values of a head are rotated: rope_freqs.weight is 1 for their pairs, and very large for the others.
Json full_rotary(GgufReader& r, std::int64_t head_dim, double theta) {
  const GgufTensor& t = r.file().tensor("rope_freqs.weight");
  const std::string where = fmt::format("{}: rope_freqs.weight", r.file().path());
  std::vector<float> factors(as_size(t.elements()));
  if (t.shape.size() != 1 || std::ssize(factors) != head_dim / 2)
    fail(where, fmt::format("has {} values, expected {} for a head of {}", factors.size(), head_dim / 2, head_dim));
  kern::dequantize_blocks(t.type, t.bytes.data(), factors.size(), factors.data());
  const auto end = std::ranges::find_if(factors, [](float f) { return f != 1; });
  if (end == factors.begin() || std::any_of(end, factors.end(), [](float f) { return f != kNotRotated; }))
    fail(where, "is supported only if its values are 1, and then 1e30");
  const std::int64_t rotated = 2 * (end - factors.begin());
  return {{"rope_type", "proportional"},
          {"partial_rotary_factor", partial_factor(rotated, head_dim)},
          {"rope_theta", theta}};
}

void read_gemma4_rotary(GgufReader& r, Json& config) {
  const std::int64_t full = config.at("global_head_dim"), sliding = config.at("head_dim");
  for (const auto& [key, size] : {std::pair{"rope.dimension_count", full}, {"rope.dimension_count_swa", sliding}})
    if (const auto n = r.count(key); n && *n != size)
      r.fail_at(key, fmt::format("{} is not supported for heads of {}", *n, size));
  if (const auto factor = r.number("rope.scaling.factor"); factor && *factor != 1)
    r.fail_at("rope.scaling.factor", fmt::format("{} is not supported", *factor), "only 1 is");
  config["rope_parameters"] = {
      {"full_attention", full_rotary(r, full, r.number("rope.freq_base").value_or(1e4))},
      {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", r.number("rope.freq_base_swa").value_or(1e4)}}}};
}

// Whether the layers without a window have keys, but no values of their own.
bool has_keys_as_values(const GgufFile& f, const Json& types) {
  for (std::size_t i = 0; i < types.size(); ++i)
    if (!has_sliding_window(types[i]) && f.find_tensor(fmt::format("blk.{}.attn_k.weight", i)))
      return !f.find_tensor(fmt::format("blk.{}.attn_v.weight", i));
  return false;
}

}  // namespace

void read_gguf_gemma4(GgufReader& r, Json& config) {
  const std::int64_t layers = layers_of(config);
  const Json types = layer_types_by_window(r, layers, FurtherLayers::refused);
  config["layer_types"] = types;
  config["head_dim"] = same_for_values(r, "attention.key_length_swa", "attention.value_length_swa");
  config["global_head_dim"] = same_for_values(r, "attention.key_length", "attention.value_length");
  const char* const kv = "attention.head_count_kv";
  const std::int64_t sliding = of_kind(r, kv, types, true), full = of_kind(r, kv, types, false);
  if (full == 0) r.fail_at("attention.sliding_window_pattern", "has no layer without a window");
  config["num_key_value_heads"] = sliding != 0 ? sliding : full;
  const bool keys_as_values = has_keys_as_values(r.file(), types);
  config["attention_k_eq_v"] = keys_as_values;
  if (keys_as_values)
    config["num_global_key_value_heads"] = full;
  else if (sliding != 0 && full != sliding)
    r.fail_at(kv, fmt::format("{} and {} heads are not supported in layers with values of their own", sliding, full));
  read_shared_keys(r, config);
  read_feed_forwards(r, config);
  config["hidden_size_per_layer_input"] = r.get<std::int64_t>("embedding_length_per_layer_input").value_or(0);
  config["vocab_size_per_layer_input"] = config.at("vocab_size");
  const bool experts = r.get<std::int64_t>("expert_count").value_or(0) > 0;
  config["enable_moe_block"] = experts;
  if (experts) {
    config["num_experts"] = r.needed_count("expert_count");
    config["top_k_experts"] = r.needed_count("expert_used_count");
    config["moe_intermediate_size"] = r.needed_count("expert_feed_forward_length");
  }
  read_gemma4_rotary(r, config);
}

namespace {

void write_gemma4_rotary(const Json& config, GgufHeader& h) {
  const Json &full = config.at("rope_parameters").at("full_attention"),
             &sliding = config.at("rope_parameters").at("sliding_attention");
  const std::string type = full.at("rope_type");
  const bool supported =
      sliding.at("rope_type") == "default" && sliding.value("partial_rotary_factor", 1.0) == 1 &&
      full.value("factor", 1.0) == 1 &&
      (type == "proportional" || (type == "default" && full.value("partial_rotary_factor", 1.0) == 1));
  need_of_llama_cpp(supported, config, "rope_parameters");
  const std::int64_t head_dim = config.at("global_head_dim");
  const auto rotated =
      static_cast<std::int64_t>(static_cast<double>(head_dim) * full.value("partial_rotary_factor", 1.0)) / 2;
  h.rope_factors.assign(as_size(head_dim / 2), kNotRotated);
  std::fill_n(h.rope_factors.begin(), rotated, 1.0f);
  const std::string at = h.architecture + ".rope.";
  h.metadata.add(at + "dimension_count", static_cast<std::uint32_t>(head_dim));
  h.metadata.add(at + "dimension_count_swa", config.at("head_dim").get<std::uint32_t>());
  h.metadata.add(at + "freq_base", full.at("rope_theta").get<float>());
  h.metadata.add(at + "freq_base_swa", sliding.at("rope_theta").get<float>());
}

}  // namespace

void write_gguf_gemma4(const Json& config, GgufHeader& h) {
  const auto size = [&](const char* key) { return config.at(key).get<std::uint32_t>(); };
  const auto add = [&](const char* key, std::uint32_t n) { h.metadata.add(h.architecture + "." + key, n); };
  const std::uint32_t inputs = size("hidden_size_per_layer_input"), shared = size("num_kv_shared_layers");
  if (inputs > 0)
    need_of_llama_cpp(config.at("vocab_size_per_layer_input") == config.at("vocab_size"), config,
                      "vocab_size_per_layer_input");
  const Json& full_heads = config.at("num_global_key_value_heads");
  const std::int32_t heads = config.at("num_key_value_heads");
  std::vector<bool> slides;
  std::vector<std::int32_t> key_heads, widths;
  for (const Json& type : config.at("layer_types")) {
    const bool wide = config.at("use_double_wide_mlp").get<bool>() &&
                      std::ssize(slides) >= layers_of(config) - static_cast<std::int64_t>(shared);
    slides.push_back(has_sliding_window(type));
    key_heads.push_back(slides.back() || full_heads.is_null() ? heads : full_heads.get<std::int32_t>());
    widths.push_back(config.at("intermediate_size").get<std::int32_t>() * (wide ? 2 : 1));
  }
  h.metadata.add(h.architecture + ".attention.sliding_window_pattern", slides);
  // One number where the converter of llama.cpp writes one.
  if (full_heads.is_null())
    add("attention.head_count_kv", size("num_key_value_heads"));
  else
    h.metadata.add(h.architecture + ".attention.head_count_kv", key_heads);
  if (config.at("use_double_wide_mlp") == true)
    h.metadata.add(h.architecture + ".feed_forward_length", widths);
  else
    add("feed_forward_length", size("intermediate_size"));
  add("attention.shared_kv_layers", shared);
  add("embedding_length_per_layer_input", inputs);
  for (const char* part : {"key", "value"}) {
    add(fmt::format("attention.{}_length", part).c_str(), size("global_head_dim"));
    add(fmt::format("attention.{}_length_swa", part).c_str(), size("head_dim"));
  }
  if (config.value("enable_moe_block", false)) {
    add("expert_count", size("num_experts"));
    add("expert_used_count", size("top_k_experts"));
    add("expert_feed_forward_length", size("moe_intermediate_size"));
  }
  write_gemma4_rotary(config, h);
}

std::vector<GgufRule> gemma4_gguf_rules(std::vector<GgufRule> rules, const Json& config) {
  rules.push_back({"per_layer_token_embd.weight", "model.embed_tokens_per_layer.weight"});
  rules.push_back({"per_layer_model_proj.weight", "model.per_layer_model_projection.weight"});
  rules.push_back({"per_layer_proj_norm.weight", "model.per_layer_projection_norm.weight"});
  const auto add = [&](const std::string& gguf, const std::string& hf, Form form = Form::same) {
    rules.push_back({"blk.{}." + gguf, "model.layers.{}." + hf, form});
  };
  add("inp_gate.weight", "per_layer_input_gate.weight");
  add("proj.weight", "per_layer_projection.weight");
  add("post_norm.weight", "post_per_layer_input_norm.weight");
  add("layer_output_scale.weight", "layer_scalar");
  if (!config.value("enable_moe_block", false)) return rules;
  add("ffn_gate_inp.weight", "router.proj.weight");
  add("ffn_gate_inp.scale", "router.scale");
  add("ffn_down_exps.scale", "router.per_expert_scale");
  add("pre_ffw_norm_2.weight", "pre_feedforward_layernorm_2.weight");
  add("post_ffw_norm_1.weight", "post_feedforward_layernorm_1.weight");
  add("post_ffw_norm_2.weight", "post_feedforward_layernorm_2.weight");
  add("ffn_down_exps.weight", "experts.{e}.down_proj.weight", Form::experts);
  add("ffn_gate_up_exps.weight", "experts.{e}.gate_up_proj.weight", Form::experts);
  rules.push_back({"blk.{}.ffn_gate_exps.weight", "model.layers.{}.experts.{e}.gate_up_proj.weight", Form::expert_gates,
                   /*only_read=*/true});
  rules.push_back({"blk.{}.ffn_up_exps.weight", "model.layers.{}.experts.{e}.gate_up_proj.weight", Form::expert_ups,
                   /*only_read=*/true});
  return rules;
}

}  // namespace tril::model

#include "model_io/gguf_mamba2.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/as_size.h"
#include "base/error.h"
#include "model_io/gguf_config.h"
#include "model_io/gguf_rope.h"

namespace tril::model {
namespace {

using Json = nlohmann::json;
using Kind = GgufKey::Kind;

// What the families' config.json calls the sizes of Mamba-2.
struct SizeKeys {
  const char *taps, *state, *groups, *heads;
};

SizeKeys size_keys(std::string_view family) {
  if (family == "mamba2") return {"conv_kernel", "state_size", "n_groups", "num_heads"};
  if (family == "nemotron_h") return {"conv_kernel", "ssm_state_size", "n_groups", "mamba_num_heads"};
  return {"mamba_d_conv", "mamba_d_state", "mamba_n_groups", "mamba_n_heads"};
}

std::string family_of_config(const Json& config) {
  return config.at("model_type").get<std::string>();
}

bool is_mamba_layer(const Json& type) {
  return type == "mamba" || type == "linear_attention";
}

bool is_attention_layer(const Json& type) {
  return type == "attention" || type == "full_attention";
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
  const std::int64_t inner = r.needed_count(kKey), heads = config.at(size_keys(family_of_config(config)).heads);
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
  for (const std::int64_t n : heads) types.push_back(n == 0 ? "linear_attention" : "full_attention");
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
    types.push_back(widths[i] != 0 ? (experts ? "moe" : "mlp") : heads[i] != 0 ? "full_attention" : "linear_attention");
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
  config["mlp_bias"] = has_tensor(r, "ffn_up.bias", first_layer(types, [](const Json& type) { return type == "mlp"; }));
  for (const char* key : {"dimension_count", "freq_base", "scaling.finetuned"})  // no positions
    r.ignore(fmt::format("rope.{}", key));
}

}  // namespace

std::vector<GgufKey> mamba2_gguf_keys(std::string_view model_type) {
  const SizeKeys sizes = size_keys(model_type);
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
  if (model_type == "falcon_h1") {
    keys.push_back({"feed_forward_length", "intermediate_size"});
    keys.push_back({"attention.head_count_kv", "num_key_value_heads"});
  }
  if (is_any(model_type, {"falcon_h1", "granitemoehybrid"}))
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
  if (is_any(family, {"falcon_h1", "granitemoehybrid"}) && !config.contains("rope_theta"))
    config["rope_theta"] = 10000.0;
  if (family == "granitemoehybrid")
    read_granite_hybrid(r, config);
  else if (family == "falcon_h1")
    read_falcon_h1(r, config);
  else if (family == "nemotron_h")
    read_nemotron_h(r, config);
  else
    read_pure_mamba2(r, config);
}

std::int64_t mamba2_groups_of(const Json& config) {
  return config.at(size_keys(family_of_config(config)).groups);
}

namespace {

void need_of_llama_cpp(bool ok, const Json& config, const char* key) {
  if (!ok)
    fail_usage(key, fmt::format("{} is not what llama.cpp computes for a {} model", config.at(key).dump(),
                                family_of_config(config)));
}

bool has_layer(const Json& types, const char* type) {
  return std::ranges::find(types, Json(type)) != types.end();
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
  const bool experts = has_layer(types, "moe");
  need_of_llama_cpp(!experts || !has_layer(types, "mlp"), config, "layers_block_type");  // has one kind of feed-forward
  const auto is_feed_forward = [](const Json& type) { return type == "mlp" || type == "moe"; };
  add("feed_forward_length",
      of_layers(types, is_feed_forward, config.at(experts ? "moe_intermediate_size" : "intermediate_size")));
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

Json without_mamba2(const Json& config) {
  if (family_of_config(config) != "granitemoehybrid") return config;
  const Json& types = config.at("layer_types");
  if (std::any_of(types.begin(), types.end(), is_mamba_layer)) return config;
  // llama.cpp's converter makes a granite of it.
  if (config.at("num_local_experts") != 0)
    fail_usage("layer_types",
               "a granitemoehybrid of attention alone with experts is not written as GGUF; llama.cpp's converter makes "
               "a granitemoe "
               "with a shared expert of it");
  need_of_llama_cpp(config.at("position_embedding_type") == "rope", config, "position_embedding_type");
  Json granite = config;
  granite["model_type"] = "granite";
  granite["intermediate_size"] = config.at("shared_intermediate_size");
  return granite;
}

std::string_view mamba2_gguf_architecture(const Json& config) {
  const std::string family = family_of_config(config);
  return family == "nemotron_h" && has_layer(config.at("layers_block_type"), "moe") ? "nemotron_h_moe"
                                                                                    : gguf_architecture(family);
}

void write_gguf_mamba2(const Json& config, GgufHeader& h) {
  const std::string family = family_of_config(config);
  if (family == "granitemoehybrid")
    write_granite_hybrid(config, h);
  else if (family == "falcon_h1")
    write_falcon_h1(config, h);
  else if (family == "nemotron_h")
    write_nemotron_h(config, h);
  else
    write_pure_mamba2(config, h);
}

}  // namespace tril::model

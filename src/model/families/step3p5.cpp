// step3p5: Step 3.5 Flash, and the text of Step 3.7 Flash. A number of heads and rotary positions by kind of layer, a gate of each
// head's result, norms of queries and keys; after the first layers, experts by sigmoid scores with a correction beside a shared
// one. Some layers bound what their SwiGLU multiplies: ops::clamped_swiglu() [StepFun 2026].
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/printable.h"
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"
#include "model/spec/renamed_keys.h"

namespace tril::model {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::pair<const char*, const char*>, 6> step_keys{
    {{"num_attention_groups", "num_key_value_heads"},
     {"moe_num_experts", "n_routed_experts"},
     {"num_local_experts", "n_routed_experts"},
     {"moe_top_k", "num_experts_per_tok"},
     {"share_expert_dims", "share_expert_dim"},
     {"num_mtp_layers", "num_nextn_predict_layers"}}};

// The publisher's files pad lists by layer with the layers that predict further tokens.
void trim_lists(const JsonObject& config, Json& json) {
  const std::int64_t further = config.get<std::int64_t>("num_nextn_predict_layers", 0);
  const auto layers = as_size(config.size("num_hidden_layers", 45));
  if (further < 0 || further > 1000)
    config.fail_at("num_nextn_predict_layers", fmt::format("{} is not from 0 to 1000", further));
  for (const char* key : {"layer_types", "mlp_layer_types", "swiglu_limits", "swiglu_limits_shared", "rope_theta",
                          "partial_rotary_factors"})
    if (const auto list = json.find(key); list != json.end() && list->is_array())
      if (further > 0 && list->size() == layers + as_size(further))
        list->erase(list->begin() + static_cast<Json::difference_type>(layers), list->end());
}

// moe_layers_enum: "3,4,5" or [3, 4, 5], the layers with experts.
std::set<std::int64_t> layers_with_experts(const JsonObject& config) {
  constexpr const char* key = "moe_layers_enum";
  if (!config.json().at(key).is_string()) {
    const auto listed = config.get<std::vector<std::int64_t>>(key);
    return {listed.begin(), listed.end()};
  }
  const std::string text = config.get<std::string>(key);
  std::set<std::int64_t> layers;
  for (const char *at = text.data(), *const end = at + text.size(); at != end;) {
    std::int64_t layer = 0;
    const auto [rest, error] = std::from_chars(at, end, layer);
    if (error != std::errc() || (rest != end && *rest != ','))
      config.fail_at(key, fmt::format("'{}' is not a list of layers", printable(text, 40)),
                     "expected 3,4,5 or [3, 4, 5]");
    layers.insert(layer);
    at = rest == end ? end : rest + 1;
  }
  return layers;
}

// Sets mlp_layer_types from the publisher's key for it. Without both, the first three layers have no experts.
void use_mlp_layer_types(const JsonObject& config, Json& json) {
  if (!config.has("mlp_layer_types")) {
    const bool listed = config.has("moe_layers_enum");
    const std::set<std::int64_t> sparse = listed ? layers_with_experts(config) : std::set<std::int64_t>();
    Json types = Json::array();
    for (std::int64_t i = 0, layers = config.size("num_hidden_layers", 45); i < layers && i < 1000; ++i)
      types.push_back((listed ? sparse.contains(i) : i >= 3) ? "sparse" : "dense");
    json["mlp_layer_types"] = types;
  }
  json.erase("moe_layers_enum");
}

// The value of layer `first` in a list by layer. It must be the same in all layers of its type.
double value_of_type(const JsonObject& config, const char* key, const std::vector<std::int32_t>& windows,
                     std::size_t first) {
  const auto values = config.get<std::vector<double>>(key);
  if (values.size() != windows.size())
    config.fail_at(key, fmt::format("{} numbers for {} layers", values.size(), windows.size()));
  for (std::size_t i = 0; i < windows.size(); ++i)
    if (windows[i] == windows[first] && values[i] != values[first])
      config.fail_at(key, fmt::format("layers {} and {} have the same type but other values", first, i));
  return values[first];
}

// rope_parameters by type of layer, from the publisher's rope_theta and partial_rotary_factors, which are lists by layer, and
// rope_scaling, which is for the layers without a window.
Json rotary_by_type(const JsonObject& config, const std::vector<std::int32_t>& windows) {
  Json by_type = Json::object();
  for (std::size_t i = 0; i < windows.size(); ++i) {
    Json& rope = by_type[windows[i] > 0 ? "sliding_attention" : "full_attention"];
    if (!rope.is_null()) continue;
    const bool list = config.has("rope_theta") && config.json().at("rope_theta").is_array();
    rope = {{"rope_type", "default"},
            {"rope_theta", list ? value_of_type(config, "rope_theta", windows, i) : config.get("rope_theta", 1e4)}};
    if (config.has("partial_rotary_factors"))
      rope["partial_rotary_factor"] = value_of_type(config, "partial_rotary_factors", windows, i);
  }
  const auto full = by_type.find("full_attention");
  if (const auto scaling = config.find_object("rope_scaling"); scaling && full != by_type.end())
    full->update(scaling->json());
  return by_type;
}

bool has_rotary_of_all(const JsonObject& config, const std::vector<std::int32_t>& windows) {
  const auto rope = config.find_object("rope_parameters");
  return rope && std::ranges::all_of(windows, [&](std::int32_t window) {
           const auto at = rope->json().find(window > 0 ? "sliding_attention" : "full_attention");
           return at != rope->json().end() && at->is_object();
         });
}

// Heads of the layers with a window: per_layer_config, as transformers writes it, num_sliding_attention_heads, or the
// publisher's attention_other_setting.
void read_heads_by_type(ConfigReader& reader, LlamaLikeConfig& k) {
  const JsonObject& json = reader.json();
  std::int64_t sliding = k.num_attention_heads;
  if (reader.has("attention_other_setting")) {
    const JsonObject other = json.object("attention_other_setting");
    sliding = other.size("num_attention_heads", sliding);
    if (other.size("num_attention_groups", k.kv_heads()) != k.kv_heads() ||
        other.size("head_dim", k.d_head()) != k.d_head())
      json.fail_at("attention_other_setting", "only its num_attention_heads may differ from the other layers");
  }
  sliding = reader.size("num_sliding_attention_heads", sliding);
  for (std::int64_t i = 0; i < k.num_hidden_layers; ++i)
    k.heads.push_back(k.window(i) > 0 ? sliding : k.num_attention_heads);
  std::string key = "num_sliding_attention_heads";
  if (reader.has("per_layer_config")) {
    key = "per_layer_config";
    k.heads.assign(as_size(k.num_hidden_layers), k.num_attention_heads);
    for (const auto& [layer, own] : read_single_layers(json, k.num_hidden_layers, {"num_attention_heads"}))
      k.heads[as_size(layer)] = own.size("num_attention_heads", k.num_attention_heads);
  }
  Json per_layer = Json::object();
  for (std::int64_t i = 0; i < k.num_hidden_layers; ++i) {
    check_size(json, key, k.query_heads(i), 1 << 12);
    if (k.query_heads(i) % k.kv_heads() != 0)
      json.fail_at(key, fmt::format("{} key heads do not divide {} heads", k.kv_heads(), k.query_heads(i)));
    if (k.query_heads(i) != k.num_attention_heads)
      per_layer[std::to_string(i)] = {{"num_attention_heads", k.query_heads(i)}};
  }
  k.own_keys["num_sliding_attention_heads"] = sliding;
  k.own_keys["per_layer_config"] = per_layer;
}

// A limit for each layer; null and 0: none.
std::vector<float> read_limits(ConfigReader& reader, LlamaLikeConfig& k, const char* key) {
  if (!reader.has(key)) return {};
  const Json& list = reader.json().json().at(key);
  if (!list.is_array() || std::ssize(list) != k.num_hidden_layers)
    reader.json().fail_at(key, fmt::format("is not a list of {} numbers, one for each layer", k.num_hidden_layers));
  std::vector<float> limits;
  for (const Json& limit : list) {
    const double value = limit.is_null() ? 0 : limit.is_number() ? limit.get<double>() : -1;
    if (!is_float_from_0(value)) reader.json().fail_at(key, "a limit is neither null nor a number of at least 0");
    limits.push_back(static_cast<float>(value));
  }
  k.own_keys[key] = list;
  return limits;
}

void read_step_experts(ConfigReader& reader, LlamaLikeConfig& k) {
  read_experts(reader, k, "n_routed_experts", 288, 8);
  ExpertsConfig& e = k.experts;
  e.d_ff = read_own_size(reader, k, "moe_intermediate_size", 1280, 1 << 20);
  e.shared_d_ff = read_own_size(reader, k, "share_expert_dim", 1280, 1 << 20);
  e.block = "moe", e.shared = "shared_experts", e.stored_shared = "share_expert", e.correction = "router_bias";
  e.fused_gate = "gate_proj.weight", e.fused_up = "up_proj.weight", e.fused_down = "down_proj.weight";
  const double scale = read_own_number(reader, k, "moe_router_scaling_factor", 1);
  e.routing = {.score = ops::RouterOptions::Score::sigmoid, .scale = static_cast<float>(scale)};
  read_mlp_layer_types(reader, k);
  k.own_keys["output_router_logits"] = reader.get<bool>("output_router_logits", false);
  e.limits = read_limits(reader, k, "swiglu_limits");
  k.feed_forward_limits = read_limits(reader, k, "swiglu_limits_shared");
}

// Layers that predict further tokens, which are ignored.
void leave_further_layers(ConfigReader& reader, LlamaLikeConfig& k) {
  const auto further = reader.get<std::int64_t>("num_nextn_predict_layers", 0);
  for (std::int64_t i = 0; i < further; ++i)
    k.left_alone.push_back(fmt::format("model.layers.{}.", k.num_hidden_layers + i));
  k.own_keys["num_nextn_predict_layers"] = further;
  reader.ignore({"mtp_layer_types", "mtp_mlp_layer_types"});
}

// Keys of the publisher's own code, with the only values that its models have.
void read_step_code_keys(ConfigReader& reader) {
  for (const char* key : {"use_head_wise_attn_gate", "zero_centered", "norm_expert_weight", "use_moe_router_bias",
                          "gating", "use_qk_norm"})
    reader.only(key, true);
  for (const char* key : {"sink", "use_bidirectional_attention", "mlp_bias"}) reader.only(key, false);
  reader.only<std::string>("moe_router_activation", "sigmoid");
  reader.only<std::string>("att_impl_type", "GQA");
  reader.ignore(
      {"need_fp32_gate", "use_moe", "moe_every_n_layer", "moe_layer_offset", "max_seq_len", "yarn_only_types"});
}

}  // namespace

std::unique_ptr<Model> make_step3p5(const JsonObject& config) {
  RenamedConfig renamed = rename_keys(config, step_keys);
  const auto object = [&] { return JsonObject(renamed.json, config.where(), &renamed.names); };
  trim_lists(object(), renamed.json);
  use_mlp_layer_types(object(), renamed.json);
  const JsonObject json = object();
  ConfigReader reader(json, "step3p5");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "step3p5",
                                               .architecture = "Step3p5ForCausalLM",
                                               .vocab_size = 128815,
                                               .hidden_size = 4096,
                                               .intermediate_size = 11264,
                                               .num_hidden_layers = 45,
                                               .num_attention_heads = 64,
                                               .num_key_value_heads = 8,
                                               .head_dim = 128,
                                               .max_position_embeddings = 128000,
                                               .norm_eps = 1e-5,
                                               .bos_token_id = -1,
                                               .eos_token_id = -1,
                                               .pad_token_id = 1,
                                               .rope_defaults = {.turns_part = true},
                                               .rope_by_type = true,
                                               .attention_gate = "g_proj",
                                               .norms_store_offset = true});
  if (k.pad_token_id < 0 && k.vocab_size > 1) k.pad_token_id = 1;  // transformers accepts no null
  read_attention_bias(reader, k);
  k.head_norms = rms_head_norms(k);
  const double scalar = read_own_number(reader, k, "query_pre_attn_scalar", static_cast<double>(k.d_head()));
  k.attention_scale = static_cast<float>(1 / std::sqrt(scalar));
  read_own_windows(reader, k, read_window(reader, 0), [](std::int64_t) { return false; });
  read_heads_by_type(reader, k);
  read_step_experts(reader, k);
  leave_further_layers(reader, k);
  read_step_code_keys(reader);
  if (!has_rotary_of_all(json, k.windows)) renamed.json["rope_parameters"] = rotary_by_type(json, k.windows);
  for (const char* key : {"rope_theta", "rope_scaling", "partial_rotary_factors"}) renamed.json.erase(key);
  const RotaryByType rotary = read_nested_rotary(reader, k.rope_defaults, Json::object(), k.windows);
  k.rope = rotary.full, k.sliding_rope = rotary.sliding;
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

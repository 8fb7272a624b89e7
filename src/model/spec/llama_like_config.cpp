#include "model/spec/llama_like_config.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/printable.h"
#include "model/spec/decoder_keys.h"

namespace tril::model {

NormNames post_norms() {
  return {.before_attention = {},
          .after_attention = "post_attention_layernorm",
          .before_feed_forward = {},
          .after_feed_forward = "post_feedforward_layernorm"};
}

NormNames sandwich_norms() {
  return {.after_attention = "post_attention_layernorm",
          .before_feed_forward = "pre_feedforward_layernorm",
          .after_feed_forward = "post_feedforward_layernorm"};
}

LlamaLikeConfig read_llama_like(ConfigReader& config, LlamaLikeConfig k) {
  const JsonObject& json = config.json();
  read_decoder_keys(config, k);
  k.num_key_value_heads = config.says_null("num_key_value_heads") ? k.num_attention_heads
                                                                  : config.size("num_key_value_heads", k.kv_heads());
  check_size(json, "num_key_value_heads", k.num_key_value_heads, k.num_attention_heads);
  if (k.num_attention_heads % k.num_key_value_heads != 0)
    json.fail_at("num_key_value_heads",
                 fmt::format("{} key heads do not divide {} heads", k.num_key_value_heads, k.num_attention_heads));
  if (!config.has("head_dim") && k.head_dim == 0) check_heads_divide(config, k);
  k.head_dim = k.reads_head_dim ? config.size("head_dim", k.d_head()) : k.d_head();
  check_size(json, "head_dim", k.head_dim, 1 << 12);

  if (k.feed_forward != LlamaLikeConfig::FeedForward::xielu)
    k.hidden_act = config.hidden_act(k.hidden_act_key, k.hidden_act);
  if (!k.norm_eps_key.empty()) k.norm_eps = config.positive(k.norm_eps_key, k.norm_eps);
  k.rope_defaults.head_dim = k.head_dim;
  k.rope_defaults.max_positions = k.max_position_embeddings;
  if (!k.rope_by_type) k.rope = read_rotary(config, k.rope_defaults);
  return k;
}

nlohmann::ordered_json llama_like_json(const LlamaLikeConfig& k) {
  nlohmann::ordered_json j = decoder_keys_json(k);
  j["num_key_value_heads"] = k.kv_heads();
  j["head_dim"] = k.d_head();
  const bool xielu = k.feed_forward == LlamaLikeConfig::FeedForward::xielu;
  j[k.hidden_act_key] = xielu ? "xielu" : name_of(k.hidden_act);
  if (!k.norm_eps_key.empty()) j[k.norm_eps_key] = k.norm_eps;
  if (k.sliding_rope)
    write_rotary_by_type(j, {k.rope, *k.sliding_rope}, k.full_head_dim ? k.full_head_dim : k.d_head(), k.d_head());
  else
    write_rotary(j, k.rope, k.d_head(), k.rope_defaults.partial);
  for (const auto& [key, value] : k.own_keys.items()) j[key] = value;
  return j;
}

std::map<std::int64_t, JsonObject> read_single_layers(const JsonObject& json, std::int64_t layers,
                                                      const std::vector<std::string>& keys) {
  const JsonObject all = json.object("per_layer_config");
  std::map<std::int64_t, JsonObject> by_layer;
  for (const std::string& key : all.keys()) {
    std::int64_t layer = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), layer);
    if (error != std::errc() || end != key.data() + key.size() || layer < 0 || layer >= layers)
      all.fail_at(printable(key, 40), "is not the number of a layer", fmt::format("expected 0 to {}", layers - 1));
    const auto [at, is_new] = by_layer.emplace(layer, all.object(key));
    if (!is_new) all.fail_at(key, fmt::format("layer {} has two entries", layer));
    check_keys(at->second, keys);
  }
  return by_layer;
}

bool read_own_bool(ConfigReader& config, LlamaLikeConfig& k, const std::string& key, bool otherwise) {
  const bool value = config.flag(key, otherwise);
  k.own_keys[key] = value;
  return value;
}

std::int64_t read_own_size(ConfigReader& config, LlamaLikeConfig& k, const std::string& key, std::int64_t otherwise,
                           std::int64_t most) {
  const std::int64_t value = config.size(key, otherwise);
  check_size(config.json(), key, value, most);
  k.own_keys[key] = value;
  return value;
}

double read_own_number(ConfigReader& config, LlamaLikeConfig& k, const std::string& key, double otherwise) {
  const double value = config.positive(key, otherwise);
  k.own_keys[key] = value;
  return value;
}

nn::Attention::HeadNorms rms_head_norms(const LlamaLikeConfig& k) {
  return {.each = {.over = nn::HeadNorm::Over::head, .eps = static_cast<float>(k.norm_eps)}};
}

void read_query_scale(ConfigReader& config, LlamaLikeConfig& k) {
  // transformers requires a whole number.
  const std::int64_t scalar = read_own_size(config, k, "query_pre_attn_scalar", 256, 1 << 30);
  k.attention_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(scalar)));
}

void read_attention_bias(ConfigReader& config, LlamaLikeConfig& k) {
  k.attention_bias = k.attention_out_bias = read_own_bool(config, k, "attention_bias", false);
}

void read_clip(ConfigReader& config, LlamaLikeConfig& k) {
  const bool clips = config.has("clip_qkv") && !config.says_null("clip_qkv");
  const double clip = clips ? config.positive("clip_qkv", 1) : 0;
  k.clip_qkv = static_cast<float>(clip);
  k.own_keys["clip_qkv"] = clips ? nlohmann::json(clip) : nlohmann::json(nullptr);
}

void read_multipliers(ConfigReader& config, LlamaLikeConfig& k) {
  const auto factor = [&](const char* key) {
    const double value = read_own_number(config, k, key, 1);
    if (!is_positive_float(1 / value))
      config.json().fail_at(key, fmt::format("1 / {} does not fit into float32", value));
    return value;
  };
  k.embedding_scale = static_cast<float>(factor("embedding_multiplier"));
  k.attention_scale = static_cast<float>(factor("attention_multiplier"));
  k.residual_scale = static_cast<float>(factor("residual_multiplier"));
  k.logit_scale = static_cast<float>(1 / factor("logits_scaling"));
}

void read_experts(ConfigReader& config, LlamaLikeConfig& k, const std::string& count_key, std::int64_t count,
                  std::int64_t per_token) {
  k.experts.count = config.size(count_key, count);
  k.experts.per_token = config.size("num_experts_per_tok", per_token);
  set_experts(config, k, count_key, "num_experts_per_tok");
}

void set_experts(ConfigReader& config, LlamaLikeConfig& k, const std::string& count_key,
                 const std::string& per_token_key) {
  const JsonObject& json = config.json();
  const std::int64_t count = k.experts.count, all = count * k.num_hidden_layers;
  check_size(json, count_key, count, 1 << 12);
  // Each expert has three weights: small files must not request millions of them.
  if (constexpr std::int64_t most = 1 << 16; all > most)
    json.fail_at(count_key, fmt::format("{} in each of {} layers makes {} experts, above the supported maximum of {}",
                                        count, k.num_hidden_layers, all, most));
  check_size(json, per_token_key, k.experts.per_token, count);
  k.own_keys[count_key] = count;
  k.own_keys[per_token_key] = k.experts.per_token;
}

void read_expert_groups(ConfigReader& config, LlamaLikeConfig& k, const DeepseekRouter& otherwise) {
  const JsonObject& json = config.json();
  ExpertsConfig& e = k.experts;
  e.routing.groups = read_own_size(config, k, "n_group", otherwise.groups, e.count);
  if (e.count % e.routing.groups != 0)
    json.fail_at("n_group", fmt::format("{} groups do not divide {} experts", e.routing.groups, e.count));
  e.routing.chosen_groups = read_own_size(config, k, "topk_group", otherwise.chosen_groups, e.routing.groups);
  if (e.per_token > e.count / e.routing.groups * e.routing.chosen_groups)
    json.fail_at("topk_group",
                 fmt::format("{} groups hold fewer than {} experts", e.routing.chosen_groups, e.per_token));
}

void read_dense_layers(ConfigReader& config, LlamaLikeConfig& k, std::int64_t otherwise, const std::string& key) {
  const auto dense = config.get<std::int64_t>(key, otherwise);
  k.own_keys[key] = dense;
  for (std::int64_t i = 0; i < k.num_hidden_layers; ++i) k.experts.sparse.push_back(i >= dense);
}

void read_mlp_layer_types(ConfigReader& config, LlamaLikeConfig& k) {
  const auto types = config.get<std::vector<std::string>>("mlp_layer_types", {});
  if (!types.empty() && std::ssize(types) != k.num_hidden_layers)
    config.json().fail_at("mlp_layer_types", fmt::format("{} types for {} layers", types.size(), k.num_hidden_layers));
  nlohmann::json written = nlohmann::json::array();
  for (std::int64_t i = 0; i < k.num_hidden_layers; ++i) {
    const bool sparse = types.empty() ? i > 0 : types.begin()[i] == "sparse";
    if (!types.empty() && !sparse && types.begin()[i] != "dense")
      config.json().fail_at("mlp_layer_types", "a type is neither dense nor sparse");
    k.experts.sparse.push_back(sparse);
    written.push_back(sparse ? "sparse" : "dense");
  }
  k.own_keys["mlp_layer_types"] = written;
}

void read_further_layers(ConfigReader& config, LlamaLikeConfig& k) {
  const std::string key = config.spelt("num_nextn_predict_layers", "num_mtp_layers");
  const auto layers = config.get<std::int64_t>(key, 0);
  k.own_keys[key] = layers;
  if (layers > 1)
    config.json().fail_at(key, fmt::format("{} is not supported", layers),
                          "at most one layer for further tokens is supported");
  if (layers == 1) k.left_alone.push_back(fmt::format("{}.{}.", k.layers_name, k.num_hidden_layers));
}

void read_deepseek_router(ConfigReader& config, LlamaLikeConfig& k, const DeepseekRouter& otherwise) {
  ExpertsConfig& e = k.experts;
  e.shared_d_ff = e.d_ff * read_own_size(config, k, "n_shared_experts", 1, 1 << 12);
  read_expert_groups(config, k, otherwise);
  e.routing.normalised = read_own_bool(config, k, "norm_topk_prob", otherwise.normalised);
  e.routing.scale = static_cast<float>(read_own_number(config, k, "routed_scaling_factor", otherwise.scale));
  e.routing.score = ops::RouterOptions::Score::sigmoid;
  e.correction = "gate.e_score_correction_bias";
}

void read_router_training(ConfigReader& config, LlamaLikeConfig& k, double aux_loss) {
  k.own_keys["output_router_logits"] = config.get<bool>("output_router_logits", false);
  k.own_keys["router_aux_loss_coef"] = config.at_least_0("router_aux_loss_coef", aux_loss);
  if (config.has("router_jitter_noise"))
    k.own_keys["router_jitter_noise"] = config.at_least_0("router_jitter_noise", 0);
}

void read_sparse_layers(ConfigReader& config, LlamaLikeConfig& k, std::vector<std::int64_t> dense) {
  const std::int64_t step = read_own_size(config, k, "decoder_sparse_step", 1, 1 << 30);
  dense = config.get("mlp_only_layers", std::move(dense));
  for (std::int64_t i = 0; i < k.num_hidden_layers; ++i)
    k.experts.sparse.push_back((i + 1) % step == 0 && std::ranges::find(dense, i) == dense.end());
  k.own_keys["mlp_only_layers"] = dense;
}

void read_common_window(ConfigReader& config, LlamaLikeConfig& k, std::int32_t otherwise) {
  const std::int32_t window = read_window(config, otherwise);
  k.windows.assign(static_cast<std::size_t>(k.num_hidden_layers), window);
  k.own_keys["sliding_window"] = window_json(window);
}

void read_own_windows(ConfigReader& config, LlamaLikeConfig& k, std::int32_t window,
                      const std::function<bool(std::int64_t)>& slides) {
  k.windows = read_layer_windows(config, k.num_hidden_layers, window, slides);
  k.own_keys["sliding_window"] = window_json(window);
  k.own_keys["layer_types"] = layer_types_json(k.windows);
}

void read_window_pattern(ConfigReader& config, LlamaLikeConfig& k, std::int32_t otherwise, std::int64_t pattern) {
  read_own_windows(config, k, read_window(config, otherwise),
                   [&](std::int64_t i) { return pattern > 0 && (i + 1) % pattern != 0; });
}

float read_softcap(ConfigReader& config, LlamaLikeConfig& k, const std::string& key, double otherwise) {
  const bool none = config.says_null(key) || (otherwise == 0 && !config.has(key));
  const double cap = none ? 0.0 : config.positive(key, otherwise);
  k.own_keys[key] = cap == 0 ? nlohmann::json(nullptr) : nlohmann::json(cap);
  return static_cast<float>(cap);
}

std::int32_t read_window(ConfigReader& config, std::int32_t otherwise) {
  if (config.says_null("sliding_window")) return 0;
  return static_cast<std::int32_t>(config.size("sliding_window", otherwise));
}

nlohmann::json window_json(std::int32_t window) {
  return window == 0 ? nlohmann::json(nullptr) : nlohmann::json(window);
}

namespace {

// layer_types, with full_attention or one of the other types for each layer.
std::vector<std::string> read_layer_types(ConfigReader& config, std::int64_t layers,
                                          const std::vector<std::string>& others) {
  const JsonObject& json = config.json();
  auto types = config.get<std::vector<std::string>>("layer_types", {});
  if (std::ssize(types) != layers)
    json.fail_at("layer_types", fmt::format("{} types for {} layers", types.size(), layers));
  for (const std::string& type : types)
    if (type != "full_attention" && std::ranges::find(others, type) == others.end())
      json.fail_at("layer_types", fmt::format("'{}' is not supported", printable(type, 40)),
                   fmt::format("supported: full_attention, {}", fmt::join(others, ", ")));
  return types;
}

}  // namespace

void read_recurrent_layers(ConfigReader& config, LlamaLikeConfig& k, const std::string& type,
                           const std::function<bool(std::int64_t)>& recurs) {
  std::vector<std::string> types;
  if (config.has("layer_types"))
    types = read_layer_types(config, k.num_hidden_layers, {type});
  else
    for (std::int64_t i = 0; i < k.num_hidden_layers; ++i) types.push_back(recurs(i) ? type : "full_attention");
  for (const std::string& of_layer : types) k.recurrent.push_back(of_layer == type);
  k.own_keys["layer_types"] = types;
}

namespace {

// The window of a layer of this type.
std::int32_t window_of(const JsonObject& json, const std::string& type, std::int32_t window) {
  if (type != "sliding_attention") return 0;
  if (window == 0)
    json.fail_at("layer_types",
                 fmt::format("some layers are sliding_attention, but {} is not set", json.name_of("sliding_window")));
  return window;
}

}  // namespace

void read_recurrent_and_windows(ConfigReader& config, LlamaLikeConfig& k, const std::string& type, std::int32_t window,
                                const std::function<std::string(std::int64_t)>& type_of) {
  std::vector<std::string> types;
  if (config.has("layer_types"))
    types = read_layer_types(config, k.num_hidden_layers, {type, "sliding_attention"});
  else
    for (std::int64_t i = 0; i < k.num_hidden_layers; ++i) types.push_back(type_of(i));
  for (const std::string& of_layer : types) {
    k.recurrent.push_back(of_layer == type);
    k.windows.push_back(window_of(config.json(), of_layer, window));
  }
  k.own_keys["sliding_window"] = window_json(window);
  k.own_keys["layer_types"] = types;
}

std::vector<std::int32_t> read_layer_windows(ConfigReader& config, std::int64_t layers, std::int32_t window,
                                             const std::function<bool(std::int64_t)>& slides) {
  std::vector<std::int32_t> windows;
  if (!config.has("layer_types")) {
    for (std::int64_t i = 0; i < layers; ++i) windows.push_back(slides(i) ? window : 0);
    return windows;
  }
  for (const std::string& type : read_layer_types(config, layers, {"sliding_attention"}))
    windows.push_back(window_of(config.json(), type, window));
  return windows;
}

nlohmann::json layer_types_json(const std::vector<std::int32_t>& windows) {
  nlohmann::json types = nlohmann::json::array();
  for (const std::int32_t w : windows) types.push_back(w > 0 ? "sliding_attention" : "full_attention");
  return types;
}

void read_upper_windows(ConfigReader& config, LlamaLikeConfig& k) {
  const bool on = read_own_bool(config, k, "use_sliding_window", false);
  const std::int32_t window = read_window(config, 4096);
  const std::int64_t first = config.get<std::int64_t>("max_window_layers", 28);
  k.own_keys["max_window_layers"] = first;
  read_own_windows(config, k, on ? window : 0, [&](std::int64_t i) { return on && i >= first; });
}

}  // namespace tril::model

#include "model/spec/llama_like.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "model/spec/decoder_keys.h"
#include "model/spec/fused_rows.h"
#include "model/spec/rotary_config.h"

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
  k.head_dim = config.size("head_dim", k.d_head());
  check_size(json, "head_dim", k.head_dim, 1 << 12);

  k.hidden_act = config.get<std::string>(k.hidden_act_key, k.hidden_act);
  nn::activation_of(k.hidden_act, json.place_of(k.hidden_act_key));
  if (!k.norm_eps_key.empty()) k.norm_eps = config.positive(k.norm_eps_key, k.norm_eps);
  k.rope_defaults.head_dim = k.head_dim;
  k.rope_defaults.max_positions = k.max_position_embeddings;
  if (!k.rope_by_type) k.rope = read_rotary(config, k.rope_defaults);
  return k;
}

bool read_own_bool(ConfigReader& config, LlamaLikeConfig& k, const std::string& key, bool otherwise) {
  const bool value = config.get<bool>(key, otherwise);
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
  // A whole number, as transformers has it.
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
  // Each is three weights: a few numbers in a small file must not ask for millions of them.
  if (constexpr std::int64_t most = 1 << 16; all > most)
    json.fail_at(count_key, fmt::format("{} in each of {} layers makes {} experts, above the supported maximum of {}",
                                        count, k.num_hidden_layers, all, most));
  check_size(json, per_token_key, k.experts.per_token, count);
  k.own_keys[count_key] = count;
  k.own_keys[per_token_key] = k.experts.per_token;
}

void read_deepseek_router(ConfigReader& config, LlamaLikeConfig& k) {
  const JsonObject& json = config.json();
  ExpertsConfig& e = k.experts;
  e.shared_d_ff = e.d_ff * read_own_size(config, k, "n_shared_experts", 1, 1 << 12);
  e.routing.groups = read_own_size(config, k, "n_group", 1, e.count);
  if (e.count % e.routing.groups != 0)
    json.fail_at("n_group", fmt::format("{} groups do not divide {} experts", e.routing.groups, e.count));
  e.routing.chosen_groups = read_own_size(config, k, "topk_group", 1, e.routing.groups);
  if (e.per_token > e.count / e.routing.groups * e.routing.chosen_groups)
    json.fail_at("topk_group",
                 fmt::format("{} groups hold fewer than {} experts", e.routing.chosen_groups, e.per_token));
  e.routing.normalised = read_own_bool(config, k, "norm_topk_prob", true);
  e.routing.scale = static_cast<float>(read_own_number(config, k, "routed_scaling_factor", 1));
  e.routing.score = ops::RouterOptions::Score::sigmoid;
  e.correction = "gate.e_score_correction_bias";
  const auto dense = config.get<std::int64_t>("first_k_dense_replace", 1);
  k.own_keys["first_k_dense_replace"] = dense;
  for (std::int64_t i = 0; i < k.num_hidden_layers; ++i) e.sparse.push_back(i >= dense);
}

void read_router_training(ConfigReader& config, LlamaLikeConfig& k, double aux_loss) {
  k.own_keys["output_router_logits"] = config.get<bool>("output_router_logits", false);
  k.own_keys["router_aux_loss_coef"] = config.at_least_0("router_aux_loss_coef", aux_loss);
  if (config.has("router_jitter_noise"))
    k.own_keys["router_jitter_noise"] = config.at_least_0("router_jitter_noise", 0);
}

void read_sparse_layers(ConfigReader& config, LlamaLikeConfig& k) {
  const std::int64_t step = read_own_size(config, k, "decoder_sparse_step", 1, 1 << 30);
  const auto dense = config.get<std::vector<std::int64_t>>("mlp_only_layers", {});
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

std::vector<std::int32_t> read_layer_windows(ConfigReader& config, std::int64_t layers, std::int32_t window,
                                             const std::function<bool(std::int64_t)>& slides) {
  const JsonObject& json = config.json();
  std::vector<std::int32_t> windows;
  if (!config.has("layer_types")) {
    for (std::int64_t i = 0; i < layers; ++i) windows.push_back(slides(i) ? window : 0);
    return windows;
  }
  const auto types = json.get<std::vector<std::string>>("layer_types");
  if (static_cast<std::int64_t>(types.size()) != layers)
    json.fail_at("layer_types", fmt::format("{} types for {} layers", types.size(), layers));
  for (const std::string& type : types) {
    if (type != "full_attention" && type != "sliding_attention")
      json.fail_at("layer_types", fmt::format("'{}' is not supported", printable(type, 40)),
                   "supported: full_attention, sliding_attention");
    if (type == "sliding_attention" && window == 0)
      json.fail_at("layer_types",
                   fmt::format("some layers are sliding_attention, but {} is not set", json.name_of("sliding_window")));
    windows.push_back(type == "sliding_attention" ? window : 0);
  }
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

LlamaLike::LlamaLike(LlamaLikeConfig config) : config_(std::move(config)) {
  const auto& k = config_;
  nn::Parameters& p = parameters_;
  rotaries_.emplace_back(k.rope);
  if (k.sliding_rope) rotaries_.emplace_back(*k.sliding_rope);
  embedding_ = nn::Embedding(p, "model.embed_tokens.weight", k.vocab_size, k.hidden_size,
                             {.scale = k.embedding_scale, .deviation = k.initializer_range});
  const auto eps = static_cast<float>(k.norm_eps);
  if (k.norms_embedding) embedding_norm_ = nn::Norm(p, "embedding norm", k.hidden_size, eps, nn::Norm::Kind::rms_plain);
  for (std::int64_t i = 0; i < k.num_hidden_layers; ++i) layers_.push_back(make_layer(i));
  final_norm_ = nn::Norm(p, k.norm_names.last, k.hidden_size, eps, k.norm);
  output_ = k.tie_word_embeddings
                ? embedding_.table()
                : &p.add("lm_head.weight", {k.vocab_size, k.hidden_size}, nn::Init::normal(k.initializer_range));
  output_->in_products = true;
  for (nn::Parameter& w : p.all())
    if (w.in_products || w.hidden_matrix) w.init = nn::Init::normal(k.initializer_range);
}

nn::DecoderLayer LlamaLike::make_layer(std::int64_t i) {
  using Fused = LlamaLikeConfig::Fused;
  const auto& k = config_;
  nn::Parameters& p = parameters_;
  nn::DecoderLayer layer;
  layer.name = "model.layers." + std::to_string(i);
  layer.residual_scale = k.residual_scale;
  layer.dropout = k.residual_dropout;
  layer.feed_forward_dropout = std::max(k.residual_dropout, k.feed_forward_dropout);
  layer.parallel = k.parallel_sublayers;
  const auto make_norm = [&](std::optional<nn::Norm>& norm, const std::string& name) {
    if (!name.empty())
      norm = nn::Norm(p, layer.name + "." + name, k.hidden_size, static_cast<float>(k.norm_eps), k.norm);
  };
  make_norm(layer.before_attention, k.norm_names.before_attention);
  layer.self_attention = nn::Attention(
      p, layer.name + ".self_attn",
      {.d_model = k.hidden_size,
       .num_heads = k.num_attention_heads,
       .num_kv_heads = k.kv_heads(),
       .d_k = k.d_head(),
       .projections = k.fused == Fused::none ? nn::Attention::Projections::separate : nn::Attention::Projections::qkv,
       .bias = k.attention_bias,
       .out_bias = k.attention_out_bias,
       .dropout = k.attention_dropout,
       .scale = k.attention_scale,
       .softcap = k.attention_softcap,
       .window = k.window(i),
       .head_norms = k.head_norms,
       .rotary = k.rotary(i),
       .clip = k.clip_qkv,
       .sink_logits = k.sink_logits,
       .result_norm = k.attention_result_norm,
       .result_norm_eps = static_cast<float>(k.norm_eps),
       .qkv = k.qkv_name,
       .out = k.out_name});
  if (k.fused == Fused::head_by_head)
    for (const char* part : {".weight", ".bias"}) {
      const std::string name = layer.name + ".self_attn." + k.qkv_name + part;
      stored_[name] = {.names = {name},
                       .row_order = fused_rows({.groups = k.num_attention_heads,
                                                .query_rows = k.num_attention_heads * k.d_head(),
                                                .key_rows = k.kv_heads() * k.d_head()})};
    }
  make_norm(layer.after_attention, k.norm_names.after_attention);
  make_norm(layer.before_feed_forward, k.norm_names.before_feed_forward);
  make_feed_forward(layer, i);
  make_norm(layer.after_feed_forward, k.norm_names.after_feed_forward);
  return layer;
}

void LlamaLike::make_feed_forward(nn::DecoderLayer& layer, std::int64_t i) {
  const auto& k = config_;
  nn::Parameters& p = parameters_;
  const ops::Activation activation = nn::activation_of(k.hidden_act, k.hidden_act_key);
  if (k.feed_forward == LlamaLikeConfig::FeedForward::plain) {
    layer.feed_forward = nn::FeedForward(p, layer.name + ".mlp",
                                         {.d_model = k.hidden_size,
                                          .d_ff = k.intermediate_size,
                                          .activation = activation,
                                          .bias = k.mlp_bias,
                                          .first = k.up_name,
                                          .second = k.down_name});
    return;
  }
  nn::GatedFeedForward::Options gated{.d_model = k.hidden_size,
                                      .d_ff = k.intermediate_size,
                                      .activation = activation,
                                      .bias = k.mlp_bias,
                                      .up = k.up_name,
                                      .down = k.down_name,
                                      .inner_norm = k.feed_forward_inner_norm,
                                      .norm_eps = static_cast<float>(k.norm_eps),
                                      .gate_up = k.gate_up_name};
  const ExpertsConfig& e = k.experts;
  if (e.count > 0 && (e.sparse.empty() || e.sparse[static_cast<std::size_t>(i)]))
    make_experts(layer, gated);
  else
    layer.feed_forward = nn::GatedFeedForward(p, layer.name + ".mlp", gated);
}

void LlamaLike::make_experts(nn::DecoderLayer& layer, nn::GatedFeedForward::Options expert) {
  const ExpertsConfig& e = config_.experts;
  const std::string prefix = layer.name + "." + e.block;
  expert.gate = e.gate, expert.up = e.up, expert.down = e.down;
  if (e.d_ff > 0) expert.d_ff = e.d_ff;
  if (!e.fused_gate_up.empty()) expert.gate_up = "gate_up_proj";
  layer.feed_forward = nn::ExpertFeedForward(parameters_, prefix,
                                             {.num_experts = e.count,
                                              .experts_per_token = e.per_token,
                                              .routing = e.routing,
                                              .expert = expert,
                                              .shared_d_ff = e.shared_d_ff,
                                              .router = e.router,
                                              .shared = e.shared,
                                              .correction = e.correction,
                                              .shared_gate = e.shared_gate});
  for (std::int64_t i = 0; i < e.count && !e.fused_gate_up.empty(); ++i)
    for (const auto& [own, fused] : {std::pair{expert.gate_up, e.fused_gate_up}, {expert.down, e.fused_down}})
      stored_[fmt::format("{}.experts.{}.{}.weight", prefix, i, own)] = {.names = {prefix + "." + fused},
                                                                         .part = {i, e.count}};
}

std::string LlamaLike::config_json() const {
  const auto& k = config_;
  nlohmann::ordered_json j = decoder_keys_json(k);
  j["num_key_value_heads"] = k.kv_heads();
  j["head_dim"] = k.d_head();
  j[k.hidden_act_key] = k.hidden_act;
  if (!k.norm_eps_key.empty()) j[k.norm_eps_key] = k.norm_eps;
  if (k.sliding_rope)
    write_rotary_by_type(j, {k.rope, *k.sliding_rope}, k.d_head());
  else
    write_rotary(j, k.rope, k.d_head(), k.rope_defaults.partial);
  for (const auto& [key, value] : k.own_keys.items()) j[key] = value;
  return j.dump(2);
}

std::int64_t LlamaLike::max_positions() const {
  return config_.rope.scaling == nn::RotaryOptions::Scaling::dynamic ? 0 : config_.max_position_embeddings;
}

SpecialIds LlamaLike::special_ids() const {
  return {.pad = config_.pad_token_id, .bos = config_.bos_token_id, .eos = config_.eos_token_id};
}

StoredAs LlamaLike::stored_as(const nn::Parameter& p) const {
  const auto& k = config_;
  if (const auto at = stored_.find(p.name); at != stored_.end()) return at->second;
  const bool is_norm = p.shape.rank() == 1 && !p.name.ends_with(".bias");
  return {.names = {p.name}, .added = k.norms_store_offset && is_norm ? 1.0f : 0.0f};
}

// The tied output, and the frequencies that older files store.
bool LlamaLike::is_redundant(std::string_view name) const {
  if (name == "lm_head.weight") return config_.tie_word_embeddings;
  return name.ends_with(".rotary_emb.inv_freq");
}

Tensor LlamaLike::decode(Context& c, const DecoderInput& input) const {
  const auto call = decoder_call(c, input, /*bias=*/nullptr, rotaries_);
  Tensor embedded = ops::dropout(c, embedding_.forward(c, input.ids), config_.embedding_dropout);
  if (embedding_norm_) embedded = embedding_norm_->forward(c, embedded);
  const Tensor h =
      final_norm_.forward(c, run_layers(c, layers_, embedded, call, {.checkpointing = gradient_checkpointing_}));
  return config_.logit_scale == 1 ? h : ops::scale(c, h, config_.logit_scale);
}

}  // namespace tril::model

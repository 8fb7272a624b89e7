#include "model/spec/llama_like.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "model/spec/decoder_keys.h"
#include "model/spec/rotary_config.h"

namespace tril::model {

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
  k.rms_norm_eps = config.positive("rms_norm_eps", k.rms_norm_eps);
  k.rope = read_rotary(config, {.head_dim = k.head_dim,
                                .max_positions = k.max_position_embeddings,
                                .theta = k.rope.theta,
                                .turns_part = k.turns_part_of_head,
                                .original = k.rope.original});
  return k;
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
  const bool on = config.get<bool>("use_sliding_window", false);
  const std::int32_t window = read_window(config, 4096);
  const std::int64_t first = config.get<std::int64_t>("max_window_layers", 28);
  k.windows = read_layer_windows(config, k.num_hidden_layers, on ? window : 0,
                                 [&](std::int64_t i) { return on && i >= first; });
  k.own_keys = nlohmann::json{{"use_sliding_window", on},
                              {"sliding_window", window_json(on ? window : 0)},
                              {"max_window_layers", first},
                              {"layer_types", layer_types_json(k.windows)}};
}

LlamaLike::LlamaLike(LlamaLikeConfig config) : config_(std::move(config)), rotary_(config_.rope) {
  const auto& k = config_;
  nn::Parameters& p = parameters_;
  embedding_ = nn::Embedding(p, "model.embed_tokens.weight", k.vocab_size, k.hidden_size,
                             {.scale = k.embedding_scale, .deviation = k.initializer_range});
  for (std::int64_t i = 0; i < k.num_hidden_layers; ++i) layers_.push_back(make_layer(i));
  final_norm_ = nn::Norm(p, "model.norm", k.hidden_size, static_cast<float>(k.rms_norm_eps), nn::Norm::Kind::rms);
  output_ = k.tie_word_embeddings
                ? embedding_.table()
                : &p.add("lm_head.weight", {k.vocab_size, k.hidden_size}, nn::Init::normal(k.initializer_range));
  output_->in_products = true;
  for (nn::Parameter& w : p.all())
    if (w.shape.rank() == 2) w.init = nn::Init::normal(k.initializer_range);
}

nn::DecoderLayer LlamaLike::make_layer(std::int64_t i) {
  using Norms = LlamaLikeConfig::Norms;
  const auto& k = config_;
  nn::Parameters& p = parameters_;
  nn::DecoderLayer layer;
  layer.name = "model.layers." + std::to_string(i);
  layer.residual_scale = k.residual_scale;
  layer.dropout = k.residual_dropout;
  const auto norm = [&](const char* name) {
    return nn::Norm(p, layer.name + "." + name, k.hidden_size, static_cast<float>(k.rms_norm_eps), nn::Norm::Kind::rms);
  };
  if (k.norms != Norms::after) layer.before_attention = norm("input_layernorm");
  layer.self_attention = nn::Attention(
      p, layer.name + ".self_attn",
      {.d_model = k.hidden_size,
       .num_heads = k.num_attention_heads,
       .num_kv_heads = k.kv_heads(),
       .d_k = k.d_head(),
       .projections = k.fused_projections ? nn::Attention::Projections::qkv : nn::Attention::Projections::separate,
       .bias = k.attention_bias,
       .out_bias = k.attention_out_bias,
       .dropout = k.attention_dropout,
       .scale = k.attention_scale,
       .softcap = k.attention_softcap,
       .window = k.window(i),
       .head_norms = k.head_norms,
       .out = "o_proj"});
  // Before the feed-forward where norms come before alone; after the attention where they come after too.
  if (k.norms == Norms::before) layer.before_feed_forward = norm("post_attention_layernorm");
  if (k.norms != Norms::before) layer.after_attention = norm("post_attention_layernorm");
  if (k.norms == Norms::both) layer.before_feed_forward = norm("pre_feedforward_layernorm");
  nn::GatedFeedForward::Options feed_forward{.d_model = k.hidden_size,
                                             .d_ff = k.intermediate_size,
                                             .activation = nn::activation_of(k.hidden_act, k.hidden_act_key),
                                             .bias = k.mlp_bias,
                                             .gate_up = k.fused_projections ? "gate_up_proj" : ""};
  if (k.num_local_experts > 0) {
    feed_forward.gate = "w1", feed_forward.up = "w3", feed_forward.down = "w2";
    layer.feed_forward = nn::ExpertFeedForward(
        p, layer.name + ".block_sparse_moe",
        {.num_experts = k.num_local_experts, .experts_per_token = k.num_experts_per_tok, .expert = feed_forward});
  } else {
    layer.feed_forward = nn::GatedFeedForward(p, layer.name + ".mlp", feed_forward);
  }
  if (k.norms != Norms::before) layer.after_feed_forward = norm("post_feedforward_layernorm");
  return layer;
}

std::string LlamaLike::config_json() const {
  const auto& k = config_;
  nlohmann::ordered_json j = decoder_keys_json(k);
  j["num_key_value_heads"] = k.kv_heads();
  j["head_dim"] = k.d_head();
  j[k.hidden_act_key] = k.hidden_act;
  j["rms_norm_eps"] = k.rms_norm_eps;
  write_rotary(j, k.rope, k.d_head());
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
  const bool is_norm = p.shape.rank() == 1 && !p.name.ends_with(".bias");
  return {.names = {p.name}, .added = config_.norms_store_offset && is_norm ? 1.0f : 0.0f};
}

// The tied output, and the frequencies that older files keep.
bool LlamaLike::is_redundant(std::string_view name) const {
  if (name == "lm_head.weight") return config_.tie_word_embeddings;
  return name.ends_with(".rotary_emb.inv_freq");
}

Tensor LlamaLike::decode(Context& c, const DecoderInput& input) const {
  const auto call = decoder_call(c, input, /*bias=*/nullptr, &rotary_);
  const Tensor embedded = ops::dropout(c, embedding_.forward(c, input.ids), config_.embedding_dropout);
  const Tensor h =
      final_norm_.forward(c, run_layers(c, layers_, embedded, call, {.checkpointing = gradient_checkpointing_}));
  return config_.logit_scale == 1 ? h : ops::scale(c, h, config_.logit_scale);
}

}  // namespace tril::model

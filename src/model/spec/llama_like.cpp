#include "model/spec/llama_like.h"

#include <array>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/element.h"
#include "model/spec/decoder_keys.h"
#include "model/spec/fused_rows.h"

namespace tril::model {

LlamaLike::LlamaLike(LlamaLikeConfig config) : config_(std::move(config)) {
  const auto& k = config_;
  nn::Parameters& p = parameters_;
  rotaries_.emplace_back(k.rope);
  if (k.sliding_rope) rotaries_.emplace_back(*k.sliding_rope);
  for (const nn::RotaryOptions& o : k.other_ropes) rotaries_.emplace_back(o);
  const double deviation = k.embedding_deviation > 0 ? k.embedding_deviation : k.initializer_range;
  embedding_ = nn::Embedding(p, k.embedding_name + ".weight", k.vocab_size, k.hidden_size,
                             {.scale = k.embedding_scale, .deviation = deviation});
  const auto eps = static_cast<float>(k.norm_eps);
  if (k.norms_embedding) embedding_norm_ = nn::Norm(p, "embedding norm", k.hidden_size, eps, nn::Norm::Kind::rms_plain);
  if (k.layer_input_size > 0)
    layer_inputs_.emplace(p, "model",
                          nn::LayerInputs::Options{.vocab = k.layer_input_vocab,
                                                   .d_model = k.hidden_size,
                                                   .layers = k.num_hidden_layers,
                                                   .size = k.layer_input_size,
                                                   .norm_eps = eps,
                                                   .deviation = k.initializer_range});
  for (std::int64_t i = 0; i < k.num_hidden_layers; ++i) layers_.push_back(make_layer(i));
  final_norm_ = nn::Norm(p, k.norm_names.last, k.hidden_size, eps, k.norm);
  output_ = k.tie_word_embeddings
                ? embedding_.table()
                : &p.add("lm_head.weight", {k.vocab_size, k.hidden_size}, nn::Init::normal(k.initializer_range));
  output_->in_products = true;
  if (k.output_bias) output_bias_ = &p.add("lm_head.bias", {k.vocab_size}, nn::Init::zeros());
  for (nn::Parameter& w : p.all())
    if (&w != embedding_.table() && (w.in_products || w.hidden_matrix)) w.init = nn::Init::normal(k.initializer_range);
}

nn::DecoderLayer LlamaLike::make_layer(std::int64_t i) {
  const auto& k = config_;
  nn::Parameters& p = parameters_;
  nn::DecoderLayer layer;
  layer.name = k.layers_name + "." + std::to_string(i);
  layer.residual_scale = k.residual_scale;
  layer.dropout = k.residual_dropout;
  layer.feed_forward_dropout = std::max(k.residual_dropout, k.feed_forward_dropout);
  layer.parallel = k.parallel_sublayers;
  const auto make_norm = [&](std::optional<nn::Norm>& norm, const std::string& name) {
    if (!name.empty())
      norm = nn::Norm(p, layer.name + "." + name, k.hidden_size, static_cast<float>(k.norm_eps), k.norm);
  };
  layer.mixer = std::monostate(), layer.feed_forward = std::monostate();
  if (k.has_mixer(i)) {
    make_norm(layer.before_attention, k.norm_names.before_attention);
    make_mixer(layer, i);
    make_norm(layer.after_attention, k.norm_names.after_attention);
  }
  if (!k.has_feed_forward(i)) return layer;
  const bool experts = k.has_experts(i);
  if (!(experts && k.experts.beside_dense)) make_norm(layer.before_feed_forward, k.norm_names.before_feed_forward);
  make_feed_forward(layer, i);
  const NormNames& names = k.norm_names;
  make_norm(layer.after_feed_forward,
            experts && !names.after_experts.empty() ? names.after_experts : names.after_feed_forward);
  make_layer_input(layer);
  return layer;
}

void LlamaLike::make_mixer(nn::DecoderLayer& layer, std::int64_t i) {
  if (config_.latent)
    make_latent_attention(layer);
  else if (config_.is_recurrent(i))
    make_recurrence(layer);
  else
    make_attention(layer, i);
}

void LlamaLike::make_layer_input(nn::DecoderLayer& layer) {
  const auto& k = config_;
  if (k.layer_input_size > 0)
    layer.layer_input.emplace(parameters_, layer.name,
                              nn::LayerInput::Options{.d_model = k.hidden_size,
                                                      .size = k.layer_input_size,
                                                      .activation = function_of(k.hidden_act),
                                                      .norm_eps = static_cast<float>(k.norm_eps)});
  if (!k.layer_factors) return;
  layer.factor = &parameters_.add(layer.name + ".layer_scalar", {1}, nn::Init::ones());
  layer.factor->trainable = false;
}

void LlamaLike::make_attention(nn::DecoderLayer& layer, std::int64_t i) {
  using Fused = LlamaLikeConfig::Fused;
  using nn::Attention;
  const auto& k = config_;
  layer.keys_are_read = k.keys_are_read(i);
  const bool keys_as_values = !k.keys_as_values.empty() && element(k.keys_as_values, i);
  const Attention::Options o{.d_model = k.hidden_size,
                             .num_heads = k.query_heads(i),
                             .num_kv_heads = k.kv_heads(i),
                             .d_k = k.d_head(i),
                             .projections = k.reads_keys(i)          ? Attention::Projections::q_alone
                                            : keys_as_values         ? Attention::Projections::q_k
                                            : k.fused == Fused::none ? Attention::Projections::separate
                                                                     : Attention::Projections::qkv,
                             .bias = k.attention_bias,
                             .out_bias = k.attention_out_bias,
                             .dropout = k.attention_dropout,
                             .scale = k.attention_scale,
                             .softcap = k.attention_softcap,
                             .window = k.window(i),
                             .head_norms = k.head_norms,
                             .norms_values = k.norms_values,
                             .keys_of = k.reads_keys(i) ? element(k.keys_of, i) : -1,
                             .keys_are_read = layer.keys_are_read,
                             .rotary = k.rotary(i),
                             .clip = k.clip_qkv,
                             .result_gate = k.result_gate,
                             .gate = k.attention_gate,
                             .gate_function = k.gate_function,
                             .gates_values = k.gates_values,
                             .sink_logits = k.sink_logits,
                             .result_norm = k.attention_result_norm,
                             .result_norm_eps = static_cast<float>(k.norm_eps),
                             .qkv = k.qkv_name,
                             .out = k.out_name};
  if (k.beside_attention) {
    nn::AttentionAndMamba2::Options both = *k.beside_attention;
    both.attention = o, both.attention_name = k.attention_name;
    layer.mixer = nn::AttentionAndMamba2(parameters_, layer.name, both);
  } else {
    layer.mixer = Attention(parameters_, layer.name + "." + k.attention_name, o);
  }
  if (k.sink_logits && k.stored_sinks != "sinks") {
    const std::string prefix = layer.name + "." + k.attention_name + ".";
    stored_[prefix + "sinks"] = {.names = {prefix + k.stored_sinks}};
  }
  if (k.fused == Fused::by_key_head)
    for (const char* part : {".weight", ".bias"}) {
      const std::string name = layer.name + "." + k.attention_name + "." + k.qkv_name + part;
      stored_[name] = {.names = {name},
                       .row_order = fused_rows({.groups = k.kv_heads(),
                                                .query_rows = k.num_attention_heads * k.d_head(),
                                                .key_rows = k.kv_heads() * k.d_head()})};
    }
  if (k.result_gate)  // files have each head's query and gate next to each other
    for (const char* part : {".weight", ".bias"}) {
      const std::string name = layer.name + "." + k.attention_name + ".q_proj" + part;
      stored_[name] = {.names = {name},
                       .row_order = grouped_rows(k.num_attention_heads, std::array{k.d_head(), k.d_head()})};
    }
}

void LlamaLike::make_latent_attention(nn::DecoderLayer& layer) {
  const nn::LatentAttention::Options& o = *config_.latent;
  const std::string prefix = layer.name + "." + config_.attention_name;
  layer.mixer = nn::LatentAttention(parameters_, prefix, o);
  const std::string q = prefix + (o.query_rank > 0 ? ".q_b_proj.weight" : ".q_proj.weight");
  std::vector<std::int32_t> rotated_first;  // in files the rotated part of each head comes last
  for (std::int64_t h = 0; h < o.num_heads; ++h)
    for (std::int64_t j = 0, d = o.d_own + o.d_rotated; j < d; ++j)
      rotated_first.push_back(static_cast<std::int32_t>(h * d + (j + o.d_own) % d));
  stored_[q] = {.names = {q}, .row_order = std::move(rotated_first)};
  const std::string kv = prefix + ".kv_b_proj.weight";
  stored_[kv] = {.names = {kv}, .row_order = grouped_rows(o.num_heads, std::array{o.d_own, o.d_v})};
}

void LlamaLike::make_recurrence(nn::DecoderLayer& layer) {
  const std::string prefix = layer.name + "." + config_.recurrence_name;
  if (const auto* const o = std::get_if<nn::GatedShortConvolution::Options>(&config_.recurrence)) {
    layer.mixer = nn::GatedShortConvolution(parameters_, prefix, *o);
    return;
  }
  if (const auto* const o = std::get_if<nn::Mamba2::Options>(&config_.recurrence)) {
    layer.mixer = nn::Mamba2(parameters_, prefix, *o);
    return;
  }
  const auto& o = std::get<nn::GatedDeltaNet::Options>(config_.recurrence);
  layer.mixer = nn::GatedDeltaNet(parameters_, prefix, o);
  for (const char* name : {".norm.weight", ".A_log", ".dt_bias"})  // stored without the offset of norms_store_offset
    stored_[prefix + name] = {.names = {prefix + name}};
  if (!o.fused) return;
  const std::int64_t heads = o.num_heads / o.num_key_heads, values = heads * o.d_v;  // for each key head
  const std::string qkvz = prefix + ".in_proj_qkvz.weight", ba = prefix + ".in_proj_ba.weight";
  stored_[qkvz] = {.names = {qkvz},
                   .row_order = grouped_rows(o.num_key_heads, std::array{o.d_k, o.d_k, values, values})};
  stored_[ba] = {.names = {ba}, .row_order = grouped_rows(o.num_key_heads, std::array{heads, heads})};
}

namespace {

// nn::GatedFeedForward::Options::limit of layer i.
float limit_of(const std::vector<float>& limits, std::int64_t i) {
  return limits.empty() ? 0 : element(limits, i);
}

}  // namespace

void LlamaLike::make_feed_forward(nn::DecoderLayer& layer, std::int64_t i) {
  const auto& k = config_;
  nn::Parameters& p = parameters_;
  const bool xielu = k.feed_forward == LlamaLikeConfig::FeedForward::xielu;
  const ops::Activation activation = xielu ? ops::Activation::none : function_of(k.hidden_act);
  if (xielu || (k.feed_forward == LlamaLikeConfig::FeedForward::plain && !k.has_experts(i))) {
    layer.feed_forward = nn::FeedForward(p, layer.name + "." + k.feed_forward_name,
                                         {.d_model = k.hidden_size,
                                          .d_ff = k.d_ff(i),
                                          .activation = activation,
                                          .bias = k.mlp_bias,
                                          .first = k.up_name,
                                          .second = k.down_name,
                                          .xielu = xielu ? "act_fn" : ""});
    return;
  }
  nn::GatedFeedForward::Options gated{.d_model = k.hidden_size,
                                      .d_ff = k.d_ff(i),
                                      .activation = activation,
                                      .bias = k.mlp_bias,
                                      .gate = k.gate_name,
                                      .up = k.up_name,
                                      .down = k.down_name,
                                      .inner_norm = k.feed_forward_inner_norm,
                                      .norm_eps = static_cast<float>(k.norm_eps),
                                      .gate_up = k.gate_up_name,
                                      .limit = limit_of(k.feed_forward_limits, i),
                                      .gate_scale = k.gate_scale,
                                      .result_scale = k.feed_forward_scale};
  if (k.has_experts(i))
    make_experts(layer, gated, limit_of(k.experts.limits, i));
  else
    layer.feed_forward = nn::GatedFeedForward(p, layer.name + "." + k.feed_forward_name, gated);
}

nn::ExpertFeedForward::Options LlamaLike::experts_of(const nn::GatedFeedForward::Options& dense) const {
  const ExpertsConfig& e = config_.experts;
  nn::GatedFeedForward::Options expert = dense;
  expert.gate = e.gate, expert.up = e.up, expert.down = e.down;
  if (e.d_ff > 0) expert.d_ff = e.d_ff;
  if (!e.fused_gate_up.empty()) expert.gate_up = "gate_up_proj";
  expert.gates = e.gated;
  expert.bias |= e.bias, expert.clamp = e.clamp, expert.limit = 0;
  return {.num_experts = e.count,
          .experts_per_token = e.per_token,
          .routing = e.routing,
          .expert = expert,
          .shared_d_ff = e.shared_d_ff,
          .shared_gate_up = !e.fused_shared_gate_up.empty(),
          .shared_limit = dense.limit,
          .router = e.router,
          .shared = e.shared,
          .correction = e.correction,
          .correction_is_row = e.correction_is_row,
          .shared_gate = e.shared_gate,
          .router_bias = e.router_bias,
          .router_softcap = e.router_softcap,
          .result_scale = e.result_scale};
}

void LlamaLike::make_experts(nn::DecoderLayer& layer, const nn::GatedFeedForward::Options& dense, float limit) {
  const ExpertsConfig& e = config_.experts;
  nn::ExpertFeedForward::Options o = experts_of(dense);
  o.expert.limit = limit;
  std::string prefix = layer.name + "." + e.block;
  if (e.beside_dense) {
    prefix = layer.name;
    o.router_norm = "router.norm", o.experts_norm = "pre_feedforward_layernorm_2";
    o.expert_scales = "router.per_expert_scale", o.norm_eps = static_cast<float>(config_.norm_eps);
    stored_[prefix + ".router.norm.weight"] = {.names = {prefix + ".router.scale"}};
    layer.feed_forward =
        nn::DenseAndExperts(parameters_, prefix, {.dense = dense, .experts = o, .norm_eps = o.norm_eps});
  } else {
    layer.feed_forward = nn::ExpertFeedForward(parameters_, prefix, o);
  }
  if (!e.fused_down.empty()) store_fused(prefix, o.expert);
  if (const std::string name = prefix + "." + e.correction; !e.correction.empty())  // without norms_store_offset's 1
    stored_[name] = {.names = {e.stored_correction.empty() ? name : layer.name + "." + e.stored_correction},
                     .optional = e.optional_correction};
  if (!e.fused_shared_gate_up.empty()) {
    const std::string shared = prefix + "." + e.shared + ".";
    stored_[shared + o.expert.gate_up + ".weight"] = {.names = {layer.name + "." + e.fused_shared_gate_up}};
    stored_[shared + o.expert.down + ".weight"] = {.names = {layer.name + "." + e.fused_shared_down}};
  }
  if (!e.stored_shared.empty())
    for (const std::string& part : {e.gate, e.up, e.down})
      stored_[fmt::format("{}.{}.{}.weight", prefix, e.shared, part)] = {
          .names = {fmt::format("{}.{}.{}.weight", layer.name, e.stored_shared, part)}};
}

void LlamaLike::store_fused(const std::string& prefix, const nn::GatedFeedForward::Options& expert) {
  const ExpertsConfig& e = config_.experts;
  const auto& [transposed, interleaved, bias_suffix] = e.fused_form;
  const std::vector<std::int32_t> in_turns =
      interleaved ? grouped_rows(expert.d_ff, std::array<std::int64_t, 2>{1, 1}) : std::vector<std::int32_t>();
  for (std::int64_t i = 0; i < e.count; ++i)
    for (const auto& [own, fused, order] : {std::tuple{expert.gate_up, e.fused_gate_up, in_turns},
                                            {expert.gate, e.fused_gate, {}},
                                            {expert.up, e.fused_up, {}},
                                            {expert.down, e.fused_down, {}}}) {
      if (fused.empty()) continue;
      const std::string name = fmt::format("{}.experts.{}.{}", prefix, i, own), stored = prefix + "." + fused;
      stored_[name + ".weight"] = {
          .names = {stored}, .transposed = transposed, .row_order = order, .part = {i, e.count}};
      if (expert.bias)
        stored_[name + ".bias"] = {.names = {stored + bias_suffix}, .row_order = order, .part = {i, e.count}};
    }
}

std::string LlamaLike::config_json() const {
  return llama_like_json(config_).dump(2);
}

std::int64_t LlamaLike::max_positions() const {
  return config_.rope.scaling == nn::RotaryOptions::Scaling::dynamic ? 0 : config_.max_position_embeddings;
}

CacheForm LlamaLike::cache_form() const {
  if (config_.beside_attention) return CacheForm::both;
  bool states = false, tokens = false;
  for (std::int64_t i = 0; i < config_.num_hidden_layers; ++i)
    if (config_.has_mixer(i)) (config_.is_recurrent(i) ? states : tokens) = true;
  return !states ? CacheForm::tokens : tokens ? CacheForm::both : CacheForm::states;
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

// The tied output, layers that propose further tokens, and the frequencies that older files store.
Redundant LlamaLike::redundant(std::string_view name) const {
  if (name == "lm_head.weight") return config_.tie_word_embeddings ? Redundant::embedding_copy : Redundant::no;
  const bool left_alone =
      std::ranges::any_of(config_.left_alone, [&](const std::string& begin) { return name.starts_with(begin); });
  return left_alone || name.ends_with(".rotary_emb.inv_freq") ? Redundant::unused : Redundant::no;
}

Tensor LlamaLike::decode(Context& c, const DecoderInput& input) const {
  if (input.self_mask.window > 0 && cache_form() == CacheForm::states)
    fail_usage("attention window", "is not supported with recurrent states alone, which keep no tokens",
               "leave it out");
  const auto call = decoder_call(c, input, /*bias=*/nullptr, rotaries_);
  Tensor embedded = ops::dropout(c, embedding_.forward(c, input.ids), config_.embedding_dropout);
  if (embedding_norm_) embedded = embedding_norm_->forward(c, embedded);
  const Tensor inputs = layer_inputs_ ? layer_inputs_->forward(c, input.ids, embedded) : Tensor();
  const Tensor h = final_norm_.forward(
      c, run_layers(c, layers_, embedded, call, {.checkpointing = gradient_checkpointing_, .layer_inputs = inputs}));
  return config_.logit_scale == 1 ? h : ops::scale(c, h, config_.logit_scale);
}

}  // namespace tril::model

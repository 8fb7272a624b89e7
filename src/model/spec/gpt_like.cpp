#include "model/spec/gpt_like.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/element.h"
#include "model/spec/decoder_keys.h"
#include "model/spec/fused_rows.h"
#include "model/spec/rotary_config.h"

namespace tril::model {
namespace {

using Positions = GptLikeConfig::Positions;

// The key as the file spells it.
std::string spelt(ConfigReader& config, const Spelling& key) {
  return key.common.empty() ? key.own : config.spelt(key.own, key.common);
}

void read_sizes(ConfigReader& config, GptLikeConfig& k) {
  const GptLikeKeys& keys = k.keys;
  const auto size = [&](const Spelling& key, std::int64_t& value, std::int64_t most) {
    if (!key.own.empty()) read_size(config, spelt(config, key).c_str(), value, most);
  };
  using Most = MostDecoderSizes;
  read_size(config, "vocab_size", k.vocab_size, Most::vocab_size);
  size(keys.hidden_size, k.hidden_size, Most::hidden_size);
  if (!keys.intermediate_size.own.empty()) k.intermediate_size = k.d_ff();
  size(keys.intermediate_size, k.intermediate_size, Most::intermediate_size);
  size(keys.num_hidden_layers, k.num_hidden_layers, Most::num_layers);
  size(keys.num_attention_heads, k.num_attention_heads, Most::num_heads);
  size(keys.max_position_embeddings, k.max_position_embeddings, k.positions == Positions::learned ? 1 << 24 : 1 << 30);
  if (k.hidden_size % k.num_attention_heads != 0)
    config.json().fail_at(keys.num_attention_heads.own,
                          fmt::format("{} {} is not divisible by {} heads", config.json().name_of(keys.hidden_size.own),
                                      k.hidden_size, k.num_attention_heads));
}

struct DropoutKey {
  Spelling key;
  float GptLikeConfig::*value;
};

std::array<DropoutKey, 5> dropout_keys(const GptLikeKeys& keys) {
  return {{{keys.attention_dropout, &GptLikeConfig::attention_dropout},
           {keys.hidden_dropout, &GptLikeConfig::hidden_dropout},
           {keys.embedding_dropout, &GptLikeConfig::embedding_dropout},
           {keys.activation_dropout, &GptLikeConfig::activation_dropout},
           {keys.layerdrop, &GptLikeConfig::layerdrop}}};
}

nn::Norm::Kind norm_kind(const GptLikeConfig& k) {
  return k.norm_bias ? nn::Norm::Kind::layer : nn::Norm::Kind::layer_unbiased;
}

}  // namespace

GptLikeKeys gpt2_keys() {
  return {.hidden_size = {"n_embd", "hidden_size"},
          .intermediate_size = {"n_inner"},
          .num_hidden_layers = {"n_layer", "num_hidden_layers"},
          .num_attention_heads = {"n_head", "num_attention_heads"},
          .max_position_embeddings = {"n_positions", "max_position_embeddings"},
          .hidden_act = {"activation_function"},
          .layer_norm_eps = {"layer_norm_epsilon"},
          .attention_dropout = {"attn_pdrop"},
          .hidden_dropout = {"resid_pdrop"},
          .embedding_dropout = {"embd_pdrop"}};
}

GptLikeConfig read_gpt_like(ConfigReader& config, GptLikeConfig k) {
  const GptLikeKeys& keys = k.keys;
  read_sizes(config, k);
  const auto has = [](const Spelling& key) { return !key.own.empty(); };
  if (has(keys.initializer_range))
    k.initializer_range = config.at_least_0(spelt(config, keys.initializer_range), k.initializer_range);
  k.tie_word_embeddings = config.get<bool>("tie_word_embeddings", k.tie_word_embeddings);
  for (const DropoutKey& d : dropout_keys(keys))
    if (has(d.key)) k.*d.value = config.share(spelt(config, d.key), static_cast<double>(k.*d.value));
  read_special_ids(config, k);
  if (has(keys.hidden_act)) k.hidden_act = config.hidden_act(spelt(config, keys.hidden_act), k.hidden_act);
  if (has(keys.layer_norm_eps))
    k.layer_norm_eps = config.positive(spelt(config, keys.layer_norm_eps), k.layer_norm_eps);
  if (k.positions == Positions::rotary && k.rope_parameters)
    k.rope = read_rotary(config, {.head_dim = k.hidden_size / k.num_attention_heads,
                                  .max_positions = k.max_position_embeddings,
                                  .theta = k.rope.theta,
                                  .partial = k.partial_rotary_factor,
                                  .turns_part = k.turns_part_of_head,
                                  .reads_top_level = !k.own_rotary_names});
  return k;
}

GptLike::GptLike(GptLikeConfig config) : config_(std::move(config)) {
  auto& names = config_.names;
  for (std::string* name :
       {&names.embedding, &names.positions, &names.embedding_norm, &names.layers, &names.final_norm})
    *name = names.prefix + *name;
  const auto& k = config_;
  const auto eps = static_cast<float>(k.layer_norm_eps);
  nn::Parameters& p = parameters_;
  embedding_ = nn::Embedding(p, names.embedding + ".weight", k.vocab_size, k.hidden_size,
                             {.scale = k.embedding_scale, .deviation = k.initializer_range});
  if (k.embedding_norm) embedding_norm_ = nn::Norm(p, names.embedding_norm, k.hidden_size, eps);
  add_positions();
  for (std::int64_t i = 0; i < k.num_hidden_layers; ++i) add_layer(i);
  final_norm_ = nn::Norm(p, names.final_norm, k.hidden_size, eps, norm_kind(k));
  output_ = k.tie_word_embeddings
                ? embedding_.table()
                : &p.add(k.names.output + ".weight", {k.vocab_size, k.hidden_size}, nn::Init::zeros());
  output_->in_products = true;
  if (k.output_bias) output_bias_ = &p.add(k.names.output + ".bias", {k.vocab_size}, nn::Init::zeros());
  for (nn::Parameter& w : p.all())
    if (w.shape.rank() == 2) w.init = nn::Init::normal(k.initializer_range);
}

void GptLike::add_positions() {
  const auto& k = config_;
  switch (k.positions) {
    case Positions::rotary:
      rotary_.emplace(k.rope);
      break;
    case Positions::learned:
      learned_ = nn::LearnedPositions(parameters_, k.names.positions + ".weight",
                                      {.length = k.max_position_embeddings,
                                       .d_model = k.hidden_size,
                                       .deviation = k.initializer_range,
                                       .offset = k.position_offset});
      break;
    case Positions::sinusoidal:
      sinusoids_.emplace(k.hidden_size, nn::SinusoidalPositions::Layout::tensor2tensor, /*kept=*/1024,
                         k.position_offset);
      break;
    case Positions::alibi:
      alibi_.emplace(nn::alibi_slopes(k.num_attention_heads));
      break;
  }
}

nn::Attention GptLike::attention(const std::string& layer, std::int64_t i) {
  const auto& k = config_;
  using Projections = nn::Attention::Projections;
  return {parameters_,
          layer + "." + k.names.attention,
          {.d_model = k.hidden_size,
           .num_heads = k.num_attention_heads,
           .num_kv_heads = k.num_key_value_heads,
           .projections = k.names.qkv.empty() ? Projections::separate : Projections::qkv,
           .bias = k.attention_bias,
           .out_bias = k.attention_out_bias,
           .dropout = k.attention_dropout,
           .scale = k.attention_scale,
           .window = k.windows.empty() ? 0 : element(k.windows, i),
           .head_norms = k.head_norms,
           .qkv = k.names.qkv,
           .out = k.names.out}};
}

void GptLike::add_layer(std::int64_t i) {
  const auto& k = config_;
  nn::Parameters& p = parameters_;
  const std::string name = k.names.layers + "." + std::to_string(i);
  const auto norm = [&](const std::string& own) {
    return nn::Norm(p, name + "." + own, k.hidden_size, static_cast<float>(k.layer_norm_eps), norm_kind(k));
  };
  nn::DecoderLayer layer;
  layer.name = name;
  layer.parallel = k.parallel;
  layer.dropout = layer.feed_forward_dropout = k.hidden_dropout;
  layer.before_attention = norm(k.names.self_norm);
  if (!k.one_norm) layer.before_feed_forward = norm(k.names.feed_forward_norm);
  layer.mixer = attention(name, i);
  layer.feed_forward = nn::FeedForward(p, k.names.feed_forward.empty() ? name : name + "." + k.names.feed_forward,
                                       {.d_model = k.hidden_size,
                                        .d_ff = k.d_ff(),
                                        .activation = function_of(k.hidden_act),
                                        .dropout = k.activation_dropout,
                                        .bias = k.feed_forward_bias,
                                        .first = k.names.first,
                                        .second = k.names.second});
  layers_.push_back(std::move(layer));
}

std::string GptLike::config_json() const {
  const auto& k = config_;
  nlohmann::ordered_json j{{"architectures", {k.architecture}}, {"model_type", k.family}, {"vocab_size", k.vocab_size}};
  const auto put = [&](const Spelling& key, const auto& value) {
    if (!key.own.empty()) j[key.own] = value;
  };
  put(k.keys.hidden_size, k.hidden_size);
  put(k.keys.intermediate_size, k.intermediate_size);
  put(k.keys.num_hidden_layers, k.num_hidden_layers);
  put(k.keys.num_attention_heads, k.num_attention_heads);
  put(k.keys.max_position_embeddings, k.max_position_embeddings);
  put(k.keys.hidden_act, name_of(k.hidden_act));
  put(k.keys.layer_norm_eps, k.layer_norm_eps);
  put(k.keys.initializer_range, k.initializer_range);
  for (const DropoutKey& d : dropout_keys(k.keys)) put(d.key, k.*d.value);
  for (const auto& [key, id] :
       {std::pair{"bos_token_id", k.bos_token_id}, {"eos_token_id", k.eos_token_id}, {"pad_token_id", k.pad_token_id}})
    j[key] = id_json(id);
  j.update({{"tie_word_embeddings", k.tie_word_embeddings}, {"torch_dtype", "float32"}, {"use_cache", true}});
  if (k.positions == Positions::rotary && k.rope_parameters)
    write_rotary(j, k.rope, k.hidden_size / k.num_attention_heads, k.turns_part_of_head ? 0 : 1);
  for (const auto& [key, value] : k.own_keys.items()) j[key] = value;
  return j.dump(2);
}

std::int64_t GptLike::max_positions() const {
  return rotary_ && config_.rope.scaling == nn::RotaryOptions::Scaling::dynamic ? 0 : config_.max_position_embeddings;
}

SpecialIds GptLike::special_ids() const {
  return {.pad = config_.pad_token_id, .bos = config_.bos_token_id, .eos = config_.eos_token_id};
}

std::vector<Dropout> GptLike::dropouts() const {
  const auto& k = config_;
  std::vector<Dropout> list{{"attention_dropout", k.attention_dropout},
                            {"hidden_dropout", k.hidden_dropout},
                            {"embedding_dropout", k.embedding_dropout}};
  if (!k.keys.activation_dropout.own.empty()) list.push_back({"activation_dropout", k.activation_dropout});
  return list;
}

StoredAs GptLike::stored_as(const nn::Parameter& p) const {
  const auto& k = config_;
  StoredAs stored{.names = {p.name}};
  const std::string& prefix = k.names.prefix;
  if (!prefix.empty() && p.name.starts_with(prefix)) stored.names.push_back(p.name.substr(prefix.size()));
  const bool fused = !k.names.qkv.empty() && p.name.find("." + k.names.qkv + ".") != std::string::npos;
  if (fused && (k.fused.groups > 1 || k.fused.values_before_keys))
    stored.row_order = fused_rows({.groups = k.fused.groups,
                                   .query_rows = k.hidden_size,
                                   .key_rows = k.hidden_size / k.num_attention_heads * k.kv_heads(),
                                   .values_before_keys = k.fused.values_before_keys});
  return stored;
}

// The tied output, and the frequencies and causal masks that older files store.
Redundant GptLike::redundant(std::string_view name) const {
  if (name == config_.names.output + ".weight")
    return config_.tie_word_embeddings ? Redundant::embedding_copy : Redundant::no;
  const std::string attention = "." + config_.names.attention;
  for (const char* end : {".rotary_emb.inv_freq", ".bias", ".masked_bias", ".causal_mask"})
    if (name.ends_with(attention + end)) return Redundant::unused;
  return Redundant::no;
}

Tensor GptLike::decode(Context& c, const DecoderInput& input) const {
  const auto& k = config_;
  const auto call = decoder_call(c, input, alibi_ ? &*alibi_ : nullptr,
                                 rotary_ ? std::span(&*rotary_, 1) : std::span<const nn::RotaryPositions>());
  Tensor h = embedding_.forward(c, input.ids);
  if (embedding_norm_) h = embedding_norm_->forward(c, h);
  if (learned_) h = learned_->forward(c, h, input.rows.positions());
  if (sinusoids_) h = sinusoids_->forward(c, h, input.rows.positions());
  h = ops::dropout(c, h, k.embedding_dropout);
  const StackOptions options{.checkpointing = gradient_checkpointing_, .layer_drop = static_cast<double>(k.layerdrop)};
  return final_norm_.forward(c, run_layers(c, layers_, h, call, options));
}

OutputProjection GptLike::output() const {
  return OutputProjection::of(*output_, output_bias_ ? output_bias_->value : Tensor());
}

std::unique_ptr<nn::KvCache> GptLike::make_cache(Context& c) const {
  return cache_for(c, layers_);
}

}  // namespace tril::model

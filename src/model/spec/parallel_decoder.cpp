#include "model/spec/parallel_decoder.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "model/spec/decoder_keys.h"
#include "model/spec/rotary_config.h"

namespace tril::model {

ParallelDecoderConfig read_parallel_decoder(ConfigReader& config, ParallelDecoderConfig k) {
  const JsonObject& json = config.json();
  read_decoder_keys(config, k);
  check_heads_divide(config, k);
  k.hidden_act = config.get<std::string>("hidden_act", k.hidden_act);
  nn::activation_of(k.hidden_act, json.where() + ": hidden_act");
  k.layer_norm_eps = config.positive("layer_norm_eps", k.layer_norm_eps);
  k.rope = read_rotary(config, {.head_dim = k.hidden_size / k.num_attention_heads,
                                .max_positions = k.max_position_embeddings,
                                .theta = k.rope.theta,
                                .partial = k.partial_rotary_factor,
                                .turns_part = true,
                                .reads_top_level = !k.own_rotary_names});
  return k;
}

ParallelDecoder::ParallelDecoder(ParallelDecoderConfig config) : config_(std::move(config)), rotary_(config_.rope) {
  const auto& k = config_;
  nn::Parameters& p = parameters_;
  embedding_ =
      nn::Embedding(p, k.names.embedding + ".weight", k.vocab_size, k.hidden_size, {.deviation = k.initializer_range});
  for (std::int64_t i = 0; i < k.num_hidden_layers; ++i) add_layer(i);
  final_norm_ = nn::Norm(p, k.names.final_norm, k.hidden_size, static_cast<float>(k.layer_norm_eps));
  output_ = k.tie_word_embeddings
                ? embedding_.table()
                : &p.add(k.names.output + ".weight", {k.vocab_size, k.hidden_size}, nn::Init::zeros());
  output_->in_products = true;
  if (k.output_bias) output_bias_ = &p.add(k.names.output + ".bias", {k.vocab_size}, nn::Init::zeros());
  for (nn::Parameter& w : p.all())
    if (w.shape.rank() == 2) w.init = nn::Init::normal(k.initializer_range);
}

void ParallelDecoder::add_layer(std::int64_t i) {
  const auto& k = config_;
  nn::Parameters& p = parameters_;
  const std::string name = k.names.layers + "." + std::to_string(i);
  const auto norm = [&](const char* own) {
    return nn::Norm(p, name + "." + own, k.hidden_size, static_cast<float>(k.layer_norm_eps));
  };
  const nn::Norm self_norm = norm("input_layernorm");
  std::optional<nn::Norm> feed_forward_norm;
  if (!k.one_norm) feed_forward_norm = norm("post_attention_layernorm");
  using Projections = nn::Attention::Projections;
  nn::Attention attention(p, name + "." + k.names.attention,
                          {.d_model = k.hidden_size,
                           .num_heads = k.num_attention_heads,
                           .num_kv_heads = k.num_key_value_heads,
                           .projections = k.names.qkv.empty() ? Projections::separate : Projections::qkv,
                           .bias = k.attention_bias,
                           .out_bias = k.attention_bias,
                           .dropout = k.attention_dropout,
                           .head_norms = k.head_norms,
                           .qkv = k.names.qkv,
                           .out = k.names.out});
  nn::FeedForward feed_forward(p, name + ".mlp",
                               {.d_model = k.hidden_size,
                                .d_ff = k.intermediate_size,
                                .activation = nn::activation_of(k.hidden_act, "hidden_act"),
                                .first = k.names.first,
                                .second = k.names.second});
  if (k.parallel) {
    parallel_.push_back(
        {name, std::move(attention), self_norm, std::move(feed_forward), feed_forward_norm, k.hidden_dropout});
  } else {
    nn::PreNormLayer layer;
    layer.name = name;
    layer.self_attention = std::move(attention), layer.self_norm = self_norm;
    layer.feed_forward = std::move(feed_forward), layer.feed_forward_norm = *feed_forward_norm;
    layer.dropout = k.hidden_dropout;
    sequential_.push_back(std::move(layer));
  }
}

std::string ParallelDecoder::config_json() const {
  const auto& k = config_;
  nlohmann::ordered_json j = decoder_keys_json(k);
  j["hidden_act"] = k.hidden_act;
  j["layer_norm_eps"] = k.layer_norm_eps;
  write_rotary(j, k.rope, k.hidden_size / k.num_attention_heads, /*default_partial=*/0);
  for (const auto& [key, value] : k.own_keys.items()) j[key] = value;
  return j.dump(2);
}

std::int64_t ParallelDecoder::max_positions() const {
  return config_.rope.scaling == nn::RotaryOptions::Scaling::dynamic ? 0 : config_.max_position_embeddings;
}

SpecialIds ParallelDecoder::special_ids() const {
  return {.pad = config_.pad_token_id, .bos = config_.bos_token_id, .eos = config_.eos_token_id};
}

StoredAs ParallelDecoder::stored_as(const nn::Parameter& p) const {
  const auto& k = config_;
  StoredAs stored{.names = {p.name}};
  if (!k.head_by_head || p.name.find("." + k.names.qkv + ".") == std::string::npos) return stored;
  const std::int64_t heads = k.num_attention_heads, d = k.hidden_size / heads;
  for (std::int64_t part = 0; part < 3; ++part)  // q, k, v
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t j = 0; j < d; ++j)
        stored.row_order.push_back(static_cast<std::int32_t>((h * 3 + part) * d + j));
  return stored;
}

// The tied output, and the frequencies and causal masks that older files keep.
bool ParallelDecoder::is_redundant(std::string_view name) const {
  if (name == config_.names.output + ".weight") return config_.tie_word_embeddings;
  const std::string attention = "." + config_.names.attention;
  for (const char* end : {".rotary_emb.inv_freq", ".bias", ".masked_bias"})
    if (name.ends_with(attention + end)) return true;
  return false;
}

Tensor ParallelDecoder::decode(Context& c, const DecoderInput& input) const {
  const auto call = decoder_call(c, input, /*bias=*/nullptr, &rotary_);
  Tensor h = ops::dropout(c, embedding_.forward(c, input.ids), config_.embedding_dropout);
  h = run_layers(c, parallel_, h, call, {.checkpointing = gradient_checkpointing_});
  h = run_layers(c, sequential_, h, call, {.checkpointing = gradient_checkpointing_});
  return final_norm_.forward(c, h);
}

OutputProjection ParallelDecoder::output() const {
  return {output_->weight(), output_bias_ ? output_bias_->value : Tensor()};
}

std::unique_ptr<nn::KvCache> ParallelDecoder::make_cache(Context& c) const {
  return config_.parallel ? cache_for(c, parallel_) : cache_for(c, sequential_);
}

}  // namespace tril::model

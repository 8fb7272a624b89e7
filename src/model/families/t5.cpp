#include "model/families/t5.h"

#include <cmath>

namespace tril::model {

using nn::Attention;

T5::T5(const T5Config& config) : config_(config) {
  config_.validate(config.family);
  const T5Config& k = config_;
  const auto table = [&](const char* name) {
    return nn::Embedding(parameters_, name, k.vocab_size, k.d_model, {.deviation = k.initializer_factor});
  };
  encoder_embedding_ = table(k.share_embeddings ? "shared.weight" : "encoder.embed_tokens.weight");
  decoder_embedding_ = k.share_embeddings ? encoder_embedding_ : table("decoder.embed_tokens.weight");
  encoder_embedding_ = encoder_embedding_.of_encoder();
  output_ = k.tie_word_embeddings
                ? decoder_embedding_.table()
                : &parameters_.add("lm_head.weight", {k.vocab_size, k.d_model}, nn::Init::normal(k.initializer_factor));
  output_->in_products = true;
}

SpecialIds T5::special_ids() const {
  return {.pad = config_.pad_token_id,
          .bos = config_.bos_token_id,
          .eos = config_.eos_token_id,
          .decoder_start = config_.decoder_start_token_id};
}

StoredAs T5::stored_as(const nn::Parameter& p) const {
  if (p.name == "shared.weight") return {{p.name, "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"}};
  if (p.name.ends_with(".embed_tokens.weight")) return {{p.name, "shared.weight"}};
  return {{p.name}};
}

// The embedding under other names, and an unused bias of the first releases.
Redundant T5::redundant(std::string_view name) const {
  for (std::string_view copy : {"shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"})
    if (name == copy) return Redundant::embedding_copy;
  const bool unused = name == "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight";
  return unused ? Redundant::unused : Redundant::no;
}

Tensor T5::embed(Context& c, bool decoder, std::span<const std::int32_t> ids) const {
  const float p = config_.embedding_dropout >= 0 ? config_.embedding_dropout : config_.dropout_rate;
  return ops::dropout(c, (decoder ? decoder_embedding_ : encoder_embedding_).forward(c, ids), p);
}

// The authors' initialisation (Mesh TensorFlow): queries are smaller by sqrt(d_kv), because scores are not scaled.
void T5::set_initial_values() {
  const T5Config& k = config_;
  const auto root = [&](std::int64_t n) {
    return nn::Init::normal(k.initializer_factor / std::sqrt(static_cast<double>(n)));
  };
  for (nn::Parameter& p : parameters_.all()) {
    const std::string_view name = p.name;
    if (name.ends_with(".q.weight")) p.init = root(k.d_model * k.d_kv);
    if (name.ends_with(".k.weight") || name.ends_with(".v.weight") || name.find(".wi") != name.npos)
      p.init = root(k.d_model);
    if (name.ends_with(".o.weight")) p.init = root(k.num_heads * k.d_kv);
    if (name.ends_with(".wo.weight")) p.init = root(k.d_ff);
    if (name.ends_with(".relative_attention_bias.weight") || name.find(".experts.") != name.npos)
      p.init = root(k.d_model);
    if (name.ends_with(".router.classifier.weight")) p.init = nn::Init::normal(k.initializer_factor);
  }
}

namespace {

// A layer's stack and number, and the name of its feed-forward.
struct Place {
  std::string part;
  bool decoder = false;
  std::int64_t layer = 0;
};

nn::FeedForward::Options simple(const T5Config& k) {
  return {.d_model = k.d_model,
          .d_ff = k.d_ff,
          .activation = function_of(k.dense_act_fn),
          .dropout = k.activation_dropout >= 0 ? k.activation_dropout : k.dropout_rate,
          .bias = false,
          .first = "wi",
          .second = "wo"};
}

nn::FeedForward feed_forward(nn::Parameters& p, const Place& at, const T5Config& k, nn::FeedForward*) {
  return nn::FeedForward(p, at.part + ".DenseReluDense", simple(k));
}

nn::SwitchFeedForward feed_forward(nn::Parameters& p, const Place& at, const T5Config& k, nn::SwitchFeedForward*) {
  return nn::SwitchFeedForward(p, at.part + ".mlp",
                               {.num_experts = k.experts.in_layer(at.decoder, at.layer) ? k.experts.count : 0,
                                .capacity = k.experts.capacity,
                                .router_bias = k.experts.router_bias,
                                .expert = simple(k)});
}

nn::GatedFeedForward feed_forward(nn::Parameters& p, const Place& at, const T5Config& k, nn::GatedFeedForward*) {
  return nn::GatedFeedForward(p, at.part + ".DenseReluDense",
                              {.d_model = k.d_model,
                               .d_ff = k.d_ff,
                               .activation = function_of(k.dense_act_fn),
                               .dropout = k.activation_dropout >= 0 ? k.activation_dropout : k.dropout_rate,
                               .gate = "wi_0",
                               .up = "wi_1",
                               .down = "wo"});
}

/// Adds the layers, with one of the two kinds of feed-forward.
template <class FF>
class T5Of : public T5 {
 public:
  explicit T5Of(const T5Config& config);

  Memory encode(Context& c, std::span<const std::int32_t> ids, const Rows& rows,
                const ops::Mask& mask = ops::Mask::full()) const override;
  Tensor decode(Context& c, const DecoderInput& input) const override;
  std::unique_ptr<nn::KvCache> make_cache(Context& c) const override { return cache_for(c, decoder_layers_); }

 private:
  using Layer = nn::PreNorm<FF>;
  /// Declares a stack's layers, its relative bias and its final norm.
  void stack(const std::string& side, std::int64_t count, std::vector<Layer>& layers, nn::RelativeBias& bias,
             nn::Norm& norm);
  Layer layer(bool decoder, std::int64_t i);
  nn::RelativeBias bias_of(const std::string& block, bool decoder);
  bool shares_bias() const { return !t5_family(config_.family).bias_in_every_layer; }

  std::vector<Layer> encoder_layers_, decoder_layers_;
};

template <class FF>
T5Of<FF>::T5Of(const T5Config& config) : T5(config) {
  stack("encoder", config_.num_layers, encoder_layers_, encoder_bias_, encoder_norm_);
  stack("decoder", config_.num_decoder_layers, decoder_layers_, decoder_bias_, decoder_norm_);
  set_initial_values();
}

template <class FF>
void T5Of<FF>::stack(const std::string& side, std::int64_t count, std::vector<Layer>& layers, nn::RelativeBias& bias,
                     nn::Norm& norm) {
  const T5Config& k = config_;
  const bool decoder = side == "decoder";
  if (shares_bias()) bias = bias_of(side + ".block.0", decoder);
  for (std::int64_t i = 0; i < count; ++i) layers.push_back(layer(decoder, i));
  norm = nn::Norm(parameters_, side + ".final_layer_norm", k.d_model, static_cast<float>(k.layer_norm_epsilon),
                  nn::Norm::Kind::rms);
}

template <class FF>
nn::RelativeBias T5Of<FF>::bias_of(const std::string& block, bool decoder) {
  return nn::RelativeBias(parameters_, block + ".layer.0.SelfAttention.relative_attention_bias.weight",
                          {.num_heads = config_.num_heads,
                           .num_buckets = config_.relative_attention_num_buckets,
                           .max_distance = config_.relative_attention_max_distance,
                           .bidirectional = !decoder});
}

template <class FF>
nn::PreNorm<FF> T5Of<FF>::layer(bool decoder, std::int64_t i) {
  const T5Config& k = config_;
  const std::string name = fmt::format("{}.block.{}", decoder ? "decoder" : "encoder", i);
  const Attention::Options attention{.d_model = k.d_model,
                                     .num_heads = k.num_heads,
                                     .d_k = k.d_kv,
                                     .bias = false,
                                     .out_bias = false,
                                     .dropout = k.attention_dropout >= 0 ? k.attention_dropout : k.dropout_rate,
                                     .scale = 1,
                                     .q = "q",
                                     .k = "k",
                                     .v = "v",
                                     .out = "o"};
  const auto part = [&](int n) { return fmt::format("{}.layer.{}", name, n); };
  const auto norm = [&](int n) {
    return nn::Norm(parameters_, part(n) + ".layer_norm", k.d_model, static_cast<float>(k.layer_norm_epsilon),
                    nn::Norm::Kind::rms);
  };
  Layer l;
  l.name = name;
  l.dropout = k.dropout_rate;
  l.self_attention = Attention(parameters_, part(0) + ".SelfAttention", attention);
  if (!shares_bias()) l.bias = bias_of(name, decoder);
  l.self_norm = norm(0);
  if (decoder) {
    l.cross_attention = Attention(parameters_, part(1) + ".EncDecAttention", attention);
    l.cross_norm = norm(1);
  }
  const int last = decoder ? 2 : 1;
  l.feed_forward = feed_forward(parameters_, Place{part(last), decoder, i}, k, static_cast<FF*>(nullptr));
  l.feed_forward_norm = norm(last);
  return l;
}

template <class FF>
Memory T5Of<FF>::encode(Context& c, std::span<const std::int32_t> ids, const Rows& rows, const ops::Mask& mask) const {
  Memory memory;
  memory.rows = rows;
  const Tensor h = run_layers(c, encoder_layers_, embed(c, /*decoder=*/false, ids),
                              encoder_call(c, rows, mask, shares_bias() ? &encoder_bias_ : nullptr),
                              {.checkpointing = gradient_checkpointing_});
  memory.states = ops::dropout(c, encoder_norm_.forward(c, h), config_.dropout_rate);
  project_memory(c, decoder_layers_, memory);
  return memory;
}

template <class FF>
Tensor T5Of<FF>::decode(Context& c, const DecoderInput& input) const {
  const auto call = decoder_call(c, input, shares_bias() ? &decoder_bias_ : nullptr);
  const Tensor h = run_layers(c, decoder_layers_, embed(c, /*decoder=*/true, input.ids), call,
                              {.memory = input.memory, .checkpointing = gradient_checkpointing_});
  const Tensor last = ops::dropout(c, decoder_norm_.forward(c, h), config_.dropout_rate);
  return config_.scale_decoder_outputs ? ops::scale(c, last, 1.0f / std::sqrt(static_cast<float>(config_.d_model)))
                                       : last;
}

// True if the weights include an output matrix; nothing if there are no weight files.
std::optional<bool> holds_output_matrix(const WeightNames& weight_names) {
  const std::optional<std::vector<std::string>> names = weight_names();
  if (!names) return std::nullopt;
  for (const std::string& name : *names)
    if (name.starts_with("lm_head.weight")) return true;  // names of quantised weights have a suffix
  return false;
}

}  // namespace

std::unique_ptr<Model> make_t5(const T5Config& config) {
  if (t5_family(config.family).has_experts) return std::make_unique<T5Of<nn::SwitchFeedForward>>(config);
  if (config.is_gated_act) return std::make_unique<T5Of<nn::GatedFeedForward>>(config);
  return std::make_unique<T5Of<nn::FeedForward>>(config);
}

std::unique_ptr<Model> make_t5(const JsonObject& config, const WeightNames& weight_names) {
  return make_t5(t5_config(config, holds_output_matrix(weight_names)));
}

}  // namespace tril::model

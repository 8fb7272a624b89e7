#include "model/marian.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace tril::model {

using nn::Attention;

void MarianConfig::validate(std::string_view where) const {
  const std::string at(where);
  const auto need = [&](bool ok, std::string_view key, const std::string& text) {
    if (!ok) fail_usage(fmt::format("{}: {}", at, key), text);
  };
  // Bounds before anything is made of these numbers: a file of a few bytes must not ask for all the memory there is.
  const auto at_most = [&](std::int64_t value, std::int64_t most, std::string_view key) {
    need(value <= most, key, fmt::format("{} is more than the {} that are supported", value, most));
  };
  at_most(d_model, 1 << 16, "d_model");
  at_most(encoder_layers, 1000, "encoder_layers");
  at_most(decoder_layers, 1000, "decoder_layers");
  at_most(encoder_ffn_dim, 1 << 24, "encoder_ffn_dim");
  at_most(decoder_ffn_dim, 1 << 24, "decoder_ffn_dim");
  at_most(vocab_size, std::numeric_limits<std::int32_t>::max(), "vocab_size");
  at_most(decoder_vocab_size, std::numeric_limits<std::int32_t>::max(), "decoder_vocab_size");
  for (const auto& [key, p] :
       {std::pair{"encoder_layerdrop", encoder_layerdrop}, {"decoder_layerdrop", decoder_layerdrop}})
    need(p >= 0 && p < 1, key, fmt::format("{} is not in [0, 1)", p));
  need(d_model > 0 && d_model % 2 == 0, "d_model", fmt::format("{} is not a positive even number", d_model));
  need(encoder_attention_heads > 0 && d_model % encoder_attention_heads == 0, "encoder_attention_heads",
       fmt::format("d_model {} does not divide into {} heads", d_model, encoder_attention_heads));
  need(decoder_attention_heads > 0 && d_model % decoder_attention_heads == 0, "decoder_attention_heads",
       fmt::format("d_model {} does not divide into {} heads", d_model, decoder_attention_heads));
  need(vocab_size > 0, "vocab_size", fmt::format("{} is not positive", vocab_size));
  need(decoder_vocab_size > 0, "decoder_vocab_size", fmt::format("{} is not positive", decoder_vocab_size));
  need(!share_encoder_decoder_embeddings || vocab_size == decoder_vocab_size, "decoder_vocab_size",
       fmt::format("{} differs from vocab_size {}, yet the embeddings are shared", decoder_vocab_size, vocab_size));
  need(encoder_layers > 0 && decoder_layers > 0, "encoder_layers, decoder_layers",
       fmt::format("{} and {}: each side needs at least one", encoder_layers, decoder_layers));
  need(encoder_ffn_dim > 0 && decoder_ffn_dim > 0, "encoder_ffn_dim, decoder_ffn_dim",
       fmt::format("{} and {} are not positive", encoder_ffn_dim, decoder_ffn_dim));
  need(max_position_embeddings > 0, "max_position_embeddings",
       fmt::format("{} is not positive", max_position_embeddings));
  const auto id = [&](std::int32_t value, std::string_view key, bool optional) {
    need((optional && value == -1) || (value >= 0 && value < decoder_vocab_size), key,
         fmt::format("{} is not an id of the vocabulary of {}", value, decoder_vocab_size));
  };
  id(eos_token_id, "eos_token_id", false);
  id(decoder_start_token_id, "decoder_start_token_id", false);
  id(pad_token_id, "pad_token_id", false);
  id(bos_token_id, "bos_token_id", true);
  id(forced_eos_token_id, "forced_eos_token_id", true);
  need(pad_token_id < vocab_size && eos_token_id < vocab_size, "pad_token_id, eos_token_id",
       fmt::format("{} and {} are not both below vocab_size {}", pad_token_id, eos_token_id, vocab_size));
  for (const auto& [value, key] : {std::pair{dropout, "dropout"},
                                   {attention_dropout, "attention_dropout"},
                                   {activation_dropout, "activation_dropout"}})
    need(value >= 0 && value < 1, key, fmt::format("{} is not in [0, 1)", value));
  nn::activation_of(activation_function, at + ": activation_function");
}

MarianConfig marian_config(const JsonObject& j) {
  MarianConfig k;
  k.vocab_size = j.size("vocab_size");
  k.decoder_vocab_size = j.size("decoder_vocab_size", k.vocab_size);
  k.d_model = j.size("d_model");
  k.encoder_layers = j.size("encoder_layers");
  k.decoder_layers = j.size("decoder_layers");
  k.encoder_attention_heads = j.size("encoder_attention_heads");
  k.decoder_attention_heads = j.size("decoder_attention_heads");
  k.encoder_ffn_dim = j.size("encoder_ffn_dim");
  k.decoder_ffn_dim = j.size("decoder_ffn_dim");
  k.activation_function = j.get<std::string>("activation_function", "gelu");
  k.scale_embedding = j.get<bool>("scale_embedding", false);
  k.share_encoder_decoder_embeddings = j.get<bool>("share_encoder_decoder_embeddings", true);
  k.tie_word_embeddings = j.get<bool>("tie_word_embeddings", true);
  k.max_position_embeddings = j.size("max_position_embeddings", 1024);
  const auto id = [&](std::string_view key, std::int64_t otherwise) {
    const std::int64_t value = j.get<std::int64_t>(key, otherwise);
    if (value < -1 || value > std::numeric_limits<std::int32_t>::max())
      j.fail_at(key, fmt::format("expected a token id of at least 0, got {}", value));
    return static_cast<std::int32_t>(value);
  };
  k.pad_token_id = id("pad_token_id", 58100);
  k.eos_token_id = id("eos_token_id", 0);
  k.bos_token_id = id("bos_token_id", -1);
  k.decoder_start_token_id = id("decoder_start_token_id", 58100);
  k.forced_eos_token_id = id("forced_eos_token_id", -1);
  k.init_std = j.get<double>("init_std", 0.02);
  k.dropout = static_cast<float>(j.get<double>("dropout", 0.1));
  k.attention_dropout = static_cast<float>(j.get<double>("attention_dropout", 0.0));
  k.activation_dropout = static_cast<float>(j.get<double>("activation_dropout", 0.0));
  k.encoder_layerdrop = j.get<double>("encoder_layerdrop", 0.0);
  k.decoder_layerdrop = j.get<double>("decoder_layerdrop", 0.0);

  // What others of the BART kin can say in these files and this architecture does not compute: refused, never ignored.
  struct Refused {
    std::string_view key;
    bool supported;
  };
  for (const auto& [key, supported] : {Refused{"normalize_before", false}, Refused{"normalize_embedding", false},
                                       Refused{"add_final_layer_norm", false}, Refused{"add_bias_logits", false},
                                       Refused{"static_position_embeddings", true}, Refused{"is_decoder", false}})
    if (const auto value = j.find<bool>(key); value && *value != supported)
      j.fail_at(key, fmt::format("{} is not supported for marian", *value), fmt::format("only {} is", supported));
  k.validate(j.where());
  return k;
}

Marian::Marian(const MarianConfig& config)
    : config_(config),
      positions_(config.d_model, nn::SinusoidalPositions::Layout::concatenated,
                 std::min<std::int64_t>(config.max_position_embeddings, 1024)) {
  config_.validate("marian");
  const auto& k = config_;
  nn::Parameters& p = parameters_;
  const nn::Embedding::Options embedding{.scale = k.scale_embedding ? std::sqrt(static_cast<float>(k.d_model)) : 1.0f,
                                         .padding_id = k.pad_token_id,
                                         .deviation = k.init_std};
  if (k.share_encoder_decoder_embeddings) {
    source_embedding_ = target_embedding_ = nn::Embedding(p, "model.shared.weight", k.vocab_size, k.d_model, embedding);
  } else {
    source_embedding_ = nn::Embedding(p, "model.encoder.embed_tokens.weight", k.vocab_size, k.d_model, embedding);
    target_embedding_ =
        nn::Embedding(p, "model.decoder.embed_tokens.weight", k.decoder_vocab_size, k.d_model, embedding);
  }
  output_ = k.tie_word_embeddings
                ? target_embedding_.table()
                : &p.add("lm_head.weight", {k.decoder_vocab_size, k.d_model}, nn::Init::normal(k.init_std));
  output_->in_products = true;
  final_logits_bias_ = &p.add("final_logits_bias", {1, k.decoder_vocab_size}, nn::Init::zeros());
  final_logits_bias_->trainable = false;  // a buffer for Hugging Face: what is not trained there is not trained here

  const ops::Activation activation = nn::activation_of(k.activation_function, "activation_function");
  const auto layer = [&](const std::string& name, std::int64_t heads, std::int64_t d_ff, bool decoder) {
    const Attention::Options attention{.d_model = k.d_model, .num_heads = heads, .dropout = k.attention_dropout};
    nn::PostNormLayer l;
    l.name = name;
    l.dropout = k.dropout;
    l.self_attention = Attention(p, name + ".self_attn", attention);
    l.self_norm = nn::Norm(p, name + ".self_attn_layer_norm", k.d_model, 1e-5f);
    if (decoder) {
      l.cross_attention = Attention(p, name + ".encoder_attn", attention);
      l.cross_norm = nn::Norm(p, name + ".encoder_attn_layer_norm", k.d_model, 1e-5f);
    }
    l.feed_forward = nn::FeedForward(
        p, name, {.d_model = k.d_model, .d_ff = d_ff, .activation = activation, .dropout = k.activation_dropout});
    l.feed_forward_norm = nn::Norm(p, name + ".final_layer_norm", k.d_model, 1e-5f);
    return l;
  };
  for (std::int64_t i = 0; i < k.encoder_layers; ++i)
    encoder_layers_.push_back(
        layer("model.encoder.layers." + std::to_string(i), k.encoder_attention_heads, k.encoder_ffn_dim, false));
  for (std::int64_t i = 0; i < k.decoder_layers; ++i)
    decoder_layers_.push_back(
        layer("model.decoder.layers." + std::to_string(i), k.decoder_attention_heads, k.decoder_ffn_dim, true));
}

std::string Marian::config_json() const {
  const auto& k = config_;
  const auto id = [](std::int32_t value) {
    return value < 0 ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(value);
  };
  return nlohmann::ordered_json{{"architectures", {"MarianMTModel"}},
                                {"model_type", "marian"},
                                {"vocab_size", k.vocab_size},
                                {"decoder_vocab_size", k.decoder_vocab_size},
                                {"d_model", k.d_model},
                                {"encoder_layers", k.encoder_layers},
                                {"decoder_layers", k.decoder_layers},
                                {"encoder_attention_heads", k.encoder_attention_heads},
                                {"decoder_attention_heads", k.decoder_attention_heads},
                                {"encoder_ffn_dim", k.encoder_ffn_dim},
                                {"decoder_ffn_dim", k.decoder_ffn_dim},
                                {"activation_function", k.activation_function},
                                {"scale_embedding", k.scale_embedding},
                                {"share_encoder_decoder_embeddings", k.share_encoder_decoder_embeddings},
                                {"tie_word_embeddings", k.tie_word_embeddings},
                                {"static_position_embeddings", true},
                                {"normalize_before", false},
                                {"normalize_embedding", false},
                                {"max_position_embeddings", k.max_position_embeddings},
                                {"pad_token_id", k.pad_token_id},
                                {"eos_token_id", k.eos_token_id},
                                {"bos_token_id", id(k.bos_token_id)},
                                {"decoder_start_token_id", k.decoder_start_token_id},
                                {"forced_eos_token_id", id(k.forced_eos_token_id)},
                                {"init_std", k.init_std},
                                {"dropout", k.dropout},
                                {"attention_dropout", k.attention_dropout},
                                {"activation_dropout", k.activation_dropout},
                                {"encoder_layerdrop", k.encoder_layerdrop},
                                {"decoder_layerdrop", k.decoder_layerdrop},
                                {"is_encoder_decoder", true},
                                {"torch_dtype", "float32"},
                                {"use_cache", true}}
      .dump(2);
}

SpecialIds Marian::special_ids() const {
  return {.pad = config_.pad_token_id,
          .bos = config_.bos_token_id,
          .eos = config_.eos_token_id,
          .decoder_start = config_.decoder_start_token_id};
}

OutputProjection Marian::output() const {
  return {output_->weight(), final_logits_bias_->value.reshape({config_.decoder_vocab_size})};
}

Tensor Marian::embed(Context& c, const nn::Embedding& e, std::span<const std::int32_t> ids, const Rows& rows) const {
  const float p = config_.embedding_dropout >= 0 ? config_.embedding_dropout : config_.dropout;
  return ops::dropout(c, positions_.forward(c, e.forward(c, ids), rows.positions()), p);
}

Memory Marian::encode(Context& c, std::span<const std::int32_t> ids, const Rows& rows, const ops::Mask& mask) const {
  Memory memory;
  memory.rows = rows;
  memory.states = run_layers(c, encoder_layers_, embed(c, source_embedding_, ids, rows), encoder_call(c, rows, mask),
                             nullptr, gradient_checkpointing_, config_.encoder_layerdrop);
  project_memory(c, decoder_layers_, memory);
  return memory;
}

Tensor Marian::decode(Context& c, const DecoderInput& input) const {
  const auto call = decoder_call(c, input);
  return run_layers(c, decoder_layers_, embed(c, target_embedding_, input.ids, input.rows), call, input.memory,
                    gradient_checkpointing_, config_.decoder_layerdrop);
}

StoredAs Marian::stored_as(const nn::Parameter& p) const {
  return {.names = {p.name}, .optional = p.name == "final_logits_bias"};  // older files leave it out: it is zero
}

// Names under which Hugging Face also stores what is tied or computed.
bool Marian::is_redundant(std::string_view name) const {
  for (std::string_view known :
       {"lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight",
        "model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"})
    if (name == known) return true;
  return false;
}

std::unique_ptr<Model> make_marian(const JsonObject& config) {
  return std::make_unique<Marian>(marian_config(config));
}

}  // namespace tril::model

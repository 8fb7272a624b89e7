#include "model/families/bart_config.h"

#include <nlohmann/json.hpp>
#include <string>

#include "model/spec/config_checks.h"
#include "model/spec/config_reader.h"
#include "model/spec/decoder_keys.h"
#include "model/spec/stack.h"

namespace tril::model {

void BartConfig::validate(std::string_view where) const {
  using Most = MostDecoderSizes;
  const ConfigChecks checks(where);
  const auto at_most = [&](std::int64_t value, std::int64_t most, std::string_view key) {
    checks.need(value <= most, key, fmt::format("{} is above the supported maximum of {}", value, most));
  };
  at_most(d_model, Most::hidden_size, "d_model");
  at_most(encoder_layers, Most::num_layers, "encoder_layers");
  at_most(decoder_layers, Most::num_layers, "decoder_layers");
  at_most(encoder_ffn_dim, 1 << 24, "encoder_ffn_dim");
  at_most(decoder_ffn_dim, 1 << 24, "decoder_ffn_dim");
  at_most(max_position_embeddings, 1 << 24, "max_position_embeddings");
  at_most(vocab_size, Most::vocab_size, "vocab_size");
  at_most(decoder_vocab_size, Most::vocab_size, "decoder_vocab_size");
  checks.probability(encoder_layerdrop, "encoder_layerdrop");
  checks.probability(decoder_layerdrop, "decoder_layerdrop");
  checks.need(d_model > 0 && d_model % 2 == 0, "d_model", fmt::format("{} is not a positive even number", d_model));
  const auto divides = [&](std::int64_t heads, std::string_view key) {
    checks.need(heads > 0 && d_model % heads == 0, key,
                fmt::format("d_model {} is not divisible by {} heads", d_model, heads));
  };
  divides(encoder_attention_heads, "encoder_attention_heads");
  divides(decoder_attention_heads, "decoder_attention_heads");
  checks.need(vocab_size > 0, "vocab_size", fmt::format("{} is not positive", vocab_size));
  checks.need(decoder_vocab_size > 0, "decoder_vocab_size", fmt::format("{} is not positive", decoder_vocab_size));
  checks.need(
      !share_encoder_decoder_embeddings || vocab_size == decoder_vocab_size, "decoder_vocab_size",
      fmt::format("{} differs from vocab_size {}, but the embeddings are shared", decoder_vocab_size, vocab_size));
  checks.need(encoder_layers > 0 && decoder_layers > 0, "encoder_layers, decoder_layers",
              fmt::format("{} and {}: each side needs at least one layer", encoder_layers, decoder_layers));
  checks.need(encoder_ffn_dim > 0 && decoder_ffn_dim > 0, "encoder_ffn_dim, decoder_ffn_dim",
              fmt::format("{} and {} are not positive", encoder_ffn_dim, decoder_ffn_dim));
  checks.need(max_position_embeddings > 0, "max_position_embeddings",
              fmt::format("{} is not positive", max_position_embeddings));
  checks.id(eos_token_id, decoder_vocab_size, "eos_token_id");
  checks.id(decoder_start_token_id, decoder_vocab_size, "decoder_start_token_id");
  checks.id(pad_token_id, decoder_vocab_size, "pad_token_id");
  checks.optional_id(bos_token_id, decoder_vocab_size, "bos_token_id");
  checks.optional_id(forced_eos_token_id, decoder_vocab_size, "forced_eos_token_id");
  checks.need(pad_token_id < vocab_size && eos_token_id < vocab_size, "pad_token_id, eos_token_id",
              fmt::format("{} and {} are not both below vocab_size {}", pad_token_id, eos_token_id, vocab_size));
  checks.at_least_0(init_std, "init_std");
  for (const auto& [key, p] : dropouts()) checks.probability(p, key);
}

namespace {

// Refuses the options of related models that this family does not compute.
void refuse_other_variants(ConfigReader& reader, const BartFamily& family) {
  const bool learned = family.positions == BartFamily::Positions::learned;
  const bool words = family.embedding_norm == BartFamily::EmbeddingNorm::of_decoder_words;
  const bool embedding_norm = family.embedding_norm != BartFamily::EmbeddingNorm::none;
  for (const char* key : {"normalize_before", "add_final_layer_norm"}) reader.only(key, family.pre_norm);
  reader.only("normalize_embedding", embedding_norm);
  reader.only("decoder_cell", std::string(family.ssru ? "ssru" : "self-attention"));
  reader.only("static_position_embeddings", !learned);
  for (const char* key : {"add_bias_logits", "is_decoder", "use_prompt"}) reader.only(key, false);
  // True: the decoder's norm of embeddings comes before positions are added.
  if (embedding_norm) reader.only("do_blenderbot_90_layernorm", words);
  reader.only("layernorm_variant", std::string(family.pre_norm ? "prelayernorm" : "xlm"));
  // Keys of YANMTT's mBARTs, with the values that turn them off.
  for (const char* key : {"wait_k", "additional_source_wait_k"}) reader.only(key, std::int64_t{-1});
  reader.only("softmax_temperature", 1.0);
}

// Published families have sizes that `transformers` gives to absent keys; `k` holds them.
void read_sizes(ConfigReader& reader, const BartFamily& family, BartConfig& k) {
  const bool is_published = !family.architecture.empty();
  const auto size = [&](const std::string& key, std::int64_t& value) {
    value = is_published ? reader.size(key, value) : reader.size(key);
  };
  const auto layers = [&](const std::string& key, std::int64_t& value) {
    if (!is_published || reader.has(key)) value = reader.layers(key);
  };
  size("vocab_size", k.vocab_size);
  k.decoder_vocab_size = family.two_vocabularies ? reader.size("decoder_vocab_size", k.vocab_size) : k.vocab_size;
  // The encoder's sizes may also have the names of other families in transformers.
  size(reader.spelt("d_model", "hidden_size"), k.d_model);
  layers(reader.spelt("encoder_layers", "num_hidden_layers"), k.encoder_layers);
  layers("decoder_layers", k.decoder_layers);
  size(reader.spelt("encoder_attention_heads", "num_attention_heads"), k.encoder_attention_heads);
  size("decoder_attention_heads", k.decoder_attention_heads);
  size("encoder_ffn_dim", k.encoder_ffn_dim);
  size("decoder_ffn_dim", k.decoder_ffn_dim);
}

}  // namespace

BartConfig read_bart_config(const JsonObject& j, const BartFamily& family, const BartConfig& otherwise) {
  ConfigReader reader(j, std::string(family.name));
  BartConfig k = otherwise;
  read_sizes(reader, family, k);
  k.activation_function = reader.hidden_act("activation_function", k.activation_function);
  k.scale_embedding = reader.get<bool>("scale_embedding", k.scale_embedding);
  k.tie_word_embeddings = reader.get<bool>("tie_word_embeddings", true);
  k.share_encoder_decoder_embeddings = k.tie_word_embeddings;
  if (family.two_vocabularies) {
    k.share_encoder_decoder_embeddings = reader.get<bool>("share_encoder_decoder_embeddings", true);
  }
  k.max_position_embeddings = reader.size("max_position_embeddings", k.max_position_embeddings);
  const auto id = [&](const char* key, std::int32_t usual) { return reader.id_of(key, usual, k.decoder_vocab_size); };
  k.pad_token_id = id("pad_token_id", k.pad_token_id);
  k.eos_token_id = id("eos_token_id", k.eos_token_id);
  k.bos_token_id = id("bos_token_id", k.bos_token_id);
  k.decoder_start_token_id = id("decoder_start_token_id", k.decoder_start_token_id);
  if (k.decoder_start_token_id < 0) k.decoder_start_token_id = k.bos_token_id;
  k.forced_eos_token_id = id("forced_eos_token_id", k.forced_eos_token_id);
  const auto number = [&](const char* key, float value) {
    return static_cast<float>(reader.get<double>(key, static_cast<double>(value)));
  };
  k.init_std = reader.get<double>("init_std", 0.02);
  k.dropout = number("dropout", k.dropout);
  k.attention_dropout = number("attention_dropout", k.attention_dropout);
  k.activation_dropout = number("activation_dropout", k.activation_dropout);
  k.encoder_layerdrop = reader.get<double>("encoder_layerdrop", k.encoder_layerdrop);
  k.decoder_layerdrop = reader.get<double>("decoder_layerdrop", k.decoder_layerdrop);
  refuse_other_variants(reader, family);
  // Keys of classifiers, keys about the rows of early position tables, a key that generation_config.cpp reads, and the
  // sizes of MVP's prompts, which only use_prompt needs.
  reader.ignore({"classif_dropout", "extra_pos_embeddings", "save_step", "kobart_version",
                 "force_bos_token_to_be_generated", "do_blenderbot_90_layernorm", "prompt_length", "prompt_mid_dim"});
  if (family.states_eps) reader.ignore({"layer_norm_eps"});  // the caller has chosen the family by it
  k.validate(j.where());
  // `transformers` shares no embeddings unless they are tied, whatever their key says. Marian itself has models that do.
  const bool is_published = !family.architecture.empty();
  if (is_published && !k.tie_word_embeddings) k.share_encoder_decoder_embeddings = false;
  reader.finish();
  return k;
}

namespace {

nlohmann::ordered_json published_name(const BartFamily& family) {
  if (family.architecture.empty()) return {{"model_type", "tril"}, {"architecture", family.name}};
  return {{"architectures", {family.architecture}}, {"model_type", family.name}};
}

}  // namespace

std::string bart_config_json(const BartConfig& k, const BartFamily& family) {
  nlohmann::ordered_json j = published_name(family);
  j.update({{"vocab_size", k.vocab_size},
            {"d_model", k.d_model},
            {"encoder_layers", k.encoder_layers},
            {"decoder_layers", k.decoder_layers},
            {"encoder_attention_heads", k.encoder_attention_heads},
            {"decoder_attention_heads", k.decoder_attention_heads},
            {"encoder_ffn_dim", k.encoder_ffn_dim},
            {"decoder_ffn_dim", k.decoder_ffn_dim},
            {"activation_function", name_of(k.activation_function)},
            {"scale_embedding", k.scale_embedding},
            {"tie_word_embeddings", k.tie_word_embeddings},
            {"static_position_embeddings", family.positions != BartFamily::Positions::learned},
            {"normalize_before", family.pre_norm},
            {"add_final_layer_norm", family.pre_norm},
            {"normalize_embedding", family.embedding_norm != BartFamily::EmbeddingNorm::none},
            {"max_position_embeddings", k.max_position_embeddings},
            {"pad_token_id", k.pad_token_id},
            {"eos_token_id", k.eos_token_id},
            {"bos_token_id", id_json(k.bos_token_id)},
            {"decoder_start_token_id", k.decoder_start_token_id},
            {"forced_eos_token_id", id_json(k.forced_eos_token_id)},
            {"init_std", k.init_std},
            {"dropout", k.dropout},
            {"attention_dropout", k.attention_dropout},
            {"activation_dropout", k.activation_dropout},
            {"encoder_layerdrop", k.encoder_layerdrop},
            {"decoder_layerdrop", k.decoder_layerdrop},
            {"is_encoder_decoder", true},
            {"torch_dtype", "float32"},
            {"use_cache", true}});
  if (family.states_eps)
    j["layer_norm_eps"] = std::stod(fmt::format("{}", family.layer_norm_eps));  // 1e-5, not the nearest float
  if (family.two_vocabularies) {
    j["decoder_vocab_size"] = k.decoder_vocab_size;
    j["share_encoder_decoder_embeddings"] = k.share_encoder_decoder_embeddings;
  }
  if (family.ssru) j["decoder_cell"] = "ssru";
  return j.dump(2);
}

}  // namespace tril::model

#include "model/families/t5_config.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "model/families/switch_config.h"
#include "model/spec/config_checks.h"
#include "model/spec/config_reader.h"
#include "model/spec/decoder_keys.h"
#include "model/spec/stack.h"

namespace tril::model {

const T5Family& t5_family(std::string_view name) {
  static constexpr std::array<T5Family, 4> families{{
      {.name = "t5",
       .architecture = "T5ForConditionalGeneration",
       .vocab_size = 32128,
       .d_model = 512,
       .d_ff = 2048,
       .num_layers = 6,
       .num_heads = 8},
      {.name = "mt5",
       .architecture = "MT5ForConditionalGeneration",
       .vocab_size = 250112,
       .d_model = 512,
       .d_ff = 1024,
       .num_layers = 8,
       .num_heads = 6,
       .dense_act_fn = HiddenAct::gelu_new,
       .is_gated_act = true,
       .never_scales = true},
      {.name = "umt5",
       .architecture = "UMT5ForConditionalGeneration",
       .vocab_size = 250112,
       .d_model = 512,
       .d_ff = 1024,
       .num_layers = 8,
       .num_heads = 6,
       .dense_act_fn = HiddenAct::gelu_new,
       .is_gated_act = true,
       .bias_in_every_layer = true},
      {.name = "switch_transformers",
       .architecture = "SwitchTransformersForConditionalGeneration",
       .vocab_size = 32128,
       .d_model = 768,
       .d_ff = 2048,
       .num_layers = 12,
       .num_heads = 12,
       .has_experts = true},
  }};
  for (const T5Family& f : families)
    if (f.name == name) return f;
  fail_usage("family", fmt::format("'{}' is not a family like T5", name));
}

void T5Config::validate(std::string_view where) const {
  using Most = MostDecoderSizes;
  const ConfigChecks checks(where);
  checks.within(vocab_size, Most::vocab_size, "vocab_size");
  checks.within(d_model, Most::hidden_size, "d_model");
  checks.within(d_kv, 1 << 12, "d_kv");
  checks.within(d_ff, 1 << 24, "d_ff");
  checks.within(num_heads, Most::num_heads, "num_heads");
  checks.within(num_layers, Most::num_layers, "num_layers");
  checks.within(num_decoder_layers, Most::num_layers, "num_decoder_layers");
  checks.within(relative_attention_num_buckets, 1 << 20, "relative_attention_num_buckets");
  checks.within(relative_attention_max_distance, 1 << 30, "relative_attention_max_distance");
  checks.need(
      relative_attention_num_buckets >= 4 && relative_attention_max_distance > relative_attention_num_buckets / 2,
      "relative_attention_num_buckets",
      fmt::format("{} buckets for distances up to {}: at least 4 buckets are needed, and half of them must be below "
                  "the distance",
                  relative_attention_num_buckets, relative_attention_max_distance));
  checks.positive(layer_norm_epsilon, "layer_norm_epsilon");
  checks.at_least_0(initializer_factor, "initializer_factor");
  checks.probability(dropout_rate, "dropout_rate");
  checks.id(pad_token_id, vocab_size, "pad_token_id");
  checks.id(eos_token_id, vocab_size, "eos_token_id");
  checks.id(decoder_start_token_id, vocab_size, "decoder_start_token_id");
  checks.optional_id(bos_token_id, vocab_size, "bos_token_id");
  if (t5_family(family).has_experts) validate_experts(experts, checks);
}

namespace {

// "relu", "gated-gelu", ... In released models gated-gelu means the tanh form of gelu.
void read_projection(const JsonObject& json, const std::string& projection, T5Config& k) {
  constexpr const char* key = "feed_forward_proj";
  k.is_gated_act = projection.starts_with("gated-");
  if (!k.is_gated_act && projection.find('-') != projection.npos)
    json.fail_at(key, fmt::format("expected ACTIVATION or gated-ACTIVATION, got '{}'", printable(projection)));
  const std::string name = k.is_gated_act ? projection.substr(6) : projection;
  k.dense_act_fn = projection == "gated-gelu" ? HiddenAct::gelu_new : hidden_act_of(name, json.place_of(key));
}

// feed_forward_proj gives the activation. Where files have dense_act_fn and is_gated_act too, these win.
void read_activation(ConfigReader& reader, const T5Family& family, T5Config& k) {
  k.dense_act_fn = family.dense_act_fn, k.is_gated_act = family.is_gated_act;
  if (reader.has("feed_forward_proj"))
    read_projection(reader.json(), reader.get<std::string>("feed_forward_proj", ""), k);
  k.dense_act_fn = reader.hidden_act("dense_act_fn", k.dense_act_fn);
  k.is_gated_act = reader.get<bool>("is_gated_act", k.is_gated_act);
}

}  // namespace

T5Config t5_config(const JsonObject& j, std::optional<bool> output_matrix) {
  T5Config k;
  k.family = j.get<std::string>("model_type");
  ConfigReader reader(j, k.family);
  const T5Family& family = t5_family(k.family);
  // Some sizes may also have the names of other families in transformers.
  const std::string layers = reader.spelt("num_layers", "num_hidden_layers");
  k.vocab_size = reader.size("vocab_size", family.vocab_size);
  k.d_model = reader.size(reader.spelt("d_model", "hidden_size"), family.d_model);
  k.d_kv = reader.size(reader.spelt("d_kv", "head_dim"), 64);
  k.d_ff = reader.size("d_ff", family.d_ff);
  k.num_layers = reader.has(layers) ? reader.layers(layers) : family.num_layers;
  const bool twelve =
      family.has_experts && !reader.says_null("num_decoder_layers");  // the default if the key is absent
  k.num_decoder_layers = reader.has("num_decoder_layers") ? reader.layers("num_decoder_layers")
                         : twelve                         ? family.num_layers
                                                          : k.num_layers;
  k.num_heads = reader.size(reader.spelt("num_heads", "num_attention_heads"), family.num_heads);
  k.relative_attention_num_buckets = reader.size("relative_attention_num_buckets", 32);
  k.relative_attention_max_distance = reader.size("relative_attention_max_distance", 128);
  k.dropout_rate = static_cast<float>(reader.get<double>("dropout_rate", 0.1));
  k.layer_norm_epsilon = reader.get<double>("layer_norm_epsilon", 1e-6);
  k.initializer_factor = reader.get<double>("initializer_factor", 1.0);

  // The weight files show whether the output is tied; config.json may wrongly have true. In version 4, false also meant that
  // the output is not scaled.
  const bool stated = reader.get<bool>("tie_word_embeddings", true);
  if (family.has_experts) {
    read_experts(reader, k);
    k.tie_word_embeddings = stated && !output_matrix.value_or(false);
    k.share_embeddings = k.scale_decoder_outputs = stated;
  } else {
    read_activation(reader, family, k);
    k.tie_word_embeddings = output_matrix ? !*output_matrix : stated;
    k.scale_decoder_outputs = !family.never_scales && reader.get<bool>("scale_decoder_outputs", stated);
  }

  const auto id = [&](const char* key, std::int32_t otherwise) { return reader.id_of(key, otherwise, k.vocab_size); };
  k.pad_token_id = id("pad_token_id", 0);
  k.eos_token_id = id("eos_token_id", 1);
  k.bos_token_id = id("bos_token_id", -1);
  k.decoder_start_token_id = id("decoder_start_token_id", -1);
  if (k.decoder_start_token_id < 0) k.decoder_start_token_id = k.pad_token_id;
  reader.only("is_decoder", false);
  // The authors' training length, which does not limit distances; a prefix of inputs; and a key of umT5 that `transformers`
  // ignores too.
  reader.ignore({"n_positions", "add_prefix", "scalable_attention"});
  k.validate(j.where());
  reader.finish();
  return k;
}

std::string t5_config_json(const T5Config& k) {
  const T5Family& family = t5_family(k.family);
  nlohmann::ordered_json j{{"architectures", {family.architecture}},
                           {"model_type", k.family},
                           {"vocab_size", k.vocab_size},
                           {"d_model", k.d_model},
                           {"d_kv", k.d_kv},
                           {"d_ff", k.d_ff},
                           {"num_layers", k.num_layers},
                           {"num_decoder_layers", k.num_decoder_layers},
                           {"num_heads", k.num_heads},
                           {"relative_attention_num_buckets", k.relative_attention_num_buckets},
                           {"relative_attention_max_distance", k.relative_attention_max_distance},
                           {"dropout_rate", k.dropout_rate},
                           {"layer_norm_epsilon", k.layer_norm_epsilon},
                           {"initializer_factor", k.initializer_factor},
                           {"dense_act_fn", name_of(k.dense_act_fn)},
                           {"tie_word_embeddings", k.tie_word_embeddings},
                           {"pad_token_id", k.pad_token_id},
                           {"eos_token_id", k.eos_token_id},
                           {"bos_token_id", id_json(k.bos_token_id)},
                           {"decoder_start_token_id", k.decoder_start_token_id},
                           {"is_encoder_decoder", true},
                           {"torch_dtype", "float32"},
                           {"use_cache", true}};
  if (family.has_experts) {
    write_experts(k, j);
    return j.dump(2);
  }
  // gated-gelu means gelu_new; the other two keys give any other combination.
  const bool is_gelu = k.is_gated_act && k.dense_act_fn == HiddenAct::gelu_new;
  const std::string act(is_gelu ? "gelu" : name_of(k.dense_act_fn));
  j["feed_forward_proj"] = (k.is_gated_act ? "gated-" : "") + act;
  j["is_gated_act"] = k.is_gated_act;
  if (!family.never_scales) j["scale_decoder_outputs"] = k.scale_decoder_outputs;
  return j.dump(2);
}

}  // namespace tril::model

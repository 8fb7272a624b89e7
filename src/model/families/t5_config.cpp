#include "model/families/t5_config.h"

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "model/families/switch_config.h"
#include "model/spec/config_reader.h"
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
       .feed_forward_proj = "gated-gelu",
       .never_scales = true},
      {.name = "umt5",
       .architecture = "UMT5ForConditionalGeneration",
       .vocab_size = 250112,
       .d_model = 512,
       .d_ff = 1024,
       .num_layers = 8,
       .num_heads = 6,
       .feed_forward_proj = "gated-gelu",
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
  const std::string at(where);
  const auto need = [&](bool ok, std::string_view key, const std::string& text) {
    if (!ok) fail_usage(fmt::format("{}: {}", at, key), text);
  };
  // Limits before anything is allocated from these numbers: a file of a few bytes must not claim all memory.
  const auto within = [&](std::int64_t value, std::int64_t most, std::string_view key) {
    need(value > 0 && value <= most, key, fmt::format("{} is outside the supported range from 1 to {}", value, most));
  };
  within(vocab_size, std::numeric_limits<std::int32_t>::max(), "vocab_size");
  within(d_model, 1 << 16, "d_model");
  within(d_kv, 1 << 12, "d_kv");
  within(d_ff, 1 << 24, "d_ff");
  within(num_heads, 1 << 12, "num_heads");
  within(num_layers, 1000, "num_layers");
  within(num_decoder_layers, 1000, "num_decoder_layers");
  within(relative_attention_num_buckets, 1 << 20, "relative_attention_num_buckets");
  within(relative_attention_max_distance, 1 << 30, "relative_attention_max_distance");
  need(relative_attention_num_buckets >= 4 && relative_attention_max_distance > relative_attention_num_buckets / 2,
       "relative_attention_num_buckets",
       fmt::format("{} buckets for distances up to {}: at least 4 buckets are needed, and half of them must be below "
                   "the distance",
                   relative_attention_num_buckets, relative_attention_max_distance));
  need(is_positive_float(layer_norm_epsilon), "layer_norm_epsilon",
       fmt::format("{} is not a positive number", layer_norm_epsilon));
  need(is_float_from_0(initializer_factor), "initializer_factor",
       fmt::format("{} is not a number of at least 0", initializer_factor));
  need(dropout_rate >= 0 && dropout_rate < 1, "dropout_rate", fmt::format("{} is not in [0, 1)", dropout_rate));
  for (const auto& [id, key, least] : {std::tuple{pad_token_id, "pad_token_id", 0},
                                       {eos_token_id, "eos_token_id", 0},
                                       {decoder_start_token_id, "decoder_start_token_id", 0},
                                       {bos_token_id, "bos_token_id", -1}})
    need(id >= least && id < vocab_size, key,
         id < 0 ? fmt::format("is null or absent, expected an id below {}", vocab_size)
                : fmt::format("{} is not a valid id: the vocabulary has {} tokens", id, vocab_size));
  nn::activation_of(dense_act_fn, at + ": feed_forward_proj");
  if (t5_family(family).has_experts) validate_experts(experts, at);
}

namespace {

// "relu", "gated-gelu", ...; the two keys that follow from it are written too and win where they stand. The gelu of the
// released models is that of the tanh.
void read_activation(ConfigReader& reader, const T5Family& family, T5Config& k) {
  const std::string projection = reader.get<std::string>("feed_forward_proj", std::string(family.feed_forward_proj));
  const bool gated = projection.starts_with("gated-");
  if (!gated && projection.find('-') != projection.npos)
    reader.json().fail_at("feed_forward_proj",
                          fmt::format("expected ACTIVATION or gated-ACTIVATION, got '{}'", printable(projection)));
  k.dense_act_fn = projection == "gated-gelu" ? "gelu_new" : gated ? projection.substr(6) : projection;
  k.dense_act_fn = reader.get<std::string>("dense_act_fn", k.dense_act_fn);
  k.is_gated_act = reader.get<bool>("is_gated_act", gated);
}

}  // namespace

T5Config t5_config(const JsonObject& j, std::optional<bool> output_matrix) {
  T5Config k;
  k.family = j.get<std::string>("model_type");
  ConfigReader reader(j, k.family);
  const T5Family& family = t5_family(k.family);
  // Some sizes have second names, by which transformers' other families call them.
  const std::string layers = reader.spelt("num_layers", "num_hidden_layers");
  k.vocab_size = reader.size("vocab_size", family.vocab_size);
  k.d_model = reader.size(reader.spelt("d_model", "hidden_size"), family.d_model);
  k.d_kv = reader.size(reader.spelt("d_kv", "head_dim"), 64);
  k.d_ff = reader.size("d_ff", family.d_ff);
  k.num_layers = reader.has(layers) ? reader.layers(layers) : family.num_layers;
  const bool twelve = family.has_experts && !reader.says_null("num_decoder_layers");  // where the key is absent
  k.num_decoder_layers = reader.has("num_decoder_layers") ? reader.layers("num_decoder_layers")
                         : twelve                         ? family.num_layers
                                                          : k.num_layers;
  k.num_heads = reader.size(reader.spelt("num_heads", "num_attention_heads"), family.num_heads);
  k.relative_attention_num_buckets = reader.size("relative_attention_num_buckets", 32);
  k.relative_attention_max_distance = reader.size("relative_attention_max_distance", 128);
  k.dropout_rate = static_cast<float>(reader.get<double>("dropout_rate", 0.1));
  k.layer_norm_epsilon = reader.get<double>("layer_norm_epsilon", 1e-6);
  k.initializer_factor = reader.get<double>("initializer_factor", 1.0);

  // Files tell whether the output is tied; config.json may say true where it is not. In those of version 4 false meant
  // that the output is not scaled, too.
  const bool said = reader.get<bool>("tie_word_embeddings", true);
  if (family.has_experts) {
    read_experts(reader, k);
    k.tie_word_embeddings = said && !output_matrix.value_or(false);
    k.share_embeddings = k.scale_decoder_outputs = said;
  } else {
    read_activation(reader, family, k);
    k.tie_word_embeddings = output_matrix ? !*output_matrix : said;
    k.scale_decoder_outputs = !family.never_scales && reader.get<bool>("scale_decoder_outputs", said);
  }

  const auto id = [&](const char* key, std::int32_t otherwise) { return reader.id_of(key, otherwise, k.vocab_size); };
  k.pad_token_id = id("pad_token_id", 0);
  k.eos_token_id = id("eos_token_id", 1);
  k.bos_token_id = id("bos_token_id", -1);
  k.decoder_start_token_id = id("decoder_start_token_id", -1);
  if (k.decoder_start_token_id < 0) k.decoder_start_token_id = k.pad_token_id;
  reader.only("is_decoder", false);
  // The length that the authors trained on, which distances know nothing of, what a text is to begin with, and what
  // `transformers` does not know of umT5 either.
  reader.ignore({"n_positions", "add_prefix", "scalable_attention"});
  k.validate(j.where());
  reader.finish();
  return k;
}

std::string t5_config_json(const T5Config& k) {
  const T5Family& family = t5_family(k.family);
  const auto id = [](std::int32_t value) {
    return value < 0 ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(value);
  };
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
                           {"dense_act_fn", k.dense_act_fn},
                           {"tie_word_embeddings", k.tie_word_embeddings},
                           {"pad_token_id", k.pad_token_id},
                           {"eos_token_id", k.eos_token_id},
                           {"bos_token_id", id(k.bos_token_id)},
                           {"decoder_start_token_id", k.decoder_start_token_id},
                           {"is_encoder_decoder", true},
                           {"torch_dtype", "float32"},
                           {"use_cache", true}};
  if (family.has_experts) {
    write_experts(k, j);
    return j.dump(2);
  }
  // gated-gelu means gelu_new; whatever else is meant is said by the other two keys.
  const std::string act = k.is_gated_act && k.dense_act_fn == "gelu_new" ? "gelu" : k.dense_act_fn;
  j["feed_forward_proj"] = (k.is_gated_act ? "gated-" : "") + act;
  j["is_gated_act"] = k.is_gated_act;
  if (!family.never_scales) j["scale_decoder_outputs"] = k.scale_decoder_outputs;
  return j.dump(2);
}

}  // namespace tril::model

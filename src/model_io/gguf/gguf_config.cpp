#include "model_io/gguf/gguf_config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/element.h"
#include "base/error.h"
#include "base/printable.h"
#include "model_io/gguf/gguf_fixed.h"
#include "model_io/gguf/gguf_gemma4.h"
#include "model_io/gguf/gguf_keys.h"
#include "model_io/gguf/gguf_mamba2.h"
#include "model_io/gguf/gguf_reader.h"
#include "model_io/gguf/gguf_rope.h"
#include "model_io/gguf/gguf_step35.h"
#include "tokenizer/files/gguf_vocabulary.h"

namespace tril::model {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMostLayers = 1000;
constexpr std::int64_t kExaoneLayers = 64;  // of the exaone4 with windows
constexpr std::int64_t kSigmoidGate = 2;    // llama.cpp's number of a router's function

// The family of a file, by its architecture.
std::string family_of(GgufReader& r) {
  const std::string& a = r.architecture();
  if (a == "llama") return r.get<std::int64_t>("expert_count").value_or(0) > 0 ? "mixtral" : "llama";
  if (a == "mistral3") return r.has("attention.temperature_scale") ? "ministral3" : "mistral";
  if (a == "olmo2" && r.has("attention.sliding_window")) return "olmo3";
  if (a == "granitemoe" && r.get<std::int64_t>("expert_shared_feed_forward_length").value_or(0) > 0)
    return "granitemoeshared";
  if (a == "granitehybrid" && !r.has("embedding_scale") && !r.has("logit_scale")) return "bamba";
  if (a == "deepseek2" && r.get<std::int64_t>("expert_gating_func") == kSigmoidGate) return "deepseek_v3";
  if (const std::string_view family = gguf_family(a); !family.empty()) return std::string(family);
  r.file().fail_at("general.architecture", fmt::format("'{}' is not supported", printable(a, 40)),
                   fmt::format("supported: {}", fmt::join(gguf_architectures(), ", ")));
}

// Refuses files that are not models.
void check_is_model(const GgufFile& f) {
  if (const auto type = f.get<std::string_view>("general.type"); type && *type != "model")
    f.fail_at("general.type", fmt::format("expected a model, got '{}'", printable(*type, 40)));
}

std::int64_t tokens_of(const GgufFile& f) {
  const GgufTensor& t = f.tensor("token_embd.weight");
  if (t.shape.size() != 2)
    fail(fmt::format("{}: token_embd.weight", f.path()), fmt::format("has {} dimensions, expected 2", t.shape.size()));
  return t.shape[0];
}

// A special token's id; for SentencePiece vocabularies, llama.cpp's default if the key is missing.
std::optional<std::int64_t> token_id(const GgufFile& f, const char* name, std::int64_t of_sentencepiece = -1) {
  const std::string key = gguf_vocabulary_key(name) + "_token_id";
  if (const auto id = f.get<std::int64_t>(key)) {
    if (*id == 0xffffffff || *id == -1) return std::nullopt;  // both mean "none" in some files
    if (*id < 0 || *id >= tokens_of(f))
      f.fail_at(key, fmt::format("{} is not a valid id: the vocabulary has {} tokens", *id, tokens_of(f)));
    return id;
  }
  const bool spm = f.get<std::string_view>(gguf_vocabulary_key("model")).value_or("") == "llama";
  return spm && of_sentencepiece >= 0 && of_sentencepiece < tokens_of(f) ? std::optional(of_sentencepiece)
                                                                         : std::nullopt;
}

// The value of a key; null if the file lacks it.
Json value_of(GgufReader& r, const GgufKey& key) {
  switch (key.kind) {
    case GgufKey::Kind::count: {
      const GgufEntry* const e = r.find(key.gguf);
      if (e && !e->is_array && !key.required && r.get<std::int64_t>(key.gguf) == 0) return 0;
      const auto n = key.required ? r.needed_count(key.gguf) : r.count(key.gguf);
      return n ? Json(*n) : Json(nullptr);
    }
    case GgufKey::Kind::number: {
      const auto v = r.number(key.gguf);
      if (!v && key.required) r.fail_at(key.gguf, "is missing");
      return v ? Json(*v) : Json(nullptr);
    }
    case GgufKey::Kind::flag: {
      const auto v = r.get<bool>(key.gguf);
      if (!v && key.required) r.fail_at(key.gguf, "is missing");
      return v ? Json(*v) : Json(nullptr);
    }
  }
  return nullptr;
}

void read_keys(GgufReader& r, const std::string& family, Json& config) {
  for (const GgufKey& key : gguf_keys(family)) {
    const Json value = value_of(r, key);
    if (value.is_null()) continue;
    if (key.only != 0 && value != (key.kind == GgufKey::Kind::flag ? Json(true) : Json(key.only)))
      r.fail_at(key.gguf, fmt::format("{} is not supported for a {} model", value.dump(), family),
                fmt::format("only {} is", key.only));
    if (key.only != 0) continue;
    if (const auto other = config.find(key.hf); other != config.end() && *other != value)
      r.fail_at(key.gguf,
                fmt::format("{} is not supported: a {} model has {} here", value.dump(), family, other->dump()));
    config[key.hf] = value;
  }
  if (layers_of(config) > kMostLayers)
    r.fail_at("block_count", fmt::format("{} is above the supported maximum of {}", layers_of(config), kMostLayers));
  for (const char* key : {"vocab_size", "tensor_data_layout"}) r.ignore(key);
  if (r.get<bool>("attention.causal") == false) r.fail_at("attention.causal", "false is not supported");
}

// Which layers of a family with a pattern have a window.
void read_window_layers(GgufReader& r, std::int64_t usual, Json& config) {
  constexpr const char* kKey = "attention.sliding_window_pattern";
  const std::int64_t layers = layers_of(config);
  if (!config.contains("sliding_window")) {
    config["sliding_window"] = nullptr;
    config["layer_types"] = gguf_layer_types(layers, 1);
    return r.ignore(kKey);
  }
  const GgufEntry* const e = r.find(kKey);
  if (e && e->is_array) {
    const auto slides = r.get<std::vector<bool>>(kKey);
    if (std::ssize(*slides) != layers)
      r.fail_at(kKey, fmt::format("has {} values for {} layers", slides->size(), layers));
    Json types = Json::array();
    for (const bool on : *slides) types.push_back(on ? "sliding_attention" : "full_attention");
    config["layer_types"] = types;
    return;
  }
  const std::int64_t pattern = r.get<std::int64_t>(kKey).value_or(usual);
  if (pattern < 0) r.fail_at(kKey, fmt::format("{} is negative", pattern));
  config["layer_types"] = gguf_layer_types(layers, pattern);
}

// Sets the biases and switches that a family's config.json has, by the tensors of the file.
void read_switches(const GgufFile& f, const std::string& family, Json& config) {
  const auto has = [&](const char* name) { return f.find_tensor(name) != nullptr; };
  const bool biased = has("blk.0.attn_q.bias");
  if (is_any(family, {"llama", "granite", "smollm3", "arcee", "seed_oss", "nemotron"}))
    config["mlp_bias"] = has("blk.0.ffn_up.bias");
  if (is_any(family, {"llama", "granite", "qwen3", "qwen3_moe", "olmo2", "olmo3", "olmoe", "smollm3", "arcee",
                      "seed_oss", "cohere2", "gemma3_text", "nemotron"}))
    config["attention_bias"] = biased;
  if (family == "seed_oss") config["attention_out_bias"] = has("blk.0.attn_output.bias");
  if (is_any(family, {"glm", "glm4", "glm4_moe"})) config["attention_bias"] = biased || has("blk.0.attn_qkv.bias");
  if (family == "qwen2_moe") config["qkv_bias"] = biased;
  if (family == "stablelm") config["use_qkv_bias"] = biased;
  const bool normed = has("blk.0.attn_q_norm.weight");
  if (is_any(family, {"cohere", "glm4_moe"})) config["use_qk_norm"] = normed;
  if (family == "stablelm") config["qk_layernorm"] = normed;
  if (is_any(family, {"starcoder2", "ernie4_5"})) config["use_bias"] = biased;
  if (is_any(family, {"mistral", "mixtral", "ministral3", "starcoder2", "dots1"})) config["sliding_window"] = nullptr;
}

// The sizes of latent attention: those of its form with one head of keys, and those of its heads. Older files have only the latter,
// under the names of the former.
void read_latent(GgufReader& r, Json& config) {
  const std::int64_t rank = config.at("kv_lora_rank"), rotated = config.at("qk_rope_head_dim"),
                     heads = config.at("num_attention_heads");
  const bool older = !r.has("attention.key_length_mla");
  const auto need = [&](const char* key, std::int64_t value) {
    if (const auto n = r.count(key); n && *n != value)
      r.fail_at(key, fmt::format("{} is not supported: expected {}", *n, value));
  };
  const char* const key_length = older ? "attention.key_length" : "attention.key_length_mla";
  const std::int64_t d = r.needed_count(key_length);
  if (d <= rotated) r.fail_at(key_length, fmt::format("{} does not exceed the {} rotated values", d, rotated));
  need("attention.head_count_kv", older ? heads : 1);
  if (!older) {
    need("attention.key_length", rank + rotated);
    need("attention.value_length", rank);
  }
  if (older || !config.contains("v_head_dim"))
    config["v_head_dim"] = r.needed_count(older ? "attention.value_length" : "attention.value_length_mla");
  config["qk_nope_head_dim"] = d - rotated;
  config["head_dim"] = rotated;
  config["num_key_value_heads"] = heads;
  if (!config.contains("q_lora_rank")) config["q_lora_rank"] = nullptr;
}

// minicpm3: heads with a rotated part, and values as wide as a head of ordinary attention.
void read_minicpm3_heads(GgufReader& r, Json& config) {
  const std::int64_t rotated = config.at("qk_rope_head_dim"), d = r.needed_count("attention.key_length"),
                     heads = heads_of(config);
  if (d <= rotated)
    r.fail_at("attention.key_length", fmt::format("{} does not exceed the {} rotated values", d, rotated));
  if (config.at("num_key_value_heads") != heads)
    r.fail_at("attention.head_count_kv", fmt::format("must be {}, the number of heads", heads));
  config["v_head_dim"] = r.count("attention.value_length").value_or(d_model_of(config) / heads);
  config["qk_nope_head_dim"] = d - rotated;
  config["head_dim"] = rotated;
}

// lfm2: the layers without heads of keys have convolutions. The width of the feed-forward is the one that the tensors have.
void read_head_counts(GgufReader& r, Json& config) {
  constexpr const char* kKey = "attention.head_count_kv";
  const auto counts = r.get<std::vector<std::int64_t>>(kKey);
  if (!counts || std::ssize(*counts) != layers_of(config))
    r.fail_at(kKey, fmt::format("must have a value for each of {} layers", layers_of(config)));
  Json types = Json::array();
  for (const std::int64_t heads : *counts) {
    if (heads < 0 || (heads > 0 && config.value("num_key_value_heads", heads) != heads))
      r.fail_at(kKey, fmt::format("{} heads in one layer, {} in another are not supported", heads,
                                  config.value("num_key_value_heads", heads)));
    if (heads > 0) config["num_key_value_heads"] = heads;
    types.push_back(heads > 0 ? "full_attention" : "conv");
  }
  config["layer_types"] = types;
  if (config.at("model_type") == "lfm2") config["block_auto_adjust_ff_dim"] = false;
}

// The gated delta rule: the size of its values, and which layers have it instead of attention.
void read_delta_rule(GgufReader& r, Json& config) {
  const std::int64_t heads = config.at("linear_num_value_heads"), size = r.needed_count("ssm.inner_size");
  if (size % heads != 0) r.fail_at("ssm.inner_size", fmt::format("{} heads do not divide {}", heads, size));
  config["linear_value_head_dim"] = size / heads;
  constexpr const char* kKey = "attention.recurrent_layers";
  const std::int64_t layers = layers_of(config), interval = r.count("full_attention_interval").value_or(4);
  const auto recurrent = r.get<std::vector<bool>>(kKey);
  if (recurrent && std::ssize(*recurrent) < layers)
    r.fail_at(kKey, fmt::format("has {} values for {} layers", recurrent->size(), layers));
  Json types = Json::array();
  for (std::int64_t i = 0; i < layers; ++i) {
    const bool here = recurrent ? element(*recurrent, i) : (i + 1) % interval != 0;
    types.push_back(here ? "linear_attention" : "full_attention");
  }
  config["layer_types"] = types;
  r.ignore("rope.dimension_sections");  // of positions in images
}

// hy_v3: the tensors tell which layers have experts; the width of the shared expert is a multiple of the others'.
void read_hy_v3(GgufReader& r, Json& config) {
  constexpr const char* kKey = "expert_shared_feed_forward_length";
  const std::int64_t one = config.at("moe_intermediate_size"), shared = r.count(kKey).value_or(one);
  if (shared % one != 0) r.fail_at(kKey, fmt::format("{} is not a multiple of the experts' width, {}", shared, one));
  config["num_shared_experts"] = shared / one;
  Json types = Json::array();
  for (std::int64_t i = 0; i < layers_of(config); ++i)
    types.push_back(r.file().find_tensor(fmt::format("blk.{}.ffn_gate_inp.weight", i)) ? "sparse" : "dense");
  config["mlp_layer_types"] = types;
}

// llama.cpp's values of keys that a file with routed experts may leave out.
void add_router_defaults(Json& config) {
  for (const auto& [key, value] : {std::pair{"n_group", Json(1)},
                                   {"topk_group", Json(1)},
                                   {"first_k_dense_replace", Json(0)},
                                   {"routed_scaling_factor", Json(1.0)},
                                   {"norm_topk_prob", Json(false)}})
    if (!config.contains(key)) config[key] = value;
}

// Sets the keys that follow from the tensors or the architecture: head sizes, biases and others.
void read_llama_like(GgufReader& r, const std::string& family, Json& config) {
  const bool latent = has_latent_attention(family);
  if (has_short_convolutions(family)) read_head_counts(r, config);
  if (!config.contains("num_key_value_heads")) config["num_key_value_heads"] = config.at("num_attention_heads");
  if (!config.contains("rope_theta")) config["rope_theta"] = 10000.0;
  if (latent || has_delta_rule(family) || is_any(family, {"glm4_moe", "hy_v3"})) read_further_layers(r, config);
  if (has_deepseek_router(family)) add_router_defaults(config);
  if (family == "hy_v3") read_hy_v3(r, config);
  if (has_delta_rule(family)) read_delta_rule(r, config);
  if (family == "deepseek_v2" && config.at("n_group") != 1) config["topk_method"] = "group_limited_greedy";
  if (latent)
    read_latent(r, config);
  else if (family == "minicpm3")
    read_minicpm3_heads(r, config);
  else
    read_head_size(r, config);
  if (is_any(family, {"gemma", "gemma2", "gemma3_text"})) config["hidden_act"] = config.at("hidden_activation");
  read_switches(r.file(), family, config);
  if (is_any(family, {"gemma2", "gemma3_text"})) config["query_pre_attn_scalar"] = gemma_query_scalar(config);
  if (family == "gemma2" && !config.contains("sliding_window")) config["sliding_window"] = 4096;  // as in llama.cpp
  if (family == "exaone4" && !config.contains("sliding_window") && layers_of(config) == kExaoneLayers)
    config["sliding_window"] = 4096;
  if (const std::int64_t pattern = usual_gguf_pattern(family); pattern != 0) read_window_layers(r, pattern, config);
  if (family == "nemotron") r.ignore("attention.layer_norm_rms_epsilon");  // the converter writes both
  if (is_any(family, {"granite", "granitemoe", "granitemoeshared"}))       // of a hybrid model without such layers
    for (const char* key : {"ssm.conv_kernel", "ssm.state_size", "ssm.group_count", "ssm.inner_size",
                            "ssm.time_step_rank", "expert_shared_feed_forward_length"})
      r.ignore(key);
  if (family == "afmoe")
    for (const char* key : {"expert_group_count", "expert_group_used_count"})
      if (r.count(key).value_or(1) != 1) r.fail_at(key, "is not supported: the family has one group of experts");
  if (family == "olmo3")  // llama.cpp rotates all layers alike
    if (const auto theta = r.number("rope.freq_base_swa"); theta && *theta != config.at("rope_theta").get<double>())
      r.fail_at("rope.freq_base_swa", fmt::format("{} is not supported: rope.freq_base is {}", *theta,
                                                  config.at("rope_theta").get<double>()));
  if (family == "phi3") {
    if (!config.contains("sliding_window")) config["sliding_window"] = nullptr;
    if (!config.contains("original_max_position_embeddings"))
      config["original_max_position_embeddings"] = config.at("max_position_embeddings");
  }
  read_gguf_rope(r, config);
  if (family == "olmo3")
    config["rope_parameters"] = {
        {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", config.at("rope_theta")}}}};
  if (is_any(family, {"ministral3", "gpt_oss", "apertus"})) {  // must have the newer key
    config["rope_parameters"] = config.value("rope_scaling", Json{{"rope_type", "default"}});
    config["rope_parameters"]["rope_theta"] = config.at("rope_theta");
    config.erase("rope_scaling");
  }
}

// The layout of falcon: the newer one has several heads of keys, and may have a norm for each sublayer.
void read_falcon(const GgufFile& f, Json& config) {
  const bool two_norms = f.find_tensor("blk.0.attn_norm_2.weight") != nullptr;
  const bool newer = two_norms || config.at("num_kv_heads") != 1;
  config["new_decoder_architecture"] = newer;
  config["multi_query"] = !newer;
  config["num_ln_in_parallel_attn"] = newer ? Json(two_norms ? 2 : 1) : Json(nullptr);
}

void read_gpt_like(GgufReader& r, const std::string& family, Json& config) {
  if (family == "gpt2") r.ignore("attention.head_count_kv");  // as many as heads
  if (is_any(family, {"gpt2", "gpt_bigcode"}))
    for (const char* key : {"embd_pdrop", "attn_pdrop", "resid_pdrop"}) config[key] = 0.0;
  if (is_any(family, {"bloom", "mpt"})) {
    const std::int64_t inner = r.needed_count("feed_forward_length");
    if (inner != 4 * d_model_of(config))
      r.fail_at("feed_forward_length",
                fmt::format("{} is not supported: a {} model has four times its width", inner, family));
  }
  if (family == "mpt")
    config["attn_config"] = {{"attn_type", "multihead_attention"}, {"alibi", true}, {"attn_pdrop", 0}};
  if (family == "falcon") read_falcon(r.file(), config);
  if (!is_any(family, {"gpt_neox", "falcon", "phi"})) return;
  if (!config.contains("rope_theta")) config["rope_theta"] = 10000.0;
  read_head_size(r, config);
  read_gguf_rope(r, config);
  config.erase("head_dim");
  if (family != "gpt_neox") return;
  config["rotary_emb_base"] = config.at("rope_theta");
  config["rotary_pct"] = config.value("partial_rotary_factor", 1.0);
  config.erase("rope_theta");
  config.erase("partial_rotary_factor");
}

// Texts of tokens that llama.cpp treats as the end of a turn.
constexpr std::string_view kEndsOfTurn[] = {"<|eot_id|>",    "<|im_end|>",      "<|end|>",        "<end_of_turn>",
                                            "<|endoftext|>", "<|end_of_text|>", "<|eom_id|>",     "<|return|>",
                                            "<EOT>",         "_<EOT>",          "<|end_of_turn|>"};

constexpr std::int64_t kControlToken = 3;

}  // namespace

namespace {

// The value of the first of the keys that config.json has.
std::int64_t first_of(const Json& config, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (config.contains(key)) return config.at(key).get<std::int64_t>();
  return config.at(*keys.begin()).get<std::int64_t>();
}

}  // namespace

std::int64_t layers_of(const Json& config) {
  return first_of(config, {"num_hidden_layers", "n_layer", "n_layers"});
}

std::int64_t heads_of(const Json& config) {
  return first_of(config, {"num_attention_heads", "n_head", "n_heads"});
}

std::int64_t d_model_of(const Json& config) {
  return first_of(config, {"hidden_size", "n_embd", "d_model"});
}

std::int64_t experts_of(const Json& config) {
  return first_of(config, {"num_local_experts", "num_experts", "n_routed_experts"});
}

void read_further_layers(GgufReader& r, Json& config) {
  const std::int64_t further = r.get<std::int64_t>("nextn_predict_layers").value_or(0), all = layers_of(config);
  if (further < 0 || further >= all)
    r.fail_at("nextn_predict_layers", fmt::format("{} is not supported with {} layers", further, all));
  config["num_hidden_layers"] = all - further;
  config["num_nextn_predict_layers"] = further;
}

void read_head_size(GgufReader& r, Json& config) {
  const std::int64_t width = d_model_of(config), heads = heads_of(config);
  const auto d = r.count("attention.key_length");
  if (!d && width % heads != 0)
    r.fail_at("attention.head_count", fmt::format("{} heads do not divide the width {}", heads, width));
  const std::int64_t d_k = d.value_or(width / heads);
  if (const auto d_v = r.count("attention.value_length"); d_v && *d_v != d_k)
    r.fail_at("attention.value_length", fmt::format("{} is not supported with keys of length {}", *d_v, d_k));
  if (config.contains("hidden_size") && config.contains("max_position_embeddings"))
    config["head_dim"] = d_k;
  else if (d_k * heads != width)
    r.fail_at("attention.key_length", fmt::format("{} is not supported: a {} model has heads of {}", d_k,
                                                  config.at("model_type").get<std::string>(), width / heads));
}

Json config_of_gguf(const GgufFile& file) {
  check_is_model(file);
  GgufReader r(file);
  const std::string family = family_of(r);
  Json config{{"model_type", family},
              {"vocab_size", tokens_of(file)},
              {"tie_word_embeddings", file.find_tensor("output.weight") == nullptr}};
  for (const auto& [key, name, otherwise] :
       {std::tuple{"bos_token_id", "bos", 1}, {"eos_token_id", "eos", 2}, {"pad_token_id", "padding", -1}}) {
    const auto id = token_id(file, name, otherwise);
    config[key] = id ? Json(*id) : Json(nullptr);
  }
  read_keys(r, family, config);
  Json fixed = gguf_fixed(family);
  fixed.erase("tie_word_embeddings");  // the tensors tell
  config.update(fixed);
  if (family == "gemma4_text")
    read_gguf_gemma4(r, config);
  else if (family == "step3p5")
    read_gguf_step35(r, config);
  else if (has_mamba2(family))
    read_gguf_mamba2(r, config);
  else if (has_gpt_structure(family))
    read_gpt_like(r, family, config);
  else
    read_llama_like(r, family, config);
  r.finish();
  return config;
}

Json generation_config_of_gguf(const GgufFile& file) {
  Json g = Json::object();
  if (const auto bos = token_id(file, "bos", 1)) g["bos_token_id"] = *bos;
  if (const auto pad = token_id(file, "padding")) g["pad_token_id"] = *pad;
  std::vector<std::int64_t> ends;
  const auto add = [&](std::int64_t id) {
    if (std::find(ends.begin(), ends.end(), id) == ends.end()) ends.push_back(id);
  };
  for (const auto& [name, otherwise] : {std::pair{"eos", 2}, {"eot", -1}, {"eom", -1}})
    if (const auto id = token_id(file, name, otherwise)) add(*id);
  const auto types = file.get<std::vector<std::int64_t>>(gguf_vocabulary_key("token_type"));
  if (const auto tokens = file.get<std::vector<std::string_view>>(gguf_vocabulary_key("tokens")); tokens && types)
    for (std::int64_t id = 0; id < std::min(std::ssize(*tokens), std::ssize(*types)); ++id)
      if (element(*types, id) == kControlToken &&
          std::find(std::begin(kEndsOfTurn), std::end(kEndsOfTurn), element(*tokens, id)) != std::end(kEndsOfTurn))
        add(id);
  if (!ends.empty()) g["eos_token_id"] = ends;

  // The publisher's sampling settings.
  const auto number = [&](const char* key) { return file.get<double>(fmt::format("general.sampling.{}", key)); };
  for (const auto& [key, hf] : {std::pair{"temp", "temperature"},
                                {"top_p", "top_p"},
                                {"min_p", "min_p"},
                                {"penalty_repeat", "repetition_penalty"}})
    if (const auto value = number(key)) g[hf] = *value;
  if (const auto k = file.get<std::int64_t>("general.sampling.top_k")) g["top_k"] = *k;
  if (number("temp").value_or(0) > 0) g["do_sample"] = true;
  return g;
}

GgufMetadata gguf_sampling(const GenerationConfig& g) {
  GgufMetadata m;
  const SearchOptions& s = g.search;
  if (!s.sampling.value_or(false)) return m;
  const auto add = [&](const char* key, const std::optional<double>& value) {
    if (value) m.add(fmt::format("general.sampling.{}", key), static_cast<float>(*value));
  };
  add("temp", s.temperature.value_or(1));
  add("top_p", s.top_p);
  add("min_p", s.min_p);
  if (s.repetition_penalty != 1.0) add("penalty_repeat", s.repetition_penalty);
  if (s.top_k) m.add("general.sampling.top_k", static_cast<std::uint32_t>(*s.top_k));
  return m;
}

}  // namespace tril::model

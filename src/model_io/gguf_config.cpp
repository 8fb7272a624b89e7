#include "model_io/gguf_config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/element.h"
#include "base/error.h"
#include "base/printable.h"
#include "model_io/gguf_keys.h"
#include "model_io/gguf_reader.h"
#include "model_io/gguf_rope.h"
#include "tokenizer/files/gguf_vocabulary.h"

namespace tril::model {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMostLayers = 1000;

// Gemma's query_pre_attn_scalar, which GGUF has no key for: llama.cpp recognises the models of 27B by their layers.
std::int64_t gemma_query_scalar(const Json& config, const std::string& family) {
  const std::int64_t layers_of_27b = family == "gemma2" ? 46 : 62;
  const Json& heads = config.at("num_attention_heads");
  return layers_of(config) == layers_of_27b ? config.at("hidden_size").get<std::int64_t>() / heads.get<std::int64_t>()
                                            : config.at("head_dim").get<std::int64_t>();
}

// Which layers have a window: with pattern p, the first p - 1 of every p layers; with 0, all (llama.cpp's
// set_swa_pattern).
std::vector<std::string> layer_types_of(std::int64_t layers, std::int64_t pattern) {
  std::vector<std::string> types;
  for (std::int64_t i = 0; i < layers; ++i)
    types.emplace_back(pattern == 0 || i % pattern < pattern - 1 ? "sliding_attention" : "full_attention");
  return types;
}

// The pattern of a file without the key; 0: the family has none.
std::int64_t usual_pattern(std::string_view family) {
  return family == "gemma3_text" ? 6 : is_any(family, {"cohere2", "olmo3"}) ? 4 : 0;
}

// The family of a file, by its architecture.
std::string family_of(GgufReader& r) {
  const std::string& a = r.architecture();
  if (a == "llama") return r.get<std::int64_t>("expert_count").value_or(0) > 0 ? "mixtral" : "llama";
  if (a == "olmo2" && r.has("attention.sliding_window")) return "olmo3";
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

void read_keys(GgufReader& r, const std::string& family, Json& config) {
  for (const GgufKey& key : gguf_keys(family)) {
    if (key.kind == GgufKey::Kind::count) {
      const auto n = key.required ? r.needed_count(key.gguf) : r.count(key.gguf);
      if (n) config[key.hf] = *n;
    } else {
      const auto v = r.number(key.gguf);
      if (!v && key.required) r.fail_at(key.gguf, "is missing");
      if (v) config[key.hf] = *v;
    }
  }
  if (layers_of(config) > kMostLayers)
    r.fail_at("block_count", fmt::format("{} is above the supported maximum of {}", layers_of(config), kMostLayers));
  for (const char* key : {"vocab_size", "tensor_data_layout"}) r.ignore(key);
  if (r.get<bool>("attention.causal") == false) r.fail_at("attention.causal", "false is not supported");
}

// Which layers of gemma3 and cohere2 have a window.
void read_window_layers(GgufReader& r, std::int64_t usual, Json& config) {
  constexpr const char* kKey = "attention.sliding_window_pattern";
  const std::int64_t layers = layers_of(config);
  if (!config.contains("sliding_window")) {
    config["sliding_window"] = nullptr;
    config["layer_types"] = layer_types_of(layers, 1);
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
  config["layer_types"] = layer_types_of(layers, pattern);
}

std::string activation_of(std::string_view family) {
  return family == "starcoder2" ? "gelu_pytorch_tanh" : is_any(family, {"arcee", "nemotron"}) ? "relu2" : "silu";
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
  if (family == "qwen2_moe") config["qkv_bias"] = biased;
  if (is_any(family, {"starcoder2", "ernie4_5"})) config["use_bias"] = biased;
  // The architecture says whether the weights of the chosen experts sum to one.
  if (is_any(family, {"qwen2_moe", "qwen3_moe", "olmoe"})) config["norm_topk_prob"] = family == "qwen3_moe";
  if (is_any(family, {"mixtral", "starcoder2"})) config["sliding_window"] = nullptr;
}

// Sets the keys that follow from the tensors or the architecture: head sizes, biases and others.
void read_llama_like(GgufReader& r, const std::string& family, Json& config) {
  const std::int64_t hidden = config.at("hidden_size"), heads = config.at("num_attention_heads");
  if (!config.contains("num_key_value_heads")) config["num_key_value_heads"] = heads;
  if (!config.contains("rope_theta")) config["rope_theta"] = 10000.0;
  const auto d = r.count("attention.key_length");
  if (!d && hidden % heads != 0)
    r.fail_at("attention.head_count", fmt::format("{} heads do not divide the width {}", heads, hidden));
  const std::int64_t d_k = d.value_or(hidden / heads);
  config["head_dim"] = d_k;
  if (const auto d_v = r.count("attention.value_length"); d_v && *d_v != d_k)
    r.fail_at("attention.value_length", fmt::format("{} is not supported with keys of length {}", *d_v, d_k));
  if (is_any(family, {"gemma", "gemma2", "gemma3_text"}))
    config["hidden_act"] = config["hidden_activation"] = "gelu_pytorch_tanh";
  else
    config["hidden_act"] = activation_of(family);
  read_switches(r.file(), family, config);
  if (is_any(family, {"gemma2", "gemma3_text"})) config["query_pre_attn_scalar"] = gemma_query_scalar(config, family);
  if (family == "gemma2" && !config.contains("sliding_window")) config["sliding_window"] = 4096;  // as in llama.cpp
  if (const std::int64_t pattern = usual_pattern(family); pattern != 0) read_window_layers(r, pattern, config);
  if (family == "nemotron") r.ignore("attention.layer_norm_rms_epsilon");  // the converter writes both
  if (family == "olmo3")                                                   // llama.cpp rotates all layers alike
    if (const auto theta = r.number("rope.freq_base_swa"); theta && *theta != config.at("rope_theta").get<double>())
      r.fail_at("rope.freq_base_swa", fmt::format("{} is not supported: rope.freq_base is {}", *theta,
                                                  config.at("rope_theta").get<double>()));
  if (family == "phi3") {
    if (!config.contains("sliding_window")) config["sliding_window"] = nullptr;
    if (!config.contains("original_max_position_embeddings"))
      config["original_max_position_embeddings"] = config.at("max_position_embeddings");
  }
  read_gguf_rope(r, config);
}

void read_gpt2(GgufReader& r, Json& config) {
  config["activation_function"] = "gelu_new";
  r.ignore("attention.head_count_kv");  // as many as heads
  for (const char* key : {"embd_pdrop", "attn_pdrop", "resid_pdrop"}) config[key] = 0.0;
}

// Texts of tokens that llama.cpp treats as the end of a turn.
constexpr std::string_view kEndsOfTurn[] = {"<|eot_id|>",    "<|im_end|>",      "<|end|>",        "<end_of_turn>",
                                            "<|endoftext|>", "<|end_of_text|>", "<|eom_id|>",     "<|return|>",
                                            "<EOT>",         "_<EOT>",          "<|end_of_turn|>"};

constexpr std::int64_t kControlToken = 3;

}  // namespace

std::int64_t layers_of(const Json& config) {
  return config.at(config.contains("n_layer") ? "n_layer" : "num_hidden_layers").get<std::int64_t>();
}

std::int64_t experts_of(const Json& config) {
  return config.at(config.contains("num_local_experts") ? "num_local_experts" : "num_experts").get<std::int64_t>();
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
  if (family == "gpt2")
    read_gpt2(r, config);
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

namespace {

// Refuses options of config.json that llama.cpp's code for the architecture does not support.
void check_supported(const Json& config, const std::string& family) {
  const auto is = [&](const char* key, const Json& value) {
    const auto found = config.find(key);
    return found == config.end() || found->is_null() || *found == value;
  };
  const auto need = [&](bool ok, const char* key) {
    if (!ok)
      fail_usage(key, fmt::format("{} is not what llama.cpp computes for a {} model", config.at(key).dump(), family));
  };
  const bool gemma = is_any(family, {"gemma", "gemma2", "gemma3_text"});
  if (family == "gpt2")
    need(is("activation_function", "gelu_new") || is("activation_function", "gelu_pytorch_tanh"),
         "activation_function");
  else if (gemma)
    need(is("hidden_activation", "gelu_pytorch_tanh") || !config.contains("hidden_activation"), "hidden_activation");
  else
    need(is("hidden_act", activation_of(family)), "hidden_act");
  if (is_any(family, {"gemma", "gemma2", "cohere2", "gpt2"}))
    need(is("tie_word_embeddings", true), "tie_word_embeddings");
  if (is_any(family, {"qwen2_moe", "olmoe", "olmo3", "nemotron"}))
    need(is("tie_word_embeddings", false), "tie_word_embeddings");
  const bool windowed = config.contains("sliding_window") && !config.at("sliding_window").is_null() &&
                        config.value("use_sliding_window", true);
  if (windowed && !is_any(family, {"gemma2", "gemma3_text", "cohere2", "olmo3", "phi3"}))
    need(config.at("sliding_window").get<std::int64_t>() >= config.at("max_position_embeddings").get<std::int64_t>(),
         "sliding_window");
  if (is_any(family, {"qwen2_moe", "qwen3_moe", "olmoe"})) {
    need(is("norm_topk_prob", family == "qwen3_moe"), "norm_topk_prob");
    need(is("decoder_sparse_step", 1), "decoder_sparse_step");
    need(is("mlp_only_layers", Json::array()), "mlp_only_layers");
    need(is("clip_qkv", nullptr), "clip_qkv");
  }
  if (is_any(family, {"qwen3_moe", "olmoe", "olmo3", "smollm3", "arcee", "cohere2", "gemma3_text", "nemotron"}))
    need(is("attention_bias", false), "attention_bias");
  if (is_any(family, {"smollm3", "arcee", "seed_oss", "nemotron"})) need(is("mlp_bias", false), "mlp_bias");
  if (family == "seed_oss") need(is("attention_out_bias", false), "attention_out_bias");
  if (is_any(family, {"starcoder2", "ernie4_5"})) need(is("use_bias", family == "starcoder2"), "use_bias");
  if (family == "smollm3" && config.contains("no_rope_layers"))  // llama.cpp rotates all but every fourth layer
    for (std::size_t i = 0; i < config.at("no_rope_layers").size(); ++i)
      need(config.at("no_rope_layers")[i] == ((i + 1) % 4 != 0 ? 1 : 0), "no_rope_layers");
  if (is_any(family, {"gemma2", "gemma3_text"}))
    need(config.at("query_pre_attn_scalar") == gemma_query_scalar(config, family), "query_pre_attn_scalar");
  if (family == "gemma2" && config.contains("layer_types"))
    need(config.at("layer_types") == Json(layer_types_of(layers_of(config), 2)), "layer_types");
}

// The key that says which layers have a window, if they are not the family's usual ones.
void write_window_layers(const Json& config, std::int64_t usual, GgufHeader& h) {
  const Json& types = config.at("layer_types");
  if (config.at("sliding_window").is_null() || types == Json(layer_types_of(layers_of(config), usual))) return;
  std::vector<bool> slides;
  for (const Json& type : types) slides.push_back(type == "sliding_attention");
  h.metadata.add(h.architecture + ".attention.sliding_window_pattern", slides);
}

}  // namespace

GgufHeader gguf_header_of(const Json& config) {
  const std::string family = config.at("model_type");
  GgufHeader h;
  h.architecture = gguf_architecture(family);
  if (h.architecture.empty())
    fail_usage("GGUF", fmt::format("llama.cpp has no architecture for a {} model", family),
               fmt::format("supported: {}", fmt::join(gguf_families(), ", ")));
  check_supported(config, family);
  // llama.cpp's code for phi3 reads the window but does not use it (llm_arch phi3, load_hparams).
  if (family == "phi3" && config.contains("sliding_window") && !config.at("sliding_window").is_null() &&
      config.at("sliding_window").get<std::int64_t>() < config.at("max_position_embeddings").get<std::int64_t>())
    h.warning = fmt::format("llama.cpp does not apply the sliding window of phi3: beyond {} tokens its results differ",
                            config.at("sliding_window").get<std::int64_t>());
  for (const GgufKey& key : gguf_keys(family)) {
    auto value = config.find(key.hf);
    if (key.hf == "num_experts" && value == config.end()) value = config.find("num_local_experts");
    if (value == config.end() || value->is_null() || key.hf == "rope_theta") continue;
    const std::string name = h.architecture + "." + key.gguf;
    if (key.kind == GgufKey::Kind::count)
      h.metadata.add(name, value->get<std::uint32_t>());
    else
      h.metadata.add(name, value->get<float>());
  }
  h.metadata.add(h.architecture + ".vocab_size", config.at("vocab_size").get<std::uint32_t>());
  if (family == "gpt2") return h;
  const auto hidden = config.at("hidden_size").get<std::uint32_t>(),
             heads = config.at("num_attention_heads").get<std::uint32_t>();
  const auto head_dim = config.find("head_dim");
  const auto d = head_dim == config.end() || head_dim->is_null() ? hidden / heads : head_dim->get<std::uint32_t>();
  h.metadata.add(h.architecture + ".attention.key_length", d);
  h.metadata.add(h.architecture + ".attention.value_length", d);
  if (const std::int64_t pattern = usual_pattern(family); pattern != 0) write_window_layers(config, pattern, h);
  write_gguf_rope(config, h);
  return h;
}

}  // namespace tril::model

#include "model_io/gguf/gguf_header.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "model/families/lfm_defaults.h"
#include "model_io/gguf/gguf_config.h"
#include "model_io/gguf/gguf_fixed.h"
#include "model_io/gguf/gguf_gemma4.h"
#include "model_io/gguf/gguf_keys.h"
#include "model_io/gguf/gguf_mamba2.h"
#include "model_io/gguf/gguf_rope.h"
#include "model_io/gguf/gguf_step35.h"

namespace tril::model {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kExaoneLayersWithWindows = 64, kCommandRLayersWithNorms = 64;

bool has_window(const Json& config) {
  if (config.contains("layer_types")) {
    const Json& types = config.at("layer_types");
    if (std::ranges::find(types, Json("sliding_attention")) == types.end()) return false;
  }
  const auto window = config.find("sliding_window");
  return window != config.end() && !window->is_null() && config.value("use_sliding_window", true);
}

// Whether llama.cpp's deepseek2 reads a matrix of all queries rather than two of low rank.
bool has_whole_queries(const Json& config) {
  const std::int64_t layers = layers_of(config);
  return layers == 26 || layers == 27 || (layers == 48 && config.at("vocab_size") == 128256);
}

// The number of dense layers, which come first.
std::int64_t dense_layers_of(const Json& config) {
  const Json& types = config.at("mlp_layer_types");
  return std::ranges::find(types, Json("sparse")) - types.begin();
}

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
  const auto gelu_new = [&](const char* key) { return family == "gpt2" && is(key, "gelu_pytorch_tanh"); };  // the same
  const Json fixed = gguf_fixed(family);
  for (const auto& [key, value] : fixed.items()) need(is(key.c_str(), value) || gelu_new(key.c_str()), key.c_str());
  if (has_window(config) && usual_gguf_pattern(family) == 0 &&
      !is_any(family, {"gemma2", "gemma4_text", "phi3", "step3p5"}))
    need(config.at("sliding_window").get<std::int64_t>() >= config.at("max_position_embeddings").get<std::int64_t>(),
         "sliding_window");
  if (family == "qwen3_next")
    need(config.at("linear_value_head_dim") == config.at("linear_key_head_dim"), "linear_value_head_dim");
  if (is_any(family, {"qwen2_moe", "qwen3_moe", "qwen3_next", "olmoe"})) {
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
    need(config.at("query_pre_attn_scalar") == gemma_query_scalar(config), "query_pre_attn_scalar");
  if (is_any(family, {"gemma2", "gpt_oss"}) && config.contains("layer_types"))
    need(config.at("layer_types") == Json(gguf_layer_types(layers_of(config), 2)), "layer_types");
  if (family == "afmoe")  // whose layers without rotation llama.cpp counts
    need(config.at("layer_types") == Json(gguf_layer_types(layers_of(config), 4)), "layer_types");
  if (family == "exaone4")
    need(has_window(config) == (layers_of(config) == kExaoneLayersWithWindows), "sliding_window");
  if (family == "cohere")
    need(config.value("use_qk_norm", false) == (layers_of(config) >= kCommandRLayersWithNorms), "use_qk_norm");
  if (has_latent_attention(family))
    need(config.at("q_lora_rank").is_null() == has_whole_queries(config), "q_lora_rank");
  if (is_any(family, {"dots1", "olmoe"}))
    need(config.at("num_key_value_heads") == config.at("num_attention_heads"), "num_key_value_heads");
  if (family == "glm4_moe_lite") {
    const Json& types = config.at("mlp_layer_types");
    need(std::find(types.begin() + dense_layers_of(config), types.end(), Json("dense")) == types.end(),
         "mlp_layer_types");
  }
  if (family == "minicpm3") {
    need(!config.at("q_lora_rank").is_null(), "q_lora_rank");
    need(config.at("num_key_value_heads") == config.at("num_attention_heads"), "num_key_value_heads");
    need(config.at("v_head_dim") == d_model_of(config) / heads_of(config), "v_head_dim");
  }
  if (family == "mpt") need(!config.at("attn_config").contains("softmax_scale"), "attn_config");
}

// The key that says which layers have a window, if they are not the family's usual ones.
void write_window_layers(const Json& config, std::int64_t usual, GgufHeader& h) {
  const Json& types = config.at("layer_types");
  if (config.at("sliding_window").is_null() || types == Json(gguf_layer_types(layers_of(config), usual))) return;
  std::vector<bool> slides;
  for (const Json& type : types) slides.push_back(type == "sliding_attention");
  h.metadata.add(h.architecture + ".attention.sliding_window_pattern", slides);
}

// The width of lfm2's feed-forward, which config.json may give before it is adjusted.
std::int64_t lfm2_width(const Json& config) {
  const std::int64_t given = config.at("intermediate_size");
  if (!config.at("block_auto_adjust_ff_dim").get<bool>()) return given;
  const Json& factor = config.at("block_ffn_dim_multiplier");
  return factor.is_null() ? 2 * given / 3
                          : adjusted_lfm2_width(given, factor.get<double>(), config.at("block_multiple_of"));
}

// The value of a key in config.json, or what it stands for if it is missing; null: nothing.
Json value_to_write(const Json& config, const GgufKey& key) {
  if (key.only != 0) return key.kind == GgufKey::Kind::flag ? Json(true) : Json(key.only);
  const std::string family = config.at("model_type");
  if (family == "lfm2" && key.hf == "intermediate_size") return lfm2_width(config);
  if (key.hf == "num_kv_heads" && !config.value("new_decoder_architecture", false))  // falcon's older layout ignores it
    return config.at("multi_query") == true ? Json(1) : Json(heads_of(config));
  if (config.contains(key.hf)) return config.at(key.hf);
  if (key.hf == "first_k_dense_replace" && config.contains("mlp_layer_types")) return dense_layers_of(config);
  if (key.gguf == "expert_count") return experts_of(config);  // under another name
  return key.gguf.starts_with("expert_group_") ? Json(1) : Json(nullptr);
}

void add_key(const Json& config, const GgufKey& key, GgufHeader& h) {
  const std::string name = h.architecture + "." + key.gguf;
  const Json value = value_to_write(config, key);
  if (value.is_null() || key.hf == "rope_theta" || key.gguf == "rope.dimension_count") return;
  switch (key.kind) {
    case GgufKey::Kind::count:
      return h.metadata.add(name, value.get<std::uint32_t>());
    case GgufKey::Kind::number:
      return h.metadata.add(name, value.get<float>());
    case GgufKey::Kind::flag:
      return h.metadata.add(name, value.get<bool>());
  }
}

// The gated delta rule: the size of its values, the layers that have it, and the pairs for each coordinate of a position in
// an image. A position in a text has the same number three times.
void add_delta_rule(const Json& config, GgufHeader& h) {
  const auto size = [&](const char* key) { return config.at(key).get<std::uint32_t>(); };
  h.metadata.add(h.architecture + ".ssm.inner_size", size("linear_value_head_dim") * size("linear_num_value_heads"));
  std::vector<bool> recurrent;
  bool usual = true;
  for (const Json& type : config.at("layer_types")) {
    recurrent.push_back(type == "linear_attention");
    usual = usual && recurrent.back() == (recurrent.size() % 4 != 0);
  }
  h.metadata.add(h.architecture + ".attention.recurrent_layers", recurrent);
  if (usual) h.metadata.add(h.architecture + ".full_attention_interval", std::uint32_t{4});
  if (h.architecture == "qwen3next") return;  // of texts alone
  const auto pairs = static_cast<std::int32_t>(size("head_dim") * config.value("partial_rotary_factor", 1.0) / 2);
  const std::array<std::int32_t, 4> sections{(pairs + 2) / 3, (pairs + 1) / 3, pairs / 3,
                                             0};  // pair i is of section i % 3
  h.metadata.add(h.architecture + ".rope.dimension_sections", sections);
}

// The sizes of a head. Latent attention has the sizes of its form with one head of keys, and those of its heads.
void add_head_sizes(const Json& config, GgufHeader& h) {
  const std::string at = h.architecture + ".attention.";
  const auto add = [&](const char* key, std::int64_t n) { h.metadata.add(at + key, static_cast<std::uint32_t>(n)); };
  if (h.architecture == "minicpm3")
    return add("key_length",
               config.at("qk_nope_head_dim").get<std::int64_t>() + config.at("qk_rope_head_dim").get<std::int64_t>());
  if (config.contains("kv_lora_rank")) {
    const std::int64_t rank = config.at("kv_lora_rank"), rotated = config.at("qk_rope_head_dim");
    add("head_count_kv", 1);
    add("key_length", rank + rotated);
    add("value_length", rank);
    return add("key_length_mla", config.at("qk_nope_head_dim").get<std::int64_t>() + rotated);
  }
  const auto head_dim = config.find("head_dim");
  const std::int64_t d = head_dim == config.end() || head_dim->is_null() ? d_model_of(config) / heads_of(config)
                                                                         : head_dim->get<std::int64_t>();
  add("key_length", d);
  add("value_length", d);
}

// What the families with GPT's structure do not have in config.json.
void add_gpt_keys(const Json& config, GgufHeader& h) {
  const std::string family = config.at("model_type");
  constexpr std::uint32_t kBloomPositions =
      2048;  // of the published models; positions are distances, so there is no limit
  if (family == "bloom" && !config.contains("seq_length"))
    h.metadata.add(h.architecture + ".context_length", kBloomPositions);
  if (is_any(family, {"bloom", "mpt"}))
    h.metadata.add(h.architecture + ".feed_forward_length", static_cast<std::uint32_t>(4 * d_model_of(config)));
  if (is_any(family, {"gpt_neox", "falcon", "phi"})) {
    Json usual = config;
    if (config.contains("rotary_pct")) usual["partial_rotary_factor"] = config.at("rotary_pct");
    if (config.contains("rotary_emb_base")) usual["rope_theta"] = config.at("rotary_emb_base");
    write_gguf_rope(usual, h);
  }
}

}  // namespace

GgufHeader gguf_header_of(const Json& model) {
  const Json config = without_mamba2(model);
  const std::string family = config.at("model_type");
  GgufHeader h;
  h.architecture = gguf_architecture(family);
  if (h.architecture.empty())
    fail_usage("GGUF", fmt::format("llama.cpp has no architecture for a {} model, or computes it differently", family),
               fmt::format("supported: {}", fmt::join(gguf_families(), ", ")));
  check_supported(config, family);
  if (has_mamba2(family)) h.architecture = mamba2_gguf_architecture(config);
  // llama.cpp's code for phi3 reads the window but does not use it (llm_arch phi3, load_hparams).
  if (family == "phi3" && config.contains("sliding_window") && !config.at("sliding_window").is_null() &&
      config.at("sliding_window").get<std::int64_t>() < config.at("max_position_embeddings").get<std::int64_t>())
    h.warning = fmt::format("llama.cpp does not apply the sliding window of phi3: beyond {} tokens its results differ",
                            config.at("sliding_window").get<std::int64_t>());
  for (const GgufKey& key : gguf_keys(family)) add_key(config, key, h);
  h.metadata.add(h.architecture + ".vocab_size", config.at("vocab_size").get<std::uint32_t>());
  if (family == "gemma4_text") {
    write_gguf_gemma4(config, h);
    return h;
  }
  if (family == "step3p5") {
    write_gguf_step35(config, h);
    return h;
  }
  if (has_mamba2(family)) {
    write_gguf_mamba2(config, h);
    return h;
  }
  if (has_gpt_structure(family)) {
    add_gpt_keys(config, h);
    return h;
  }
  add_head_sizes(config, h);
  if (family == "hy_v3")
    h.metadata.add(
        h.architecture + ".expert_shared_feed_forward_length",
        config.at("moe_intermediate_size").get<std::uint32_t>() * config.at("num_shared_experts").get<std::uint32_t>());
  if (has_delta_rule(family)) add_delta_rule(config, h);
  if (has_short_convolutions(family)) {
    std::vector<std::int32_t> heads;
    for (const Json& type : config.at("layer_types"))
      heads.push_back(type == "conv" ? 0 : config.at("num_key_value_heads").get<std::int32_t>());
    h.metadata.add(h.architecture + ".attention.head_count_kv", heads);
  }
  // Layers that predict further tokens are not written; llama.cpp's own files say how many there are.
  if (family == "glm4_moe") h.metadata.add(h.architecture + ".nextn_predict_layers", std::uint32_t{0});
  if (const std::int64_t pattern = usual_gguf_pattern(family); pattern != 0) write_window_layers(config, pattern, h);
  write_gguf_rope(config, h);
  return h;
}

}  // namespace tril::model

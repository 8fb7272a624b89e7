// gemma4_text: gemma3_text with norms of values, unscaled scores, wider heads in the layers without a window, the last layers
// reading the keys and values of earlier ones, an input of its own for each layer, and a factor for each layer. The larger models
// use keys as values in the layers without a window, and one has experts beside the feed-forward [Gemma team 2026, "Gemma 4"].
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {
namespace {

// Reads the sizes of heads in the layers without a window: per_layer_config, as version 5.24 of transformers writes it, or
// global_head_dim and num_global_key_value_heads.
void read_full_heads(ConfigReader& reader, LlamaLikeConfig& k, bool keys_as_values) {
  const JsonObject& json = reader.json();
  k.full_head_dim = reader.size("global_head_dim", 512), k.full_kv_heads = k.num_key_value_heads;
  std::string head_dim_key = "global_head_dim", kv_heads_key = "num_global_key_value_heads";
  const bool has_own = reader.has(kv_heads_key) && !reader.says_null(kv_heads_key);
  if (has_own && keys_as_values) k.full_kv_heads = reader.size(kv_heads_key);
  if (reader.has("per_layer_config")) {
    head_dim_key = kv_heads_key = "per_layer_config";
    const std::map<std::int64_t, JsonObject> layers =
        read_single_layers(json, k.num_hidden_layers, {"head_dim", "num_key_value_heads"});
    const auto of = [&](std::int64_t layer, const char* key, std::int64_t otherwise) {
      const auto at = layers.find(layer);
      return at == layers.end() ? otherwise : at->second.size(key, otherwise);
    };
    const auto full = std::ranges::find(k.windows, 0);
    const std::int64_t first = full - k.windows.begin();
    k.full_head_dim = of(first, "head_dim", k.head_dim);
    k.full_kv_heads = of(first, "num_key_value_heads", k.num_key_value_heads);
    for (std::int64_t i = 0; i < k.num_hidden_layers; ++i)
      if (of(i, "head_dim", k.head_dim) != k.d_head(i) ||
          of(i, "num_key_value_heads", k.num_key_value_heads) != k.kv_heads(i))
        json.fail_at("per_layer_config", fmt::format("layer {} has other sizes than the layers of its type", i));
  }
  check_size(json, head_dim_key, k.full_head_dim, 1 << 12);
  if (k.num_attention_heads % k.full_kv_heads != 0)
    json.fail_at(kv_heads_key,
                 fmt::format("{} key heads do not divide {} heads", k.full_kv_heads, k.num_attention_heads));
  k.own_keys["global_head_dim"] = k.full_head_dim;
  k.own_keys["num_global_key_value_heads"] = keys_as_values ? nlohmann::json(k.full_kv_heads) : nlohmann::json(nullptr);
  if (!keys_as_values && k.full_kv_heads != k.num_key_value_heads)
    json.fail_at("per_layer_config", "num_key_value_heads differs, which needs attention_k_eq_v");
}

// The last num_kv_shared_layers layers read the keys and values of the last layer of their type before them.
void read_shared_layers(ConfigReader& reader, LlamaLikeConfig& k) {
  const JsonObject& json = reader.json();
  const auto shared = reader.get<std::int64_t>("num_kv_shared_layers", 0);
  const std::int64_t layers = k.num_hidden_layers;
  if (shared < 0 || shared >= layers)
    json.fail_at("num_kv_shared_layers", fmt::format("{} of {} layers cannot share", shared, layers));
  const bool wide = read_own_bool(reader, k, "use_double_wide_mlp", false);
  k.own_keys["num_kv_shared_layers"] = shared;
  for (std::int64_t i = 0; i < layers; ++i) {
    const bool reads = i >= layers - shared;
    std::int64_t source = -1;
    for (std::int64_t j = 0; reads && j < layers - shared; ++j)
      if (k.window(j) == k.window(i)) source = j;
    if (reads && source < 0)
      json.fail_at("num_kv_shared_layers", fmt::format("layer {} has no earlier layer of its type to read from", i));
    k.keys_of.push_back(static_cast<std::int32_t>(source));
    k.intermediate_sizes.push_back(k.intermediate_size * (reads && wide ? 2 : 1));
    for (const char* part : {"k_proj.", "v_proj.", "k_norm.", "v_norm."})  // published, and read by nothing
      if (reads) k.left_alone.push_back(fmt::format("model.layers.{}.self_attn.{}", i, part));
  }
}

void read_layer_inputs(ConfigReader& reader, LlamaLikeConfig& k) {
  const JsonObject& json = reader.json();
  k.layer_input_vocab = reader.size("vocab_size_per_layer_input", 262144);
  k.layer_input_size = reader.get<std::int64_t>("hidden_size_per_layer_input", 256);
  if (k.layer_input_size != 0) check_size(json, "hidden_size_per_layer_input", k.layer_input_size, 1 << 12);
  if (k.layer_input_size > 0 && k.layer_input_vocab < k.vocab_size)
    json.fail_at("vocab_size_per_layer_input",
                 fmt::format("{} is less than {} {}", k.layer_input_vocab, json.name_of("vocab_size"), k.vocab_size));
  check_size(json, "vocab_size_per_layer_input", k.layer_input_vocab, MostSizes::vocab_size);
  k.own_keys["vocab_size_per_layer_input"] = k.layer_input_vocab;
  k.own_keys["hidden_size_per_layer_input"] = k.layer_input_size;
}

void read_experts_beside_dense(ConfigReader& reader, LlamaLikeConfig& k) {
  if (!read_own_bool(reader, k, "enable_moe_block", false)) {
    reader.ignore({"num_experts", "top_k_experts", "moe_intermediate_size"});
    return;
  }
  ExpertsConfig& e = k.experts;
  e.count = reader.size("num_experts"), e.per_token = reader.size("top_k_experts");
  set_experts(reader, k, "num_experts", "top_k_experts");
  e.d_ff = reader.size("moe_intermediate_size");
  check_size(reader.json(), "moe_intermediate_size", e.d_ff, 1 << 20);
  k.own_keys["moe_intermediate_size"] = e.d_ff;
  e.beside_dense = true;
  e.router = "router.proj";
  e.fused_gate_up = "experts.gate_up_proj", e.fused_down = "experts.down_proj";
}

}  // namespace

std::unique_ptr<Model> make_gemma4_text(const JsonObject& config) {
  ConfigReader reader(config, "gemma4_text");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "gemma4_text",
                                               .architecture = "Gemma4ForCausalLM",
                                               .vocab_size = 262144,
                                               .hidden_size = 2304,
                                               .intermediate_size = 9216,
                                               .num_hidden_layers = 30,
                                               .num_attention_heads = 8,
                                               .num_key_value_heads = 4,
                                               .head_dim = 256,
                                               .max_position_embeddings = 131072,
                                               .hidden_act = HiddenAct::gelu_pytorch_tanh,
                                               .tie_word_embeddings = true,
                                               .bos_token_id = 2,
                                               .eos_token_id = 1,
                                               .pad_token_id = 0,
                                               .rope_by_type = true,
                                               .norm_names = sandwich_norms(),
                                               .hidden_act_key = "hidden_activation"});
  read_attention_bias(reader, k);
  k.logit_softcap = read_softcap(reader, k, "final_logit_softcapping", 0);
  const std::int64_t layers = k.num_hidden_layers;
  read_own_windows(reader, k, read_window(reader, 512),
                   [&](std::int64_t i) { return (i + 1) % 6 != 0 && i != layers - 1; });
  if (k.windows.back() != 0) config.fail_at("layer_types", "the last layer must have full_attention");
  const bool keys_as_values = read_own_bool(reader, k, "attention_k_eq_v", false);
  for (std::int64_t i = 0; i < layers; ++i) k.keys_as_values.push_back(keys_as_values && k.window(i) == 0);
  read_full_heads(reader, k, keys_as_values);
  read_shared_layers(reader, k);
  read_layer_inputs(reader, k);
  read_experts_beside_dense(reader, k);
  k.rope_defaults.full_head_dim = k.full_head_dim;
  const nlohmann::json default_rotary{
      {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 1e4}}},
      {"full_attention", {{"rope_type", "proportional"}, {"partial_rotary_factor", 0.25}, {"rope_theta", 1e6}}}};
  const RotaryByType rotary = read_nested_rotary(reader, k.rope_defaults, default_rotary, k.windows);
  k.rope = rotary.full, k.sliding_rope = rotary.sliding;
  k.embedding_scale = std::sqrt(static_cast<float>(k.hidden_size));
  k.attention_scale = 1;
  k.head_norms = rms_head_norms(k);
  k.norms_values = k.layer_factors = true;
  // "vision": only pictures are read in both directions.
  const auto both_ways = reader.get<std::string>("use_bidirectional_attention", "");
  if (both_ways == "vision")
    k.own_keys["use_bidirectional_attention"] = both_ways;
  else
    reader.only("use_bidirectional_attention", std::string());
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

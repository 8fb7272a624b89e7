#include "model_io/gguf/gguf_fixed.h"

#include <nlohmann/json.hpp>

#include "model_io/gguf/gguf_config.h"
#include "model_io/gguf/gguf_keys.h"

namespace tril::model {
namespace {

using Json = nlohmann::json;

// The activation, under the family's name of the key.
Json activation_of(std::string_view family) {
  if (is_any(family, {"gemma", "gemma2", "gemma3_text", "gemma4_text"}))
    return {{"hidden_activation", "gelu_pytorch_tanh"}};
  if (is_any(family, {"gpt2"})) return {{"activation_function", "gelu_new"}};
  if (is_any(family, {"gpt_bigcode"})) return {{"activation_function", "gelu_pytorch_tanh"}};
  if (is_any(family, {"falcon"})) return {{"activation", "gelu"}};
  if (is_any(family, {"bloom", "mpt", "lfm2", "lfm2_moe"})) return Json::object();
  if (family == "nemotron_h") return {{"mlp_hidden_act", "relu2"}, {"mamba_hidden_act", "silu"}};
  const char* const name = is_any(family, {"starcoder2"})                   ? "gelu_pytorch_tanh"
                           : is_any(family, {"arcee", "nemotron", "jais2"}) ? "relu2"
                           : is_any(family, {"apertus"})                    ? "xielu"
                           : is_any(family, {"phi"})                        ? "gelu_new"
                           : is_any(family, {"gpt_neox"})                   ? "gelu"
                                                                            : "silu";
  return {{"hidden_act", name}};
}

}  // namespace

Json gguf_fixed(std::string_view family) {
  Json fixed = activation_of(family);
  const auto add = [&](const Json& more) { fixed.update(more); };
  if (is_any(family, {"cohere", "deepseek_v2", "deepseek_v3", "granitemoe", "granitemoeshared", "hunyuan_v1_dense",
                      "hunyuan_v1_moe", "olmo"}))
    add({{"attention_bias", false}});
  if (is_any(family, {"glm4_moe_lite", "apertus", "afmoe", "dots1", "gemma4_text", "hy_v3", "qwen3_next",
                      "qwen3_5_text", "qwen3_5_moe_text"}))
    add({{"attention_bias", false}});
  if (family == "step3p5") add({{"attention_bias", false}, {"tie_word_embeddings", false}});
  if (is_any(family, {"gpt_oss", "gpt_neox", "jais2"})) add({{"attention_bias", true}});
  if (is_any(family, {"gemma", "gemma2", "cohere", "cohere2", "gpt2", "falcon", "bloom", "mpt", "gpt_bigcode"}))
    add({{"tie_word_embeddings", true}});
  if (is_any(family, {"qwen2_moe", "olmoe", "olmo3", "nemotron", "gpt_oss", "stablelm", "minimax_m2", "phi", "gpt_neox",
                      "apertus"}))
    add({{"tie_word_embeddings", false}});
  if (is_any(family, {"qwen2_moe", "olmoe", "deepseek_v2"})) add({{"norm_topk_prob", false}});
  if (family == "minicpm3")  // llama.cpp has these numbers in its code
    add({{"attention_bias", false},
         {"mlp_bias", false},
         {"scale_emb", 12},
         {"scale_depth", 1.4},
         {"dim_model_base", 256}});
  if (family == "jais2") add({{"mlp_bias", true}});
  if (family == "hy_v3") add({{"mlp_bias", false}});
  if (family == "exaone") add({{"attention_bias", false}, {"mlp_bias", false}});
  if (family == "afmoe") add({{"mup_enabled", true}});
  if (has_short_convolutions(family)) add({{"conv_bias", false}});
  if (family == "lfm2_moe") add({{"norm_topk_prob", true}, {"use_expert_bias", true}, {"routed_scaling_factor", 1}});
  if (is_any(family, {"qwen3_moe", "qwen3_next"})) add({{"norm_topk_prob", true}});
  if (family == "gpt_oss") add({{"swiglu_alpha", 1.702}, {"swiglu_limit", 7}});
  // llama.cpp chooses groups by their two best experts, v2 by the best one.
  if (family == "deepseek_v2") add({{"topk_method", "greedy"}});
  if (is_any(family, {"deepseek_v3", "glm4_moe_lite"})) add({{"rope_interleave", true}});
  if (is_any(family, {"granitemoehybrid", "bamba", "falcon_h1"}))
    add({{"mamba_conv_bias", true}, {"mamba_proj_bias", false}});
  if (is_any(family, {"nemotron_h", "mamba2"})) add({{"use_conv_bias", true}, {"use_bias", false}});
  if (family == "falcon_h1") add({{"projectors_bias", false}});
  if (family == "phi") add({{"qk_layernorm", false}});
  if (family == "falcon") add({{"alibi", false}, {"bias", false}, {"parallel_attn", true}});
  if (family == "gpt_bigcode") add({{"multi_query", true}, {"scale_attn_weights", true}});
  return fixed;
}

std::vector<std::string> gguf_layer_types(std::int64_t layers, std::int64_t pattern) {
  std::vector<std::string> types;
  for (std::int64_t i = 0; i < layers; ++i)
    types.emplace_back(pattern == 0 || i % pattern < pattern - 1 ? "sliding_attention" : "full_attention");
  return types;
}

std::int64_t usual_gguf_pattern(std::string_view family) {
  return family == "gemma3_text"                                    ? 6
         : is_any(family, {"cohere2", "olmo3", "exaone4", "afmoe"}) ? 4
         : family == "gpt_oss"                                      ? 2
                                                                    : 0;
}

std::int64_t gemma_query_scalar(const Json& config) {
  const std::int64_t layers_of_27b = config.at("model_type") == "gemma2" ? 46 : 62;
  const Json& heads = config.at("num_attention_heads");
  return layers_of(config) == layers_of_27b ? config.at("hidden_size").get<std::int64_t>() / heads.get<std::int64_t>()
                                            : config.at("head_dim").get<std::int64_t>();
}

}  // namespace tril::model

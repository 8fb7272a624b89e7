#include "model_io/gguf_keys.h"

#include <algorithm>
#include <utility>

namespace tril::model {

using Kind = GgufKey::Kind;

namespace {

// A family, and llama.cpp's name of its architecture. The first family of an architecture is the one that a file is read as.
constexpr std::pair<std::string_view, std::string_view> kArchitectures[] = {
    {"llama", "llama"},           {"mistral", "llama"},      {"mixtral", "llama"},      {"granite", "granite"},
    {"qwen2", "qwen2"},           {"qwen2_moe", "qwen2moe"}, {"qwen3", "qwen3"},        {"qwen3_moe", "qwen3moe"},
    {"gemma", "gemma"},           {"gemma2", "gemma2"},      {"gemma3_text", "gemma3"}, {"olmo2", "olmo2"},
    {"olmo3", "olmo2"},           {"nemotron", "nemotron"},  {"ernie4_5", "ernie4_5"},  {"olmoe", "olmoe"},
    {"smollm3", "smollm3"},       {"arcee", "arcee"},        {"seed_oss", "seed_oss"},  {"cohere2", "cohere2"},
    {"starcoder2", "starcoder2"}, {"phi3", "phi3"},          {"gpt2", "gpt2"}};

}  // namespace

bool is_any(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view gguf_architecture(std::string_view model_type) {
  for (const auto& [family, architecture] : kArchitectures)
    if (family == model_type) return architecture;
  return "";
}

std::string_view gguf_family(std::string_view architecture) {
  for (const auto& [family, name] : kArchitectures)
    if (name == architecture) return family;
  return "";
}

std::vector<std::string_view> gguf_families() {
  std::vector<std::string_view> names;
  for (const auto& [family, architecture] : kArchitectures) names.push_back(family);
  return names;
}

std::vector<std::string_view> gguf_architectures() {
  std::vector<std::string_view> names;
  for (const auto& [family, architecture] : kArchitectures)
    if (gguf_family(architecture) == family) names.push_back(architecture);
  return names;
}

std::vector<GgufKey> gguf_keys(std::string_view model_type) {
  if (model_type == "gpt2")
    return {{"context_length", "n_positions"},  {"embedding_length", "n_embd"},
            {"block_count", "n_layer"},         {"attention.head_count", "n_head"},
            {"feed_forward_length", "n_inner"}, {"attention.layer_norm_epsilon", "layer_norm_epsilon", Kind::number}};
  std::vector<GgufKey> keys{{"context_length", "max_position_embeddings"},
                            {"embedding_length", "hidden_size"},
                            {"block_count", "num_hidden_layers"},
                            {"feed_forward_length", "intermediate_size"},
                            {"attention.head_count", "num_attention_heads"},
                            {"attention.head_count_kv", "num_key_value_heads", Kind::count, false},
                            {"rope.freq_base", "rope_theta", Kind::number, false}};
  const auto add = [&](const char* gguf, const char* hf, Kind kind, bool required) {
    keys.push_back({gguf, hf, kind, required});
  };
  if (is_any(model_type, {"cohere2", "starcoder2", "nemotron"}))
    add("attention.layer_norm_epsilon",
        model_type == "starcoder2" ? "norm_epsilon"
        : model_type == "nemotron" ? "norm_eps"
                                   : "layer_norm_eps",
        Kind::number, true);
  else
    add("attention.layer_norm_rms_epsilon", "rms_norm_eps", Kind::number, true);
  if (is_any(model_type, {"mixtral", "qwen2_moe", "qwen3_moe", "olmoe"})) {
    add("expert_count", model_type == "mixtral" ? "num_local_experts" : "num_experts", Kind::count, true);
    add("expert_used_count", "num_experts_per_tok", Kind::count, true);
  }
  if (is_any(model_type, {"qwen2_moe", "qwen3_moe"}))
    add("expert_feed_forward_length", "moe_intermediate_size", Kind::count, true);
  if (model_type == "qwen2_moe")
    add("expert_shared_feed_forward_length", "shared_expert_intermediate_size", Kind::count, true);
  if (model_type == "gemma2") add("attn_logit_softcapping", "attn_logit_softcapping", Kind::number, false);
  if (is_any(model_type, {"gemma2", "gemma3_text"}))
    add("final_logit_softcapping", "final_logit_softcapping", Kind::number, false);
  if (is_any(model_type, {"gemma2", "gemma3_text", "phi3", "cohere2", "olmo3"}))
    add("attention.sliding_window", "sliding_window", Kind::count, model_type == "cohere2");
  if (model_type == "gemma3_text") add("rope.freq_base_swa", "rope_local_base_freq", Kind::number, false);
  if (model_type == "cohere2") add("logit_scale", "logit_scale", Kind::number, true);
  if (model_type == "phi3")
    add("rope.scaling.original_context_length", "original_max_position_embeddings", Kind::count, false);
  if (model_type == "granite") {
    add("attention.scale", "attention_multiplier", Kind::number, true);
    add("embedding_scale", "embedding_multiplier", Kind::number, true);
    add("residual_scale", "residual_multiplier", Kind::number, true);
    add("logit_scale", "logits_scaling", Kind::number, true);
  }
  return keys;
}

}  // namespace tril::model

#include "model_io/gguf_keys.h"

#include <array>
#include <utility>

namespace tril::model {

using Kind = GgufKey::Kind;

std::string_view gguf_architecture(std::string_view model_type) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> list{{{"llama", "llama"},
                                                                                {"mistral", "llama"},
                                                                                {"mixtral", "llama"},
                                                                                {"granite", "granite"},
                                                                                {"qwen2", "qwen2"},
                                                                                {"qwen3", "qwen3"},
                                                                                {"gemma", "gemma"},
                                                                                {"gemma2", "gemma2"},
                                                                                {"olmo2", "olmo2"},
                                                                                {"phi3", "phi3"},
                                                                                {"gpt2", "gpt2"}}};
  for (const auto& [family, architecture] : list)
    if (family == model_type) return architecture;
  return "";
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
                            {"attention.layer_norm_rms_epsilon", "rms_norm_eps", Kind::number},
                            {"rope.freq_base", "rope_theta", Kind::number, false}};
  const auto add = [&](const char* gguf, const char* hf, Kind kind, bool required) {
    keys.push_back({gguf, hf, kind, required});
  };
  if (model_type == "mixtral") {
    add("expert_count", "num_local_experts", Kind::count, true);
    add("expert_used_count", "num_experts_per_tok", Kind::count, true);
  }
  if (model_type == "gemma2") {
    add("attn_logit_softcapping", "attn_logit_softcapping", Kind::number, false);
    add("final_logit_softcapping", "final_logit_softcapping", Kind::number, false);
  }
  if (model_type == "gemma2" || model_type == "phi3")
    add("attention.sliding_window", "sliding_window", Kind::count, false);
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

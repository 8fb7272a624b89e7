// A config.json for every decoder-only family of Hugging Face, and for their variants, small enough for tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/small_gpt_like.h"

namespace tril::testing {

inline nlohmann::json llama_kin(const std::string& model_type, const nlohmann::json& rest = nlohmann::json::object()) {
  nlohmann::json j{{"model_type", model_type},    {"vocab_size", 13},         {"hidden_size", 16},
                   {"intermediate_size", 12},     {"num_hidden_layers", 2},   {"num_attention_heads", 4},
                   {"num_key_value_heads", 2},    {"initializer_range", 0.5}, {"max_position_embeddings", 16},
                   {"bos_token_id", 1},           {"eos_token_id", 2},        {"pad_token_id", nullptr},
                   {"tie_word_embeddings", false}};
  j.update(rest);
  return j;
}

inline std::vector<nlohmann::json> small_decoders() {
  const nlohmann::json both{"sliding_attention", "full_attention"};
  const nlohmann::json neox{{"num_key_value_heads", nullptr}, {"rotary_pct", 0.5}, {"hidden_dropout", 0.2}};
  nlohmann::json sequential = neox;
  sequential["use_parallel_residual"] = false;
  const nlohmann::json opt{{"model_type", "opt"},
                           {"vocab_size", 13},
                           {"hidden_size", 16},
                           {"ffn_dim", 12},
                           {"num_hidden_layers", 2},
                           {"num_attention_heads", 4},
                           {"activation_function", "gelu"},
                           {"init_std", 0.5},
                           {"dropout", 0.2},
                           {"max_position_embeddings", 16},
                           {"pad_token_id", 1}};
  nlohmann::json opt_350m = opt;
  opt_350m.update({{"do_layer_norm_before", false}, {"word_embed_proj_dim", 8}});
  std::vector<nlohmann::json> list{
      {{"model_type", "gpt2"}, {"vocab_size", 13}, {"n_embd", 16}, {"n_layer", 2}, {"n_head", 4}, {"n_positions", 16}},
      opt,
      opt_350m,
      llama_kin("gpt_neox", neox),
      llama_kin("gpt_neox", sequential),
      llama_kin("phi"),
      llama_kin("phi", {{"qk_layernorm", true}, {"resid_pdrop", 0.2}, {"partial_rotary_factor", 1.0}}),
      llama_kin("llama", {{"attention_bias", true}, {"mlp_bias", true}, {"attention_dropout", 0.2}}),
      llama_kin("llama", {{"tie_word_embeddings", true},
                          {"head_dim", 6},
                          {"rope_scaling",
                           {{"rope_type", "llama3"},
                            {"factor", 8.0},
                            {"low_freq_factor", 1.0},
                            {"high_freq_factor", 4.0},
                            {"original_max_position_embeddings", 8}}}}),
      llama_kin("llama",
                {{"rope_scaling", {{"type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 4}}}}),
      llama_kin("mistral", {{"sliding_window", 3}}),
      llama_kin("qwen2", {{"use_sliding_window", true}, {"sliding_window", 3}, {"max_window_layers", 1}}),
      llama_kin("qwen3", {{"head_dim", 6}, {"use_sliding_window", true}, {"sliding_window", 3}, {"layer_types", both}}),
      llama_kin("phi3", {{"resid_pdrop", 0.2}, {"embd_pdrop", 0.2}}),
      llama_kin("gemma", {{"head_dim", 6}, {"num_key_value_heads", 1}, {"tie_word_embeddings", true}}),
      llama_kin("gemma2", {{"head_dim", 6},
                           {"query_pre_attn_scalar", 5},
                           {"attn_logit_softcapping", 2.0},
                           {"final_logit_softcapping", 3.0},
                           {"sliding_window", 3}}),
      llama_kin("mixtral", {{"num_local_experts", 5}, {"num_experts_per_tok", 2}, {"sliding_window", 4}}),
      llama_kin("olmo2"),
      {{"model_type", "tril"},
       {"architecture", "linear_decoder"},
       {"vocab_size", 13},
       {"d_model", 16},
       {"num_heads", 2},
       {"d_ff", 24},
       {"num_layers", 2},
       {"dropout", 0.2}},
      llama_kin("granite", {{"embedding_multiplier", 3},
                            {"attention_multiplier", 0.3},
                            {"residual_multiplier", 0.6},
                            {"logits_scaling", 0.7}}),
  };
  for (const nlohmann::json& config : small_gpt_like()) list.push_back(config);
  return list;
}

}  // namespace tril::testing

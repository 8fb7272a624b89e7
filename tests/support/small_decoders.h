// A config.json for every decoder-only family of Hugging Face, and for their variants, small enough for tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/small_gpt_like.h"

namespace tril::testing {

inline nlohmann::json llama_variant(const std::string& model_type,
                                    const nlohmann::json& rest = nlohmann::json::object()) {
  nlohmann::json j{{"model_type", model_type},    {"vocab_size", 13},         {"hidden_size", 16},
                   {"intermediate_size", 12},     {"num_hidden_layers", 2},   {"num_attention_heads", 4},
                   {"num_key_value_heads", 2},    {"initializer_range", 0.5}, {"max_position_embeddings", 16},
                   {"bos_token_id", 1},           {"eos_token_id", 2},        {"pad_token_id", nullptr},
                   {"tie_word_embeddings", false}};
  j.update(rest);
  return j;
}

/// With a gated delta rule in the first layer.
inline nlohmann::json delta_variant(const std::string& model_type,
                                    const nlohmann::json& rest = nlohmann::json::object()) {
  nlohmann::json j = llama_variant(model_type, {{"layer_types", {"linear_attention", "full_attention"}},
                                                {"head_dim", 8},
                                                {"linear_num_key_heads", 2},
                                                {"linear_num_value_heads", 4},
                                                {"linear_key_head_dim", 3},
                                                {"linear_value_head_dim", 5},
                                                {"linear_conv_kernel_dim", 3}});
  j.update(rest);
  return j;
}

/// Families that vary the norms, positions and feed-forwards of Llama.
inline std::vector<nlohmann::json> small_llama_variants() {
  const nlohmann::json both{"sliding_attention", "full_attention"};
  const nlohmann::json by_type{{"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 100.0}}},
                               {"full_attention", {{"rope_type", "linear"}, {"rope_theta", 1000.0}, {"factor", 2.0}}}};
  const nlohmann::json proportional{
      {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 100.0}}},
      {"full_attention", {{"rope_type", "proportional"}, {"rope_theta", 1000.0}, {"partial_rotary_factor", 0.5}}}};
  const nlohmann::json yarn{{"rope_type", "yarn"},
                            {"rope_theta", 1000.0},
                            {"factor", 4.0},
                            {"original_max_position_embeddings", 3},
                            {"llama_4_scaling_beta", 0.5}};
  nlohmann::json yarn_plain = yarn;
  yarn_plain.erase("llama_4_scaling_beta");
  nlohmann::json deepseek_yarn = yarn_plain;
  deepseek_yarn.update({{"mscale", 0.7}, {"mscale_all_dim", 0.9}});
  return {
      llama_variant("gemma3_text", {{"head_dim", 6},
                                    {"query_pre_attn_scalar", 5},
                                    {"sliding_window", 3},
                                    {"layer_types", both},
                                    {"rope_parameters", by_type}}),
      llama_variant("smollm3", {{"no_rope_layers", {1, 0}}}),
      llama_variant("olmo3", {{"sliding_window", 3}, {"layer_types", both}, {"rope_parameters", by_type}}),
      llama_variant("exaone4", {{"sliding_window", 3}, {"layer_types", both}}),
      llama_variant("cohere", {{"num_attention_heads", 2},
                               {"num_key_value_heads", 1},
                               {"use_qk_norm", true},
                               {"tie_word_embeddings", true}}),
      llama_variant("cohere2", {{"sliding_window", 3}, {"layer_types", both}}),
      llama_variant("ministral", {{"sliding_window", 3}, {"layer_types", both}}),
      llama_variant("ministral3", {{"head_dim", 4}, {"rope_parameters", yarn}}),
      llama_variant("hunyuan_v1_dense", {{"rope_scaling", {{"type", "dynamic"}, {"alpha", 8.0}, {"factor", 1.0}}}}),
      llama_variant("arcee", {{"mlp_bias", true}}),
      llama_variant("olmo", {{"clip_qkv", 0.7}}),
      llama_variant("seed_oss", {{"head_dim", 6}}),
      llama_variant("ernie4_5", {{"head_dim", 4}, {"use_bias", true}}),
      llama_variant("helium", {{"head_dim", 4}}),
      llama_variant("glm", {{"head_dim", 4}}),
      llama_variant("glm4", {{"head_dim", 4}, {"attention_bias", false}}),
      llama_variant("nemotron"),
      llama_variant("jais2"),
      llama_variant("persimmon", {{"num_key_value_heads", nullptr}, {"hidden_dropout", 0.2}}),
      llama_variant("nanochat"),
      llama_variant("stablelm", {{"partial_rotary_factor", 0.5}}),
      llama_variant("stablelm", {{"partial_rotary_factor", 0.5},
                                 {"use_parallel_residual", true},
                                 {"qk_layernorm", true},
                                 {"use_qkv_bias", true}}),
      llama_variant("starcoder2", {{"sliding_window", 3}}),
      llama_variant("bitnet"),
      // Every token goes to every expert: no choice changes when a weight is moved to measure a slope.
      llama_variant("qwen3_moe",
                    {{"head_dim", 6}, {"num_experts", 3}, {"num_experts_per_tok", 3}, {"moe_intermediate_size", 8}}),
      llama_variant("qwen2_moe", {{"num_experts", 3},
                                  {"num_experts_per_tok", 3},
                                  {"moe_intermediate_size", 8},
                                  {"shared_expert_intermediate_size", 6},
                                  {"mlp_only_layers", {0}}}),
      llama_variant("olmoe", {{"num_experts", 3}, {"num_experts_per_tok", 3}, {"clip_qkv", 1.5}}),
      llama_variant("granitemoe", {{"num_local_experts", 3}, {"num_experts_per_tok", 3}, {"logits_scaling", 0.7}}),
      llama_variant("minimax_m2",
                    {{"head_dim", 4}, {"rotary_dim", 2}, {"num_local_experts", 3}, {"num_experts_per_tok", 3}}),
      llama_variant("glm4_moe", {{"n_routed_experts", 4},
                                 {"num_experts_per_tok", 4},
                                 {"moe_intermediate_size", 8},
                                 {"n_group", 2},
                                 {"topk_group", 2},
                                 {"routed_scaling_factor", 1.5},
                                 {"use_qk_norm", true}}),
      llama_variant("deepseek_v2", {{"num_key_value_heads", 4},
                                    {"q_lora_rank", nullptr},
                                    {"kv_lora_rank", 6},
                                    {"qk_rope_head_dim", 4},
                                    {"qk_nope_head_dim", 3},
                                    {"v_head_dim", 5},
                                    {"topk_method", "group_limited_greedy"},
                                    {"n_group", 2},
                                    {"topk_group", 2},
                                    {"n_routed_experts", 2},
                                    {"num_experts_per_tok", 2},
                                    {"moe_intermediate_size", 6},
                                    {"first_k_dense_replace", 1}}),
      llama_variant("deepseek_v3", {{"num_key_value_heads", 4},
                                    {"q_lora_rank", 7},
                                    {"kv_lora_rank", 6},
                                    {"qk_rope_head_dim", 2},
                                    {"qk_nope_head_dim", 4},
                                    {"v_head_dim", 3},
                                    {"attention_bias", true},
                                    {"n_group", 2},
                                    {"topk_group", 2},
                                    {"n_routed_experts", 4},
                                    {"num_experts_per_tok", 4},
                                    {"moe_intermediate_size", 6},
                                    {"first_k_dense_replace", 1},
                                    {"rope_interleave", false},
                                    {"rope_parameters", deepseek_yarn}}),
      llama_variant("glm4_moe_lite", {{"num_key_value_heads", 4},
                                      {"q_lora_rank", 7},
                                      {"kv_lora_rank", 6},
                                      {"qk_rope_head_dim", 2},
                                      {"qk_nope_head_dim", 4},
                                      {"v_head_dim", 3},
                                      {"n_routed_experts", 3},
                                      {"num_experts_per_tok", 3},
                                      {"moe_intermediate_size", 6}}),
      llama_variant("dots1", {{"n_routed_experts", 4},
                              {"num_experts_per_tok", 4},
                              {"n_shared_experts", 1},
                              {"moe_intermediate_size", 8},
                              {"n_group", 2},
                              {"topk_group", 2},
                              {"first_k_dense_replace", 1},
                              {"sliding_window", 3},
                              {"max_window_layers", 1},
                              {"routed_scaling_factor", 1.5}}),
      llama_variant("afmoe", {{"head_dim", 6},
                              {"layer_types", both},
                              {"sliding_window", 3},
                              {"mup_enabled", true},
                              {"num_experts", 3},
                              {"num_experts_per_tok", 3},
                              {"num_shared_experts", 1},
                              {"moe_intermediate_size", 8},
                              {"route_scale", 1.5}}),
      llama_variant("apertus",
                    {{"hidden_act", "xielu"}, {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 100.0}}}}),
      llama_variant("phimoe", {{"num_local_experts", 2},  // both are chosen, each by itself: no weight jumps
                               {"num_experts_per_tok", 2},
                               {"router_jitter_noise", 0.0},
                               {"attention_bias", true},
                               {"lm_head_bias", true}}),
      llama_variant("gpt_oss", {{"head_dim", 4},
                                {"num_local_experts", 3},
                                {"num_experts_per_tok", 3},
                                {"sliding_window", 3},
                                {"layer_types", both},
                                {"rope_parameters", yarn_plain}}),
      llama_variant("hunyuan_v1_moe", {{"num_experts", 3}, {"moe_topk", 3}}),
      llama_variant("hy_v3",
                    {{"head_dim", 4}, {"num_experts", 3}, {"num_experts_per_tok", 3}, {"moe_intermediate_size", 8}}),
      llama_variant("lfm2", {{"layer_types", {"conv", "full_attention"}}, {"block_multiple_of", 3}}),
      llama_variant("lfm2", {{"layer_types", {"full_attention", "conv"}}, {"conv_bias", true}, {"conv_L_cache", 5}}),
      llama_variant("lfm2_moe", {{"layer_types", {"conv", "full_attention"}},
                                 {"num_experts", 3},
                                 {"num_experts_per_tok", 3},
                                 {"moe_intermediate_size", 8},
                                 {"num_dense_layers", 1},
                                 {"routed_scaling_factor", 1.5}}),
      llama_variant("lfm3", {{"num_hidden_layers", 3},
                             {"layer_types", {"conv", "sliding_attention", "full_attention"}},
                             {"head_dim", 8},
                             {"sliding_window", 3},
                             {"conv_L_cache", 3},
                             {"rope_parameters", proportional}}),
      llama_variant("lfm3", {{"layer_types", {"full_attention", "conv"}},
                             {"head_dim", 4},
                             {"attention_bias", true},
                             {"conv_bias", true},
                             {"use_attention_gate", false},
                             {"use_sandwich_norm", false},
                             {"rope_parameters", by_type}}),
      delta_variant("qwen3_5_text"),
      delta_variant("qwen3_5_moe_text", {{"num_experts", 3},
                                         {"num_experts_per_tok", 3},
                                         {"moe_intermediate_size", 6},
                                         {"shared_expert_intermediate_size", 8}}),
      delta_variant("qwen3_next", {{"num_experts", 3},
                                   {"num_experts_per_tok", 3},
                                   {"moe_intermediate_size", 8},
                                   {"shared_expert_intermediate_size", 6}}),
  };
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
  std::vector<nlohmann::json> all{
      {{"model_type", "gpt2"}, {"vocab_size", 13}, {"n_embd", 16}, {"n_layer", 2}, {"n_head", 4}, {"n_positions", 16}},
      opt,
      opt_350m,
      llama_variant("gpt_neox", neox),
      llama_variant("gpt_neox", sequential),
      llama_variant("phi"),
      llama_variant("phi", {{"qk_layernorm", true}, {"resid_pdrop", 0.2}, {"partial_rotary_factor", 1.0}}),
      llama_variant("llama", {{"attention_bias", true}, {"mlp_bias", true}, {"attention_dropout", 0.2}}),
      llama_variant("llama", {{"tie_word_embeddings", true},
                              {"head_dim", 6},
                              {"rope_scaling",
                               {{"rope_type", "llama3"},
                                {"factor", 8.0},
                                {"low_freq_factor", 1.0},
                                {"high_freq_factor", 4.0},
                                {"original_max_position_embeddings", 8}}}}),
      llama_variant("llama",
                    {{"rope_scaling", {{"type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 4}}}}),
      llama_variant("mistral", {{"sliding_window", 3}}),
      llama_variant("qwen2", {{"use_sliding_window", true}, {"sliding_window", 3}, {"max_window_layers", 1}}),
      llama_variant("qwen3",
                    {{"head_dim", 6}, {"use_sliding_window", true}, {"sliding_window", 3}, {"layer_types", both}}),
      llama_variant("phi3", {{"resid_pdrop", 0.2}, {"embd_pdrop", 0.2}}),
      llama_variant("gemma", {{"head_dim", 6}, {"num_key_value_heads", 1}, {"tie_word_embeddings", true}}),
      llama_variant("gemma2", {{"head_dim", 6},
                               {"query_pre_attn_scalar", 5},
                               {"attn_logit_softcapping", 2.0},
                               {"final_logit_softcapping", 3.0},
                               {"sliding_window", 3}}),
      llama_variant("vaultgemma", {{"head_dim", 6},
                                   {"query_pre_attn_scalar", 5},
                                   {"attn_logit_softcapping", 2.0},
                                   {"final_logit_softcapping", 3.0},
                                   {"sliding_window", 3}}),
      llama_variant("mixtral", {{"num_local_experts", 5}, {"num_experts_per_tok", 2}, {"sliding_window", 4}}),
      llama_variant("olmo2"),
      {{"model_type", "tril"},
       {"architecture", "linear_decoder"},
       {"vocab_size", 13},
       {"d_model", 16},
       {"num_heads", 2},
       {"d_ff", 24},
       {"num_layers", 2},
       {"dropout", 0.2}},
      llama_variant("granite", {{"embedding_multiplier", 3},
                                {"attention_multiplier", 0.3},
                                {"residual_multiplier", 0.6},
                                {"logits_scaling", 0.7}}),
  };
  const std::vector<nlohmann::json> variants = small_llama_variants();
  all.insert(all.end(), variants.begin(), variants.end());
  for (const nlohmann::json& config : small_gpt_like()) all.push_back(config);
  return all;
}

}  // namespace tril::testing

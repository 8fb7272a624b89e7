// New decoders with mixtures of experts in place of feed-forwards, by Llama's keys: 8 experts, of which a token takes 2.
#include "train/families/new_family.h"

namespace tril::train {
namespace {

using Json = nlohmann::json;
using M = const NewModel&;

// The first layer and every fourth after it see all tokens; the others have a sliding window.
Json full_every_fourth(const NewModel& m) {
  Json types = Json::array();
  for (std::int64_t i = 0; i < m.dec_depth; ++i) types.push_back(i % 4 == 0 ? "full_attention" : "sliding_attention");
  return types;
}

constexpr std::int64_t experts = 8, experts_per_token = 2;

// The family's key for the number of experts, and the width of one under this key besides intermediate_size.
Json sizes_of_mixture(M m, const char* count_key, const char* width_key, Json own) {
  own.update({{count_key, experts}, {"num_experts_per_tok", experts_per_token}, {width_key, m.expert_dim()}});
  return own;
}

// The same for a family whose activation is a key too.
Json mixture(M m, const char* count_key, const char* width_key, Json own = Json::object()) {
  own["hidden_act"] = m.activation;
  return sizes_of_mixture(m, count_key, width_key, std::move(own));
}

Json deepseek(std::string_view model_type, M m, Json own) {
  own.update({{"num_key_value_heads", m.num_heads},
              {"qk_rope_head_dim", m.part_of_head(2)},
              {"qk_nope_head_dim", m.d_head()},
              {"v_head_dim", m.d_head()},
              {"n_shared_experts", 1},
              {"first_k_dense_replace", 1}});
  return llama_config(model_type, m, mixture(m, "n_routed_experts", "moe_intermediate_size", own));
}

// Latent queries, and experts that are chosen by groups, as in DeepSeek V3.
Json deepseek_with_groups(std::string_view model_type, M m) {
  return deepseek(model_type, m,
                  {{"q_lora_rank", std::max<std::int64_t>(1, m.d_model / 4)},
                   {"kv_lora_rank", std::max<std::int64_t>(1, m.d_model / 8)},
                   {"n_group", 4},
                   {"topk_group", 2}});
}

Json next_layers(M m) {
  Json own = delta_rule_config(m);
  own["shared_expert_intermediate_size"] = m.expert_dim();
  return own;
}

Json granite_mixture(std::string_view model_type, M m, Json own) {
  own.update({{"embedding_multiplier", 12.0},
              {"attention_multiplier", 1.0 / static_cast<double>(m.d_head())},
              {"residual_multiplier", 0.22},
              {"logits_scaling", 6.0},
              {"tie_word_embeddings", true}});
  return llama_config(model_type, m, mixture(m, "num_local_experts", "intermediate_size", std::move(own)));
}

constexpr NewFamily::Dropouts only_attention{.attention = true};

}  // namespace

std::span<const NewFamily> new_mixtures() {
  static constexpr NewFamily list[]{
      {.arch = "mixtral",
       .config =
           [](M m) {
             return llama_config(
                 "mixtral", m,
                 mixture(m, "num_local_experts", "intermediate_size", {{"rope_parameters", rotary_json(1e6)}}));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true,
       .router_aux_loss = 0.001},
      {.arch = "olmoe",
       .config =
           [](M m) {
             return llama_config(
                 "olmoe", m, mixture(m, "num_experts", "intermediate_size", {{"num_key_value_heads", m.num_heads}}));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true,
       .router_aux_loss = 0.01},
      {.arch = "hunyuan_v1_moe",
       .config =
           [](M m) {
             Json own{{"head_dim", m.d_head()},
                      {"num_experts", experts},
                      {"moe_topk", experts_per_token},
                      {"hidden_act", m.activation}};
             own["intermediate_size"] = m.expert_dim();
             return llama_config("hunyuan_v1_moe", m, own);
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true},
      {.arch = "hy_v3",
       .config =
           [](M m) {
             return llama_config("hy_v3", m,
                                 mixture(m, "num_experts", "moe_intermediate_size", {{"head_dim", m.d_head()}}));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true},
      {.arch = "glm4_moe",
       .config =
           [](M m) {
             return llama_config("glm4_moe", m,
                                 mixture(m, "n_routed_experts", "moe_intermediate_size",
                                         {{"head_dim", m.d_head()}, {"n_shared_experts", 1}}));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true},
      {.arch = "qwen2_moe",
       .config =
           [](M m) {
             return llama_config("qwen2_moe", m,
                                 mixture(m, "num_experts", "moe_intermediate_size",
                                         {{"shared_expert_intermediate_size", m.expert_dim()},
                                          {"num_key_value_heads", m.num_heads},
                                          {"rope_parameters", rotary_json(1e6)}}));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true,
       .router_aux_loss = 0.001},
      {.arch = "qwen3_moe",
       .config =
           [](M m) {
             return llama_config(
                 "qwen3_moe", m,
                 mixture(m, "num_experts", "moe_intermediate_size",
                         {{"head_dim", m.d_head()}, {"norm_topk_prob", true}, {"rope_parameters", rotary_json(1e6)}}));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true,
       .router_aux_loss = 0.001},
      {.arch = "flint",
       .config =
           [](M m) {
             return llama_config("flint", m,
                                 mixture(m, "num_experts", "moe_intermediate_size",
                                         {{"head_dim", m.d_head()},
                                          {"layer_types", full_every_fourth(m)},
                                          {"sliding_window", m.window()},
                                          {"mlp_only_layers", {0}},
                                          {"shared_expert_intermediate_size", m.expert_dim()}}));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true,
       .router_aux_loss = 0.0005},
      {.arch = "qwen3_next",
       .config =
           [](M m) {
             return llama_config("qwen3_next", m, mixture(m, "num_experts", "moe_intermediate_size", next_layers(m)));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true,
       .router_aux_loss = 0.001},
      {.arch = "qwen3_5_moe_text",
       .config =
           [](M m) {
             return llama_config("qwen3_5_moe_text", m,
                                 mixture(m, "num_experts", "moe_intermediate_size", next_layers(m)));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true,
       .router_aux_loss = 0.001},
      {.arch = "lfm2_moe",
       .config =
           [](M m) {
             return llama_config("lfm2_moe", m,
                                 sizes_of_mixture(m, "num_experts", "moe_intermediate_size",
                                                  {{"layer_types", lfm_layer_types(m)}, {"num_dense_layers", 1}}));
           },
       .dropouts = only_attention,
       .experts = true},
      {.arch = "glm4_moe_lite",
       .config =
           [](M m) {
             return deepseek("glm4_moe_lite", m,
                             {{"q_lora_rank", std::max<std::int64_t>(1, m.d_model / 4)},
                              {"kv_lora_rank", std::max<std::int64_t>(1, m.d_model / 8)}});
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true},
      {.arch = "axk1",
       .config = [](M m) { return deepseek_with_groups("axk1", m); },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true},
      {.arch = "sarvam_mla",
       .config =
           [](M m) {
             return deepseek("sarvam_mla", m, {{"kv_lora_rank", std::max<std::int64_t>(1, m.d_model / 8)}});
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true},
      {.arch = "sarvam_moe",
       .config =
           [](M m) {
             return llama_config("sarvam_moe", m,
                                 mixture(m, "n_routed_experts", "moe_intermediate_size",
                                         {{"head_dim", m.d_head()}, {"n_shared_experts", 1}}));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true},
      {.arch = "laguna",
       .config =
           [](M m) {
             return llama_config(
                 "laguna", m,
                 mixture(m, "num_experts", "moe_intermediate_size",
                         {{"head_dim", m.d_head()},
                          {"shared_expert_intermediate_size", m.expert_dim()},
                          {"layer_types", full_every_fourth(m)},
                          {"sliding_window", m.window()},
                          {"rope_parameters",
                           {{"full_attention", rotary_json(5e5)}, {"sliding_attention", rotary_json(1e4)}}}}));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true,
       .router_aux_loss = 0.001},
      {.arch = "ernie4_5_moe",
       .config =
           [](M m) {
             return llama_config("ernie4_5_moe", m,
                                 mixture(m, "moe_num_experts", "moe_intermediate_size",
                                         {{"head_dim", m.d_head()}, {"moe_num_shared_experts", 1}}));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true,
       .router_aux_loss = 0.001},
      {.arch = "step3p5",
       .config =
           [](M m) {
             return llama_config(
                 "step3p5", m,
                 mixture(m, "n_routed_experts", "moe_intermediate_size",
                         {{"head_dim", m.d_head()},
                          {"share_expert_dim", m.expert_dim()},
                          {"layer_types", full_every_fourth(m)},
                          {"sliding_window", m.window()},
                          {"rope_parameters",
                           {{"full_attention", rotary_json(5e6)}, {"sliding_attention", rotary_json(1e4)}}}}));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true},
      {.arch = "dots1",
       .config =
           [](M m) {
             return llama_config("dots1", m,
                                 mixture(m, "n_routed_experts", "moe_intermediate_size",
                                         {{"num_key_value_heads", m.num_heads},
                                          {"n_shared_experts", 1},
                                          {"n_group", 1},
                                          {"topk_group", 1},
                                          {"first_k_dense_replace", 1},
                                          {"routed_scaling_factor", 2.5},
                                          {"norm_topk_prob", true}}));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true},
      {.arch = "flex_olmo",
       .config =
           [](M m) {
             return llama_config(
                 "flex_olmo", m,
                 mixture(m, "num_experts", "intermediate_size",
                         {{"num_key_value_heads", m.num_heads}, {"rope_parameters", rotary_json(5e5)}}));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true,
       .router_aux_loss = 0.01},
      {.arch = "exaone_moe",
       .config =
           [](M m) {
             return llama_config("exaone_moe", m,
                                 mixture(m, "num_experts", "moe_intermediate_size",
                                         {{"sliding_window", m.window()},
                                          {"num_shared_experts", 1},
                                          {"first_k_dense_replace", 1},
                                          {"rope_parameters", rotary_json(1e6)}}));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true},
      {.arch = "kolibri1",
       .config =
           [](M m) {
             return llama_config("kolibri1", m,
                                 mixture(m, "num_experts", "moe_intermediate_size",
                                         {{"head_dim", m.d_head()},
                                          {"layer_types", full_every_fourth(m)},
                                          {"sliding_window", m.window()},
                                          {"norm_topk_prob", true},
                                          {"shared_expert_intermediate_size", m.expert_dim()}}));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true},
      {.arch = "solar_open",
       .config =
           [](M m) {
             return llama_config("solar_open", m,
                                 mixture(m, "n_routed_experts", "moe_intermediate_size",
                                         {{"head_dim", m.d_head()}, {"rope_parameters", rotary_json(1e6)}}));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true},
      {.arch = "mellum",
       .config =
           [](M m) {
             return llama_config(
                 "mellum", m,
                 mixture(m, "num_local_experts", "moe_intermediate_size",
                         {{"head_dim", m.d_head()},
                          {"sliding_window", m.window()},
                          {"rope_parameters",
                           {{"full_attention", rotary_json(5e5)}, {"sliding_attention", rotary_json(1e4)}}}}));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true,
       .router_aux_loss = 0.001},
      {.arch = "afmoe",
       .config =
           [](M m) {
             return llama_config("afmoe", m,
                                 mixture(m, "num_experts", "moe_intermediate_size",
                                         {{"head_dim", m.d_head()},
                                          {"sliding_window", m.window()},
                                          {"num_shared_experts", 1},
                                          {"mup_enabled", true}}));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true},
      {.arch = "granitemoe",
       .config = [](M m) { return granite_mixture("granitemoe", m, Json::object()); },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true,
       .router_aux_loss = 0.001},
      {.arch = "granitemoeshared",
       .config =
           [](M m) {
             return granite_mixture("granitemoeshared", m, {{"shared_intermediate_size", m.expert_dim()}});
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true,
       .router_aux_loss = 0.001},
      {.arch = "granitemoe_swa",
       .config =
           [](M m) {
             return granite_mixture("granitemoe_swa", m,
                                    {{"shared_intermediate_size", m.expert_dim()}, {"sliding_window", m.window()}});
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true,
       .router_aux_loss = 0.001},
      {.arch = "cohere2_moe",
       .config =
           [](M m) {
             return llama_config("cohere2_moe", m,
                                 mixture(m, "num_experts", "intermediate_size",
                                         {{"head_dim", m.d_head()}, {"sliding_window", m.window()}}));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true},
      {.arch = "deepseek_v2",
       .config =
           [](M m) {
             return deepseek("deepseek_v2", m,
                             {{"q_lora_rank", nullptr}, {"kv_lora_rank", std::max<std::int64_t>(1, m.d_model / 4)}});
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true},
      {.arch = "deepseek_v3",
       .config = [](M m) { return deepseek_with_groups("deepseek_v3", m); },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true},
      {.arch = "phimoe",
       .config =
           [](M m) {
             return llama_config("phimoe", m,
                                 mixture(m, "num_local_experts", "intermediate_size",
                                         {{"attention_bias", true}, {"lm_head_bias", true}}));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true,
       .router_aux_loss = 0.001},
      {.arch = "gpt_oss",
       .config =
           [](M m) {
             return llama_config("gpt_oss", m,
                                 sizes_of_mixture(m, "num_local_experts", "intermediate_size",
                                                  {{"head_dim", m.d_head()},
                                                   {"sliding_window", m.window()},
                                                   {"rope_parameters", rotary_json(1.5e5)}}));
           },
       .dropouts = only_attention,
       .experts = true,
       .router_aux_loss = 0.001},
      {.arch = "minimax_m2",
       .config =
           [](M m) {
             return llama_config("minimax_m2", m,
                                 mixture(m, "num_local_experts", "intermediate_size",
                                         {{"head_dim", m.d_head()}, {"rotary_dim", m.part_of_head(2)}}));
           },
       .activation = "silu",
       .dropouts = only_attention,
       .experts = true,
       .router_aux_loss = 0.001},
  };
  return list;
}

}  // namespace tril::train

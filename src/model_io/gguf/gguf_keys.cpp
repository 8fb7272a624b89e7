#include "model_io/gguf/gguf_keys.h"

#include <algorithm>
#include <utility>

#include "model_io/gguf/gguf_mamba2.h"

namespace tril::model {

using Kind = GgufKey::Kind;

namespace {

// A family, and llama.cpp's name of its architecture. The first family of an architecture is the one that a file is read as.
constexpr std::pair<std::string_view, std::string_view> kArchitectures[] = {{"llama", "llama"},
                                                                            {"llama", "internlm2"},
                                                                            {"mistral", "llama"},
                                                                            {"ministral", "llama"},
                                                                            {"mixtral", "llama"},
                                                                            {"ministral3", "mistral3"},
                                                                            {"granite", "granite"},
                                                                            {"granitemoe", "granitemoe"},
                                                                            {"granitemoeshared", "granitemoe"},
                                                                            {"qwen2", "qwen2"},
                                                                            {"qwen2_moe", "qwen2moe"},
                                                                            {"qwen3", "qwen3"},
                                                                            {"qwen3_moe", "qwen3moe"},
                                                                            {"qwen3_next", "qwen3next"},
                                                                            {"qwen3_5_text", "qwen35"},
                                                                            {"qwen3_5_moe_text", "qwen35moe"},
                                                                            {"gemma", "gemma"},
                                                                            {"gemma2", "gemma2"},
                                                                            {"gemma3_text", "gemma3"},
                                                                            {"gemma4_text", "gemma4"},
                                                                            {"gpt_oss", "gpt-oss"},
                                                                            {"olmo", "olmo"},
                                                                            {"olmo2", "olmo2"},
                                                                            {"olmo3", "olmo2"},
                                                                            {"olmoe", "olmoe"},
                                                                            {"nemotron", "nemotron"},
                                                                            {"ernie4_5", "ernie4_5"},
                                                                            {"exaone4", "exaone4"},
                                                                            {"exaone", "exaone"},
                                                                            {"apertus", "apertus"},
                                                                            {"afmoe", "afmoe"},
                                                                            {"dots1", "dots1"},
                                                                            {"hy_v3", "hy_v3"},
                                                                            {"jais2", "jais2"},
                                                                            {"lfm2", "lfm2"},
                                                                            {"lfm2_moe", "lfm2moe"},
                                                                            {"smollm3", "smollm3"},
                                                                            {"arcee", "arcee"},
                                                                            {"seed_oss", "seed_oss"},
                                                                            {"cohere", "command-r"},
                                                                            {"cohere2", "cohere2"},
                                                                            {"glm", "chatglm"},
                                                                            {"glm4", "glm4"},
                                                                            {"glm4_moe", "glm4moe"},
                                                                            {"deepseek_v2", "deepseek2"},
                                                                            {"deepseek_v3", "deepseek2"},
                                                                            {"glm4_moe_lite", "deepseek2"},
                                                                            {"hunyuan_v1_dense", "hunyuan-dense"},
                                                                            {"hunyuan_v1_moe", "hunyuan-moe"},
                                                                            {"minicpm3", "minicpm3"},
                                                                            {"minimax_m2", "minimax-m2"},
                                                                            {"stablelm", "stablelm"},
                                                                            {"step3p5", "step35"},
                                                                            {"starcoder2", "starcoder2"},
                                                                            {"phi", "phi2"},
                                                                            {"phi3", "phi3"},
                                                                            {"gpt2", "gpt2"},
                                                                            {"gpt_bigcode", "starcoder"},
                                                                            {"gpt_neox", "gptneox"},
                                                                            {"falcon", "falcon"},
                                                                            {"bloom", "bloom"},
                                                                            {"mpt", "mpt"},
                                                                            {"granitemoehybrid", "granitehybrid"},
                                                                            {"bamba", "granitehybrid"},
                                                                            {"falcon_h1", "falcon-h1"},
                                                                            {"nemotron_h", "nemotron_h"},
                                                                            {"nemotron_h", "nemotron_h_moe"},
                                                                            {"mamba2", "mamba2"}};

// The keys of the families with GPT's structure.
std::vector<GgufKey> gpt_keys(std::string_view model_type) {
  const auto sizes = [](const char* positions, const char* width, const char* layers, const char* heads) {
    return std::vector<GgufKey>{{"context_length", positions},
                                {"embedding_length", width},
                                {"block_count", layers},
                                {"attention.head_count", heads}};
  };
  const auto with = [](std::vector<GgufKey> keys, const std::vector<GgufKey>& more) {
    keys.insert(keys.end(), more.begin(), more.end());
    return keys;
  };
  const GgufKey eps{"attention.layer_norm_epsilon", "layer_norm_epsilon", Kind::number},
      short_eps{"attention.layer_norm_epsilon", "layer_norm_eps", Kind::number},
      theta{"rope.freq_base", "rope_theta", Kind::number, false};
  std::vector<GgufKey> gpt2 = with(sizes("n_positions", "n_embd", "n_layer", "n_head"),
                                   {{"feed_forward_length", "n_inner"}, eps}),
                       usual =
                           sizes("max_position_embeddings", "hidden_size", "num_hidden_layers", "num_attention_heads");
  if (model_type == "gpt2") return gpt2;
  if (model_type == "gpt_bigcode") return with(gpt2, {{"attention.head_count_kv", "", Kind::count, true, /*only=*/1}});
  if (model_type == "phi")
    return with(usual, {{"feed_forward_length", "intermediate_size"},
                        {"attention.head_count_kv", "num_key_value_heads"},
                        short_eps,
                        theta});
  if (model_type == "gpt_neox")
    return with(usual, {{"feed_forward_length", "intermediate_size"},
                        {"use_parallel_residual", "use_parallel_residual", Kind::flag},
                        short_eps,
                        theta});
  if (model_type == "falcon")
    return with(usual,
                {{"feed_forward_length", "ffn_hidden_size"}, {"attention.head_count_kv", "num_kv_heads"}, eps, theta});
  if (model_type == "bloom")
    return with(sizes("seq_length", "hidden_size", "n_layer", "n_head"), {{"attention.head_count_kv", "n_head"}, eps});
  if (model_type == "mpt")
    return with(sizes("max_seq_len", "d_model", "n_layers", "n_heads"),
                {{"attention.head_count_kv", "n_heads", Kind::count, false},
                 {"attention.max_alibi_bias", "", Kind::number, true, /*only=*/8},
                 eps});
  return {};
}

// The key of a norm's epsilon.
GgufKey epsilon_key(std::string_view model_type) {
  if (model_type == "olmo") return {"attention.layer_norm_epsilon", "", Kind::number, true, /*only=*/1e-5};
  if (is_any(model_type, {"lfm2", "lfm2_moe"})) return {"attention.layer_norm_rms_epsilon", "norm_eps", Kind::number};
  if (is_any(model_type, {"cohere", "cohere2", "stablelm", "jais2"}))
    return {"attention.layer_norm_epsilon", "layer_norm_eps", Kind::number};
  if (model_type == "starcoder2") return {"attention.layer_norm_epsilon", "norm_epsilon", Kind::number};
  if (model_type == "nemotron") return {"attention.layer_norm_epsilon", "norm_eps", Kind::number};
  return {"attention.layer_norm_rms_epsilon", "rms_norm_eps", Kind::number};
}

constexpr double kSigmoid = 2;  // llama.cpp's number of a router's function

GgufKey sigmoid_key(bool required) {
  return {"expert_gating_func", "", Kind::count, required, kSigmoid};
}

// The keys of routers of DeepSeek's kind.
std::vector<GgufKey> deepseek_router_keys(std::string_view model_type) {
  std::vector<GgufKey> keys{{"expert_shared_count", "n_shared_experts"},
                            {"expert_group_count", "n_group", Kind::count, false},
                            {"expert_group_used_count", "topk_group", Kind::count, false},
                            {"leading_dense_block_count", "first_k_dense_replace", Kind::count, false},
                            {"expert_weights_scale", "routed_scaling_factor", Kind::number, false}};
  if (model_type != "deepseek_v2") {
    keys.push_back({"expert_weights_norm", "norm_topk_prob", Kind::flag, false});
    keys.push_back(sigmoid_key(/*required=*/model_type != "dots1"));
  }
  return keys;
}

// The keys of experts, and of the router.
std::vector<GgufKey> expert_keys(std::string_view model_type) {
  const bool grouped = has_deepseek_router(model_type);
  std::vector<GgufKey> keys;
  const auto add = [&](const GgufKey& key) { keys.push_back(key); };
  if (is_any(model_type, {"qwen2_moe", "qwen3_moe", "olmoe", "hunyuan_v1_moe", "afmoe", "hy_v3", "lfm2_moe",
                          "qwen3_next", "qwen3_5_moe_text"}))
    add({"expert_count", "num_experts"});
  if (is_any(model_type, {"mixtral", "gpt_oss", "granitemoe", "granitemoeshared", "minimax_m2"}))
    add({"expert_count", "num_local_experts"});
  if (grouped) add({"expert_count", "n_routed_experts"});
  if (keys.empty()) return keys;
  add({"expert_used_count", model_type == "hunyuan_v1_moe" ? "moe_topk" : "num_experts_per_tok"});
  if (grouped ||
      is_any(model_type, {"qwen2_moe", "qwen3_moe", "afmoe", "hy_v3", "lfm2_moe", "qwen3_next", "qwen3_5_moe_text"}))
    add({"expert_feed_forward_length", "moe_intermediate_size"});
  if (is_any(model_type, {"gpt_oss", "hunyuan_v1_moe", "minimax_m2"}))
    add({"expert_feed_forward_length", "intermediate_size"});
  if (is_any(model_type, {"qwen2_moe", "qwen3_next", "qwen3_5_moe_text"}))
    add({"expert_shared_feed_forward_length", "shared_expert_intermediate_size"});
  if (model_type == "granitemoeshared") add({"expert_shared_feed_forward_length", "shared_intermediate_size"});
  if (model_type == "hunyuan_v1_moe") {
    add({"expert_shared_feed_forward_length", "intermediate_size", Kind::count, false});
    add({"expert_shared_count", "", Kind::count, true, /*only=*/1});
  }
  if (model_type == "afmoe") {
    add({"expert_shared_count", "num_shared_experts"});
    add({"expert_weights_scale", "route_scale", Kind::number, false});
  }
  if (model_type == "hy_v3") add({"expert_weights_scale", "router_scaling_factor", Kind::number});
  if (is_any(model_type, {"afmoe", "hy_v3"})) add({"expert_weights_norm", "", Kind::flag, false, /*only=*/1});
  if (is_any(model_type, {"afmoe", "lfm2_moe"}))
    add({"leading_dense_block_count", "num_dense_layers", Kind::count, false});
  if (is_any(model_type, {"minimax_m2", "lfm2_moe"})) add(sigmoid_key(/*required=*/true));
  if (is_any(model_type, {"afmoe", "hy_v3"})) add(sigmoid_key(/*required=*/false));
  if (!grouped) return keys;
  for (const GgufKey& key : deepseek_router_keys(model_type)) add(key);
  return keys;
}

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

bool has_latent_attention(std::string_view model_type) {
  return is_any(model_type, {"deepseek_v2", "deepseek_v3", "glm4_moe_lite"});
}

bool has_deepseek_router(std::string_view model_type) {
  return has_latent_attention(model_type) || is_any(model_type, {"glm4_moe", "dots1"});
}

bool has_delta_rule(std::string_view model_type) {
  return is_any(model_type, {"qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"});
}

bool has_short_convolutions(std::string_view model_type) {
  return is_any(model_type, {"lfm2", "lfm2_moe"});
}

bool has_mamba2(std::string_view model_type) {
  return is_any(model_type, {"granitemoehybrid", "bamba", "falcon_h1", "nemotron_h", "mamba2"});
}

bool has_gpt_structure(std::string_view model_type) {
  return is_any(model_type, {"gpt2", "gpt_bigcode", "gpt_neox", "falcon", "bloom", "mpt", "phi"});
}

std::vector<std::string_view> gguf_families() {
  std::vector<std::string_view> names;
  for (const auto& [family, architecture] : kArchitectures)
    if (names.empty() || names.back() != family) names.push_back(family);
  return names;
}

std::vector<std::string_view> gguf_architectures() {
  std::vector<std::string_view> names;
  for (const auto& [family, architecture] : kArchitectures)
    if (gguf_family(architecture) == family) names.push_back(architecture);
  return names;
}

std::vector<GgufKey> gguf_keys(std::string_view model_type) {
  if (std::vector<GgufKey> keys = gpt_keys(model_type); !keys.empty()) return keys;
  if (has_mamba2(model_type)) return mamba2_gguf_keys(model_type);
  std::vector<GgufKey> keys{{"context_length", "max_position_embeddings"},
                            {"embedding_length", "hidden_size"},
                            {"block_count", "num_hidden_layers"},
                            {"attention.head_count", "num_attention_heads"},
                            epsilon_key(model_type)};
  const auto add = [&](const char* gguf, const char* hf, Kind kind, bool required) {
    keys.push_back({gguf, hf, kind, required});
  };
  if (model_type == "step3p5") {  // gguf_step35.h has the keys that differ by layer
    std::erase_if(keys, [](const GgufKey& key) { return key.gguf == "attention.head_count"; });
    add("feed_forward_length", "intermediate_size", Kind::count, true);
    add("expert_count", "n_routed_experts", Kind::count, true);
    add("expert_used_count", "num_experts_per_tok", Kind::count, true);
    add("expert_feed_forward_length", "moe_intermediate_size", Kind::count, true);
    add("expert_shared_feed_forward_length", "share_expert_dim", Kind::count, true);
    keys.push_back(sigmoid_key(/*required=*/false));
    keys.push_back({"moe_every_n_layers", "", Kind::count, false, /*only=*/1});
    return keys;
  }
  if (model_type == "gemma4_text") {  // gguf_gemma4.h has the keys that differ by layer
    add("final_logit_softcapping", "final_logit_softcapping", Kind::number, false);
    add("attention.sliding_window", "sliding_window", Kind::count, true);
    return keys;
  }
  add("feed_forward_length", "intermediate_size", Kind::count, model_type != "qwen3_5_moe_text");
  add("rope.freq_base", "rope_theta", Kind::number, false);
  for (const GgufKey& key : expert_keys(model_type)) keys.push_back(key);
  if (model_type == "minicpm3") {  // keys and values of each head, whose sizes gguf_config.cpp reads
    add("attention.q_lora_rank", "q_lora_rank", Kind::count, true);
    add("attention.kv_lora_rank", "kv_lora_rank", Kind::count, true);
    add("rope.dimension_count", "qk_rope_head_dim", Kind::count, true);
  }
  if (has_latent_attention(model_type)) {
    add("attention.q_lora_rank", "q_lora_rank", Kind::count, false);
    add("attention.kv_lora_rank", "kv_lora_rank", Kind::count, true);
    add("attention.value_length_mla", "v_head_dim", Kind::count, false);
    add("rope.dimension_count", "qk_rope_head_dim", Kind::count, true);
  } else if (has_short_convolutions(model_type)) {
    add("shortconv.l_cache", "conv_L_cache", Kind::count, true);
  } else {
    add("attention.head_count_kv", "num_key_value_heads", Kind::count, false);
  }
  if (has_delta_rule(model_type)) {
    add("ssm.conv_kernel", "linear_conv_kernel_dim", Kind::count, true);
    add("ssm.state_size", "linear_key_head_dim", Kind::count, true);
    add("ssm.group_count", "linear_num_key_heads", Kind::count, true);
    add("ssm.time_step_rank", "linear_num_value_heads", Kind::count, true);
  }
  if (model_type == "gemma2") add("attn_logit_softcapping", "attn_logit_softcapping", Kind::number, false);
  if (is_any(model_type, {"gemma2", "gemma3_text"}))
    add("final_logit_softcapping", "final_logit_softcapping", Kind::number, false);
  if (is_any(model_type, {"gemma2", "gemma3_text", "phi3", "cohere2", "olmo3", "gpt_oss", "exaone4", "afmoe"}))
    add("attention.sliding_window", "sliding_window", Kind::count, is_any(model_type, {"cohere2", "gpt_oss"}));
  if (model_type == "gemma3_text") add("rope.freq_base_swa", "rope_local_base_freq", Kind::number, false);
  if (is_any(model_type, {"cohere", "cohere2"})) add("logit_scale", "logit_scale", Kind::number, true);
  if (model_type == "olmo") add("attention.clamp_kqv", "clip_qkv", Kind::number, false);
  if (model_type == "stablelm") add("use_parallel_residual", "use_parallel_residual", Kind::flag, true);
  if (model_type == "phi3")
    add("rope.scaling.original_context_length", "original_max_position_embeddings", Kind::count, false);
  if (is_any(model_type, {"granite", "granitemoe", "granitemoeshared"})) {
    add("attention.scale", "attention_multiplier", Kind::number, true);
    add("embedding_scale", "embedding_multiplier", Kind::number, true);
    add("residual_scale", "residual_multiplier", Kind::number, true);
    add("logit_scale", "logits_scaling", Kind::number, true);
  }
  return keys;
}

}  // namespace tril::model

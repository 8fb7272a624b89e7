// qwen3_next, qwen3_5_text and qwen3_5_moe_text: a gated delta rule instead of attention in three layers of four; in the others,
// attention with a gated result and a quarter of each head rotated. qwen3_next and qwen3_5_moe_text have experts [Qwen team 2025,
// "Qwen3-Next"; "Qwen3.5"].
#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {
namespace {

// Reads the keys of both families. `k` holds the family's default sizes.
LlamaLikeConfig read_hybrid(ConfigReader& reader, LlamaLikeConfig k, bool fused) {
  k.head_dim = 256;
  k.max_position_embeddings = 32768;
  k.bos_token_id = k.eos_token_id = -1;
  k.rope_defaults = {.partial = 0.25, .turns_part = true, .reads_sections = true};
  k.recurrence_name = "linear_attn";
  k.norms_store_offset = true;
  k.result_gate = true;
  k = read_llama_like(reader, std::move(k));
  read_attention_bias(reader, k);
  k.head_norms = rms_head_norms(k);
  const auto size = [&](const char* key, std::int64_t otherwise) {
    return read_own_size(reader, k, key, otherwise, 1 << 12);
  };
  nn::GatedDeltaNet::Options o{.d_model = k.hidden_size,
                               .num_key_heads = size("linear_num_key_heads", 16),
                               .num_heads = size("linear_num_value_heads", 32),
                               .d_k = size("linear_key_head_dim", 128),
                               .d_v = size("linear_value_head_dim", 128),
                               .taps = size("linear_conv_kernel_dim", 4),
                               .activation = function_of(k.hidden_act),
                               .norm_eps = static_cast<float>(k.norm_eps),
                               .fused = fused};
  if (o.num_heads % o.num_key_heads != 0)
    reader.json().fail_at("linear_num_key_heads",
                          fmt::format("{} key heads do not divide {} heads", o.num_key_heads, o.num_heads));
  k.recurrence = o;
  const std::int64_t interval = reader.size("full_attention_interval", 4);
  check_size(reader.json(), "full_attention_interval", interval, 1 << 30);
  read_recurrent_layers(reader, k, "linear_attention", [&](std::int64_t i) { return (i + 1) % interval != 0; });
  reader.only("attn_output_gate", true);
  reader.only("output_gate_type", std::string("swish"));
  // Keys of the layers that predict further tokens, which tril ignores, and the precision of states, which is float32 here.
  reader.ignore({"mtp_num_hidden_layers", "mtp_use_dedicated_embeddings", "mamba_ssm_dtype"});
  k.left_alone = {"mtp."};
  return k;
}

// Experts beside a shared one behind a gate.
void read_gated_experts(ConfigReader& reader, LlamaLikeConfig& k, std::int64_t count, std::int64_t per_token) {
  read_experts(reader, k, reader.spelt("num_experts", "num_local_experts"), count, per_token);
  k.experts.d_ff = read_own_size(reader, k, "moe_intermediate_size", 512, 1 << 20);
  k.experts.shared_d_ff = read_own_size(reader, k, "shared_expert_intermediate_size", 512, 1 << 20);
  k.experts.shared = "shared_expert", k.experts.shared_gate = "shared_expert_gate";
  read_router_training(reader, k, 0.001);
}

// Whether gate and up are one matrix: the publisher's files hold all experts of a layer in one tensor, others each by itself.
bool holds_fused_experts(const WeightNames& weight_names) {
  const auto names = weight_names();
  return names && std::ranges::any_of(*names, [](const std::string& name) {
           return name.find(".experts.") != std::string::npos && name.find("gate_up_proj") != std::string::npos;
         });
}

}  // namespace

std::unique_ptr<Model> make_qwen3_next(const JsonObject& config) {
  ConfigReader reader(config, "qwen3_next");
  LlamaLikeConfig k = read_hybrid(reader,
                                  {.family = "qwen3_next",
                                   .architecture = "Qwen3NextForCausalLM",
                                   .vocab_size = 151936,
                                   .hidden_size = 2048,
                                   .intermediate_size = 5632,
                                   .num_hidden_layers = 48,
                                   .num_attention_heads = 16,
                                   .num_key_value_heads = 2},
                                  /*fused=*/true);
  read_gated_experts(reader, k, 512, 10);
  k.experts.routing.normalised = read_own_bool(reader, k, "norm_topk_prob", true);
  read_sparse_layers(reader, k);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

std::unique_ptr<Model> make_qwen3_5_text(const JsonObject& config) {
  ConfigReader reader(config, "qwen3_5_text");
  LlamaLikeConfig k = read_hybrid(reader,
                                  {.family = "qwen3_5_text",
                                   .architecture = "Qwen3_5ForCausalLM",
                                   .vocab_size = 248320,
                                   .intermediate_size = 12288,
                                   .num_attention_heads = 16,
                                   .num_key_value_heads = 4},
                                  /*fused=*/false);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

std::unique_ptr<Model> make_qwen3_5_moe_text(const JsonObject& config, const WeightNames& weight_names) {
  ConfigReader reader(config, "qwen3_5_moe_text");
  LlamaLikeConfig k = read_hybrid(reader,
                                  {.family = "qwen3_5_moe_text",
                                   .architecture = "Qwen3_5MoeForCausalLM",
                                   .vocab_size = 248320,
                                   .hidden_size = 2048,
                                   .num_hidden_layers = 40,
                                   .num_attention_heads = 16,
                                   .num_key_value_heads = 2},
                                  /*fused=*/false);
  read_gated_experts(reader, k, 256, 8);
  if (holds_fused_experts(weight_names))
    k.experts.fused_gate_up = "experts.gate_up_proj", k.experts.fused_down = "experts.down_proj";
  reader.only("norm_topk_prob", true);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

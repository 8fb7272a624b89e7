// sarvam_mla: Sarvam 105B, deepseek_v3 without low-rank queries. sarvam_moe: Sarvam 30B, glm4_moe with norms of queries and keys
// and whole heads rotated; its files hold queries, keys and values in one matrix [Sarvam AI 2026].
#include <array>
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/families/deepseek.h"
#include "model/spec/llama_like.h"
#include "model/spec/renamed_keys.h"

namespace tril::model {
namespace {

constexpr std::array<std::pair<const char*, const char*>, 4> renamed_keys{{{"num_experts", "n_routed_experts"},
                                                                           {"num_local_experts", "n_routed_experts"},
                                                                           {"num_shared_experts", "n_shared_experts"},
                                                                           {"use_qkv_bias", "attention_bias"}}};

RenamedConfig with_common_keys(const JsonObject& config) {
  RenamedConfig r = rename_keys(config, renamed_keys);
  if (const auto rope = r.json.find("rope_scaling"); rope != r.json.end() && rope->is_object())
    for (const char* key : {"type", "rope_type"})  // another name for the same scaling
      if (const auto type = rope->find(key); type != rope->end() && *type == "deepseek_yarn") *type = "yarn";
  return r;
}

// Keys of the publisher's own code, with the only values that its models have.
void read_publishers_keys(ConfigReader& reader) {
  reader.only<std::string>("score_function", "sigmoid");
  reader.only("moe_router_enable_expert_bias", true);
  reader.only("use_rmsnorm", true);
  reader.ignore({"output_router_logits", "router_dtype", "q_head_dim", "moe_shared_expert_intermediate_size"});
}

void read_sarvam_experts(ConfigReader& reader, LlamaLikeConfig& k, std::int64_t per_token, std::int64_t d_ff) {
  read_experts(reader, k, "n_routed_experts", 128, per_token);
  k.experts.d_ff = read_own_size(reader, k, "moe_intermediate_size", d_ff, 1 << 20);
  read_deepseek_router(reader, k, {.scale = 2.5});
  read_dense_layers(reader, k, 1);
  read_further_layers(reader, k);
  read_publishers_keys(reader);
}

}  // namespace

std::unique_ptr<Model> make_sarvam_mla(const JsonObject& config) {
  const RenamedConfig renamed = with_common_keys(config);
  const JsonObject json(renamed.json, config.where(), &renamed.names);
  ConfigReader reader(json, "sarvam_mla");
  const bool interleaved = reader.flag("rope_interleave", true);
  LlamaLikeConfig k = read_deepseek(reader,
                                    {.family = "sarvam_mla",
                                     .architecture = "DeepseekV3ForCausalLM",
                                     .vocab_size = 262144,
                                     .hidden_size = 4096,
                                     .intermediate_size = 16384,
                                     .num_hidden_layers = 32,
                                     .num_attention_heads = 64,
                                     .max_position_embeddings = 4096,
                                     .initializer_range = 0.006,
                                     .bos_token_id = 0,
                                     .eos_token_id = 1,
                                     .rope_defaults = {.interleaved = interleaved}},
                                    {.query_rank = 0});
  k.own_keys["rope_interleave"] = interleaved;
  read_sarvam_experts(reader, k, 8, 2048);
  reader.only<std::string>("scoring_func", "sigmoid");
  reader.only<std::string>("topk_method", "noaux_tc");
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

std::unique_ptr<Model> make_sarvam_moe(const JsonObject& config) {
  const RenamedConfig renamed = with_common_keys(config);
  const JsonObject json(renamed.json, config.where(), &renamed.names);
  ConfigReader reader(json, "sarvam_moe");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "sarvam_moe",
                                               .architecture = "Glm4MoeForCausalLM",
                                               .vocab_size = 262144,
                                               .intermediate_size = 8192,
                                               .num_hidden_layers = 19,
                                               .num_attention_heads = 64,
                                               .num_key_value_heads = 4,
                                               .head_dim = 64,
                                               .max_position_embeddings = 131072,
                                               .initializer_range = 0.006,
                                               .bos_token_id = -1,
                                               .eos_token_id = 1,
                                               .pad_token_id = 0,
                                               .rope_defaults = {.theta = 8e6, .turns_part = true},
                                               .fused = LlamaLikeConfig::Fused::qkv,
                                               .attention_name = "attention",
                                               .qkv_name = "query_key_value",
                                               .out_name = "dense"});
  k.embedding_name = "model.word_embeddings";
  k.attention_bias = read_own_bool(reader, k, "attention_bias", false);
  if (read_own_bool(reader, k, "use_qk_norm", true)) {
    k.head_norms = rms_head_norms(k);
    k.head_norms.q = "query_layernorm", k.head_norms.k = "key_layernorm";
  }
  read_sarvam_experts(reader, k, 6, 1024);
  k.experts.correction = "gate.expert_bias";
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

// deepseek_v2, deepseek_v3 and glm4_moe_lite: latent attention; after a few dense layers, shared experts and experts routed by
// groups. The router has a softmax in v2 [DeepSeek-V2, 2024, section 2], and sigmoids with a correction in v3 [DeepSeek-V3, 2024,
// section 2.1]. v3's layers that predict further tokens are ignored. glm4_moe_lite, GLM-4.7-Flash, is v3 with other sizes
// [Z.ai 2026].
#include "model/families/deepseek.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/decoder_keys.h"
#include "model/spec/llama_like.h"

namespace tril::model {
namespace {

// Reads the sizes of latent attention and the scale of its scores.
void read_latent(ConfigReader& reader, LlamaLikeConfig& k, const LatentSizes& otherwise) {
  const JsonObject& json = reader.json();
  if (k.num_key_value_heads != k.num_attention_heads)
    json.fail_at("num_key_value_heads", fmt::format("{} is not {}: every head has keys of its own",
                                                    k.num_key_value_heads, k.num_attention_heads));
  const std::int64_t rotated = read_own_size(reader, k, "qk_rope_head_dim", otherwise.rotated, 1 << 12);
  if (k.head_dim != rotated)
    json.fail_at("head_dim", fmt::format("{} is not qk_rope_head_dim, {}", k.head_dim, rotated));
  nn::LatentAttention::Options o{.d_model = k.hidden_size, .num_heads = k.num_attention_heads, .d_rotated = rotated};
  o.d_own = read_own_size(reader, k, "qk_nope_head_dim", otherwise.own, 1 << 12);
  o.d_v = read_own_size(reader, k, "v_head_dim", otherwise.values, 1 << 12);
  o.rank = read_own_size(reader, k, "kv_lora_rank", otherwise.rank, 1 << 16);
  if (!reader.says_null("q_lora_rank") && (reader.has("q_lora_rank") || otherwise.query_rank > 0))
    o.query_rank = read_own_size(reader, k, "q_lora_rank", otherwise.query_rank, 1 << 16);
  if (o.query_rank == 0) k.own_keys["q_lora_rank"] = nullptr;
  o.bias = read_own_bool(reader, k, "attention_bias", false);
  o.dropout = k.attention_dropout;
  o.scale = static_cast<float>(k.rope.score_factor() / std::sqrt(static_cast<double>(o.d_rotated + o.d_own)));
  k.latent = o;
  // Keys of the authors' code: all layers after the dense ones have experts; training; placement on devices.
  reader.only("moe_layer_freq", std::int64_t{1});
  reader.ignore({"aux_loss_alpha", "seq_aux", "ep_size", "output_router_logits", "pretraining_tp", "qk_head_dim"});
}

}  // namespace

LlamaLikeConfig read_deepseek(ConfigReader& reader, LlamaLikeConfig defaults, const LatentSizes& otherwise) {
  defaults.head_dim = reader.size("qk_rope_head_dim", otherwise.rotated);
  defaults.reads_head_dim = otherwise.reads_head_dim;
  defaults.rope_defaults.reads_score_factor = true;
  LlamaLikeConfig k = read_llama_like(reader, std::move(defaults));
  read_latent(reader, k, otherwise);
  return k;
}

std::unique_ptr<Model> make_deepseek_v2(const JsonObject& config) {
  ConfigReader reader(config, "deepseek_v2");
  LlamaLikeConfig k = read_deepseek(reader, {.family = "deepseek_v2",
                                             .architecture = "DeepseekV2ForCausalLM",
                                             .vocab_size = 102400,
                                             .max_position_embeddings = 2048,
                                             .rope_defaults = {.interleaved = true}});
  check_heads_divide(reader, k);
  k.mlp_bias = read_own_bool(reader, k, "mlp_bias", false);
  if (k.mlp_bias) config.fail_at("mlp_bias", "true is not supported for deepseek_v2");
  const std::string count = reader.spelt("n_routed_experts", "num_experts");
  if (!reader.has("num_experts_per_tok") || reader.says_null("num_experts_per_tok"))
    config.fail_at("num_experts_per_tok", "is missing",
                   "a deepseek_v2 config.json must have the number of experts per token");
  read_experts(reader, k, count, 64, 1);
  ExpertsConfig& e = k.experts;
  e.d_ff = read_own_size(reader, k, "moe_intermediate_size", 1407, 1 << 20);
  e.shared_d_ff = e.d_ff * read_own_size(reader, k, "n_shared_experts", 2, 1 << 12);
  e.routing.normalised = false;
  e.routing.scale = static_cast<float>(read_own_number(reader, k, "routed_scaling_factor", 1));
  const auto method = reader.get<std::string>("topk_method", "greedy");
  if (method == "group_limited_greedy") {
    read_expert_groups(reader, k, {});
    e.routing.best_of_group = 1;
  } else if (method != "greedy") {
    config.fail_at("topk_method", "is not supported", "supported: greedy, group_limited_greedy");
  }
  k.own_keys["topk_method"] = method;
  reader.ignore({"n_group", "topk_group"});  // used by group_limited_greedy only
  read_dense_layers(reader, k, 0);
  reader.only("norm_topk_prob", false);
  reader.only<std::string>("scoring_func", "softmax");
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

std::unique_ptr<Model> make_deepseek_v3(const JsonObject& config) {
  ConfigReader reader(config, "deepseek_v3");
  const bool interleaved = reader.flag("rope_interleave", true);
  LlamaLikeConfig k = read_deepseek(reader, {.family = "deepseek_v3",
                                             .architecture = "DeepseekV3ForCausalLM",
                                             .vocab_size = 129280,
                                             .hidden_size = 7168,
                                             .intermediate_size = 18432,
                                             .num_hidden_layers = 61,
                                             .num_attention_heads = 128,
                                             .max_position_embeddings = 4096,
                                             .bos_token_id = 0,
                                             .eos_token_id = 1,
                                             .rope_defaults = {.interleaved = interleaved}});
  k.own_keys["rope_interleave"] = interleaved;
  read_experts(reader, k, reader.spelt("n_routed_experts", "num_local_experts"), 256, 8);
  k.experts.d_ff = read_own_size(reader, k, "moe_intermediate_size", 2048, 1 << 20);
  read_deepseek_router(reader, k, {.groups = 8, .chosen_groups = 4, .scale = 2.5});
  read_dense_layers(reader, k, 3);
  read_further_layers(reader, k);
  reader.only<std::string>("scoring_func", "sigmoid");
  reader.only<std::string>("topk_method", "noaux_tc");
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

std::unique_ptr<Model> make_glm4_moe_lite(const JsonObject& config) {
  ConfigReader reader(config, "glm4_moe_lite");
  const bool interleaved = reader.flag("rope_interleave", true);
  LlamaLikeConfig k = read_deepseek(reader,
                                    {.family = "glm4_moe_lite",
                                     .architecture = "Glm4MoeLiteForCausalLM",
                                     .vocab_size = 154880,
                                     .hidden_size = 2048,
                                     .intermediate_size = 10240,
                                     .num_hidden_layers = 47,
                                     .num_attention_heads = 20,
                                     .max_position_embeddings = 202752,
                                     .norm_eps = 1e-5,
                                     .bos_token_id = 0,
                                     .eos_token_id = 1,
                                     .rope_defaults = {.refuses_part = true, .interleaved = interleaved}},
                                    {.own = 192, .values = 256, .query_rank = 768, .reads_head_dim = true});
  k.own_keys["rope_interleave"] = interleaved;
  read_experts(reader, k, reader.spelt("n_routed_experts", "num_local_experts"), 64, 4);
  k.experts.d_ff = read_own_size(reader, k, "moe_intermediate_size", 1536, 1 << 20);
  read_deepseek_router(reader, k, {.scale = 1.8});
  read_mlp_layer_types(reader, k);
  read_further_layers(reader, k);
  // Keys of the authors' code, with the only values that these models have.
  reader.only("first_k_dense_replace", std::int64_t{1});
  reader.only<std::string>("scoring_func", "sigmoid");
  reader.only<std::string>("topk_method", "noaux_tc");
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

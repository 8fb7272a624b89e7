// hy_v3: norms of queries and keys; after a dense layer, a shared expert and experts routed by sigmoid scores with a
// correction [Tencent 2025].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_hy_v3(const JsonObject& config) {
  ConfigReader reader(config, "hy_v3");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "hy_v3",
                                               .architecture = "HYV3ForCausalLM",
                                               .vocab_size = 120832,
                                               .intermediate_size = 13312,
                                               .num_hidden_layers = 80,
                                               .num_attention_heads = 64,
                                               .num_key_value_heads = 8,
                                               .head_dim = 128,
                                               .max_position_embeddings = 131072,
                                               .norm_eps = 1e-5,
                                               .initializer_range = 0.006,
                                               .bos_token_id = -1,
                                               .eos_token_id = -1,
                                               .rope_defaults = {.theta = 11158840}});
  read_attention_bias(reader, k);
  k.mlp_bias = read_own_bool(reader, k, "mlp_bias", false);
  k.head_norms = rms_head_norms(k);
  read_experts(reader, k, reader.spelt("num_experts", "num_local_experts"), 192, 8);
  k.experts.d_ff = read_own_size(reader, k, "moe_intermediate_size", 1536, 1 << 20);
  const std::int64_t shared = read_own_size(reader, k, "num_shared_experts", 1, 1 << 12);
  const double scale = read_own_number(reader, k, "router_scaling_factor", 2.826);
  read_mlp_layer_types(reader, k);
  k.experts.shared_d_ff = k.experts.d_ff * shared;
  k.experts.routing = {.score = ops::RouterOptions::Score::sigmoid, .scale = static_cast<float>(scale)};
  k.experts.router = "router.gate", k.experts.shared = "shared_mlp", k.experts.correction = "expert_bias";
  reader.ignore({"enable_moe_fp32_combine", "output_router_logits"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

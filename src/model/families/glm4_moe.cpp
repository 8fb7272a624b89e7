// glm4_moe: GLM-4.5. Half of each head is rotated. After a few dense layers, a shared expert and experts routed by groups,
// with sigmoid scores and a correction [GLM-4.5 team 2025, section 2.1].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_glm4_moe(const JsonObject& config) {
  ConfigReader reader(config, "glm4_moe");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "glm4_moe",
                                               .architecture = "Glm4MoeForCausalLM",
                                               .vocab_size = 151552,
                                               .intermediate_size = 10944,
                                               .num_hidden_layers = 46,
                                               .num_attention_heads = 96,
                                               .num_key_value_heads = 8,
                                               .max_position_embeddings = 131072,
                                               .norm_eps = 1e-5,
                                               .bos_token_id = -1,
                                               .eos_token_id = -1,
                                               .rope_defaults = {.partial = 0.5, .turns_part = true}});
  k.attention_bias = read_own_bool(reader, k, "attention_bias", false);
  if (read_own_bool(reader, k, "use_qk_norm", false)) k.head_norms = rms_head_norms(k);
  read_experts(reader, k, reader.spelt("n_routed_experts", "num_local_experts"), 128, 8);
  k.experts.d_ff = read_own_size(reader, k, "moe_intermediate_size", 1408, 1 << 20);
  read_deepseek_router(reader, k);
  read_dense_layers(reader, k, 1);
  read_further_layers(reader, k);
  reader.ignore({"output_router_logits"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

// mixtral: mistral with a mixture of experts as feed-forward; a router chooses a few experts for each token [Jiang
// et al. 2024, section 2.1].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_mixtral(const JsonObject& config) {
  ConfigReader reader(config, "mixtral");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "mixtral",
                                               .architecture = "MixtralForCausalLM",
                                               .intermediate_size = 14336,
                                               .num_key_value_heads = 8,
                                               .max_position_embeddings = 131072,
                                               .norm_eps = 1e-5,
                                               .rope_defaults = {.theta = 1e6}});
  read_experts(reader, k, "num_local_experts", 8, 2);
  k.experts.block = "block_sparse_moe";
  k.experts.gate = "w1", k.experts.up = "w3", k.experts.down = "w2";
  read_common_window(reader, k, 0);
  read_router_training(reader, k, 0.001);
  k.own_keys["router_jitter_noise"] = reader.at_least_0("router_jitter_noise", 0);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

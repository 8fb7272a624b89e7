// llama: Llama 2 and 3 [Touvron et al. 2023; Llama team 2024] and all models whose config.json says llama.
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_llama(const JsonObject& config) {
  ConfigReader reader(config, "llama");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "llama", .architecture = "LlamaForCausalLM"});
  k.attention_bias = k.attention_out_bias = reader.get<bool>("attention_bias", false);
  k.mlp_bias = reader.get<bool>("mlp_bias", false);
  k.own_keys = nlohmann::json{{"attention_bias", k.attention_bias}, {"mlp_bias", k.mlp_bias}};
  // A former split of products over devices, and an old name of max_position_embeddings.
  reader.ignore({"pretraining_tp", "max_sequence_length"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

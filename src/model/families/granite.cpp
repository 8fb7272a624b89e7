// granite: Llama with four factors: for embeddings, scores, sublayer results and (as a divisor) logits [IBM 2024;
// maximal update parametrisation, Yang et al. 2022].
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_granite(const JsonObject& config) {
  ConfigReader reader(config, "granite");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "granite", .architecture = "GraniteForCausalLM"});
  read_attention_bias(reader, k);
  k.mlp_bias = read_own_bool(reader, k, "mlp_bias", false);
  read_multipliers(reader, k);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

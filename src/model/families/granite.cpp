// granite: Llama with four factors: of embeddings, of scores, of what each sublayer adds, and under the logits [IBM
// 2024; maximal update parametrisation, Yang et al. 2022].
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_granite(const JsonObject& config) {
  ConfigReader reader(config, "granite");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "granite", .architecture = "GraniteForCausalLM"});
  k.attention_bias = k.attention_out_bias = reader.get<bool>("attention_bias", false);
  k.mlp_bias = reader.get<bool>("mlp_bias", false);
  nlohmann::json own{{"attention_bias", k.attention_bias}, {"mlp_bias", k.mlp_bias}};
  const auto factor = [&](const char* key) {
    const double value = reader.positive(key, 1);
    if (!is_positive_float(1 / value)) config.fail_at(key, fmt::format("1 / {} does not fit into float32", value));
    own[key] = value;
    return value;
  };
  k.embedding_scale = static_cast<float>(factor("embedding_multiplier"));
  k.attention_scale = static_cast<float>(factor("attention_multiplier"));
  k.residual_scale = static_cast<float>(factor("residual_multiplier"));
  k.logit_scale = static_cast<float>(1 / factor("logits_scaling"));
  k.own_keys = std::move(own);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

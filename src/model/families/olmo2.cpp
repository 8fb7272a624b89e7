// olmo2: Llama with norms after each sublayer instead of before it, and norms over all queries and over all keys
// [OLMo 2 team 2025, section 3.1].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_olmo2(const JsonObject& config) {
  ConfigReader reader(config, "olmo2");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "olmo2",
                                               .architecture = "Olmo2ForCausalLM",
                                               .vocab_size = 50304,
                                               .norm_eps = 1e-5,
                                               .bos_token_id = -1,
                                               .eos_token_id = 50279,
                                               .pad_token_id = 1});
  k.attention_bias = k.attention_out_bias = reader.get<bool>("attention_bias", false);
  k.norm_names = post_norms();
  k.head_norms = {.each = {.over = nn::HeadNorm::Over::projection, .eps = static_cast<float>(k.norm_eps)}};
  k.own_keys = nlohmann::json{{"attention_bias", k.attention_bias}};
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

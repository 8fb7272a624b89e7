// olmo: Llama with LayerNorms without weights, and with clipped queries, keys and values [Groeneveld et al.
// 2024, section 2.1].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_olmo(const JsonObject& config) {
  ConfigReader reader(config, "olmo");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "olmo",
                                               .architecture = "OlmoForCausalLM",
                                               .vocab_size = 50304,
                                               .norm_eps = 1e-5,
                                               .bos_token_id = -1,
                                               .eos_token_id = 50279,
                                               .pad_token_id = 1,
                                               .norm = nn::Norm::Kind::layer_plain,
                                               .norm_eps_key = {}});
  read_attention_bias(reader, k);
  read_clip(reader, k);
  reader.ignore({"pretraining_tp"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

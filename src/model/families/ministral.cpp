// ministral: mistral whose layers differ in their windows [Mistral AI 2024].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_ministral(const JsonObject& config) {
  ConfigReader reader(config, "ministral");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "ministral",
                                               .architecture = "MinistralForCausalLM",
                                               .intermediate_size = 14336,
                                               .num_key_value_heads = 8,
                                               .max_position_embeddings = 131072});
  read_own_windows(reader, k, read_window(reader, 4096), [](std::int64_t) { return true; });
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

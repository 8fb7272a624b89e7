// qwen2: Llama with biases for queries, keys and values, and optional sliding windows in the upper layers [Qwen team
// 2024, section 2.2.1].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_qwen2(const JsonObject& config) {
  ConfigReader reader(config, "qwen2");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "qwen2",
                                               .architecture = "Qwen2ForCausalLM",
                                               .vocab_size = 151936,
                                               .intermediate_size = 22016,
                                               .max_position_embeddings = 32768,
                                               .bos_token_id = -1,
                                               .eos_token_id = -1});
  k.attention_bias = true;
  read_upper_windows(reader, k);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

// qwen3: Llama with a separate head size, and norms of queries and keys before the rotation [Qwen team 2025, section
// 2].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_qwen3(const JsonObject& config) {
  ConfigReader reader(config, "qwen3");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "qwen3",
                                               .architecture = "Qwen3ForCausalLM",
                                               .vocab_size = 151936,
                                               .intermediate_size = 22016,
                                               .head_dim = 128,
                                               .max_position_embeddings = 32768,
                                               .bos_token_id = -1,
                                               .eos_token_id = -1});
  k.attention_bias = k.attention_out_bias = reader.get<bool>("attention_bias", false);
  k.head_norms = rms_head_norms(k);
  read_upper_windows(reader, k);
  k.own_keys["attention_bias"] = k.attention_bias;
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

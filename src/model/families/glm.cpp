// glm: Llama that rotates half of each head, by neighbouring values, with gate and up as one matrix [GLM team 2024].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_glm(const JsonObject& config) {
  ConfigReader reader(config, "glm");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "glm",
                                               .architecture = "GlmForCausalLM",
                                               .vocab_size = 151552,
                                               .intermediate_size = 13696,
                                               .num_hidden_layers = 40,
                                               .num_key_value_heads = 2,
                                               .head_dim = 128,
                                               .max_position_embeddings = 131072,
                                               .norm_eps = 1.5625e-7,
                                               .bos_token_id = -1,
                                               .eos_token_id = 151329,
                                               .pad_token_id = 151329,
                                               .rope = {.interleaved = true},
                                               .rope_defaults = {.partial = 0.5, .turns_part = true},
                                               .gate_up_name = "gate_up_proj"});
  k.attention_bias = read_own_bool(reader, k, "attention_bias", true);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

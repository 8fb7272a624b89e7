// glm4: glm with a norm behind each sublayer too [GLM team 2025].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_glm4(const JsonObject& config) {
  ConfigReader reader(config, "glm4");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "glm4",
                                               .architecture = "Glm4ForCausalLM",
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
                                               .gate_up_name = "gate_up_proj",
                                               .norm_names = {.after_attention = "post_self_attn_layernorm",
                                                              .after_feed_forward = "post_mlp_layernorm"}});
  k.attention_bias = read_own_bool(reader, k, "attention_bias", true);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

// ernie4_5: Llama that rotates neighbouring values [Baidu 2025].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_ernie4_5(const JsonObject& config) {
  ConfigReader reader(config, "ernie4_5");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "ernie4_5",
                                               .architecture = "Ernie4_5ForCausalLM",
                                               .vocab_size = 103424,
                                               .hidden_size = 1024,
                                               .intermediate_size = 3072,
                                               .num_hidden_layers = 18,
                                               .num_attention_heads = 16,
                                               .num_key_value_heads = 2,
                                               .head_dim = 128,
                                               .max_position_embeddings = 131072,
                                               .norm_eps = 1e-5,
                                               .tie_word_embeddings = true,
                                               .pad_token_id = 0,
                                               .rope_defaults = {.theta = 5e5, .interleaved = true}});
  k.attention_bias = k.attention_out_bias = k.mlp_bias = read_own_bool(reader, k, "use_bias", false);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

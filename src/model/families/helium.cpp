// helium: Llama that rotates neighbouring values [Kyutai 2025].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_helium(const JsonObject& config) {
  ConfigReader reader(config, "helium");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "helium",
                                               .architecture = "HeliumForCausalLM",
                                               .vocab_size = 48000,
                                               .hidden_size = 2560,
                                               .intermediate_size = 7040,
                                               .num_hidden_layers = 24,
                                               .num_attention_heads = 20,
                                               .num_key_value_heads = 20,
                                               .head_dim = 128,
                                               .max_position_embeddings = 4096,
                                               .norm_eps = 1e-8,
                                               .pad_token_id = 3,
                                               .rope_defaults = {.theta = 1e5, .interleaved = true}});
  k.attention_bias = read_own_bool(reader, k, "attention_bias", false);
  k.mlp_bias = read_own_bool(reader, k, "mlp_bias", false);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

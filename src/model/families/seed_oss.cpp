// seed_oss: Llama with biases of queries, keys and values [ByteDance Seed 2025].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_seed_oss(const JsonObject& config) {
  ConfigReader reader(config, "seed_oss");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "seed_oss",
                                               .architecture = "SeedOssForCausalLM",
                                               .vocab_size = 155136,
                                               .intermediate_size = 27648,
                                               .num_hidden_layers = 64,
                                               .num_attention_heads = 80,
                                               .num_key_value_heads = 8,
                                               .head_dim = 128,
                                               .max_position_embeddings = 524288,
                                               .bos_token_id = 0,
                                               .eos_token_id = 2,
                                               .pad_token_id = 1});
  k.attention_bias = read_own_bool(reader, k, "attention_bias", true);
  k.attention_out_bias = read_own_bool(reader, k, "attention_out_bias", false);
  k.mlp_bias = read_own_bool(reader, k, "mlp_bias", false);
  k.residual_dropout = reader.share("residual_dropout", 0.1);
  k.own_keys["residual_dropout"] = k.residual_dropout;
  reader.ignore({"pretraining_tp"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

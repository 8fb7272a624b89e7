// internlm3 and iquestcoder: Llama with sizes of their own [InternLM team 2025; IQuest Lab 2025]. `transformers` computes both as
// Llama.
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {
namespace {

LlamaLikeConfig read_llama_of(ConfigReader& reader, LlamaLikeConfig defaults) {
  defaults.architecture = "LlamaForCausalLM", defaults.norm_eps = 1e-5;
  return read_llama_like(reader, std::move(defaults));
}

}  // namespace

std::unique_ptr<Model> make_internlm3(const JsonObject& config) {
  ConfigReader reader(config, "internlm3");
  LlamaLikeConfig k = read_llama_of(reader, {.family = "internlm3",
                                             .vocab_size = 128512,
                                             .intermediate_size = 10240,
                                             .num_hidden_layers = 48,
                                             .num_attention_heads = 32,
                                             .num_key_value_heads = 2,
                                             .head_dim = 128,
                                             .max_position_embeddings = 32768,
                                             .pad_token_id = 2});
  const bool attention = read_own_bool(reader, k, reader.spelt("qkv_bias", "attention_bias"), false);
  k.attention_bias = k.attention_out_bias = attention;
  k.mlp_bias = read_own_bool(reader, k, reader.spelt("bias", "mlp_bias"), false);
  if (k.attention_bias != k.mlp_bias)
    config.fail_at("qkv_bias", "differs from bias, which is not supported", "`transformers` refuses it too");
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

std::unique_ptr<Model> make_iquestcoder(const JsonObject& config) {
  ConfigReader reader(config, "iquestcoder");
  LlamaLikeConfig k = read_llama_of(reader, {.family = "iquestcoder",
                                             .vocab_size = 76800,
                                             .hidden_size = 5120,
                                             .intermediate_size = 27648,
                                             .num_hidden_layers = 80,
                                             .num_attention_heads = 40,
                                             .num_key_value_heads = 8,
                                             .head_dim = 128,
                                             .max_position_embeddings = 131072});
  k.attention_bias = k.attention_out_bias = read_own_bool(reader, k, "attention_bias", false);
  k.mlp_bias = read_own_bool(reader, k, "mlp_bias", false);
  reader.only("use_sliding_window", false);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

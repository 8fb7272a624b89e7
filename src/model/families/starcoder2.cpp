// starcoder2: LayerNorms and biases everywhere, and one GELU instead of the gated feed-forward [Lozhkov et al. 2024, section
// 6.1].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_starcoder2(const JsonObject& config) {
  ConfigReader reader(config, "starcoder2");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "starcoder2",
                                               .architecture = "Starcoder2ForCausalLM",
                                               .vocab_size = 49152,
                                               .hidden_size = 3072,
                                               .intermediate_size = 12288,
                                               .num_hidden_layers = 30,
                                               .num_attention_heads = 24,
                                               .num_key_value_heads = 2,
                                               .max_position_embeddings = 4096,
                                               .hidden_act = HiddenAct::gelu_pytorch_tanh,
                                               .norm_eps = 1e-5,
                                               .tie_word_embeddings = true,
                                               .bos_token_id = 50256,
                                               .eos_token_id = 50256,
                                               .feed_forward = LlamaLikeConfig::FeedForward::plain,
                                               .up_name = "c_fc",
                                               .down_name = "c_proj",
                                               .norm = nn::Norm::Kind::layer,
                                               .norm_eps_key = "norm_epsilon"});
  k.attention_bias = k.attention_out_bias = k.mlp_bias = read_own_bool(reader, k, "use_bias", true);
  k.residual_dropout = reader.share("residual_dropout"), k.embedding_dropout = reader.share("embedding_dropout");
  k.own_keys["residual_dropout"] = k.residual_dropout;
  k.own_keys["embedding_dropout"] = k.embedding_dropout;
  read_common_window(reader, k, 0);
  reader.only<std::string>("mlp_type", "default");
  reader.only<std::string>("norm_type", "layer_norm");
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

// jais2: Llama with LayerNorms, biases everywhere, and one squared ReLU instead of the gated feed-forward [Jais 2, Inception,
// MBZUAI and Cerebras 2025; So et al. 2021].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_jais2(const JsonObject& config) {
  ConfigReader reader(config, "jais2");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "jais2",
                                               .architecture = "Jais2ForCausalLM",
                                               .vocab_size = 150272,
                                               .hidden_size = 3328,
                                               .intermediate_size = 26624,
                                               .num_attention_heads = 26,
                                               .max_position_embeddings = 8192,
                                               .hidden_act = HiddenAct::relu2,
                                               .norm_eps = 1e-5,
                                               .bos_token_id = 0,
                                               .eos_token_id = 150024,
                                               .feed_forward = LlamaLikeConfig::FeedForward::plain,
                                               .norm = nn::Norm::Kind::layer,
                                               .norm_eps_key = "layer_norm_eps"});
  k.attention_bias = k.attention_out_bias = read_own_bool(reader, k, "attention_bias", true);
  k.mlp_bias = read_own_bool(reader, k, "mlp_bias", true);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

// persimmon: LayerNorms, also of queries and keys; half of each head rotated; one matrix of q, k, v, head by head; one squared
// ReLU [Elsen et al. 2023].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_persimmon(const JsonObject& config) {
  ConfigReader reader(config, "persimmon");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "persimmon",
                                               .architecture = "PersimmonForCausalLM",
                                               .vocab_size = 262144,
                                               .intermediate_size = 16384,
                                               .num_hidden_layers = 36,
                                               .num_attention_heads = 64,
                                               .max_position_embeddings = 16384,
                                               .hidden_act = HiddenAct::relu2,
                                               .norm_eps = 1e-5,
                                               .rope_defaults = {.partial = 0.5, .turns_part = true},
                                               .attention_bias = true,
                                               .attention_out_bias = true,
                                               .mlp_bias = true,
                                               .fused = LlamaLikeConfig::Fused::by_key_head,
                                               .qkv_name = "query_key_value",
                                               .out_name = "dense",
                                               .feed_forward = LlamaLikeConfig::FeedForward::plain,
                                               .up_name = "dense_h_to_4h",
                                               .down_name = "dense_4h_to_h",
                                               .norm = nn::Norm::Kind::layer,
                                               .norm_names = {.last = "model.final_layernorm"},
                                               .norm_eps_key = "layer_norm_eps"});
  if (k.kv_heads() != k.num_attention_heads || k.head_dim * k.num_attention_heads != k.hidden_size)
    config.fail_at("num_attention_heads",
                   "every head has keys of its own and hidden_size / num_attention_heads values");
  if (read_own_bool(reader, k, "qk_layernorm", true))
    k.head_norms = {.each = {.over = nn::HeadNorm::Over::head,
                             .kind = nn::Norm::Kind::layer,
                             .eps = static_cast<float>(k.norm_eps)},
                    .q = "q_layernorm",
                    .k = "k_layernorm"};
  k.feed_forward_dropout = reader.share("hidden_dropout");
  k.own_keys["hidden_dropout"] = k.feed_forward_dropout;
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

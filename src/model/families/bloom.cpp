// bloom: positions as a bias by distance (ALiBi), a norm after the embedding, one matrix of q, k, v, head by head
// [BLOOM: Le Scao et al. 2022, section 3.2].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/gpt_like.h"

namespace tril::model {

std::unique_ptr<Model> make_bloom(const JsonObject& config) {
  ConfigReader reader(config, "bloom");
  GptLikeConfig k = read_gpt_like(reader, {.family = "bloom",
                                           .architecture = "BloomForCausalLM",
                                           .keys = {.hidden_size = {"hidden_size", "n_embed"},
                                                    .intermediate_size = {},
                                                    .num_hidden_layers = {"n_layer", "num_hidden_layers"},
                                                    .num_attention_heads = {"n_head", "num_attention_heads"},
                                                    .max_position_embeddings = {},
                                                    .hidden_act = {},
                                                    .layer_norm_eps = {"layer_norm_epsilon"},
                                                    .hidden_dropout = {"hidden_dropout"}},
                                           .vocab_size = 250880,
                                           .hidden_size = 64,
                                           .num_hidden_layers = 2,
                                           .num_attention_heads = 8,
                                           .max_position_embeddings = 0,
                                           .hidden_act = HiddenAct::gelu_new,
                                           .tie_word_embeddings = true,
                                           .bos_token_id = 1,
                                           .eos_token_id = 2,
                                           .positions = GptLikeConfig::Positions::alibi,
                                           .parallel = false,
                                           .embedding_norm = true});
  k.fused.groups = k.num_attention_heads;
  k.names = {.prefix = "transformer.",
             .embedding = "word_embeddings",
             .embedding_norm = "word_embeddings_layernorm",
             .layers = "h",
             .attention = "self_attention",
             .qkv = "query_key_value",
             .out = "dense",
             .first = "dense_h_to_4h",
             .second = "dense_4h_to_h",
             .final_norm = "ln_f"};
  reader.only("apply_residual_connection_post_layernorm", false);
  reader.only("n_inner", k.d_ff());
  // Details of the authors' program: the order of sums, fused kernels, training lengths.
  reader.ignore({"slow_but_exact", "pretraining_tp", "seq_length", "attention_softmax_in_fp32", "bias_dropout_fusion",
                 "masked_softmax_fusion", "offset_alibi", "skip_bias_add", "skip_bias_add_qkv"});
  reader.finish();
  return std::make_unique<GptLike>(std::move(k));
}

}  // namespace tril::model

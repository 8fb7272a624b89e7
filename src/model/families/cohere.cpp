// cohere: Command R, whose sublayers stand side by side behind one LayerNorm without a bias; logits are scaled [Cohere
// 2024].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_cohere(const JsonObject& config) {
  ConfigReader reader(config, "cohere");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "cohere",
                                               .architecture = "CohereForCausalLM",
                                               .vocab_size = 256000,
                                               .hidden_size = 8192,
                                               .intermediate_size = 22528,
                                               .num_hidden_layers = 40,
                                               .num_attention_heads = 64,
                                               .max_position_embeddings = 8192,
                                               .norm_eps = 1e-5,
                                               .tie_word_embeddings = true,
                                               .bos_token_id = 5,
                                               .eos_token_id = 255001,
                                               .pad_token_id = 0,
                                               .rope = {.interleaved = true},
                                               .rope_defaults = {.theta = 5e5},
                                               .norm = nn::Norm::Kind::layer_unbiased,
                                               .norm_names = {.before_feed_forward = {}},
                                               .parallel_sublayers = true,
                                               .norm_eps_key = "layer_norm_eps"});
  read_attention_bias(reader, k);
  const double logit_scale = reader.positive("logit_scale", 0.0625);
  k.own_keys["logit_scale"] = logit_scale;
  k.logit_scale = static_cast<float>(logit_scale);
  if (read_own_bool(reader, k, "use_qk_norm", false))
    k.head_norms = {.each = {.over = nn::HeadNorm::Over::own_weight,
                             .kind = nn::Norm::Kind::layer_unbiased,
                             .eps = static_cast<float>(k.norm_eps)}};
  reader.ignore({"model_max_length"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

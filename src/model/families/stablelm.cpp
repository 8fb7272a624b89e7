// stablelm: LayerNorms, a quarter of each head rotated; in its larger models also parallel sublayers and a norm for each
// head [Bellagente et al. 2024, section 3].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_stablelm(const JsonObject& config) {
  ConfigReader reader(config, "stablelm");
  const bool parallel = reader.get<bool>("use_parallel_residual", false);
  LlamaLikeConfig k = read_llama_like(reader, {.family = "stablelm",
                                               .architecture = "StableLmForCausalLM",
                                               .vocab_size = 50304,
                                               .hidden_size = 2560,
                                               .intermediate_size = 6912,
                                               .num_key_value_heads = 32,
                                               .max_position_embeddings = 4096,
                                               .norm_eps = 1e-5,
                                               .bos_token_id = 0,
                                               .eos_token_id = 0,
                                               .rope_defaults = {.partial = 0.25, .turns_part = true},
                                               .norm = nn::Norm::Kind::layer,
                                               .parallel_sublayers = parallel,
                                               .norm_eps_key = "layer_norm_eps"});
  if (parallel) k.norm_names.before_feed_forward.clear();
  k.own_keys["use_parallel_residual"] = parallel;
  k.attention_bias = read_own_bool(reader, k, "use_qkv_bias", false);
  if (read_own_bool(reader, k, "qk_layernorm", false))
    k.head_norms = {.each = {.over = nn::HeadNorm::Over::own_tensor,
                             .kind = nn::Norm::Kind::layer_unbiased,
                             .eps = static_cast<float>(k.norm_eps)},
                    .q = "q_layernorm",
                    .k = "k_layernorm"};
  k.feed_forward_dropout = reader.share("hidden_dropout");
  k.own_keys["hidden_dropout"] = k.feed_forward_dropout;
  reader.only("rotary_scaling_factor", 1.0);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

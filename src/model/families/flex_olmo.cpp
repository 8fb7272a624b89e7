// flex_olmo: olmo2 with experts instead of feed-forwards [FlexOlmo: Shi et al. 2025, section 3].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_flex_olmo(const JsonObject& config) {
  ConfigReader reader(config, "flex_olmo");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "flex_olmo",
                                               .architecture = "FlexOlmoForCausalLM",
                                               .vocab_size = 100352,
                                               .max_position_embeddings = 4096,
                                               .bos_token_id = -1,
                                               .eos_token_id = 100257,
                                               .pad_token_id = 100277,
                                               .rope_defaults = {.theta = 5e5},
                                               .norm_names = post_norms()});
  read_attention_bias(reader, k);
  k.head_norms = {.each = {.over = nn::HeadNorm::Over::projection, .eps = static_cast<float>(k.norm_eps)}};
  read_experts(reader, k, reader.spelt("num_experts", "num_local_experts"), 7, 5);
  k.experts.routing.normalised = read_own_bool(reader, k, "norm_topk_prob", false);
  read_router_training(reader, k, 0.01);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

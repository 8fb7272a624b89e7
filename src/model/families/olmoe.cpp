// olmoe: Llama with norms over all queries and over all keys, which are clipped, and experts instead of feed-forwards
// [Muennighoff et al. 2024, section 2].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_olmoe(const JsonObject& config) {
  ConfigReader reader(config, "olmoe");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "olmoe",
                                               .architecture = "OlmoeForCausalLM",
                                               .vocab_size = 50304,
                                               .hidden_size = 2048,
                                               .intermediate_size = 2048,
                                               .num_hidden_layers = 16,
                                               .num_attention_heads = 16,
                                               .max_position_embeddings = 4096,
                                               .norm_eps = 1e-5,
                                               .bos_token_id = -1,
                                               .eos_token_id = 50279,
                                               .pad_token_id = 1});
  read_attention_bias(reader, k);
  k.head_norms = {.each = {.over = nn::HeadNorm::Over::projection, .eps = static_cast<float>(k.norm_eps)}};
  read_clip(reader, k);
  read_experts(reader, k, reader.spelt("num_experts", "num_local_experts"), 64, 8);
  k.experts.routing.normalised = read_own_bool(reader, k, "norm_topk_prob", false);
  read_router_training(reader, k, 0.01);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

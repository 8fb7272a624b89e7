// nemotron: LayerNorms whose weights files store minus one, half of each head rotated, and one squared ReLU instead of the
// gated feed-forward [Parmar et al. 2024, section 2].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_nemotron(const JsonObject& config) {
  ConfigReader reader(config, "nemotron");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "nemotron",
                                               .architecture = "NemotronForCausalLM",
                                               .vocab_size = 256000,
                                               .hidden_size = 6144,
                                               .intermediate_size = 24576,
                                               .num_attention_heads = 48,
                                               .max_position_embeddings = 4096,
                                               .hidden_act = HiddenAct::relu2,
                                               .norm_eps = 1e-5,
                                               .bos_token_id = 2,
                                               .eos_token_id = 3,
                                               .rope_defaults = {.partial = 0.5, .turns_part = true},
                                               .feed_forward = LlamaLikeConfig::FeedForward::plain,
                                               .norm = nn::Norm::Kind::layer,
                                               .norms_store_offset = true,
                                               .norm_eps_key = "norm_eps"});
  read_attention_bias(reader, k);
  k.mlp_bias = read_own_bool(reader, k, "mlp_bias", false);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

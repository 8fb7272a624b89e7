// arcee: Llama with one squared ReLU instead of the gated feed-forward [Arcee AI 2025; So et al. 2021].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_arcee(const JsonObject& config) {
  ConfigReader reader(config, "arcee");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "arcee",
                                               .architecture = "ArceeForCausalLM",
                                               .hidden_size = 2560,
                                               .intermediate_size = 18432,
                                               .max_position_embeddings = 4096,
                                               .hidden_act = HiddenAct::relu2,
                                               .norm_eps = 1e-5,
                                               .bos_token_id = 128000,
                                               .eos_token_id = 128001,
                                               .feed_forward = LlamaLikeConfig::FeedForward::plain});
  read_attention_bias(reader, k);
  k.mlp_bias = read_own_bool(reader, k, "mlp_bias", false);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

// nanochat: norms without weights, also after the embedding and, after the rotation, of queries and keys; negative angles,
// capped logits [Karpathy 2025].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_nanochat(const JsonObject& config) {
  ConfigReader reader(config, "nanochat");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "nanochat",
                                               .architecture = "NanoChatForCausalLM",
                                               .vocab_size = 50304,
                                               .hidden_size = 768,
                                               .intermediate_size = 8192,
                                               .num_hidden_layers = 12,
                                               .num_attention_heads = 6,
                                               .hidden_act = HiddenAct::relu2,
                                               .bos_token_id = 0,
                                               .eos_token_id = 1,
                                               .pad_token_id = 1,
                                               .rope_defaults = {.reversed = true},
                                               .feed_forward = LlamaLikeConfig::FeedForward::plain,
                                               .up_name = "fc1",
                                               .down_name = "fc2",
                                               .norm = nn::Norm::Kind::rms_plain,
                                               .norms_embedding = true});
  read_attention_bias(reader, k);
  k.logit_softcap = read_softcap(reader, k, "final_logit_softcapping", 15);
  k.head_norms = {.each = {.over = nn::HeadNorm::Over::head,
                           .kind = nn::Norm::Kind::rms_plain,
                           .eps = static_cast<float>(k.norm_eps)},
                  .after_rotation = true};
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

// apertus: Llama with norms of queries and keys, and a feed-forward with a learned activation instead of a gate
// [Apertus team 2025, section 2.1; xIELU: Huang & Schlag 2025].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_apertus(const JsonObject& config) {
  ConfigReader reader(config, "apertus");
  constexpr std::string_view default_rope =
      R"({"rope_type": "llama3", "rope_theta": 1.2e7, "factor": 8,
          "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 8192})";
  using FeedForward = LlamaLikeConfig::FeedForward;
  const bool learned = reader.get<std::string>("hidden_act", "xielu") == "xielu";
  LlamaLikeConfig k = read_llama_like(reader, {.family = "apertus",
                                               .architecture = "ApertusForCausalLM",
                                               .vocab_size = 131072,
                                               .intermediate_size = 14336,
                                               .max_position_embeddings = 65536,
                                               .norm_eps = 1e-5,
                                               .pad_token_id = 3,
                                               .rope_defaults = {.theta = 1.2e7, .parameters = default_rope},
                                               .feed_forward = learned ? FeedForward::xielu : FeedForward::plain,
                                               .norm_names = {.before_attention = "attention_layernorm",
                                                              .before_feed_forward = "feedforward_layernorm"}});
  read_attention_bias(reader, k);
  k.head_norms = rms_head_norms(k);
  // Keys of the authors' code, with the only values that these models have.
  reader.only("qk_norm", true);
  for (const char* key : {"mlp_bias", "post_norm"}) reader.only(key, false);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

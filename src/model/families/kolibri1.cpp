// kolibri1: exaone4's attention between norms before and after each sublayer, and in every layer experts, chosen by logits with a
// correction and weighted by sigmoid scores, beside a shared one [Aleph Alpha 2026, "Kolibri 1"].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_kolibri1(const JsonObject& config) {
  ConfigReader reader(config, "kolibri1");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "kolibri1",
                                               .architecture = "Kolibri1ForCausalLM",
                                               .vocab_size = 128000,
                                               .hidden_size = 2560,
                                               .num_hidden_layers = 50,
                                               .num_attention_heads = 48,
                                               .num_key_value_heads = 4,
                                               .head_dim = 128,
                                               .max_position_embeddings = 262144,
                                               .bos_token_id = -1,
                                               .eos_token_id = -1,
                                               .norm_names = {.after_attention = "post_attn_norm",
                                                              .before_feed_forward = "post_attention_layernorm",
                                                              .after_feed_forward = "post_ffn_norm"}});
  k.head_norms = rms_head_norms(k);
  read_window_pattern(reader, k, 513, 5);
  if (!reader.says_null("sliding_window"))
    for (const std::int32_t window : k.windows) k.rotated.push_back(window > 0);
  read_experts(reader, k, reader.spelt("num_experts", "num_local_experts"), 384, 6);
  ExpertsConfig& e = k.experts;
  e.d_ff = read_own_size(reader, k, "moe_intermediate_size", 512, 1 << 20);
  e.shared_d_ff = read_own_size(reader, k, "shared_expert_intermediate_size", 512, 1 << 20);
  e.routing.score = ops::RouterOptions::Score::sigmoid, e.routing.chosen_by_logits = true;
  e.routing.normalised = read_own_bool(reader, k, "norm_topk_prob", false);
  e.correction = "gate.e_score_correction_bias", e.stored_correction = "moe.router.expert_bias";
  reader.ignore({"output_router_logits"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

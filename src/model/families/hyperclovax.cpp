// hyperclovax: granite with norms after the sublayers too, and a factor of the logits instead of a divisor [NAVER Cloud 2025,
// "HyperCLOVA X THINK"; Peri-LN: Kim et al. 2025].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_hyperclovax(const JsonObject& config) {
  ConfigReader reader(config, "hyperclovax");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "hyperclovax", .architecture = "HyperCLOVAXForCausalLM"});
  read_attention_bias(reader, k);
  k.mlp_bias = read_own_bool(reader, k, "mlp_bias", false);
  k.embedding_scale = static_cast<float>(read_own_number(reader, k, "embedding_multiplier", 1));
  k.residual_scale = static_cast<float>(read_own_number(reader, k, "residual_multiplier", 1));
  k.logit_scale = static_cast<float>(read_own_number(reader, k, "logits_scaling", 1));
  if (reader.has("attention_multiplier") && !reader.says_null("attention_multiplier"))
    k.attention_scale = static_cast<float>(read_own_number(reader, k, "attention_multiplier", 1));
  reader.ignore({"attention_multiplier", "end_token_id", "pretraining_tp", "attn_pdrop", "embd_pdrop", "resid_pdrop",
                 "summary_first_dropout"});
  if (read_own_bool(reader, k, "use_post_norm", true))
    k.norm_names.after_attention = "post_norm1", k.norm_names.after_feed_forward = "post_norm2";
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

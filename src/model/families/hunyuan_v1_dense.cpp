// hunyuan_v1_dense: Llama whose queries and keys are normed after they are rotated; the rotary base is stretched by a fixed
// alpha [Tencent 2025, "Hunyuan-MT", and its code].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_hunyuan_v1_dense(const JsonObject& config) {
  ConfigReader reader(config, "hunyuan_v1_dense");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "hunyuan_v1_dense",
                                               .architecture = "HunYuanDenseV1ForCausalLM",
                                               .vocab_size = 290943,
                                               .norm_eps = 1e-5,
                                               .pad_token_id = 0,
                                               .rope_defaults = {.reads_alpha = true}});
  read_attention_bias(reader, k);
  k.head_norms = {.each = {.over = nn::HeadNorm::Over::head, .eps = static_cast<float>(k.norm_eps)},
                  .after_rotation = true,
                  .q = "query_layernorm",
                  .k = "key_layernorm"};
  for (const char* key : {"use_qk_norm", "use_rotary_pos_emb"}) reader.only(key, true);
  for (const char* key : {"use_cla", "add_classification_head", "mlp_bias"}) reader.only(key, false);
  reader.only<std::string>("norm_type", "rms");
  // Of the authors' own code: names of tokens, and what only models with experts, pictures or shared caches use.
  reader.ignore({"attention_head_dim", "cla_share_factor", "class_num", "dense_list", "eod_token_id", "im_end_id",
                 "im_newline_id", "im_start_id", "mask_init_id", "num_experts", "org_vocab_size", "pad_id", "pool_type",
                 "pretraining_tp", "sep_token_id", "text_end_id", "text_start_id"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

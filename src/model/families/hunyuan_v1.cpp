// hunyuan_v1_dense and hunyuan_v1_moe: Llama with norms of queries and keys after the rotation, and a rotary base scaled by a
// fixed alpha [Tencent 2025, "Hunyuan-MT", and its code]. The second has a shared expert and routed experts instead of
// feed-forwards.
#include <algorithm>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {
namespace {

LlamaLikeConfig read_hunyuan(ConfigReader& reader, const std::string& family, const std::string& architecture) {
  LlamaLikeConfig k = read_llama_like(reader, {.family = family,
                                               .architecture = architecture,
                                               .vocab_size = 290943,
                                               .norm_eps = 1e-5,
                                               .pad_token_id = 0,
                                               .rope_defaults = {.reads_alpha = true}});
  read_attention_bias(reader, k);
  k.head_norms = rms_head_norms(k);
  k.head_norms.after_rotation = true;
  k.head_norms.q = "query_layernorm", k.head_norms.k = "key_layernorm";
  reader.ignore({"eod_token_id", "sep_token_id", "pretraining_tp"});
  return k;
}

// A number, or a list with one for each layer; in published files these are equal.
std::int64_t read_of_layers(ConfigReader& reader, const std::string& key) {
  if (!reader.has(key) || !reader.json().json().at(key).is_array()) return reader.size(key, 1);
  const auto list = reader.get<std::vector<std::int64_t>>(key, {});
  if (list.empty() || std::ranges::count(list, list[0]) != std::ssize(list))
    reader.json().fail_at(key, "numbers that differ from layer to layer are not supported");
  return list[0];
}

}  // namespace

std::unique_ptr<Model> make_hunyuan_v1_dense(const JsonObject& config) {
  ConfigReader reader(config, "hunyuan_v1_dense");
  LlamaLikeConfig k = read_hunyuan(reader, "hunyuan_v1_dense", "HunYuanDenseV1ForCausalLM");
  for (const char* key : {"use_qk_norm", "use_rotary_pos_emb"}) reader.only(key, true);
  for (const char* key : {"use_cla", "add_classification_head", "mlp_bias"}) reader.only(key, false);
  reader.only<std::string>("norm_type", "rms");
  // Keys of the authors' code: token names, and keys of models with experts, images or shared caches.
  reader.ignore({"attention_head_dim", "cla_share_factor", "class_num", "dense_list", "im_end_id", "im_newline_id",
                 "im_start_id", "mask_init_id", "num_experts", "org_vocab_size", "pad_id", "pool_type", "text_end_id",
                 "text_start_id"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

std::unique_ptr<Model> make_hunyuan_v1_moe(const JsonObject& config) {
  ConfigReader reader(config, "hunyuan_v1_moe");
  LlamaLikeConfig k = read_hunyuan(reader, "hunyuan_v1_moe", "HunYuanMoEV1ForCausalLM");
  k.experts.count = read_of_layers(reader, "num_experts");
  k.experts.per_token = read_of_layers(reader, "moe_topk");
  set_experts(reader, k, "num_experts", "moe_topk");
  k.experts.router = "gate.wg", k.experts.shared = "shared_mlp";
  k.experts.shared_d_ff = k.intermediate_size;
  reader.ignore({"output_router_logits"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

// hunyuan_v1_moe: hunyuan_v1_dense with experts beside a shared one in place of feed-forwards [Tencent 2025].
#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_hunyuan_v1_moe(const JsonObject& config) {
  ConfigReader reader(config, "hunyuan_v1_moe");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "hunyuan_v1_moe",
                                               .architecture = "HunYuanMoEV1ForCausalLM",
                                               .vocab_size = 290943,
                                               .norm_eps = 1e-5,
                                               .pad_token_id = 0,
                                               .rope_defaults = {.reads_alpha = true}});
  read_attention_bias(reader, k);
  k.head_norms = {.each = {.over = nn::HeadNorm::Over::head, .eps = static_cast<float>(k.norm_eps)},
                  .after_rotation = true,
                  .q = "query_layernorm",
                  .k = "key_layernorm"};
  // Both may be lists of one number for each layer; those of published files are all alike.
  const auto of_layers = [&](const char* key, std::int64_t otherwise) {
    if (!reader.has(key) || !config.json().at(key).is_array()) return reader.size(key, otherwise);
    const auto list = reader.get<std::vector<std::int64_t>>(key, {});
    if (list.empty() || std::ranges::count(list, list[0]) != static_cast<std::int64_t>(list.size()))
      config.fail_at(key, "numbers that differ from layer to layer are not supported");
    return list[0];
  };
  k.experts.count = of_layers("num_experts", 1);
  check_size(config, "num_experts", k.experts.count, 1 << 10);
  k.experts.per_token = of_layers("moe_topk", 1);
  check_size(config, "moe_topk", k.experts.per_token, k.experts.count);
  k.own_keys["num_experts"] = k.experts.count;
  k.own_keys["moe_topk"] = k.experts.per_token;
  k.experts.router = "gate.wg", k.experts.shared = "shared_mlp";
  k.experts.shared_d_ff = k.intermediate_size;
  reader.ignore({"eod_token_id", "sep_token_id", "pretraining_tp", "output_router_logits"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

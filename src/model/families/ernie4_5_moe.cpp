// ernie4_5_moe: ernie4_5 with experts in some layers, chosen by the softmax of their logits plus a correction, beside shared ones
// [Baidu 2025, "ERNIE 4.5 Technical Report"].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {
namespace {

// Experts are in every moe_layer_interval-th layer from moe_layer_start_index to moe_layer_end_index; -1: to the last.
void read_ernie_layers(ConfigReader& reader, LlamaLikeConfig& k) {
  const std::int64_t interval = read_own_size(reader, k, "moe_layer_interval", 1, 1 << 20);
  const auto start = reader.get<std::int64_t>("moe_layer_start_index", 1);
  auto end = reader.get<std::int64_t>("moe_layer_end_index", -1);
  if (end == -1) end = k.num_hidden_layers - 1;
  for (std::int64_t i = 0; i < k.num_hidden_layers; ++i)
    k.experts.sparse.push_back((i + 1) % interval == 0 && i >= start && i <= end);
  k.own_keys["moe_layer_start_index"] = start, k.own_keys["moe_layer_end_index"] = end;
}

void read_ernie_experts(ConfigReader& reader, LlamaLikeConfig& k) {
  ExpertsConfig& e = k.experts;
  const std::string count = reader.spelt("moe_num_experts", "num_experts"),
                    per_token = reader.spelt("moe_k", "num_experts_per_tok");
  e.count = reader.size(count, 64), e.per_token = reader.size(per_token, 6);
  set_experts(reader, k, count, per_token);
  e.d_ff = read_own_size(reader, k, "moe_intermediate_size", 1536, 1 << 20);
  const auto shared = reader.get<std::int64_t>("moe_num_shared_experts", 2);
  if (shared != 0) check_size(reader.json(), "moe_num_shared_experts", shared, 1 << 12);
  k.own_keys["moe_num_shared_experts"] = shared;
  e.shared_d_ff = shared * e.d_ff;
  e.correction = "moe_statics.e_score_correction_bias", e.correction_is_row = true;
  // The sum of a token's weights is at least this: it has no effect if it is that small.
  const double least = reader.at_least_0("moe_norm_min", 1e-12);
  if (least > 1e-9) reader.json().fail_at("moe_norm_min", fmt::format("{} is not supported", least), "at most 1e-9 is");
  k.own_keys["moe_norm_min"] = least;
  read_ernie_layers(reader, k);
  read_router_training(reader, k, 0.001);
}

}  // namespace

std::unique_ptr<Model> make_ernie4_5_moe(const JsonObject& config) {
  ConfigReader reader(config, "ernie4_5_moe");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "ernie4_5_moe",
                                               .architecture = "Ernie4_5_MoeForCausalLM",
                                               .vocab_size = 103424,
                                               .hidden_size = 2560,
                                               .intermediate_size = 12288,
                                               .num_hidden_layers = 28,
                                               .num_attention_heads = 20,
                                               .num_key_value_heads = 4,
                                               .max_position_embeddings = 131072,
                                               .norm_eps = 1e-5,
                                               .tie_word_embeddings = true,
                                               .pad_token_id = 0,
                                               .rope_defaults = {.theta = 5e5, .interleaved = true}});
  reader.only("use_bias", false);
  read_ernie_experts(reader, k);
  // Keys of the authors' code, with the only values that these models have, and layers for further tokens.
  reader.only("moe_use_aux_free", true);
  reader.only<std::string>("moe_gate", "topk");
  reader.ignore({"moe_capacity", "use_flash_attention", "compression_ratio", "moe_group",
                 "moe_multimodal_dispatch_use_allgather"});
  read_further_layers(reader, k);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

// afmoe: norms before and after each sublayer, a gate for each value of attention's result, and windows in three layers of four;
// only those rotate. After the first layers, experts by sigmoid scores with a correction, beside shared ones [Trinity, Arcee AI
// 2025].
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_afmoe(const JsonObject& config) {
  ConfigReader reader(config, "afmoe");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "afmoe",
                                               .architecture = "AfmoeForCausalLM",
                                               .vocab_size = 200192,
                                               .hidden_size = 2048,
                                               .intermediate_size = 6144,
                                               .num_attention_heads = 16,
                                               .head_dim = 128,
                                               .max_position_embeddings = 16384,
                                               .norm_eps = 1e-5,
                                               .bos_token_id = -1,
                                               .eos_token_id = -1,
                                               .attention_gate = "gate_proj",
                                               .gates_values = true,
                                               .norm_names = {.after_attention = "post_attention_layernorm",
                                                              .before_feed_forward = "pre_mlp_layernorm",
                                                              .after_feed_forward = "post_mlp_layernorm"}});
  read_attention_bias(reader, k);
  k.head_norms = rms_head_norms(k);
  const auto pattern = reader.get<std::int64_t>("global_attn_every_n_layers", 4);
  k.own_keys["global_attn_every_n_layers"] = pattern;
  read_window_pattern(reader, k, 1024, pattern);
  for (const std::int32_t window : k.windows) k.rotated.push_back(window > 0);
  if (read_own_bool(reader, k, "mup_enabled", false)) k.embedding_scale = std::sqrt(static_cast<float>(k.hidden_size));

  read_experts(reader, k, reader.spelt("num_experts", "num_local_experts"), 64, 6);
  ExpertsConfig& e = k.experts;
  e.d_ff = read_own_size(reader, k, "moe_intermediate_size", 1408, 1 << 20);
  e.shared_d_ff = e.d_ff * read_own_size(reader, k, "num_shared_experts", 2, 1 << 12);
  read_dense_layers(reader, k, 1, "num_dense_layers");
  e.routing = {.score = ops::RouterOptions::Score::sigmoid,
               .scale = static_cast<float>(read_own_number(reader, k, "route_scale", 1))};
  e.router = "router.gate", e.correction = "expert_bias";
  // Keys of the authors' code: the only values that these models have, and how the router is trained and computed.
  for (const char* key : {"n_group", "topk_group", "num_expert_groups", "num_limited_groups"})
    reader.only(key, std::int64_t{1});
  reader.only("route_norm", true);
  reader.only<std::string>("score_func", "sigmoid");
  reader.ignore({"load_balance_coeff", "output_router_logits", "use_grouped_mm"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

// qwen2_moe: qwen2 with routed experts and a gated shared expert instead of some feed-forwards [Qwen team 2024, section 2.2].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_qwen2_moe(const JsonObject& config) {
  ConfigReader reader(config, "qwen2_moe");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "qwen2_moe",
                                               .architecture = "Qwen2MoeForCausalLM",
                                               .vocab_size = 151936,
                                               .hidden_size = 2048,
                                               .intermediate_size = 5632,
                                               .num_hidden_layers = 24,
                                               .num_attention_heads = 16,
                                               .num_key_value_heads = 16,
                                               .max_position_embeddings = 32768,
                                               .bos_token_id = -1,
                                               .eos_token_id = -1});
  k.attention_bias = read_own_bool(reader, k, "qkv_bias", true);
  read_experts(reader, k, "num_experts", 60, 4);
  k.experts.d_ff = read_own_size(reader, k, "moe_intermediate_size", 1408, 1 << 20);
  k.experts.shared_d_ff = read_own_size(reader, k, "shared_expert_intermediate_size", 5632, 1 << 20);
  k.experts.shared = "shared_expert", k.experts.shared_gate = "shared_expert_gate";
  k.experts.routing.normalised = read_own_bool(reader, k, "norm_topk_prob", false);
  read_sparse_layers(reader, k);
  read_router_training(reader, k, 0.001);
  const bool slides = read_own_bool(reader, k, "use_sliding_window", false);
  const std::int64_t below = reader.get<std::int64_t>("max_window_layers", 28);
  const std::int32_t window = slides ? read_window(reader, 4096) : 0;
  reader.ignore({"sliding_window"});
  read_own_windows(reader, k, window, [&](std::int64_t i) { return slides && i % 2 == 0 && i < below; });
  k.own_keys["sliding_window"] = window;  // transformers writes 0, not null
  k.own_keys["max_window_layers"] = below;
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

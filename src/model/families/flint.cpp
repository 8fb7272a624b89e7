// flint: qwen3_moe with a learned sink for each head, windows in most layers, and experts by sigmoid scores beside a shared one;
// only layers with a window rotate queries and keys [Recursive 2026].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_flint(const JsonObject& config) {
  ConfigReader reader(config, "flint");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "flint",
                                               .architecture = "FlintForCausalLM",
                                               .vocab_size = 150144,
                                               .hidden_size = 2048,
                                               .intermediate_size = 6144,
                                               .num_hidden_layers = 49,
                                               .num_key_value_heads = 4,
                                               .head_dim = 128,
                                               .max_position_embeddings = 262144,
                                               .bos_token_id = -1,
                                               .eos_token_id = -1,
                                               .sink_logits = true,
                                               .stored_sinks = "softmax_offset"});
  read_attention_bias(reader, k);
  k.head_norms = rms_head_norms(k);
  read_own_windows(reader, k, read_window(reader, 513),
                   [&](std::int64_t i) { return i >= 2 && i % 4 != 1 && i != k.num_hidden_layers - 1; });
  for (const std::int32_t window : k.windows) k.rotated.push_back(window > 0);
  read_experts(reader, k, reader.spelt("num_experts", "num_local_experts"), 256, 6);
  ExpertsConfig& e = k.experts;
  e.d_ff = read_own_size(reader, k, "moe_intermediate_size", 512, 1 << 20);
  e.shared_d_ff = read_own_size(reader, k, "shared_expert_intermediate_size", 1024, 1 << 20);
  e.shared = "shared_expert";
  e.routing.score = ops::RouterOptions::Score::sigmoid;
  e.routing.normalised = read_own_bool(reader, k, "norm_topk_prob", true);
  read_sparse_layers(reader, k, {0, 1});
  read_router_training(reader, k, 0.0005);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

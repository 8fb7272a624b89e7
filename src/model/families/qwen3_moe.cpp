// qwen3_moe: qwen3 with experts instead of some feed-forwards [Qwen team 2025, section 2].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_qwen3_moe(const JsonObject& config) {
  ConfigReader reader(config, "qwen3_moe");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "qwen3_moe",
                                               .architecture = "Qwen3MoeForCausalLM",
                                               .vocab_size = 151936,
                                               .hidden_size = 2048,
                                               .intermediate_size = 6144,
                                               .num_hidden_layers = 24,
                                               .num_key_value_heads = 4,
                                               .max_position_embeddings = 32768,
                                               .bos_token_id = -1,
                                               .eos_token_id = -1});
  read_attention_bias(reader, k);
  k.head_norms = rms_head_norms(k);
  read_experts(reader, k, reader.spelt("num_local_experts", "num_experts"), 128, 8);
  k.experts.d_ff = read_own_size(reader, k, "moe_intermediate_size", 768, 1 << 20);
  k.experts.routing.normalised = read_own_bool(reader, k, "norm_topk_prob", false);
  read_sparse_layers(reader, k);
  read_router_training(reader, k, 0.001);
  const bool slides = read_own_bool(reader, k, "use_sliding_window", false);
  if (slides)
    read_common_window(reader, k, 4096);
  else
    k.own_keys["sliding_window"] = nullptr;
  reader.ignore({"sliding_window", "max_window_layers"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

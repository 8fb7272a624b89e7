// mellum: qwen3_moe with windows, and rotary positions by kind of layer [JetBrains 2026, "Mellum 2"].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_mellum(const JsonObject& config) {
  ConfigReader reader(config, "mellum");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "mellum",
                                               .architecture = "MellumForCausalLM",
                                               .vocab_size = 98304,
                                               .hidden_size = 2304,
                                               .intermediate_size = 7168,
                                               .num_hidden_layers = 28,
                                               .num_key_value_heads = 4,
                                               .head_dim = 128,
                                               .max_position_embeddings = 131072,
                                               .bos_token_id = -1,
                                               .eos_token_id = -1,
                                               .rope_defaults = {.refuses_part = true},
                                               .rope_by_type = true,
                                               .left_alone = {"mtp."}});
  read_attention_bias(reader, k);
  k.head_norms = rms_head_norms(k);
  read_experts(reader, k, reader.spelt("num_local_experts", "num_experts"), 64, 8);
  k.experts.d_ff = read_own_size(reader, k, "moe_intermediate_size", 896, 1 << 20);
  k.experts.routing.normalised = read_own_bool(reader, k, "norm_topk_prob", true);
  if (reader.has("mlp_layer_types")) read_mlp_layer_types(reader, k);
  read_own_windows(reader, k, read_window(reader, 1024), [](std::int64_t) { return false; });
  const nlohmann::json default_rotary{{"full_attention", {{"rope_type", "default"}, {"rope_theta", 5e5}}},
                                      {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 1e4}}}};
  const RotaryByType rotary = read_nested_rotary(reader, k.rope_defaults, default_rotary, k.windows);
  k.rope = rotary.full, k.sliding_rope = rotary.sliding;
  read_router_training(reader, k, 0.001);
  reader.ignore({"num_nextn_predict_layers", "num_mtp_layers", "mtp_layer_types", "mtp_mlp_layer_types"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

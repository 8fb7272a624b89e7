// granitemoe: granite with experts, stored in one tensor, instead of feed-forwards [IBM 2024].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_granitemoe(const JsonObject& config) {
  ConfigReader reader(config, "granitemoe");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "granitemoe", .architecture = "GraniteMoeForCausalLM"});
  read_attention_bias(reader, k);
  read_multipliers(reader, k);
  read_experts(reader, k, "num_local_experts", 8, 2);
  read_router_training(reader, k, 0.001);
  k.experts.block = "block_sparse_moe", k.experts.router = "router.layer";
  k.experts.fused_gate_up = "input_linear.weight", k.experts.fused_down = "output_linear.weight";
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

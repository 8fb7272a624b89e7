// granitemoe: granite with experts, stored in one tensor, instead of feed-forwards. granitemoeshared: the same with a shared expert
// [IBM 2024].
#include "model/families/decoder_families.h"
#include "model/families/granite.h"
#include "model/spec/llama_like.h"

namespace tril::model {

LlamaLikeConfig read_granitemoe(ConfigReader& reader, LlamaLikeConfig defaults) {
  LlamaLikeConfig k = read_llama_like(reader, std::move(defaults));
  read_attention_bias(reader, k);
  read_multipliers(reader, k);
  read_experts(reader, k, "num_local_experts", 8, 2);
  read_router_training(reader, k, 0.001);
  k.experts.block = "block_sparse_moe", k.experts.router = "router.layer";
  k.experts.fused_gate_up = "input_linear.weight", k.experts.fused_down = "output_linear.weight";
  return k;
}

void read_granite_shared_expert(ConfigReader& reader, LlamaLikeConfig& k, std::int64_t otherwise) {
  const auto width = reader.get<std::int64_t>("shared_intermediate_size", otherwise);
  if (width != 0) check_size(reader.json(), "shared_intermediate_size", width, 1 << 20);
  k.own_keys["shared_intermediate_size"] = width;
  if (width == 0) return;
  k.experts.shared_d_ff = width;
  k.experts.fused_shared_gate_up = "shared_mlp.input_linear.weight";
  k.experts.fused_shared_down = "shared_mlp.output_linear.weight";
}

std::unique_ptr<Model> make_granitemoe(const JsonObject& config) {
  ConfigReader reader(config, "granitemoe");
  LlamaLikeConfig k = read_granitemoe(reader, {.family = "granitemoe", .architecture = "GraniteMoeForCausalLM"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

std::unique_ptr<Model> make_granitemoeshared(const JsonObject& config) {
  ConfigReader reader(config, "granitemoeshared");
  LlamaLikeConfig k =
      read_granitemoe(reader, {.family = "granitemoeshared", .architecture = "GraniteMoeSharedForCausalLM"});
  read_granite_shared_expert(reader, k);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

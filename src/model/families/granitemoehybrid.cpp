// granitemoehybrid: Granite 4. granite with Mamba-2 in most layers, and attention without positions in the others, unless the
// config asks for them. Its larger models have granitemoeshared's experts, the others only what is the shared expert there [IBM
// 2025].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/families/granite.h"
#include "model/families/mamba2_keys.h"
#include "model/spec/llama_like.h"

namespace tril::model {
namespace {

// The feed-forward of a model without experts. Its files call it the shared expert.
void read_dense_hybrid(ConfigReader& reader, LlamaLikeConfig& k) {
  k = read_llama_like(reader, std::move(k));
  read_attention_bias(reader, k);
  read_multipliers(reader, k);
  for (const char* key : {"num_local_experts", "num_experts_per_tok"})
    k.own_keys[key] = reader.get<std::int64_t>(key, 0);
  read_router_training(reader, k, 0.001);
  k.own_keys["intermediate_size"] = k.intermediate_size;
  k.intermediate_size = read_own_size(reader, k, "shared_intermediate_size", 1024, 1 << 20);
  k.feed_forward_name = "shared_mlp", k.gate_up_name = "input_linear", k.down_name = "output_linear";
}

}  // namespace

std::unique_ptr<Model> make_granitemoehybrid(const JsonObject& config) {
  ConfigReader reader(config, "granitemoehybrid");
  LlamaLikeConfig k{.family = "granitemoehybrid", .architecture = "GraniteMoeHybridForCausalLM"};
  k.recurrence_name = "mamba";
  if (reader.get<std::int64_t>("num_local_experts", 8) == 0) {
    read_dense_hybrid(reader, k);
  } else {
    k = read_granitemoe(reader, std::move(k));
    read_granite_shared_expert(reader, k, 1024);
  }
  const std::string positions = reader.get<std::string>("position_embedding_type", "nope");
  if (positions != "rope" && positions != "nope")
    config.fail_at("position_embedding_type", fmt::format("'{}' is not supported", positions), "rope and nope are");
  if (positions == "nope") k.rotated.assign(static_cast<std::size_t>(k.num_hidden_layers), false);
  k.own_keys["position_embedding_type"] =
      reader.has("position_embedding_type") && !reader.says_null("position_embedding_type") ? nlohmann::json(positions)
                                                                                            : nlohmann::json(nullptr);
  k.recurrence = read_mamba2(reader, k);
  const std::string key = reader.spelt("layer_types", "layers_block_type");
  const std::vector<std::string> mamba(static_cast<std::size_t>(k.num_hidden_layers), std::string(kMambaLayer.name));
  const auto types = read_types_of_layers(reader, k, key, {kMambaLayer, kAttentionLayer}, mamba);
  for (const std::string& type : types) k.recurrent.push_back(kMambaLayer.is(type));
  k.own_keys["layer_types"] = types;
  reader.ignore({"normalization_function", "init_method"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

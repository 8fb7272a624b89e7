// axk1: A.X K1. deepseek_v3 with a norm of the results of the layers with experts [SK Telecom 2026].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/families/deepseek.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_axk1(const JsonObject& config) {
  ConfigReader reader(config, "axk1");
  const bool interleaved = reader.flag("rope_interleave", true);
  LlamaLikeConfig k = read_deepseek(reader, {.family = "axk1",
                                             .architecture = "AXK1ForCausalLM",
                                             .vocab_size = 163840,
                                             .hidden_size = 7168,
                                             .intermediate_size = 18432,
                                             .num_hidden_layers = 61,
                                             .num_attention_heads = 64,
                                             .max_position_embeddings = 32768,
                                             .bos_token_id = 163691,
                                             .eos_token_id = 163691,
                                             .rope_defaults = {.interleaved = interleaved}});
  k.own_keys["rope_interleave"] = interleaved;
  if (k.latent->query_rank == 0) config.fail_at("q_lora_rank", "null is not supported for axk1");
  read_experts(reader, k, reader.spelt("n_routed_experts", "num_local_experts"), 192, 8);
  k.experts.d_ff = read_own_size(reader, k, "moe_intermediate_size", 2048, 1 << 20);
  read_deepseek_router(reader, k, {.groups = 8, .chosen_groups = 4, .scale = 2.5});
  k.experts.optional_correction = true;  // the published model has none
  if (reader.has("mlp_layer_types")) {
    read_mlp_layer_types(reader, k);
    reader.ignore({"first_k_dense_replace"});
  } else {
    read_dense_layers(reader, k, 1);
  }
  read_further_layers(reader, k);
  k.norm_names.after_experts = "post_mlp_layernorm";
  for (std::int64_t i = 0; i < k.num_hidden_layers; ++i)  // published in all layers
    if (!k.has_experts(i)) k.left_alone.push_back(fmt::format("model.layers.{}.post_mlp_layernorm.", i));
  reader.only<std::string>("scoring_func", "sigmoid");
  reader.only<std::string>("topk_method", "noaux_tc");
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

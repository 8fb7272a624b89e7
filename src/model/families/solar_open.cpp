// solar_open: in every layer, experts by sigmoid scores with a correction and by groups, beside a shared one [Upstage 2025,
// "Solar Open"].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_solar_open(const JsonObject& config) {
  ConfigReader reader(config, "solar_open");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "solar_open",
                                               .architecture = "SolarOpenForCausalLM",
                                               .vocab_size = 196608,
                                               .intermediate_size = 10240,
                                               .num_hidden_layers = 48,
                                               .num_attention_heads = 64,
                                               .num_key_value_heads = 8,
                                               .head_dim = 128,
                                               .max_position_embeddings = 131072,
                                               .norm_eps = 1e-5,
                                               .bos_token_id = -1,
                                               .eos_token_id = -1,
                                               .rope_defaults = {.theta = 1e6, .refuses_part = true}});
  k.attention_bias = read_own_bool(reader, k, "attention_bias", false);
  read_experts(reader, k, reader.spelt("n_routed_experts", "num_local_experts"), 128, 8);
  k.experts.d_ff = read_own_size(reader, k, "moe_intermediate_size", 1280, 1 << 20);
  read_deepseek_router(reader, k);
  // Keys of GLM-4.5, with the only values that these models have.
  reader.only("use_qk_norm", false);
  reader.only("first_k_dense_replace", std::int64_t{0});
  reader.ignore({"output_router_logits"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

// phimoe: Llama with LayerNorms, optional biases, and two experts for each token. The weight of an expert is a softmax over
// the experts with similar scores [Phi-3.5-MoE: Abdin et al. 2024; GRIN: Liu et al. 2024].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

namespace {

// Adds the factor under the family's names too.
void write_mscales(LlamaLikeConfig& k) {
  nlohmann::ordered_json rotary;
  write_rotary(rotary, k.rope, k.d_head());
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    rotary[key]["short_mscale"] = rotary[key]["long_mscale"] = k.rope.attention_factor;
    k.own_keys[key] = rotary[key];
  }
}

}  // namespace

std::unique_ptr<Model> make_phimoe(const JsonObject& config) {
  ConfigReader reader(config, "phimoe");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "phimoe",
                                               .architecture = "PhimoeForCausalLM",
                                               .vocab_size = 32064,
                                               .intermediate_size = 6400,
                                               .num_key_value_heads = 8,
                                               .max_position_embeddings = 131072,
                                               .norm_eps = 1e-5,
                                               .rope_defaults = {.theta = 1e6, .reads_mscales = true},
                                               .norm = nn::Norm::Kind::layer});
  using Scaling = nn::RotaryOptions::Scaling;
  if (k.rope.scaling != Scaling::none && k.rope.scaling != Scaling::longrope)
    config.fail_at("rope_scaling", "is not longrope", "phimoe models support no other");
  if (k.rope.scaling == Scaling::longrope) write_mscales(k);
  read_attention_bias(reader, k);
  k.output_bias = read_own_bool(reader, k, "lm_head_bias", false);
  read_experts(reader, k, "num_local_experts", 16, 2);
  if (k.experts.per_token != 2)
    config.fail_at("num_experts_per_tok",
                   fmt::format("{} is not supported: this router chooses two", k.experts.per_token));
  read_common_window(reader, k, 0);
  read_router_training(reader, k, 0.001);
  const double jitter = reader.at_least_0("router_jitter_noise", 0.01);
  k.experts.routing.score = ops::RouterOptions::Score::sparse_mixer;
  k.experts.routing.jitter = static_cast<float>(jitter);
  k.own_keys["router_jitter_noise"] = jitter;
  k.own_keys["input_jitter_noise"] = reader.at_least_0("input_jitter_noise", 0);  // of training with `transformers`
  k.experts.block = "block_sparse_moe";
  k.experts.gate = "w1", k.experts.up = "w3", k.experts.down = "w2";
  reader.ignore({"hidden_dropout"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

// gpt_oss: attention sinks (a learned logit for each head, without a value), windows in every other layer, yarn, and experts
// with a clamped gated unit, all in one tensor with their biases [gpt-oss model card, OpenAI 2025, section 2].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_gpt_oss(const JsonObject& config) {
  ConfigReader reader(config, "gpt_oss");
  constexpr std::string_view default_rope =
      R"({"rope_type": "yarn", "factor": 32, "beta_fast": 32, "beta_slow": 1, "truncate": false,
          "original_max_position_embeddings": 4096})";
  LlamaLikeConfig k = read_llama_like(reader, {.family = "gpt_oss",
                                               .architecture = "GptOssForCausalLM",
                                               .vocab_size = 201088,
                                               .hidden_size = 2880,
                                               .intermediate_size = 2880,
                                               .num_hidden_layers = 36,
                                               .num_attention_heads = 64,
                                               .num_key_value_heads = 8,
                                               .head_dim = 64,
                                               .max_position_embeddings = 131072,
                                               .norm_eps = 1e-5,
                                               .bos_token_id = -1,
                                               .eos_token_id = -1,
                                               .rope_defaults = {.theta = 1.5e5, .parameters = default_rope},
                                               .sink_logits = true});
  if (k.hidden_act != HiddenAct::silu)
    config.fail_at("hidden_act", "is not silu", "the experts of gpt_oss have no other activation");
  k.attention_bias = k.attention_out_bias = read_own_bool(reader, k, "attention_bias", true);
  read_own_windows(reader, k, read_window(reader, 128), [](std::int64_t i) { return i % 2 == 0; });
  read_experts(reader, k, reader.spelt("num_local_experts", "num_experts"), 128, 4);
  read_router_training(reader, k, 0.001);
  ExpertsConfig& e = k.experts;
  e.clamp = ops::GateClamp{.alpha = static_cast<float>(read_own_number(reader, k, "swiglu_alpha", 1.702)),
                           .limit = static_cast<float>(read_own_number(reader, k, "swiglu_limit", 7))};
  e.router = "router", e.router_bias = true, e.bias = true;
  e.fused_gate_up = "experts.gate_up_proj", e.fused_down = "experts.down_proj";
  e.fused_form = {.transposed = true, .interleaved = true, .bias_suffix = "_bias"};
  // Keys of the authors' code: the context length before yarn, which rope_scaling has too, and a second name of a key.
  reader.ignore({"initial_context_length"});
  if (reader.has("experts_per_token")) reader.only("experts_per_token", e.per_token);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

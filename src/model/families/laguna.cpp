// laguna: qwen3_moe with a number of heads for each layer, a softplus gate of the result of each head or value, windows, rotary
// positions by kind of layer, and experts by sigmoid scores with a correction beside a shared one [Poolside 2026].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {
namespace {

void read_heads_by_layer(ConfigReader& reader, LlamaLikeConfig& k) {
  constexpr const char* key = "num_attention_heads_per_layer";
  k.heads = reader.get<std::vector<std::int64_t>>(key, {});
  if (k.heads.empty()) k.heads.assign(static_cast<std::size_t>(k.num_hidden_layers), k.num_attention_heads);
  if (std::ssize(k.heads) != k.num_hidden_layers)
    reader.json().fail_at(key, fmt::format("{} numbers for {} layers", k.heads.size(), k.num_hidden_layers));
  for (const std::int64_t heads : k.heads) {
    check_size(reader.json(), key, heads, 1 << 12);
    if (heads % k.kv_heads() != 0)
      reader.json().fail_at(key, fmt::format("{} key heads do not divide {} heads", k.kv_heads(), heads));
  }
  k.own_keys[key] = k.heads;
}

// gating: true or "per-head", or "per-element".
void read_gating(ConfigReader& reader, LlamaLikeConfig& k) {
  const auto& json = reader.json().json();
  const nlohmann::json gating = reader.has("gating") ? json.at("gating") : nlohmann::json(true);
  if (gating != true && gating != "per-head" && gating != "per-element")
    reader.json().fail_at("gating", "is not supported", "supported: true, per-head, per-element");
  k.attention_gate = "g_proj", k.gate_function = ops::Activation::softplus;
  k.gates_values = gating == "per-element";
  k.own_keys["gating"] = gating;
}

void read_laguna_experts(ConfigReader& reader, LlamaLikeConfig& k) {
  read_experts(reader, k, "num_experts", 256, 8);
  ExpertsConfig& e = k.experts;
  e.d_ff = read_own_size(reader, k, "moe_intermediate_size", 512, 1 << 20);
  e.shared_d_ff = read_own_size(reader, k, "shared_expert_intermediate_size", 512, 1 << 20);
  e.shared = "shared_expert", e.correction = "experts.e_score_correction_bias";
  const double scale = read_own_number(reader, k, "moe_routed_scaling_factor", 1);
  e.routing = {.score = ops::RouterOptions::Score::sigmoid, .scale = static_cast<float>(scale)};
  const double cap = reader.at_least_0("moe_router_logit_softcapping", 0);
  e.router_softcap = static_cast<float>(cap);
  k.own_keys["moe_router_logit_softcapping"] = cap;
  read_mlp_layer_types(reader, k);
  read_router_training(reader, k, 0.001);
  reader.only("moe_apply_router_weight_on_input", false);
}

}  // namespace

std::unique_ptr<Model> make_laguna(const JsonObject& config) {
  ConfigReader reader(config, "laguna");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "laguna",
                                               .architecture = "LagunaForCausalLM",
                                               .vocab_size = 100352,
                                               .hidden_size = 2048,
                                               .intermediate_size = 8192,
                                               .num_hidden_layers = 40,
                                               .num_attention_heads = 48,
                                               .num_key_value_heads = 8,
                                               .head_dim = 128,
                                               .max_position_embeddings = 131072,
                                               .bos_token_id = -1,
                                               .eos_token_id = -1,
                                               .rope_defaults = {.turns_part = true},
                                               .rope_by_type = true});
  read_attention_bias(reader, k);
  k.head_norms = rms_head_norms(k);
  read_heads_by_layer(reader, k);
  read_gating(reader, k);
  read_own_windows(reader, k, read_window(reader, 512), [](std::int64_t) { return false; });
  read_laguna_experts(reader, k);
  const nlohmann::json default_rotary{
      {"full_attention", {{"rope_type", "default"}, {"rope_theta", 5e5}, {"partial_rotary_factor", 0.5}}},
      {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 1e4}}}};
  const RotaryByType rotary = read_nested_rotary(reader, k.rope_defaults, default_rotary, k.windows);
  k.rope = rotary.full, k.sliding_rope = rotary.sliding;
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

// lara_mini: Lara 4 Mini, a model for translation. A gated delta rule in two layers of five, attention with windows in two and over the
// whole text in one; only the layers with windows have rotary positions; experts, and a shared one, in every layer [Translated 2026].
#include "model/families/lara_mini.h"

#include <nlohmann/json.hpp>

#include "model/spec/llama_like.h"

namespace tril::model {
namespace {

constexpr const char* kUsualTypes[]{"linear_attention", "sliding_attention", "linear_attention", "full_attention",
                                    "sliding_attention"};

struct DeltaSizes {
  std::int64_t key_heads, heads, d_k, d_v;
};

DeltaSizes read_delta_sizes(const JsonObject& config) {
  const auto size = [&](const char* key, std::int64_t otherwise) {
    const std::int64_t n = config.size(key, otherwise);
    check_size(config, key, n, 1 << 12);
    return n;
  };
  return {size("linear_num_key_heads", 8), size("linear_num_value_heads", 16), size("linear_key_head_dim", 128),
          size("linear_value_head_dim", 128)};
}

// The publisher's name of the norm of heads is out_norm.
class LaraMini : public LlamaLike {
 public:
  using LlamaLike::LlamaLike;
  StoredAs stored_as(const nn::Parameter& p) const override {
    StoredAs stored = LlamaLike::stored_as(p);
    constexpr std::string_view kEnd = "linear_attn.norm.weight";
    if (p.name.ends_with(kEnd))
      stored.names = {p.name, p.name.substr(0, p.name.size() - kEnd.size()) + "linear_attn.out_norm.weight"};
    return stored;
  }
};

void read_delta_rule(ConfigReader& reader, LlamaLikeConfig& k) {
  for (const char* key :
       {"linear_num_key_heads", "linear_num_value_heads", "linear_key_head_dim", "linear_value_head_dim"})
    reader.ignore({key});  // read_delta_sizes()
  const DeltaSizes n = read_delta_sizes(reader.json());
  k.own_keys["linear_num_key_heads"] = n.key_heads, k.own_keys["linear_num_value_heads"] = n.heads;
  k.own_keys["linear_key_head_dim"] = n.d_k, k.own_keys["linear_value_head_dim"] = n.d_v;
  if (n.heads % n.key_heads != 0)
    reader.json().fail_at("linear_num_key_heads",
                          fmt::format("{} key heads do not divide {} heads", n.key_heads, n.heads));
  k.recurrence = nn::GatedDeltaNet::Options{.d_model = k.hidden_size,
                                            .num_key_heads = n.key_heads,
                                            .num_heads = n.heads,
                                            .d_k = n.d_k,
                                            .d_v = n.d_v,
                                            .taps = read_own_size(reader, k, "linear_conv_kernel_dim", 4, 1 << 12),
                                            .activation = function_of(k.hidden_act),
                                            .norm_eps = static_cast<float>(k.norm_eps)};
}

void read_lara_experts(ConfigReader& reader, LlamaLikeConfig& k) {
  read_experts(reader, k, reader.spelt("num_experts", "num_local_experts"), 128, 4);
  ExpertsConfig& e = k.experts;
  e.d_ff = read_own_size(reader, k, "moe_intermediate_size", 512, 1 << 20);
  e.shared_d_ff = read_own_size(reader, k, "shared_expert_intermediate_size", 512, 1 << 20);
  e.shared = "shared_expert";
  e.fused_gate_up = "experts.gate_up_proj", e.fused_down = "experts.down_proj";
  e.routing.normalised = read_own_bool(reader, k, "norm_topk_prob", true);
  read_router_training(reader, k, 0.001);
}

}  // namespace

std::array<std::int64_t, 4> lara_mini_input_rows(const JsonObject& config) {
  const DeltaSizes n = read_delta_sizes(config);
  return {2 * n.key_heads * n.d_k + n.heads * n.d_v, n.heads * n.d_v, n.heads, n.heads};
}

std::unique_ptr<Model> make_lara_mini(const JsonObject& config) {
  ConfigReader reader(config, "lara_mini");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "lara_mini",
                                               .architecture = "LaraMiniForCausalLM",
                                               .vocab_size = 151936,
                                               .hidden_size = 1024,
                                               .num_hidden_layers = 34,
                                               .num_attention_heads = 16,
                                               .num_key_value_heads = 4,
                                               .head_dim = 128,
                                               .max_position_embeddings = 131072,
                                               .tie_word_embeddings = true,
                                               .bos_token_id = -1,
                                               .eos_token_id = 151643,
                                               .recurrence_name = "linear_attn"});
  read_attention_bias(reader, k);
  k.head_norms = rms_head_norms(k);
  read_delta_rule(reader, k);
  read_recurrent_and_windows(reader, k, kUsualTypes[0], read_window(reader, 512),
                             [](std::int64_t i) { return kUsualTypes[i % std::ssize(kUsualTypes)]; });
  for (const std::int32_t window : k.windows) k.rotated.push_back(window > 0);
  read_lara_experts(reader, k);
  reader.finish();
  return std::make_unique<LaraMini>(std::move(k));
}

}  // namespace tril::model

// granite_swa and granitemoe_swa: granite and granitemoeshared with a learned sink for each head, windows in three layers of four,
// and a rotary base for each layer [IBM 2026, "Granite SWA"].
#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/families/granite.h"
#include "model/spec/llama_like.h"

namespace tril::model {
namespace {

constexpr std::size_t most_bases = 16;  // each has a table of angles

// The number of the rotary positions with this base, as in rope_of_layer. Base 0: none.
std::int32_t rope_with(LlamaLikeConfig& k, double theta) {
  if (theta == 0) return -1;
  if (theta == k.rope.theta) return 0;
  const auto at = std::ranges::find(k.other_ropes, theta, &nn::RotaryOptions::theta);
  const auto number = static_cast<std::int32_t>(at - k.other_ropes.begin()) + 1;
  if (at == k.other_ropes.end()) k.other_ropes.push_back(k.rope), k.other_ropes.back().theta = theta;
  return number;
}

// layer_rope_theta: a base for each layer; null: all have that of rope_parameters.
void read_layer_bases(ConfigReader& reader, LlamaLikeConfig& k) {
  constexpr const char* key = "layer_rope_theta";
  if (!reader.has(key) || reader.says_null(key)) {
    k.own_keys[key] = nullptr;
    return;
  }
  const auto thetas = reader.get<std::vector<double>>(key, {});
  if (std::ssize(thetas) != k.num_hidden_layers)
    reader.json().fail_at(key, fmt::format("{} numbers for {} layers", thetas.size(), k.num_hidden_layers));
  for (const double theta : thetas) {
    if (theta != 0 && !is_positive_float(theta))
      reader.json().fail_at(key, fmt::format("{} is no base", theta), "a positive number, or 0 for no rotation");
    k.rope_of_layer.push_back(rope_with(k, theta));
    if (k.other_ropes.size() > most_bases)
      reader.json().fail_at(key, fmt::format("has more than {} different bases, which is not supported", most_bases));
  }
  k.own_keys[key] = thetas;
}

void read_windows_and_bases(ConfigReader& reader, LlamaLikeConfig& k) {
  read_own_windows(reader, k, read_window(reader, 128), [](std::int64_t i) { return i % 4 != 0; });
  read_layer_bases(reader, k);
  k.sink_logits = true;
}

}  // namespace

std::unique_ptr<Model> make_granite_swa(const JsonObject& config) {
  ConfigReader reader(config, "granite_swa");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "granite_swa",
                                               .architecture = "GraniteSWAForCausalLM",
                                               .vocab_size = 100352,
                                               .hidden_size = 2560,
                                               .intermediate_size = 8192,
                                               .num_hidden_layers = 24,
                                               .num_attention_heads = 20,
                                               .num_key_value_heads = 4,
                                               .max_position_embeddings = 8192,
                                               .norm_eps = 1e-5,
                                               .tie_word_embeddings = true,
                                               .bos_token_id = 100257,
                                               .eos_token_id = 100257});
  read_attention_bias(reader, k);
  k.mlp_bias = read_own_bool(reader, k, "mlp_bias", false);
  read_multipliers(reader, k);
  read_windows_and_bases(reader, k);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

std::unique_ptr<Model> make_granitemoe_swa(const JsonObject& config) {
  ConfigReader reader(config, "granitemoe_swa");
  LlamaLikeConfig k = read_granitemoe(reader, {.family = "granitemoe_swa", .architecture = "GraniteMoeSWAForCausalLM"});
  k.experts.router = "router";
  k.experts.fused_gate_up = "experts.gate_up_proj", k.experts.fused_down = "experts.down_proj";
  read_granite_shared_expert(reader, k);
  read_windows_and_bases(reader, k);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

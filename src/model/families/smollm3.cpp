// smollm3: Llama in which every fourth layer does not rotate queries and keys [Bakouch et al. 2025; NoPE: Yang et al.
// 2025].
#include <nlohmann/json.hpp>

#include "base/element.h"
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_smollm3(const JsonObject& config) {
  ConfigReader reader(config, "smollm3");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "smollm3",
                                               .architecture = "SmolLM3ForCausalLM",
                                               .vocab_size = 128256,
                                               .hidden_size = 2048,
                                               .num_hidden_layers = 36,
                                               .num_attention_heads = 16,
                                               .num_key_value_heads = 4,
                                               .max_position_embeddings = 32768,
                                               .tie_word_embeddings = true,
                                               .bos_token_id = 128000,
                                               .eos_token_id = 128001,
                                               .pad_token_id = 128004,
                                               .rope_defaults = {.theta = 2e6}});
  read_attention_bias(reader, k);
  k.mlp_bias = read_own_bool(reader, k, "mlp_bias", false);
  const std::int64_t interval = read_own_size(reader, k, "no_rope_layer_interval", 4, 1 << 30);
  std::vector<std::int64_t> rotated = reader.get<std::vector<std::int64_t>>("no_rope_layers", {});
  for (std::int64_t i = 0; i < k.num_hidden_layers && !reader.has("no_rope_layers"); ++i)
    rotated.push_back((i + 1) % interval != 0);
  if (std::ssize(rotated) != k.num_hidden_layers)
    config.fail_at("no_rope_layers", fmt::format("{} values for {} layers", rotated.size(), k.num_hidden_layers));
  for (const std::int64_t on : rotated) k.rotated.push_back(on != 0);
  const bool slides = read_own_bool(reader, k, "use_sliding_window", false);
  const std::int32_t window = slides ? read_window(reader, 0) : 0;
  reader.ignore({"sliding_window", "max_window_layers", "pretraining_tp"});
  const auto without_rotation = [&](std::int64_t i) { return !element(k.rotated, i); };
  read_own_windows(reader, k, window, without_rotation);
  k.own_keys["no_rope_layers"] = rotated;
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

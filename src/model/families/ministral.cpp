// ministral: mistral whose layers differ in their windows [Mistral AI 2024].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_ministral(const JsonObject& config) {
  ConfigReader reader(config, "ministral");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "ministral",
                                               .architecture = "MinistralForCausalLM",
                                               .intermediate_size = 14336,
                                               .num_key_value_heads = 8,
                                               .max_position_embeddings = 4096 * 32});
  const std::int32_t window = read_window(reader, 4096);
  k.windows = read_layer_windows(reader, k.num_hidden_layers, window, [](std::int64_t) { return true; });
  k.own_keys = nlohmann::json{{"sliding_window", window_json(window)}, {"layer_types", layer_types_json(k.windows)}};
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

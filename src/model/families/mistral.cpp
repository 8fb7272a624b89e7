// mistral: Llama with a sliding window over all layers [Jiang et al. 2023, section 2].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_mistral(const JsonObject& config) {
  ConfigReader reader(config, "mistral");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "mistral",
                                               .architecture = "MistralForCausalLM",
                                               .intermediate_size = 14336,
                                               .num_key_value_heads = 8,
                                               .max_position_embeddings = 131072});
  const std::int32_t window = read_window(reader, 4096);
  k.windows.assign(static_cast<std::size_t>(k.num_hidden_layers), window);
  k.own_keys = nlohmann::json{{"sliding_window", window_json(window)}};
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

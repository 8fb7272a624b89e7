// ministral3: mistral with yarn and queries scaled by their positions [Mistral AI 2025; Llama 4, 2025].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_ministral3(const JsonObject& config) {
  ConfigReader reader(config, "ministral3");
  constexpr std::string_view default_rope =
      R"({"rope_type": "yarn", "rope_theta": 1e6, "factor": 16, "beta_fast": 32, "beta_slow": 1,
          "mscale": 1, "mscale_all_dim": 1, "llama_4_scaling_beta": 0.1, "original_max_position_embeddings": 16384})";
  LlamaLikeConfig k =
      read_llama_like(reader, {.family = "ministral3",
                               .architecture = "Ministral3ForCausalLM",
                               .vocab_size = 131072,
                               .intermediate_size = 14336,
                               .num_hidden_layers = 34,
                               .num_key_value_heads = 8,
                               .head_dim = 128,
                               .max_position_embeddings = 262144,
                               .norm_eps = 1e-5,
                               .pad_token_id = 11,
                               .rope_defaults = {.theta = 1e6, .scales_queries = true, .parameters = default_rope}});
  read_common_window(reader, k, 0);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

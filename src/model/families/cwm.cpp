// cwm: Llama 3 with a window in three layers of four [Code World Model: Meta FAIR 2025, section 2].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_cwm(const JsonObject& config) {
  ConfigReader reader(config, "cwm");
  constexpr std::string_view default_rope =
      R"({"rope_type": "llama3", "rope_theta": 1e6, "factor": 16,
          "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 8192})";
  LlamaLikeConfig k = read_llama_like(reader, {.family = "cwm",
                                               .architecture = "CwmForCausalLM",
                                               .vocab_size = 128256,
                                               .hidden_size = 6144,
                                               .intermediate_size = 21504,
                                               .num_hidden_layers = 64,
                                               .num_attention_heads = 48,
                                               .num_key_value_heads = 8,
                                               .head_dim = 128,
                                               .max_position_embeddings = 131072,
                                               .norm_eps = 1e-5,
                                               .bos_token_id = 128000,
                                               .eos_token_id = 128001,
                                               .rope_defaults = {.theta = 1e6, .parameters = default_rope}});
  k.mlp_bias = read_own_bool(reader, k, "mlp_bias", false);
  read_own_windows(reader, k, read_window(reader, 8192), [](std::int64_t i) { return i % 4 != 0; });
  reader.ignore({"pretraining_tp"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

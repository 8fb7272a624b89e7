// olmo3: olmo2 with a window in three layers of four [OLMo team 2025, "Olmo 3", section 3.2].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_olmo3(const JsonObject& config) {
  ConfigReader reader(config, "olmo3");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "olmo3",
                                               .architecture = "Olmo3ForCausalLM",
                                               .vocab_size = 50304,
                                               .norm_eps = 1e-5,
                                               .bos_token_id = -1,
                                               .eos_token_id = 50279,
                                               .pad_token_id = 1,
                                               .rope_defaults = {.theta = 5e5},
                                               .rope_by_type = true,
                                               .norm_names = post_norms()});
  read_attention_bias(reader, k);
  read_window_pattern(reader, k, 4096, 4);
  const RotaryByType rotary = read_rotary_by_type(reader, k.rope_defaults);
  k.rope = rotary.full, k.sliding_rope = rotary.sliding;
  k.head_norms = {.each = {.over = nn::HeadNorm::Over::projection, .eps = static_cast<float>(k.norm_eps)}};
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

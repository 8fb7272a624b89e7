// olmo3: olmo2 with a window in three layers of four [OLMo team 2025, "Olmo 3", section 3.2].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

namespace {

constexpr double usual_theta = 5e5;

// Version 4 of transformers rotated all layers by a rope_theta outside rope_parameters, version 5.24 only those of full attention.
void check_theta(const JsonObject& config) {
  constexpr const char *key = "rope_theta", *layers = "sliding_attention";
  const auto by_type = config.find_object("rope_parameters");
  const bool says_both = by_type && by_type->has(layers) && by_type->object(layers).has(key);
  if (const auto theta = config.find<double>(key); theta && *theta != usual_theta && !says_both)
    config.fail_at(
        key, fmt::format("{} is not supported here: versions of `transformers` apply it to different layers", *theta),
        "put it into the objects of rope_parameters");
}

}  // namespace

std::unique_ptr<Model> make_olmo3(const JsonObject& config) {
  ConfigReader reader(config, "olmo3");
  check_theta(config);
  LlamaLikeConfig k = read_llama_like(reader, {.family = "olmo3",
                                               .architecture = "Olmo3ForCausalLM",
                                               .vocab_size = 50304,
                                               .norm_eps = 1e-5,
                                               .bos_token_id = -1,
                                               .eos_token_id = 50279,
                                               .pad_token_id = 1,
                                               .rope_defaults = {.theta = usual_theta},
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

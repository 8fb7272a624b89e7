// exaone4: post-norm, norms of queries and keys, a window in three layers of four; only those rotate queries and keys [LG AI
// Research 2025, section 2].
#include "model/families/exaone4.h"

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

void read_exaone_windows(ConfigReader& reader, LlamaLikeConfig& k) {
  // The pattern may be a text, "LLLG"; such files have layer_types too, which are read instead.
  const bool counts = !reader.has("layer_types");
  const std::int64_t pattern = counts ? reader.get<std::int64_t>("sliding_window_pattern", 4) : 0;
  reader.ignore({"sliding_window_pattern"});
  read_window_pattern(reader, k, 4096, reader.says_null("sliding_window") ? 0 : pattern);
  if (reader.says_null("sliding_window")) return;
  for (const std::int32_t window : k.windows) k.rotated.push_back(window > 0);
}

std::unique_ptr<Model> make_exaone4(const JsonObject& config) {
  ConfigReader reader(config, "exaone4");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "exaone4",
                                               .architecture = "Exaone4ForCausalLM",
                                               .vocab_size = 102400,
                                               .intermediate_size = 16384,
                                               .num_key_value_heads = 32,
                                               .norm_eps = 1e-5,
                                               .bos_token_id = 0,
                                               .eos_token_id = 2,
                                               .norm_names = post_norms()});
  read_exaone_windows(reader, k);
  k.head_norms = rms_head_norms(k);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

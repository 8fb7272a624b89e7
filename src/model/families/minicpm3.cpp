// minicpm3: latent attention with whole halves rotated, and three factors: of embeddings, of sublayers' results and of logits
// [MiniCPM: Hu et al. 2024, section 3; OpenBMB 2024]. youtu: Youtu-LLM, latent attention in an otherwise plain Llama
// [Tencent 2025].
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/families/deepseek.h"
#include "model/spec/decoder_keys.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_minicpm3(const JsonObject& config) {
  ConfigReader reader(config, "minicpm3");
  const LlamaLikeConfig defaults{.family = "minicpm3",
                                 .architecture = "MiniCPM3ForCausalLM",
                                 .vocab_size = 73448,
                                 .hidden_size = 2560,
                                 .intermediate_size = 6400,
                                 .num_hidden_layers = 62,
                                 .num_attention_heads = 40,
                                 .max_position_embeddings = 32768,
                                 .norm_eps = 1e-5,
                                 .initializer_range = 0.1,
                                 .tie_word_embeddings = true};
  const std::int64_t width = reader.size("hidden_size", defaults.hidden_size),
                     heads = reader.size("num_attention_heads", defaults.num_attention_heads);
  LlamaLikeConfig k = read_deepseek(
      reader, defaults,
      {.own = 64, .values = std::max<std::int64_t>(1, width / heads), .query_rank = 768, .rank = 256, .rotated = 32});
  check_heads_divide(reader, k);
  k.mlp_bias = read_own_bool(reader, k, "mlp_bias", false);
  const double depth = std::sqrt(static_cast<double>(k.num_hidden_layers));
  k.embedding_scale = static_cast<float>(read_own_number(reader, k, "scale_emb", 12));
  const double scale_depth = read_own_number(reader, k, "scale_depth", reader.says_null("scale_depth") ? depth : 1.4);
  k.residual_scale = static_cast<float>(scale_depth / depth);
  const std::int64_t base =
      read_own_size(reader, k, "dim_model_base", reader.says_null("dim_model_base") ? width : 256, 1 << 20);
  k.logit_scale = static_cast<float>(static_cast<double>(base) / static_cast<double>(k.hidden_size));
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

std::unique_ptr<Model> make_youtu(const JsonObject& config) {
  ConfigReader reader(config, "youtu");
  const bool interleaved = reader.flag("rope_interleave", true);
  const auto width = static_cast<double>(reader.size("hidden_size", 2048));
  LlamaLikeConfig k = read_deepseek(reader, {.family = "youtu",
                                             .architecture = "YoutuForCausalLM",
                                             .vocab_size = 128256,
                                             .hidden_size = 2048,
                                             .intermediate_size = 6144,
                                             .num_hidden_layers = 32,
                                             .num_attention_heads = 16,
                                             .max_position_embeddings = 131072,
                                             .initializer_range = 2 / std::sqrt(5 * width),
                                             .tie_word_embeddings = true,
                                             .bos_token_id = 128000,
                                             .eos_token_id = 128001,
                                             .rope_defaults = {.interleaved = interleaved}});
  k.own_keys["rope_interleave"] = interleaved;
  // The embedding of a new model has a deviation of its own.
  k.embedding_deviation = reader.positive("embedding_initializer_range", 2 * k.initializer_range);
  k.own_keys["embedding_initializer_range"] = k.embedding_deviation;
  reader.ignore({"mlp_bias"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

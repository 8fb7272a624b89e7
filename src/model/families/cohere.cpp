// cohere and cohere2: parallel sublayers after one LayerNorm without a bias, neighbouring values rotated, logits scaled [Command R:
// Cohere 2024]. cohere2 has a window in three layers of four; only those rotate queries and keys [Cohere 2025, "Command A",
// section 2.1].
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {
namespace {

LlamaLikeConfig read_cohere(ConfigReader& reader, const std::string& family, const std::string& architecture,
                            double theta) {
  LlamaLikeConfig k = read_llama_like(reader, {.family = family,
                                               .architecture = architecture,
                                               .vocab_size = 256000,
                                               .hidden_size = 8192,
                                               .intermediate_size = 22528,
                                               .num_hidden_layers = 40,
                                               .num_attention_heads = 64,
                                               .max_position_embeddings = 8192,
                                               .norm_eps = 1e-5,
                                               .tie_word_embeddings = true,
                                               .bos_token_id = 5,
                                               .eos_token_id = 255001,
                                               .pad_token_id = 0,
                                               .rope_defaults = {.theta = theta, .interleaved = true},
                                               .norm = nn::Norm::Kind::layer_unbiased,
                                               .norm_names = {.before_feed_forward = {}},
                                               .parallel_sublayers = true,
                                               .norm_eps_key = "layer_norm_eps"});
  read_attention_bias(reader, k);
  k.logit_scale = static_cast<float>(read_own_number(reader, k, "logit_scale", 0.0625));
  return k;
}

}  // namespace

std::unique_ptr<Model> make_cohere(const JsonObject& config) {
  ConfigReader reader(config, "cohere");
  LlamaLikeConfig k = read_cohere(reader, "cohere", "CohereForCausalLM", 5e5);
  if (read_own_bool(reader, k, "use_qk_norm", false))
    k.head_norms = {.each = {.over = nn::HeadNorm::Over::own_weight,
                             .kind = nn::Norm::Kind::layer_unbiased,
                             .eps = static_cast<float>(k.norm_eps)}};
  reader.ignore({"model_max_length"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

std::unique_ptr<Model> make_cohere2(const JsonObject& config) {
  ConfigReader reader(config, "cohere2");
  LlamaLikeConfig k = read_cohere(reader, "cohere2", "Cohere2ForCausalLM", 1e4);
  if (k.head_dim * k.num_attention_heads != k.hidden_size)
    config.fail_at("head_dim", fmt::format("{} is not {} / {}, the only size that this family has", k.head_dim,
                                           k.hidden_size, k.num_attention_heads));
  read_window_pattern(reader, k, 4096, reader.get<std::int64_t>("sliding_window_pattern", 4));
  for (const std::int32_t window : k.windows) k.rotated.push_back(window > 0);
  // Keys of the authors' code, with the only values that these models have.
  reader.only<std::string>("order_of_interleaved_layers", "local_attn_first");
  reader.only<std::string>("position_embedding_type", "rope_gptj");
  reader.only("rotary_pct", 1.0);
  for (const char* key : {"use_embedding_sharing", "use_gated_activation", "use_parallel_block"})
    reader.only(key, true);
  reader.ignore({"use_parallel_embedding"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

// cohere and cohere2: parallel sublayers after one LayerNorm without a bias, neighbouring values rotated, logits scaled [Command R:
// Cohere 2024]. cohere2 has a window in three layers of four; only those rotate queries and keys [Cohere 2025, "Command A",
// section 2.1].
#include "model/families/cohere.h"

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {
LlamaLikeConfig read_cohere(ConfigReader& reader, LlamaLikeConfig own, double theta) {
  own.vocab_size = 256000, own.hidden_size = 8192, own.intermediate_size = 22528;
  own.num_hidden_layers = 40, own.num_attention_heads = 64, own.max_position_embeddings = 8192;
  own.norm = nn::Norm::Kind::layer_unbiased, own.norm_eps = 1e-5, own.norm_eps_key = "layer_norm_eps";
  own.norm_names = {.before_feed_forward = {}}, own.parallel_sublayers = true;
  own.tie_word_embeddings = true;
  own.bos_token_id = 5, own.eos_token_id = 255001, own.pad_token_id = 0;
  own.rope_defaults = {.theta = theta, .interleaved = true};
  LlamaLikeConfig k = read_llama_like(reader, std::move(own));
  read_attention_bias(reader, k);
  k.logit_scale = static_cast<float>(read_own_number(reader, k, "logit_scale", 0.0625));
  return k;
}

void read_cohere2_publishers_keys(ConfigReader& reader) {
  reader.only<std::string>("order_of_interleaved_layers", "local_attn_first");
  reader.only<std::string>("position_embedding_type", "rope_gptj");
  reader.only("rotary_pct", 1.0);
  for (const char* key : {"use_embedding_sharing", "use_gated_activation", "use_parallel_block"})
    reader.only(key, true);
  reader.ignore({"use_parallel_embedding"});
}

std::unique_ptr<Model> make_cohere(const JsonObject& config) {
  ConfigReader reader(config, "cohere");
  LlamaLikeConfig k = read_cohere(reader, {.family = "cohere", .architecture = "CohereForCausalLM"}, 5e5);
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
  LlamaLikeConfig k = read_cohere(reader, {.family = "cohere2", .architecture = "Cohere2ForCausalLM"}, 1e4);
  if (k.head_dim * k.num_attention_heads != k.hidden_size)
    config.fail_at("head_dim", fmt::format("{} is not {} / {}, the only size that this family has", k.head_dim,
                                           k.hidden_size, k.num_attention_heads));
  read_window_pattern(reader, k, 4096, reader.get<std::int64_t>("sliding_window_pattern", 4));
  for (const std::int32_t window : k.windows) k.rotated.push_back(window > 0);
  read_cohere2_publishers_keys(reader);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model

// xglm and biogpt: fairseq's decoders. Scaled embeddings, separate q, k, v with biases; xglm adds sinusoids that begin at
// position 2 [Lin et al. 2022, section 2.2], biogpt has learned positions with two unused first rows [Luo et al. 2022].
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/gpt_like.h"

namespace tril::model {
namespace {

constexpr std::int32_t fairseq_offset = 2;

GptLikeConfig fairseq_decoder(const std::string& family, const std::string& architecture) {
  return {.family = family,
          .architecture = architecture,
          .keys = {.layer_norm_eps = {}, .activation_dropout = {"activation_dropout"}, .layerdrop = {"layerdrop"}},
          .hidden_size = 1024,
          .intermediate_size = 4096,
          .num_hidden_layers = 24,
          .num_attention_heads = 16,
          .tie_word_embeddings = true,
          .attention_dropout = 0.1f,
          .hidden_dropout = 0.1f,
          .bos_token_id = 0,
          .eos_token_id = 2,
          .pad_token_id = 1,
          .position_offset = fairseq_offset,
          .parallel = false,
          .names = {.embedding = "embed_tokens",
                    .positions = "embed_positions",
                    .layers = "layers",
                    .attention = "self_attn",
                    .out = "out_proj",
                    .self_norm = "self_attn_layer_norm",
                    .feed_forward_norm = "final_layer_norm",
                    .feed_forward = "",
                    .first = "fc1",
                    .second = "fc2",
                    .final_norm = "layer_norm"}};
}

void read_fairseq_scale(ConfigReader& reader, GptLikeConfig& k) {
  const bool scaled = reader.get<bool>("scale_embedding", true);
  if (scaled) k.embedding_scale = std::sqrt(static_cast<float>(k.hidden_size));
  k.own_keys["scale_embedding"] = scaled;
  k.embedding_dropout = k.hidden_dropout;
}

}  // namespace

std::unique_ptr<Model> make_xglm(const JsonObject& config) {
  ConfigReader reader(config, "xglm");
  GptLikeConfig defaults = fairseq_decoder("xglm", "XGLMForCausalLM");
  GptLikeKeys& keys = defaults.keys;
  keys.hidden_size = {"d_model", "hidden_size"}, keys.intermediate_size = {"ffn_dim"};
  keys.num_hidden_layers = {"num_layers", "num_hidden_layers"};
  keys.num_attention_heads = {"attention_heads", "num_attention_heads"};
  keys.hidden_act = {"activation_function"}, keys.initializer_range = {"init_std"}, keys.hidden_dropout = {"dropout"};
  defaults.vocab_size = 256008;
  defaults.positions = GptLikeConfig::Positions::sinusoidal;
  defaults.names.prefix = "model.";
  GptLikeConfig k = read_gpt_like(reader, defaults);
  read_fairseq_scale(reader, k);
  if (k.hidden_size % 2 != 0)
    config.fail_at("d_model", fmt::format("{} is odd: a sine needs its cosine", k.hidden_size));
  // The sinusoids' table has a row of zeros at this number; from 2 on, the number is that of a position.
  if (k.pad_token_id >= fairseq_offset)
    config.fail_at("pad_token_id",
                   fmt::format("{} is not supported for xglm: it takes position {}'s sinusoid away", k.pad_token_id,
                               k.pad_token_id - fairseq_offset),
                   "only null, 0 and 1 are");
  reader.only("add_cross_attention", false);
  reader.finish();
  return std::make_unique<GptLike>(std::move(k));
}

std::unique_ptr<Model> make_biogpt(const JsonObject& config) {
  ConfigReader reader(config, "biogpt");
  GptLikeConfig defaults = fairseq_decoder("biogpt", "BioGptForCausalLM");
  defaults.keys.attention_dropout = {"attention_probs_dropout_prob"};
  defaults.keys.hidden_dropout = {"hidden_dropout_prob"};
  defaults.vocab_size = 42384;
  defaults.max_position_embeddings = 1024;
  defaults.positions = GptLikeConfig::Positions::learned;
  defaults.names.prefix = "biogpt.", defaults.names.output = "output_projection";
  GptLikeConfig k = read_gpt_like(reader, defaults);
  read_fairseq_scale(reader, k);
  reader.ignore({"layer_norm_eps"});  // as in transformers, whose norms have PyTorch's 1e-5
  reader.finish();
  return std::make_unique<GptLike>(std::move(k));
}

}  // namespace tril::model

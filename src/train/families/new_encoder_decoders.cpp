// New encoder-decoders, by BART's keys, by T5's, by Gemma's, or by those of the lesson.
#include <cmath>

#include "base/error.h"
#include "train/families/new_family.h"

namespace tril::train {
namespace {

using Json = nlohmann::json;
using M = const NewModel&;

// Embeddings are multiplied by sqrt(d_model), which their deviation makes 1; or they are not, as in BART [Lewis et al. 2020].
enum class Embeddings : std::uint8_t { scaled, unscaled };

Json bart_like(const char* model_type, M m, Embeddings embeddings, const Json& own = Json::object()) {
  const bool scaled = embeddings == Embeddings::scaled;
  Json j{{"model_type", model_type},
         {"vocab_size", m.source_vocab},
         {"d_model", m.d_model},
         {"encoder_layers", m.enc_depth},
         {"decoder_layers", m.dec_depth},
         {"encoder_attention_heads", m.num_heads},
         {"decoder_attention_heads", m.num_heads},
         {"encoder_ffn_dim", m.ffn_dim},
         {"decoder_ffn_dim", m.ffn_dim},
         {"activation_function", m.activation},
         {"max_position_embeddings", m.max_positions},
         {"scale_embedding", scaled},
         {"init_std", scaled ? 1 / std::sqrt(static_cast<double>(m.d_model)) : 0.02},
         {"pad_token_id", id_json(m.special.pad)},
         {"eos_token_id", id_json(m.special.eos)},
         {"bos_token_id", nullptr},
         {"forced_eos_token_id", id_json(m.special.eos)},
         {"decoder_start_token_id", id_json(m.special.decoder_start)},
         {"dropout", m.dropout},
         {"attention_dropout", m.attention_dropout},
         {"activation_dropout", m.activation_dropout}};
  j.update(own);
  return j;
}

// Its targets begin with the end token, as published: `transformers` does not count padding in positions.
Json m2m_100(M m) {
  return bart_like("m2m_100", m, Embeddings::scaled, {{"decoder_start_token_id", id_json(m.special.eos)}});
}

// Marian's, whose sides may have vocabularies of their own.
Json marian_like(const char* model_type, M m, Json own = Json::object()) {
  own.update({{"decoder_vocab_size", m.target_vocab}, {"share_encoder_decoder_embeddings", m.shared_vocabulary}});
  return bart_like(model_type, m, Embeddings::scaled, own);
}

Json t5_like(const char* model_type, M m, const Json& own) {
  Json j{{"model_type", model_type},
         {"vocab_size", m.target_vocab},
         {"d_model", m.d_model},
         {"d_kv", m.d_head()},
         {"d_ff", m.ffn_dim},
         {"num_layers", m.enc_depth},
         {"num_decoder_layers", m.dec_depth},
         {"num_heads", m.num_heads},
         {"dense_act_fn", m.activation},
         {"dropout_rate", m.dropout},
         {"pad_token_id", id_json(m.special.pad)},
         {"eos_token_id", id_json(m.special.eos)},
         {"decoder_start_token_id", id_json(m.special.decoder_start)}};
  j.update(own);
  return j;
}

// Switch Transformers: experts in every other layer [Fedus et al. 2022].
Json switch_layers(M m) {
  return {{"num_experts", 8},
          {"num_sparse_encoder_layers", std::max<std::int64_t>(1, m.enc_depth / 2)},
          {"num_sparse_decoder_layers", std::max<std::int64_t>(1, m.dec_depth / 2)}};
}

Json t5gemma(M m) {
  const auto side = [&](std::int64_t depth) {
    return llama_config("t5_gemma_module", m,
                        {{"num_hidden_layers", depth},
                         {"head_dim", m.d_head()},
                         {"query_pre_attn_scalar", m.d_head()},
                         {"sliding_window", m.window()},
                         {"hidden_activation", m.activation}});
  };
  Json j = decoder_config("t5gemma", m);
  j.update({{"encoder", side(m.enc_depth)},
            {"decoder", side(m.dec_depth)},
            {"decoder_start_token_id", id_json(m.special.decoder_start)},
            {"dropout_rate", m.dropout},
            {"attention_dropout", m.attention_dropout}});
  for (const char* name : {"encoder", "decoder"}) j[name].erase("attention_dropout");  // the whole model's
  return j;
}

// The Transformer of the paper as it is often taught: post-norm, fixed sinusoids, both stacks of equal depth
// [Vaswani et al. 2017, section 3].
Json full_transformer(M m) {
  check(m.enc_depth == m.dec_depth, "dec_depth", "a full_transformer has one depth for both stacks, not {} and {}",
        m.enc_depth, m.dec_depth);
  return {{"model_type", "tril"},          {"architecture", "full_transformer"},
          {"vocab_size", m.source_vocab},  {"d_model", m.d_model},
          {"num_heads", m.num_heads},      {"d_ff", m.ffn_dim},
          {"num_layers", m.dec_depth},     {"pad_idx", m.special.pad},
          {"eos_token_id", m.special.eos}, {"decoder_start_token_id", m.special.decoder_start},
          {"dropout", m.dropout}};
}

constexpr NewFamily::Dropouts every_dropout{.layers = true, .embedding = true, .attention = true, .activation = true};

// What families like BART and like Marian have in common.
constexpr NewFamily bart_family(std::string_view arch, Json (*config)(M), std::string_view activation, bool post_norm) {
  return {.arch = arch,
          .config = config,
          .encoder_decoder = true,
          .activation = activation,
          .dropouts = every_dropout,
          .layer_drop = true,
          .depth_scaled_init = post_norm};
}

constexpr NewFamily marian_family(std::string_view arch, Json (*config)(M)) {
  NewFamily family = bart_family(arch, config, "relu", true);
  family.two_vocabularies = true;
  return family;
}

constexpr NewFamily t5_family(std::string_view arch, Json (*config)(M), std::string_view activation) {
  NewFamily family{
      .arch = arch, .config = config, .encoder_decoder = true, .activation = activation, .dropouts = every_dropout};
  family.dropouts.one_rate = true;
  return family;
}

}  // namespace

std::span<const NewFamily> new_encoder_decoders() {
  static constexpr NewFamily list[]{
      marian_family("marian", [](M m) { return marian_like("marian", m); }),
      marian_family("marian_nmt",
                    [](M m) {
                      return marian_like("tril", m, {{"architecture", "marian_nmt"}});
                    }),
      marian_family("marian_ssru",
                    [](M m) {
                      return marian_like("tril", m, {{"architecture", "marian_nmt"}, {"decoder_cell", "ssru"}});
                    }),
      marian_family("opennmt",
                    [](M m) {
                      return marian_like("tril", m, {{"architecture", "opennmt"}});
                    }),
      bart_family(
          "bart", [](M m) { return bart_like("bart", m, Embeddings::unscaled); }, "gelu", true),
      bart_family(
          "mbart", [](M m) { return bart_like("mbart", m, Embeddings::unscaled); }, "gelu", false),
      bart_family("m2m_100", m2m_100, "relu", false),
      bart_family(
          "pegasus", [](M m) { return bart_like("pegasus", m, Embeddings::scaled); }, "relu", false),
      bart_family(
          "plbart", [](M m) { return bart_like("plbart", m, Embeddings::scaled); }, "gelu", true),
      bart_family(
          "mvp", [](M m) { return bart_like("mvp", m, Embeddings::unscaled); }, "gelu", true),
      bart_family(
          "blenderbot", [](M m) { return bart_like("blenderbot", m, Embeddings::scaled); }, "gelu", false),
      bart_family(
          "blenderbot-small", [](M m) { return bart_like("blenderbot-small", m, Embeddings::scaled); }, "gelu", true),
      {.arch = "t5gemma",
       .config = t5gemma,
       .encoder_decoder = true,
       .activation = "gelu_pytorch_tanh",
       .dropouts = {.layers = true, .attention = true}},
      t5_family(
          "t5",
          [](M m) {
            return t5_like("t5", m, {{"feed_forward_proj", m.activation}});
          },
          "relu"),
      t5_family(
          "mt5",
          [](M m) {
            return t5_like("mt5", m, {{"feed_forward_proj", "gated-gelu"}, {"tie_word_embeddings", false}});
          },
          "gelu_new"),
      t5_family(
          "umt5",
          [](M m) {
            return t5_like("umt5", m, {{"feed_forward_proj", "gated-gelu"}, {"tie_word_embeddings", false}});
          },
          "gelu_new"),
      t5_family(
          "switch_transformers", [](M m) { return t5_like("switch_transformers", m, switch_layers(m)); }, "relu"),
      {.arch = "full_transformer", .config = full_transformer, .encoder_decoder = true, .dropouts = {.layers = true}},
  };
  return list;
}

}  // namespace tril::train

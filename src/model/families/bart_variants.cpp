#include "model/families/bart_variants.h"

#include <array>

#include "base/error.h"

namespace tril::model {
namespace {

using Positions = BartFamily::Positions;
using EmbeddingNorm = BartFamily::EmbeddingNorm;

// The defaults of most families; `other` sets those of one family.
template <class F>
BartConfig defaults_but(F other) {
  BartConfig k = bart_defaults();
  other(k);
  return k;
}

void set_layers(BartConfig& k, std::int64_t layers) {
  k.encoder_layers = k.decoder_layers = layers;
}

void set_widths(BartConfig& k, std::int64_t d_model, std::int64_t ffn_dim, std::int64_t heads) {
  k.d_model = d_model;
  k.encoder_ffn_dim = k.decoder_ffn_dim = ffn_dim;
  k.encoder_attention_heads = k.decoder_attention_heads = heads;
}

std::array<BartVariant, 8> list() {
  const auto blenderbot_ids = [](BartConfig& k) {
    k.pad_token_id = 0;
    k.bos_token_id = k.decoder_start_token_id = 1;
  };
  return {{
      {{.name = "bart",
        .architecture = "BartForConditionalGeneration",
        .embedding_norm = EmbeddingNorm::of_sums,
        .positions = Positions::learned},
       defaults_but([](BartConfig&) {})},
      {{.name = "plbart",
        .architecture = "PLBartForConditionalGeneration",
        .embedding_norm = EmbeddingNorm::of_sums,
        .positions = Positions::learned},
       defaults_but([](BartConfig& k) {
         k.vocab_size = 50005;
         set_layers(k, 6);
         set_widths(k, 768, 3072, 12);
         k.scale_embedding = true;
         k.attention_dropout = 0.1f;
         k.decoder_start_token_id = -1;
       })},
      {{.name = "mvp",
        .architecture = "MvpForConditionalGeneration",
        .embedding_norm = EmbeddingNorm::of_sums,
        .positions = Positions::learned},
       defaults_but([](BartConfig& k) {
         k.vocab_size = 50267;
         k.forced_eos_token_id = -1;
       })},
      {{.name = "mbart",
        .architecture = "MBartForConditionalGeneration",
        .pre_norm = true,
        .embedding_norm = EmbeddingNorm::of_sums,
        .positions = Positions::learned},
       defaults_but([](BartConfig& k) { k.decoder_start_token_id = -1; })},
      {{.name = "m2m_100",
        .architecture = "M2M100ForConditionalGeneration",
        .pre_norm = true,
        .logits_bias = false,
        .positions = Positions::sinusoids_from_pad},
       defaults_but([](BartConfig& k) {
         k.vocab_size = 128112;
         k.activation_function = HiddenAct::relu;
         k.scale_embedding = true;
         k.encoder_layerdrop = k.decoder_layerdrop = 0.05;
         k.attention_dropout = 0.1f;
         k.forced_eos_token_id = -1;
       })},
      {{.name = "pegasus", .architecture = "PegasusForConditionalGeneration", .pre_norm = true},
       defaults_but([](BartConfig& k) {
         k.pad_token_id = k.decoder_start_token_id = 0;
         k.bos_token_id = -1;
         k.eos_token_id = k.forced_eos_token_id = 1;
       })},
      {{.name = "blenderbot",
        .architecture = "BlenderbotForConditionalGeneration",
        .pre_norm = true,
        .positions = Positions::learned,
        .rows_before_positions = 0},
       defaults_but([&](BartConfig& k) {
         blenderbot_ids(k);
         k.vocab_size = 8008;
         k.encoder_layers = 2, k.decoder_layers = 24;
         set_widths(k, 2560, 10240, 32);
         k.max_position_embeddings = 128;
       })},
      {{.name = "blenderbot-small",
        .architecture = "BlenderbotSmallForConditionalGeneration",
        .embedding_norm = EmbeddingNorm::of_decoder_words,
        .positions = Positions::learned,
        .rows_before_positions = 0},
       defaults_but([&](BartConfig& k) {
         blenderbot_ids(k);
         set_layers(k, 8);
         set_widths(k, 512, 2048, 16);
         k.max_position_embeddings = 512;
       })},
  }};
}

}  // namespace

BartConfig bart_defaults() {
  BartConfig k;
  k.vocab_size = 50265;
  set_layers(k, 12);
  set_widths(k, 1024, 4096, 16);
  k.max_position_embeddings = 1024;
  k.activation_function = HiddenAct::gelu;
  k.scale_embedding = false;
  k.pad_token_id = 1;
  k.bos_token_id = 0;
  k.eos_token_id = k.forced_eos_token_id = k.decoder_start_token_id = 2;
  return k;
}

const BartVariant* find_bart_variant(std::string_view name) {
  static const std::array<BartVariant, 8> variants = list();
  for (const BartVariant& one : variants)
    if (one.family.name == name) return &one;
  return nullptr;
}

const BartVariant& bart_variant(std::string_view name) {
  if (const BartVariant* found = find_bart_variant(name)) return *found;
  fail_usage("family", fmt::format("'{}' is not a family like BART", name));
}

}  // namespace tril::model

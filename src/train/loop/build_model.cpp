#include "train/loop/build_model.h"

#include <cmath>

#include "model/families/linear_decoder.h"
#include "model/families/marian.h"
#include "model/families/marian_nmt.h"

namespace tril::train {

void set_dropouts(model::BartConfig& c, const ModelOptions& options) {
  c.dropout = static_cast<float>(options.dropout);
  c.embedding_dropout = static_cast<float>(options.embedding_dropout.value_or(-1));
  c.attention_dropout = static_cast<float>(options.attention_dropout);
  c.activation_dropout = static_cast<float>(options.activation_dropout);
}

void set_dropouts(model::T5Config& c, const ModelOptions& options) {
  c.dropout_rate = static_cast<float>(options.dropout);
  c.embedding_dropout = static_cast<float>(options.embedding_dropout.value_or(-1));
  c.attention_dropout = static_cast<float>(options.attention_dropout);
  c.activation_dropout = static_cast<float>(options.activation_dropout);
}

void set_dropouts(model::Gpt2Config& c, const ModelOptions& options) {
  c.resid_pdrop = static_cast<float>(options.dropout);
  c.embd_pdrop = static_cast<float>(options.embedding_dropout.value_or(options.dropout));
  c.attn_pdrop = static_cast<float>(options.attention_dropout);
}

namespace {

std::unique_ptr<model::Model> build_gpt2(const ModelOptions& options, const Tokenizer& tokenizer) {
  model::Gpt2Config c;
  c.vocab_size = tokenizer.size(Side::target);
  c.n_positions = options.max_positions;
  c.n_embd = options.d_model;
  c.n_layer = options.dec_depth;
  c.n_head = options.num_heads;
  c.n_inner = options.ffn_dim;
  c.activation_function = options.activation;
  set_dropouts(c, options);
  const SpecialIds& special = tokenizer.special(Side::target);
  c.bos_token_id = special.bos;
  c.eos_token_id = special.eos;
  c.pad_token_id = special.pad;
  return std::make_unique<model::Gpt2>(c);
}

std::unique_ptr<model::Model> build_linear_decoder(const ModelOptions& options, const Tokenizer& tokenizer) {
  model::LinearDecoderConfig c;
  c.vocab_size = tokenizer.size(Side::target);
  c.d_model = options.d_model;
  c.num_layers = options.dec_depth;
  c.num_heads = options.num_heads;
  c.d_ff = options.ffn_dim;
  c.activation = options.activation;
  c.dropout = static_cast<float>(options.dropout);
  c.embedding_dropout = static_cast<float>(options.embedding_dropout.value_or(options.dropout));
  const SpecialIds& special = tokenizer.special(Side::target);
  c.bos_token_id = special.bos, c.eos_token_id = special.eos, c.pad_token_id = special.pad;
  return std::make_unique<model::LinearDecoder>(c);
}

void check_one_vocabulary(const ModelOptions& options, const Tokenizer& tokenizer) {
  check(tokenizer.shared_vocabulary(), "vocab",
        "`arch` {} needs one vocabulary for both sides, but this tokenizer has two", options.arch);
}

// A sentence needs an end token, and a decoder a start token.
void check_ends_sentences(const ModelOptions& options, const Tokenizer& tokenizer) {
  const SpecialIds& special = tokenizer.special(Side::target);
  if (special.eos >= 0 && special.pad >= 0 && special.decoder_start >= 0) return;
  const char* const missing = special.eos < 0   ? "no end token"
                              : special.pad < 0 ? "no padding token"
                                                : "no decoder start token";
  fail_usage("vocab", fmt::format("the vocabulary has {}, which `arch` {} needs", missing, options.arch),
             "pass a SentencePiece model, or the directory of a translation model; vocabularies like GPT-2's are for "
             "language models");
}

// Marian and related families.
std::unique_ptr<model::Model> build_bart(const ModelOptions& options, const Tokenizer& tokenizer) {
  model::BartConfig c;
  c.vocab_size = tokenizer.size(Side::source);
  c.decoder_vocab_size = tokenizer.size(Side::target);
  c.share_encoder_decoder_embeddings = tokenizer.shared_vocabulary();
  c.d_model = options.d_model;
  c.encoder_layers = options.enc_depth;
  c.decoder_layers = options.dec_depth;
  c.encoder_attention_heads = c.decoder_attention_heads = options.num_heads;
  c.encoder_ffn_dim = c.decoder_ffn_dim = options.ffn_dim;
  c.activation_function = options.activation;
  c.max_position_embeddings = options.max_positions;
  const SpecialIds& special = tokenizer.special(Side::target);
  c.pad_token_id = special.pad;
  c.eos_token_id = c.forced_eos_token_id = special.eos;
  c.decoder_start_token_id = special.decoder_start;
  c.init_std = 1 / std::sqrt(static_cast<double>(options.d_model));  // of embeddings; times sqrt(d_model): 1
  set_dropouts(c, options);
  c.encoder_layerdrop = c.decoder_layerdrop = options.layer_drop;
  c.depth_scaled_init = options.depth_scaled_init;
  if (options.arch == "bart" ||
      options.arch == "mbart")  // these two families normalise embeddings and learn their positions
    c.scale_embedding = false, c.init_std = 0.02;
  c.validate("model");

  if (options.arch == "marian_nmt" || options.arch == "marian_ssru")
    return model::make_marian_nmt({.pre_norm = false, .ssru = options.arch == "marian_ssru"}, c);
  if (options.arch == "marian") return std::make_unique<model::Marian>(c);
  check_one_vocabulary(options, tokenizer);
  return model::make_bart(options.arch, c);
}

std::unique_ptr<model::Model> build_t5(const ModelOptions& options, const Tokenizer& tokenizer) {
  check_one_vocabulary(options, tokenizer);
  model::T5Config c;
  c.family = options.arch;
  c.vocab_size = tokenizer.size(Side::target);
  c.d_model = options.d_model;
  c.d_kv = options.d_model / options.num_heads;
  c.d_ff = options.ffn_dim;
  c.num_layers = options.enc_depth;
  c.num_decoder_layers = options.dec_depth;
  c.num_heads = options.num_heads;
  c.dense_act_fn = options.activation;
  c.is_gated_act = options.arch == "mt5";
  c.tie_word_embeddings = c.scale_decoder_outputs = options.arch == "t5";
  const SpecialIds& special = tokenizer.special(Side::target);
  c.pad_token_id = special.pad;
  c.eos_token_id = special.eos;
  c.decoder_start_token_id = special.decoder_start;
  set_dropouts(c, options);
  return model::make_t5(c);
}

}  // namespace

std::unique_ptr<model::Model> build_model(const ModelOptions& options, const Tokenizer& tokenizer) {
  if (!is_language_model(options)) check_ends_sentences(options, tokenizer);
  auto m = is_linear(options)           ? build_linear_decoder(options, tokenizer)
           : is_language_model(options) ? build_gpt2(options, tokenizer)
           : is_t5(options)             ? build_t5(options, tokenizer)
                                        : build_bart(options, tokenizer);
  m->set_gradient_checkpointing(options.gradient_checkpointing);
  if (!m->parameters().flat()) m->parameters().allocate();
  return m;
}

}  // namespace tril::train

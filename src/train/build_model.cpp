#include "train/build_model.h"

#include <cmath>

#include "model/marian.h"

namespace tril::train {

std::unique_ptr<model::Model> build_model(const ModelOptions& options, const Tokenizer& tokenizer) {
  model::MarianConfig c;
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
  c.init_std =
      1 / std::sqrt(static_cast<double>(options.d_model));  // of embeddings: times sqrt(d_model) they begin at 1
  c.dropout = static_cast<float>(options.dropout);
  c.embedding_dropout = static_cast<float>(options.embedding_dropout.value_or(-1));
  c.attention_dropout = static_cast<float>(options.attention_dropout);
  c.activation_dropout = static_cast<float>(options.activation_dropout);
  c.validate("model");

  auto m = std::make_unique<model::Marian>(c);
  m->set_gradient_checkpointing(options.gradient_checkpointing);
  if (!m->parameters().flat()) m->parameters().allocate();
  return m;
}

}  // namespace tril::train

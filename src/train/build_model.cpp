#include "train/build_model.h"

#include <cmath>

#include "model/gpt2.h"
#include "model/marian.h"

namespace tril::train {

void scale_by_depth(nn::Parameters& parameters) {
  constexpr std::string_view mark = ".layers.";
  for (nn::Parameter& p : parameters.all()) {
    const std::size_t at = p.name.find(mark);
    if (at == std::string::npos || p.init.kind != nn::Init::Kind::uniform) continue;
    p.init.value /= std::sqrt(std::stoi(p.name.substr(at + mark.size())) + 1.0);  // names count layers from 0
  }
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
  c.resid_pdrop = static_cast<float>(options.dropout);
  c.embd_pdrop = static_cast<float>(options.embedding_dropout.value_or(options.dropout));
  c.attn_pdrop = static_cast<float>(options.attention_dropout);
  const SpecialIds& special = tokenizer.special(Side::target);
  c.bos_token_id = special.bos;
  c.eos_token_id = special.eos;
  c.pad_token_id = special.pad;
  return std::make_unique<model::Gpt2>(c);
}

std::unique_ptr<model::Model> build_marian(const ModelOptions& options, const Tokenizer& tokenizer) {
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
  c.encoder_layerdrop = c.decoder_layerdrop = options.layer_drop;
  c.validate("model");

  return std::make_unique<model::Marian>(c);
}

}  // namespace

std::unique_ptr<model::Model> build_model(const ModelOptions& options, const Tokenizer& tokenizer) {
  auto m = is_language_model(options) ? build_gpt2(options, tokenizer) : build_marian(options, tokenizer);
  if (options.depth_scaled_init) scale_by_depth(m->parameters());
  m->set_gradient_checkpointing(options.gradient_checkpointing);
  if (!m->parameters().flat()) m->parameters().allocate();
  return m;
}

}  // namespace tril::train

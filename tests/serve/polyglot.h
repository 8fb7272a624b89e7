// A small model of random weights that translates between many languages, with a vocabulary like NLLB's.
#pragma once

#include "cli/run_program.h"
#include "model/marian.h"
#include "serve/served_model.h"
#include "support/paths.h"

namespace tril::serve::testing {

inline Loaded small_polyglot() {
  const ScratchFolder directory;
  directory.write("sentencepiece.bpe.model",
                  file_text(test::test_dir() + "/golden/hf/tokenizers/spm_unigram/spm.model"));
  directory.write("tokenizer_config.json", R"({"tokenizer_class": "NllbTokenizer"})");
  Loaded l;
  l.tokenizer = load_tokenizer(directory.at(""));
  model::MarianConfig k;
  k.vocab_size = k.decoder_vocab_size = l.tokenizer->size(Side::target);
  k.d_model = 32;
  k.encoder_layers = k.decoder_layers = 2;
  k.encoder_attention_heads = k.decoder_attention_heads = 4;
  k.encoder_ffn_dim = k.decoder_ffn_dim = 64;
  k.max_position_embeddings = 64;
  k.pad_token_id = l.tokenizer->special(Side::target).pad;
  k.decoder_start_token_id = k.eos_token_id = l.tokenizer->special(Side::target).eos;
  k.init_std = 0.3;
  const auto m = std::make_shared<model::Marian>(k);
  m->parameters().allocate();
  m->parameters().initialise(6);
  m->parameters().refresh(kern::best());
  l.model = m;
  l.search.beam_size = 2;
  l.search.eos_ids = {k.eos_token_id};
  l.text.max_length = 12;
  l.engine.deterministic = true;
  return l;
}

}  // namespace tril::serve::testing

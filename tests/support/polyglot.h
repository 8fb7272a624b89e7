// A small model of random weights that translates between many languages, with a vocabulary like NLLB's.
#pragma once

#include "support/paths.h"
#include "support/run_program.h"
#include "support/small_models.h"

namespace tril::serve::testing {

// @param target  the directory's default target language; "": none
inline Loaded small_polyglot(const std::string& target = "spa_Latn") {
  const ScratchFolder directory;
  directory.write("sentencepiece.bpe.model",
                  file_text(test::test_dir() + "/golden/hf/tokenizers/spm_unigram/spm.model"));
  directory.write("tokenizer_config.json", R"({"tokenizer_class": "NllbTokenizer"})");
  Loaded l;
  l.tokenizer = load_tokenizer(directory.at(""));
  const std::int32_t eos = l.tokenizer->special(Side::target).eos;
  l.model = small_marian(*l.tokenizer, eos, 64, 6);
  l.asked.beam_size = l.search.beam_size = 2;
  l.search.eos_ids = {eos};
  if (!target.empty()) l.search.forced_bos_id = l.tokenizer->language_id(target);
  l.text.max_length = 12;
  l.engine.deterministic = true;
  return l;
}

}  // namespace tril::serve::testing

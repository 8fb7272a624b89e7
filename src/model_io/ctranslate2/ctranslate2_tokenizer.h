// The tokenizer of a CTranslate2 model. Its vocabularies map pieces to ids. Text is split into pieces by other files next to
// them: Hugging Face's, or SentencePiece models (sentencepiece.model of Argos Translate; source.spm and target.spm of OPUS-MT).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model_io/ctranslate2/ctranslate2_files.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::model {

/// Pieces in the order of their ids.
struct Ctranslate2Vocabularies {
  std::vector<std::string> source, target;  ///< equal if shared; a language model has only the target's
  bool shared = false;
  std::string where;  ///< the target's file
};

/// The special tokens that CTranslate2 adds to a text.
struct Ctranslate2Tokens {
  std::string unk = "<unk>", bos = "<s>", eos = "</s>";
  std::optional<std::string> decoder_start;  ///< nothing: each caller of CTranslate2 passes it
  bool adds_source_bos = false, adds_source_eos = false;
  bool starts_from_zero = false;  ///< translations begin with a zero embedding, as Marian's do
};

/// @throws Error if a vocabulary is missing
Ctranslate2Vocabularies read_ctranslate2_vocabularies(const Ctranslate2Files& files, bool translates);

bool has_ctranslate2_tokenizer(const Ctranslate2Files& files);
/// True if the model's directory has a tokenizer in Hugging Face's format.
bool has_published_tokenizer(const Ctranslate2Files& files);
/// @param rows  the number of rows of the model's embeddings; the last is padding
/// @throws Error naming a missing file, or one whose ids differ from the vocabulary's
std::shared_ptr<const Tokenizer> load_ctranslate2_tokenizer(const Ctranslate2Files& files,
                                                            const Ctranslate2Vocabularies& pieces,
                                                            const Ctranslate2Tokens& tokens, std::int32_t rows);

}  // namespace tril::model

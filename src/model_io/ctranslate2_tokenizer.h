// The tokenizer of a CTranslate2 model. Its vocabularies give pieces their ids. Other files beside them split text into pieces:
// Hugging Face's, or SentencePiece models (sentencepiece.model of Argos Translate; source.spm and target.spm of OPUS-MT).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model_io/ctranslate2_files.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::model {

/// Pieces in the order of their ids.
struct Ctranslate2Vocabularies {
  std::vector<std::string> source, target;  ///< equal where shared; a language model has only the target's
  bool shared = false;
  std::string where;  ///< the target's file
};

/// What CTranslate2 itself adds to a text, and how pieces are spelt.
struct Ctranslate2Tokens {
  std::string unk = "<unk>", bos = "<s>", eos = "</s>";
  std::optional<std::string> decoder_start;  ///< nothing: the caller passes it
  bool adds_source_bos = false, adds_source_eos = false;
  bool starts_from_zero = false;  ///< translations begin with a zero embedding, as Marian's do
};

/// @throws Error where a vocabulary is missing
Ctranslate2Vocabularies read_ctranslate2_vocabularies(const Ctranslate2Files& files, bool translates);

bool has_ctranslate2_tokenizer(const Ctranslate2Files& files);
/// Whether it is in Hugging Face's form, in the model's directory.
bool has_published_tokenizer(const Ctranslate2Files& files);
/// @param rows  of the model's embeddings, the last being padding
/// @throws Error naming the file that is missing or that has other ids than the vocabulary
std::shared_ptr<const Tokenizer> load_ctranslate2_tokenizer(const Ctranslate2Files& files,
                                                            const Ctranslate2Vocabularies& pieces,
                                                            const Ctranslate2Tokens& tokens, std::int32_t rows);

}  // namespace tril::model

// Marian's tokenizer as Hugging Face keeps it: SentencePiece cuts text into pieces, vocab.json numbers them.
#pragma once

#include <string>
#include <vector>

#include "tokenizer/files/tokenizer.h"

namespace tril {

/// What a new Marian tokenizer is made of.
struct MarianParts {
  std::string source_spm, target_spm;  ///< bytes of the SentencePiece models; the same for both sides, or two
  bool separate_vocabularies = false;  ///< vocab.json and target_vocab.json instead of one joint vocab.json
  std::vector<std::string> tags;       ///< tokens of their own, such as ">>de<<" in front of a source text
  std::string source_lang, target_lang;
  std::int32_t model_max_length = 512;
};

/// Numbers the pieces in Marian's order: "</s>" 0, "<unk>" 1, the models' pieces in their order (the source's first,
/// then what only the target's has), the tags that are none of them, "<pad>" last. The models may have their special symbols anywhere.
std::shared_ptr<const Tokenizer> make_marian_tokenizer(MarianParts parts);

/// Whether `directory` holds a tokenizer of this form (a source.spm).
bool is_marian_directory(const std::string& directory);

/// A directory of this form with further SentencePiece pieces and tokens: the models are replaced, and the tokens get
/// the ids behind those that there are.
struct MarianAdditions {
  std::string source_spm, target_spm;                     ///< longer models, or the directory's own
  std::vector<std::string> source_tokens, target_tokens;  ///< pieces and tags; of a shared table, either list's
};
std::shared_ptr<const Tokenizer> extend_marian_directory(const std::string& directory, const MarianAdditions& more);

/// Reads a directory of this form.
std::shared_ptr<const Tokenizer> load_marian_tokenizer(const std::string& directory);

}  // namespace tril

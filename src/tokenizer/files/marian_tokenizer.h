// Marian's tokenizer in Hugging Face's form: SentencePiece splits text into pieces, vocab.json numbers them.
#pragma once

#include <string>
#include <vector>

#include "tokenizer/files/tokenizer.h"
#include "tokenizer/models/piece_table.h"

namespace tril {

/// The parts of a new Marian tokenizer.
struct MarianParts {
  std::string source_spm, target_spm;  ///< bytes of the SentencePiece models; may be the same
  bool separate_vocabularies = false;  ///< vocab.json and target_vocab.json instead of one joint vocab.json
  std::vector<std::string> tags;       ///< further tokens, such as ">>de<<" before a source text
  std::string source_lang, target_lang;
  std::int32_t model_max_length = 512;
};

/// Numbers the pieces in Marian's order: "</s>" 0, "<unk>" 1, the models' pieces in order (the source's first, then those that
/// only the target has), the tags that are not pieces, "<pad>" last. The models may have their special symbols anywhere.
std::shared_ptr<const Tokenizer> make_marian_tokenizer(MarianParts parts);

/// One side's vocabulary in the Marian toolkit's form: the id of a piece is its row in the model's embedding.
struct MarianVocabulary {
  PieceTable table;  ///< with "</s>" and "<unk>"
  std::string spm;   ///< bytes of the SentencePiece model that splits text
  std::string where, spm_where;
};
struct MarianVocabularies {
  MarianVocabulary source, target;
  bool shared = false;                 ///< both sides share one table
  bool splits_special_tokens = false;  ///< "</s>" or ">>de<<" in a text is split like other text
  std::int32_t pad = 0;                ///< the id of padding and of the decoder's start, beyond both tables
  std::int32_t model_max_length = 512;
  std::string eos = "</s>", unk = "<unk>";  ///< their spelling in the tables
  bool adds_source_eos = true;              ///< source texts end in eos; if false, the source table may lack it
  std::string source_lang = {}, target_lang = {};
};
std::shared_ptr<const Tokenizer> make_marian_tokenizer(MarianVocabularies vocabularies);

/// Whether `directory` holds a tokenizer of this form (a source.spm).
bool is_marian_directory(const std::string& directory);

/// Further SentencePiece pieces and tokens for a directory of this form: the models are replaced, and the tokens get
/// the next free ids.
struct MarianAdditions {
  std::string source_spm, target_spm;                     ///< extended models, or the directory's own
  std::vector<std::string> source_tokens, target_tokens;  ///< pieces and tags; for a shared table, in either list
};
std::shared_ptr<const Tokenizer> extend_marian_directory(const std::string& directory, const MarianAdditions& more);

/// Reads a directory of this form.
std::shared_ptr<const Tokenizer> load_marian_tokenizer(const std::string& directory);

}  // namespace tril

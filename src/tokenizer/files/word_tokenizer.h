// Vocabularies of whole words, as the Marian toolkit has them in vocab.yml: a text is split at its spaces. Words may be split
// further by subword-nmt's codes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tokenizer/files/tokenizer.h"
#include "tokenizer/models/piece_table.h"
#include "tokenizer/models/subword_nmt.h"

namespace tril {

struct WordVocabularies {
  PieceTable source, target;               ///< with "</s>" and "<unk>"; target: unused if `shared`
  std::string source_where, target_where;  ///< their files, in errors
  bool shared = false;                     ///< both sides have the table `source`
  std::int32_t pad = 0;                    ///< the id of padding and of the decoder's start, beyond both tables
  std::int32_t model_max_length = 512;
  std::optional<SubwordNmt> source_codes, target_codes;  ///< nothing: the vocabulary has whole words
};
/// Words are separated by one or more spaces (U+0020) and by nothing else. A word without an id is "<unk>", and
/// so is the padding token's name. Decoded texts have "<unk>" for the unknown word, as Marian's have. Texts that are tokenised,
/// with punctuation apart from words, are up to the caller.
std::shared_ptr<const Tokenizer> make_word_tokenizer(WordVocabularies vocabularies);

/// Whether `directory` holds a tokenizer of this kind, in tril's own form: tokenizer_config.json names WordTokenizer, vocab.json
/// (and target_vocab.json) have the ids, and source.bpe and target.bpe, if they are there, the codes.
bool is_word_directory(const std::string& directory);
std::shared_ptr<const Tokenizer> load_word_tokenizer(const std::string& directory);

}  // namespace tril

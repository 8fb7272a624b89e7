// Subword vocabularies learned from text by SentencePiece [Kudo & Richardson 2018]: byte-pair encoding [Sennrich et al.
// 2016] or a unigram language model [Kudo 2018].
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tokenizer/files/tokenizer.h"

namespace tril {

/// byte_bpe is not SentencePiece's: byte_vocabulary.h learns it.
enum class SubwordKind { bpe, unigram, character, byte_bpe };
/// SentencePiece's rules by name: nmt_nfkc is NFKC with space rules for translation; _cf also folds case.
enum class Normalization { nmt_nfkc, nfkc, nmt_nfkc_cf, nfkc_cf, identity };

struct VocabularyOptions {
  /// Pieces, including "</s>" and "<unk>"; a Marian vocabulary has "<pad>" besides. A character model has as many as
  /// the text has, up to this.
  std::int32_t size = 8000;
  SubwordKind model = SubwordKind::bpe;
  double character_coverage = 1.0;     ///< share of the text's characters that become pieces
  std::int64_t max_lines = 2'000'000;  ///< a larger input is sampled evenly, by `seed`, down to this many lines
  std::uint64_t seed = 1;
  Normalization normalization = Normalization::nmt_nfkc;
  bool byte_fallback = false;        ///< characters without a piece become bytes instead of <unk>
  bool keep_spaces = false;          ///< keep runs of spaces and spaces at the ends, and put none in front
  std::vector<std::string> symbols;  ///< pieces that are never split, anywhere in a text
  bool split_digits = false;         ///< every digit is a piece of its own: 2026 is 2 0 2 6
  bool skip_invalid = false;         ///< skip lines that are not UTF-8
  bool may_be_smaller = false;       ///< if the text supports fewer pieces, warn instead of failing
};

/// One column of a tab-separated file, or (column -1) whole lines of a plain file.
struct TextSource {
  std::string path;
  int column = -1;
};

/// Learns a model from the lines of all files together (selected by vocabulary_lines.h); returns the bytes of
/// spm.model. The same lines, options and seed give the same bytes. "</s>" has id 0, "<unk>" has id 1.
/// @throws Error if the data do not support that many pieces (naming how many they support), or if their characters need more
std::string train_sentencepiece(const std::vector<TextSource>& files, const VocabularyOptions& options);

/// Likewise, from lines in memory.
std::string train_sentencepiece(const std::vector<std::string>& lines, const VocabularyOptions& options);

/// Reads and checks a user's spm.model; its special symbols may have any ids.
std::string read_sentencepiece(const std::string& path);

/// The source of a translation model's vocabulary.
struct VocabularyRequest {
  std::vector<TextSource> source, target;
  bool joint = true;              ///< one model and one vocabulary for both sides
  std::vector<std::string> tags;  ///< further tokens besides the pieces (MarianParts)
  std::string source_lang, target_lang;
  std::int32_t model_max_length = 512;
};

/// Trains the models of `request` and makes a Marian tokenizer of them; save_tokenizer() writes its files.
std::shared_ptr<const Tokenizer> train_marian_tokenizer(const VocabularyRequest& request,
                                                        const VocabularyOptions& options);

/// The kinds of vocabularies and their names, byte_bpe too.
const std::vector<std::pair<std::string, SubwordKind>>& subword_names();
/// The rules and their names.
const std::vector<std::pair<std::string, Normalization>>& normalization_names();

}  // namespace tril

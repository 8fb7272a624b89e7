// Pieces for text that a vocabulary was not made for, behind those it has: every old id stays.
//
// The text is cut as the old model cuts it, and byte-pair encoding [Sennrich et al. 2016] goes on from there: first
// characters that the model does not know become pieces, the most frequent first, then the pair of neighbours within a
// word that comes most often becomes one, again and again. Merges of a byte-pair model get scores below all there are,
// so that the old merges are made first and the new ones upon them. In a unigram model a piece gets the logarithm of its
// share of the text, and more than its two parts together, so that it is preferred to them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "corpus/vocabulary.h"
#include "format/sentencepiece_file.h"
#include "tokenizer/files/tokenizer.h"

namespace tril {

struct NewPiece {
  SentencePieceEntry entry;
  std::vector<std::string> parts;  ///< the old pieces that its text was cut into; characters without a piece among them
};

/// Learns up to `count` pieces for the lines of `files`; fewer where the text gives no more pairs that come twice.
/// @param model  bytes of a SentencePiece model, byte pairs or unigram
/// @param chosen  max_lines, seed and skip_invalid say from which lines; the rest is the model's
std::vector<NewPiece> learn_more_pieces(const std::string& model, const std::vector<TextSource>& files,
                                        std::int64_t count, const VocabularyOptions& chosen = {});

/// A Marian tokenizer with further pieces and tags, and what each new id was before.
struct ExtendedTokenizer {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::int32_t old_source = 0, old_target = 0;  ///< sizes before: new ids begin here
  /// For each new id of a side the old ids that its text was cut into; empty for a tag. The same where the vocabulary
  /// is shared.
  std::vector<std::vector<std::int32_t>> source_parts, target_parts;
};

struct ExtensionRequest {
  std::vector<TextSource> source, target;  ///< where both sides have one SentencePiece model, all are its text
  std::int64_t count = 0;                  ///< pieces to add, for each SentencePiece model
  std::vector<std::string> tags;           ///< ">>de<<"
  VocabularyOptions text;                  ///< max_lines, seed and skip_invalid say from which lines
};

/// Extends the tokenizer of a Marian directory. @throws Error where the directory has none
ExtendedTokenizer extend_marian_tokenizer(const std::string& directory, const ExtensionRequest& request);

}  // namespace tril

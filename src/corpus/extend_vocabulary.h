// Adds pieces to a vocabulary for text that it was not made for: every old id stays.
//
// The text is split by the old model, and byte-pair encoding [Sennrich et al. 2016] continues from there: first,
// characters that the model does not know become pieces, the most frequent first; then the most frequent pair of
// neighbours within a word becomes a piece, repeatedly. In a BPE model the new merges score below all others, so that
// old merges come first. In a unigram model a piece gets the logarithm of its share of the text, and more than the sum
// of its two parts, so that it is preferred to them.
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
  std::vector<std::string> parts;  ///< the old pieces of its text, including characters without a piece
};

/// Learns up to `count` pieces for the lines of `files`; fewer if no pair occurs twice any more.
/// @param model  bytes of a SentencePiece model, BPE or unigram
/// @param chosen  max_lines, seed and skip_invalid select the lines; the other fields are ignored
std::vector<NewPiece> learn_more_pieces(const std::string& model, const std::vector<TextSource>& files,
                                        std::int64_t count, const VocabularyOptions& chosen = {});

/// A Marian tokenizer with further pieces and tags, and the origin of each new id.
struct ExtendedTokenizer {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::int32_t old_source = 0, old_target = 0;  ///< the former sizes: new ids begin here
  /// For each new id of a side, the old ids of its text; empty for a tag. Both are the same if the vocabulary is shared.
  std::vector<std::vector<std::int32_t>> source_parts, target_parts;
};

struct ExtensionRequest {
  std::vector<TextSource> source, target;  ///< if both sides share one SentencePiece model, all are its text
  std::int64_t count = 0;                  ///< pieces to add to each SentencePiece model
  std::vector<std::string> tags;           ///< ">>de<<"
  VocabularyOptions text;                  ///< max_lines, seed and skip_invalid select the lines
};

/// Extends the tokenizer of a Marian directory. @throws Error if the directory has none
ExtendedTokenizer extend_marian_tokenizer(const std::string& directory, const ExtensionRequest& request);

}  // namespace tril

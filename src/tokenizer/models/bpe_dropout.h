// BPE dropout [Provilkov et al. 2020, algorithm 1]: byte-pair encoding in which, at each step, every possible merge is
// left out with probability p, and the best of the rest is applied; a word is done when none is left. A model that sees
// many segmentations of a word learns what its parts mean.
//
// The merges are those of a SentencePiece model: two neighbours merge if together they are a piece; the piece of the
// highest score comes first, the leftmost on ties. At p = 0 the segmentation is SentencePiece's own; at p = 1 every
// character is a piece. (The library's own sampling uses a generator per thread that cannot be seeded, so its results
// can be neither reproduced nor resumed.)
#pragma once

#include <string_view>
#include <vector>

#include "base/rng.h"
#include "tokenizer/models/subword_pieces.h"

namespace tril {

/// Appends the pieces of `text`, which is in the model's normal form (spaces are "\u2581"), as views into it. Unknown
/// characters are pieces of their own.
/// @param dropout  p, in [0, 1]
/// @param random  the source of the draws; none is made at p = 0
void segment_by_merges(const SubwordPieces& model, std::string_view text, double dropout, RandomSequence& random,
                       std::vector<std::string_view>& pieces);

}  // namespace tril

// BPE dropout [Provilkov et al. 2020, algorithm 1]: byte-pair encoding in which, at each step, every possible merge is
// left out with probability p, and the best of the rest is made; a word is done when none is left. A model that sees
// many segmentations of one word learns what its parts mean.
//
// The merges are those of a SentencePiece model: two neighbours merge where the two together are a piece, the piece of
// the highest score first, the leftmost of equals. At p = 0 the segmentation is SentencePiece's own; at p = 1 every
// character is by itself. (The library's own sampling draws from a generator for each thread that cannot be set, so
// that its results can be neither repeated nor resumed.)
#pragma once

#include <string_view>
#include <vector>

#include "base/rng.h"
#include "tokenizer/models/subword_pieces.h"

namespace tril {

/// Appends the pieces of `text`, which is in the model's normal form (spaces are "\u2581"), as views into it. Characters
/// that the model does not know are pieces by themselves.
/// @param dropout  p, in [0, 1]
/// @param random  where the draws come from; none is made at p = 0
void segment_by_merges(const SubwordPieces& model, std::string_view text, double dropout, RandomSequence& random,
                       std::vector<std::string_view>& pieces);

}  // namespace tril

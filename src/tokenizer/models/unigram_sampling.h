// Subword regularisation [Kudo 2018, section 3.2]: a segmentation x of a text is drawn with
//   P(x) ~ prod_i p(x_i)^alpha
// under the unigram model's probabilities p of its pieces: alpha = 1 draws from the model, a small alpha more evenly, a
// large one gives the best segmentation almost always. Drawn from all segmentations, not from a list of the best, by
// forward filtering and backward sampling: with e a place between characters,
//   a(e) = log sum over pieces from s to e of exp(a(s) + alpha log p(piece)),   a(0) = 0
// and going back from the end the piece from s to e is taken with probability exp(a(s) + alpha log p(piece) - a(e)).
#pragma once

#include <string_view>
#include <vector>

#include "base/rng.h"
#include "tokenizer/models/subword_pieces.h"

namespace tril {

/// Appends the pieces of `text`, which is in the model's normal form (spaces are "\u2581"), as views into it. A
/// character that the model does not know is a piece with a probability below that of every other, as in SentencePiece.
/// @param alpha  above 0
void sample_unigrams(const SubwordPieces& model, std::string_view text, double alpha, RandomSequence& random,
                     std::vector<std::string_view>& pieces);

}  // namespace tril

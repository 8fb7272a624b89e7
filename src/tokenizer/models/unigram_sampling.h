// Subword regularisation [Kudo 2018, section 3.3]: a segmentation x of a text is drawn with
//   P(x) ~ prod_i p(x_i)^alpha
// under the unigram model's probabilities p of its pieces: alpha = 1 samples from the model, a small alpha is more
// uniform, a large one nearly always gives the best segmentation. All segmentations are sampled, not an n-best list, by
// forward filtering and backward sampling: with e a place between characters,
//   a(e) = log sum over pieces from s to e of exp(a(s) + alpha log p(piece)),   a(0) = 0
// and, going back from the end, the piece from s to e is taken with probability exp(a(s) + alpha log p(piece) - a(e)).
#pragma once

#include <string_view>
#include <vector>

#include "base/rng.h"
#include "tokenizer/models/subword_pieces.h"

namespace tril {

/// Appends the pieces of `text`, which is in the model's normal form (spaces are "\u2581"), as views into it. An
/// unknown character is a piece of lower probability than any other, as in SentencePiece.
/// @param alpha  above 0
void sample_unigrams(const SubwordPieces& model, std::string_view text, double alpha, RandomSequence& random,
                     std::vector<std::string_view>& pieces);

}  // namespace tril

// What the heads of a decoder do on random tokens that are repeated: no text tells such tokens, so a head that finds them looks them up.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/tail.h"

namespace tril::trace {

struct HeadScore {
  std::int64_t layer = 0, head = 0;
  double previous = 0;   ///< mean weight of the token before
  double duplicate = 0;  ///< of the earlier occurrence of the same token
  double induction = 0;  ///< of the token after the earlier occurrence, which comes next [Olsson et al. 2022]
  /// Share of the logits that the head raises (above their mean) that it gives to tokens of the text so far; a head that copies
  /// has nearly 1, a blind one their share of the vocabulary [Olsson et al. 2022, appendix].
  double copying = 0;
};

/// Scores over `length` random tokens, twice, drawn from `seed`.
/// @param text  its source is what the encoder of an encoder-decoder reads, and its checkpoint is that of all passes
/// @throws Error(usage) if the text does not fit the model's positions, or a layer has no attention weights
std::vector<HeadScore> head_scores(const model::Model& m, std::int64_t length, std::uint64_t seed,
                                   const Input& text = {});

}  // namespace tril::trace

// The routing of the Switch Transformer: one expert for each token, and a limited number of tokens for each expert
// [Fedus et al. 2022, section 2.2].
#pragma once

#include "base/rows.h"
#include "ops/experts.h"

namespace tril::ops {

/// Each token goes to the expert of its largest logit. Of each row an expert takes the first `capacity` tokens routed
/// to it; later ones get no expert, and combine_experts() gives zeros for them.
/// @param logits  [N, E] of the tokens of `rows`
Routing route_within_capacity(const Tensor& logits, const Rows& rows, std::int64_t capacity);

}  // namespace tril::ops

// The router of Phi's mixtures of experts.
#pragma once

#include "ops/experts.h"

namespace tril::ops {

/// Weights of each token's two best experts. The first's is its share in a softmax over the experts whose logits are near the
/// largest. The second's is its share over those near the second largest, without the first. An expert with logit s is near
/// the maximum m if (m - s) / max(|s|, m) <= 2 jitter [Liu et al. 2024, "GRIN", section 2; Phi-3.5-MoE's code]. Training computes
/// the same as inference: nothing is sampled, and the choice of near experts has no gradient.
/// logits [N, E], a routing by logits with k = 2 -> [N, 2]
Tensor sparse_mixer_weights(Context& c, const Tensor& logits, const Routing& routing, float jitter);

}  // namespace tril::ops

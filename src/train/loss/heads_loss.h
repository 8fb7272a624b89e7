// The loss of Medusa heads (nn/medusa_heads.h) on a frozen model, Medusa-1 [Cai et al. 2024, section 2.2.1]:
//   L = sum over heads k of lambda^k CE_k / sum over heads k of lambda^k
// CE_k is the cross-entropy of head k at each position against the target k + 1 places after the position's own. Positions whose target
// lies behind the end of their row count as 0. The paper has no divisor; with it the loss is a mean cross-entropy of the heads.
#pragma once

#include "corpus/batch.h"
#include "model/spec/model.h"
#include "nn/medusa_heads.h"

namespace tril::train {

/// The heads that are trained, and lambda.
struct TrainedHeads {
  nn::MedusaHeads heads;
  double decay = 0.8;
};

/// L, to be differentiated with respect to the heads; the model runs as in serving.
/// @param normalizer  the divisor of the sum of losses: the target tokens of the whole update
/// @param smoothing   of labels
Tensor heads_loss(Context& c, const model::Model& m, const TrainedHeads& trained, const Batch& batch, double normalizer,
                  float smoothing = 0);

}  // namespace tril::train

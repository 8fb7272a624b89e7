// Shared by the losses.
#pragma once

#include <algorithm>

#include "ops/sizes.h"

namespace tril::ops {

/// Checks the targets [N] against a vocabulary of V and returns the divisor of the sum of losses.
double targets_that_count(const Tensor& targets, std::int64_t V, const LossOptions& o);
/// sum(losses) / normalizer as [1], summed in double.
Tensor sum_of_losses(Context& c, const Tensor& losses, double normalizer);
/// x *= dy[0]: multiplies a gradient from the forward pass by the incoming one.
void scale_by(Context& c, Tensor x, const Tensor& dy);

}  // namespace tril::ops

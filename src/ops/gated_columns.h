// The gated linear unit over the two halves of one matrix.
#pragma once

#include "ops/ops.h"

namespace tril::ops {

/// f(gate) * up [Shazeer 2020, eq. 5-6], gate the first half of x's columns and up the second: x [N, 2 F] -> [N, F].
Tensor gated_columns(Context& c, Activation f, const Tensor& x);

}  // namespace tril::ops

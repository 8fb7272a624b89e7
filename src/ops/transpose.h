// Transposes a matrix.
#pragma once

#include "ops/ops.h"

namespace tril::ops {

/// x^T: x [N, D] -> [D, N].
Tensor transpose(Context& c, const Tensor& x);

}  // namespace tril::ops

// Rows next to each other.
#pragma once

#include "ops/ops.h"

namespace tril::ops {

/// x [N, D], copied where it is columns of a wider matrix.
Tensor dense(Context& c, const Tensor& x);

}  // namespace tril::ops

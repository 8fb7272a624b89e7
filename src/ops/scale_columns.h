// A factor for each column.
#pragma once

#include "ops/ops.h"

namespace tril::ops {

/// y_ij = x_ij g_j: x [N, D], g [D] -> [N, D].
Tensor scale_columns(Context& c, const Tensor& x, const Tensor& g);

}  // namespace tril::ops

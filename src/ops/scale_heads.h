// A factor for each token and head.
#pragma once

#include "ops/ops.h"

namespace tril::ops {

/// y_ihj = x_ihj g_ih, token i, head h: x [N, heads * d], g [N, heads] -> [N, heads * d].
Tensor scale_heads(Context& c, const Tensor& x, const Tensor& g);

}  // namespace tril::ops

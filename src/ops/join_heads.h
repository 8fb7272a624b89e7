// Heads that share a part.
#pragma once

#include "ops/ops.h"

namespace tril::ops {

/// For each head the shared values, followed by its own: shared [N, D], x [N, heads * d] -> [N, heads * (D + d)]. Both
/// may be columns of wider matrices.
Tensor join_heads(Context& c, const Tensor& shared, const Tensor& x, std::int64_t heads);

}  // namespace tril::ops

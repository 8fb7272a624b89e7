// Matrices side by side.
#pragma once

#include <span>

#include "ops/ops.h"

namespace tril::ops {

/// [x_1, x_2, ...]: x_i [N, D_i], which may be columns of wider matrices -> [N, sum of D_i].
Tensor concat_columns(Context& c, std::span<const Tensor> parts);

}  // namespace tril::ops

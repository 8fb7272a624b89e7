// Makes rows contiguous.
#pragma once

#include "ops/ops.h"

namespace tril::ops {

/// x [N, D]; a copy if x is a slice of columns of a wider matrix.
Tensor dense(Context& c, const Tensor& x);

}  // namespace tril::ops

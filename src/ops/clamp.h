// Values kept between two bounds.
#pragma once

#include "ops/ops.h"

namespace tril::ops {

/// min(max(x, low), high), low <= high; either may be infinite.
Tensor clamp(Context& c, const Tensor& x, float low, float high);

}  // namespace tril::ops

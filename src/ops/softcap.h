// Bounds scores and logits smoothly.
#pragma once

#include "ops/ops.h"

namespace tril::ops {

/// cap tanh(x / cap), cap > 0: nearly x if x is small, and always within +-cap [Gemma 2, 2024, section 2].
Tensor softcap(Context& c, const Tensor& x, float cap);

}  // namespace tril::ops

// SwiGLU with bounds after the activation.
#pragma once

#include "ops/ops.h"

namespace tril::ops {

/// min(silu(gate), limit) clamp(up, -limit, limit), gate the first half of x's columns and up the second: x [N, 2 F] ->
/// [N, F]. limit is above 0 [StepFun 2026, "Step 3.5 Flash"; SwiGLU: Shazeer 2020, eq. 6]. clamped_gate() bounds the gate
/// before the activation instead.
Tensor clamped_swiglu(Context& c, const Tensor& x, float limit);

}  // namespace tril::ops

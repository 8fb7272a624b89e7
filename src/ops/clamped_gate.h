// The gated unit of gpt-oss.
#pragma once

#include "ops/ops.h"

namespace tril::ops {

struct GateClamp {
  float alpha = 1.702f;  ///< how steep the sigmoid is
  float limit = 7;       ///< of the gate from above, of `up` on both sides; above 0
};

/// (1 + u) g sigmoid(alpha g) with g = min(gate, limit), u = clamp(up, -limit, limit) [gpt-oss model card, 2025, section
/// 2.2]. x [N, 2 F] = [gate, up] -> [N, F].
Tensor clamped_gate(Context& c, const Tensor& x, GateClamp o);

}  // namespace tril::ops

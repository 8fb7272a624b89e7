// The gated unit of gpt-oss.
#pragma once

#include "ops/ops.h"

namespace tril::ops {

struct GateClamp {
  float alpha = 1.702f;  ///< steepness of the sigmoid
  float limit = 7;       ///< upper limit of the gate, and limit of |up|; above 0
};

/// (1 + u) g sigmoid(alpha g) with g = min(gate, limit), u = clamp(up, -limit, limit) [gpt-oss model card, 2025, section
/// 2.2]. x [N, 2 F] = [gate, up] -> [N, F].
Tensor clamped_gate(Context& c, const Tensor& x, GateClamp o);

}  // namespace tril::ops

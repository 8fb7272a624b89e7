// xIELU, an activation with learned slopes on both sides of zero.
#pragma once

#include "ops/ops.h"

namespace tril::ops {

/// y = a_p x^2 + beta x for x > 0, else a_n (e^x - 1 - x) + beta x, with a_p = softplus(p) and a_n = beta + softplus(n)
/// [Huang & Schlag 2025, eq. 6]. x [N, F], p and n [1] -> [N, F].
Tensor xielu(Context& c, const Tensor& x, const Tensor& p, const Tensor& n, float beta);

}  // namespace tril::ops

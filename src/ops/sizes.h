// Small helpers that op files share.
#pragma once

#include "kern/gemm.h"
#include "ops/ops.h"

namespace tril::ops {

inline std::size_t z(std::int64_t n) {
  return static_cast<std::size_t>(n);
}

/// dx (+)= dy, the gradient of everything that passes its input on.
inline void pass_on(Context& c, const Tensor& dy, const Grads::Target& to) {
  if (!to) return;
  const float one = 1.0f;
  if (to.accumulate)
    c.kernels().axpy(one, dy.data<float>(), to.grad.data<float>(), z(dy.count()));
  else
    c.kernels().scale(one, dy.data<float>(), to.grad.data<float>(), z(dy.count()));
}

/// The same where the target may be a slice of columns: dy [N, D] dense.
inline void pass_rows_on(Context& c, const Tensor& dy, const Grads::Target& to) {
  if (!to) return;
  for (std::int64_t i = 0; i < dy.size(0); ++i) {
    const Tensor row = dy.rows(i, i + 1), into = to.grad.rows(i, i + 1);
    if (to.accumulate)
      c.kernels().axpy(1.0f, row.data<float>(), into.data<float>(), z(row.count()));
    else
      c.kernels().scale(1.0f, row.data<float>(), into.data<float>(), z(row.count()));
  }
}

/// The gradient of a weight to which sums are added: zeroed if nothing stands there yet.
inline float* sum_into(Context& c, const Grads::Target& to) {
  if (!to) return nullptr;
  if (!to.accumulate) c.kernels().fill(0.0f, to.grad.data<float>(), z(to.grad.count()));
  return to.grad.data<float>();
}

/// Dropout as the context has it: none while serving.
inline kern::Dropout draw_dropout(Context& c, float p) {
  check(p >= 0 && p < 1, "dropout", "probability {} is not in [0, 1)", p);
  return c.training() && p > 0 ? kern::Dropout{p, c.rng().next_key()} : kern::Dropout{};
}

}  // namespace tril::ops

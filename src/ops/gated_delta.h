// The gated delta rule: linear attention with a state that decays, and whose value for a key is corrected.
#pragma once

#include "ops/ops.h"

namespace tril::ops {

/// Values of N tokens, all of which may be columns of wider matrices. A key head serves H / Hk neighbouring heads.
struct GatedDelta {
  Tensor q, k;   ///< [N, Hk * d_k], normalised to length one if the family does so
  Tensor v;      ///< [N, H * d_v]
  Tensor decay;  ///< [N, H] a, from 0 to 1
  Tensor beta;   ///< [N, H] b, from 0 to 1
  float scale = 1;
};

/// With a matrix S [d_k, d_v] of each head, zeros at first,
///   S_t = a_t S_{t-1} + k_t u_t^T,   u_t = b_t (v_t - a_t S_{t-1}^T k_t),   y_t = scale S_t^T q_t   -> [N, H * d_v]
/// [Yang et al. 2025, "Gated Delta Networks", eq. 10]. H is the width of `decay`, Hk is `key_heads`.
/// @param states  of gated_delta_state() values. With them there is no gradient.
Tensor gated_delta(Context& c, const GatedDelta& x, std::int64_t key_heads, const Rows& rows, States states = {});

/// Number of values of a row's state: S of each head.
constexpr std::int64_t gated_delta_state(std::int64_t heads, std::int64_t d_k, std::int64_t d_v) {
  return heads * d_k * d_v;
}

/// exp(-exp(log_rate) softplus(a + bias)): a [N, H], which may be columns, log_rate and bias [H] -> [N, H]
/// [Gu & Dao 2024, "Mamba", section 3.5.2].
Tensor delta_decay(Context& c, const Tensor& a, const Tensor& log_rate, const Tensor& bias);

}  // namespace tril::ops

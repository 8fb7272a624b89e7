// The selective state space of Mamba-2: linear attention with a state whose decay depends on the token.
#pragma once

#include "ops/ops.h"

namespace tril::ops {

/// Values of N tokens, which may be columns of wider matrices, and weights of each head. A group's B and C serve H / G
/// neighbouring heads.
struct StateSpace {
  Tensor x;         ///< [N, H * d_head]
  Tensor b, c;      ///< [N, G * d_state]
  Tensor raw;       ///< [N, H], the steps before softplus
  Tensor bias;      ///< [H], added to `raw`
  Tensor log_rate;  ///< [H]
  Tensor skip;      ///< [H] D
};

/// With a matrix S [d_state, d_head] of each head, zeros at first,
///   S_t = a_t S_{t-1} + dt_t B_t x_t^T,   y_t = S_t^T C_t + D x_t,
///   dt = softplus(raw + bias),   a = exp(-exp(log_rate) dt)                                   -> [N, H * d_head]
/// [Dao & Gu 2024, "Transformers are SSMs", section 7]. H is the width of `raw`, G is `groups`.
/// @param states  of state_space_state() values. With them there is no gradient.
Tensor state_space(Context& c, const StateSpace& in, std::int64_t groups, const Rows& rows, States states = {});

/// Number of values of a row's state: S of each head.
constexpr std::int64_t state_space_state(std::int64_t heads, std::int64_t d_state, std::int64_t d_head) {
  return heads * d_state * d_head;
}

}  // namespace tril::ops

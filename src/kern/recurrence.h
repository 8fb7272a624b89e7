// Arguments of recurrences over the tokens of one row: the short convolution, the gated delta rule and the selective state space.
// See kernels.h for conventions.
#pragma once

#include <cstddef>

namespace tril::kern {

/// y_t = bias + sum over k of w_k * x_{t - taps + 1 + k}, channel by channel, for the next tokens of one row. Inputs
/// before them are in `before`, or zero.
struct ShortConvolution {
  const float* x = nullptr;
  std::size_t x_stride = 0, tokens = 0, width = 0;
  const float* w = nullptr;     ///< [taps, width] with w_stride
  const float* bias = nullptr;  ///< [width] or null
  std::size_t w_stride = 0, taps = 1;
  const float* before = nullptr;  ///< [taps - 1, width] with before_stride, oldest first; null: zeros
  std::size_t before_stride = 0;
};

/// One head of one row of the gated delta rule [Yang et al. 2025, eq. 10]: with S [d_k, d_v],
///   S_t = a_t S_{t-1} + k_t u_t^T,   u_t = b_t (v_t - a_t S_{t-1}^T k_t),   y_t = scale S_t^T q_t.
struct GatedDelta {
  const float *q = nullptr, *k = nullptr, *v = nullptr;
  std::size_t q_stride = 0, k_stride = 0, v_stride = 0;
  const float *decay = nullptr, *beta = nullptr;  ///< a, b: one value of each token
  std::size_t decay_stride = 0, beta_stride = 0;
  std::size_t tokens = 0, d_k = 0, d_v = 0;
  float scale = 1;
};

/// Where its gradients are added.
struct GatedDeltaGradient {
  const float* dy = nullptr;
  float *dq = nullptr, *dk = nullptr, *dv = nullptr, *d_decay = nullptr, *d_beta = nullptr;
  std::size_t dy_stride = 0, dq_stride = 0, dk_stride = 0, dv_stride = 0, d_decay_stride = 0, d_beta_stride = 0;
};

/// One head of one row of a selective state space [Dao & Gu 2024, "Transformers are SSMs", section 7]: with S [d_state, d_head],
///   S_t = a_t S_{t-1} + dt_t B_t x_t^T,   y_t = S_t^T C_t + D x_t.
struct StateSpace {
  const float *x = nullptr, *b = nullptr, *c = nullptr;
  std::size_t x_stride = 0, b_stride = 0, c_stride = 0;
  const float *decay = nullptr, *dt = nullptr;  ///< a, dt: one value of each token
  std::size_t step_stride = 0;                  ///< of both
  std::size_t tokens = 0, d_state = 0, d_head = 0;
  float skip = 0;  ///< D
};

/// Where its gradients are added; d_skip is one number.
struct StateSpaceGradient {
  const float* dy = nullptr;
  float *dx = nullptr, *db = nullptr, *dc = nullptr, *d_decay = nullptr, *d_dt = nullptr, *d_skip = nullptr;
  std::size_t dy_stride = 0, dx_stride = 0, db_stride = 0, dc_stride = 0;  // d_decay, d_dt: step_stride
};

}  // namespace tril::kern

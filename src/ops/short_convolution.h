// A causal convolution of each channel over the last few tokens.
#pragma once

#include "ops/ops.h"

namespace tril::ops {

struct Taps {
  Tensor w;          ///< [taps, D]: the last row multiplies the token itself
  Tensor bias = {};  ///< [D] or none
};

/// y_t = bias + sum over k of w_k * x_{t - taps + 1 + k} within each row, channel by channel; tokens before a row's first
/// are zeros: x [N, D], which may be columns of a wider matrix -> [N, D]. [Poli et al. 2023, section 3; Gu & Dao 2024]
/// @param states  of short_convolution_state() values: the row's last inputs. With them there is no gradient.
Tensor short_convolution(Context& c, const Tensor& x, const Taps& taps, const Rows& rows, States states = {});

/// Number of values of a row's state: its last taps - 1 inputs, oldest first.
constexpr std::int64_t short_convolution_state(std::int64_t taps, std::int64_t D) {
  return (taps - 1) * D;
}

}  // namespace tril::ops

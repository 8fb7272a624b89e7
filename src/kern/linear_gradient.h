// The backward pass of a linear map in mixed precision, in one pass over dy. Separate products would read the same
// data again; here it is rounded, packed and summed while it is in registers.
//   y = r + drop(f(x W^T + b)):   dz = f'(z) * drop(dy)   db += sum of dz's rows   dW (+)= dz^T x   dx (+)= dz W
#pragma once

#include "kern/gemm_bf16.h"

namespace tril::kern {

/// Tokens per pass.
constexpr std::size_t linear_gradient_tokens = 256;
/// Rows of y that share one dropout stream: block i of them draws from sub_key(dropout.key, i).
constexpr std::size_t linear_dropout_rows = 256;

struct LinearGradient {
  std::size_t tokens = 0, out = 0, in = 0;
  const float* dy = nullptr;  ///< [tokens, out] dense
  Dropout dropout;
  Activation activation = Activation::none;
  const float* saved = nullptr;  ///< z [tokens, out], or y if f is relu
  const float* x = nullptr;      ///< [tokens, in]
  std::size_t x_stride = 0;
  const std::uint16_t* w = nullptr;  ///< W, packed as a right operand
  float* db = nullptr;               ///< [out], added to; may be null
  float* dw = nullptr;               ///< [out, in]; may be null
  bool add_dw = false;
  float* dx = nullptr;  ///< [tokens, in]; may be null
  std::size_t dx_stride = 0;
  bool add_dx = false;
  bool stream_dx = false;            ///< as PackedGemm::stream
  std::uint16_t* scratch = nullptr;  ///< linear_gradient_scratch(tokens, out, in) values
};

constexpr std::size_t linear_gradient_scratch(std::size_t tokens, std::size_t out, std::size_t in) {
  const std::size_t n = tokens < linear_gradient_tokens ? tokens : linear_gradient_tokens;
  return packed_left_values(n, out) + packed_left_values(out, n) + packed_right_values(n, in) + sweep_scratch(n) + 32;
}

}  // namespace tril::kern

// Arguments of the rotation of heads by the positions of their tokens. See kernels.h for conventions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tril::kern {

/// Rotates each pair of the first `dim` values of each head [Su et al. 2021, eq. 34]: with the angle's cosine and sine of
/// pair i at the token's position,
///   y_a = cos_i x_a - sin_i x_b,   y_b = sin_i x_a + cos_i x_b,
/// where (a, b) = (i, i + dim/2), or (2i, 2i + 1) when interleaved; the head's other values are copied.
struct Rotary {
  const float* x = nullptr;
  float* y = nullptr;  ///< may be x, with its stride
  std::size_t x_stride = 0, y_stride = 0;
  const float* table = nullptr;  ///< [positions, dim]: dim/2 cosines, then dim/2 sines
  const std::int32_t* positions = nullptr;
  std::size_t tokens = 0, heads = 1, d = 0, dim = 0;
  bool interleaved = false;
  bool transposed = false;  ///< sines change sign: the gradient
  bool accumulate = false;  ///< y += the result; not in place
};

}  // namespace tril::kern

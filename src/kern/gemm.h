// Matrix products by oneDNN's float32 GEMM: it takes any m at run time without creating a primitive (it caches its
// JIT kernels), and at the shapes of Transformers it reaches 90-98% of the machine's peak if B is stored as [k, n].
#pragma once

#include <cstddef>
#include <string_view>

namespace tril::kern {

/// C [m, n] = A [m, k] B [k, n] (+ C if accumulate), row-major with strides in floats; `transpose_a`: A is stored
/// as [k, m]; `transpose_b`: B is stored as [n, k]. @throws Error if the library refuses (sizes beyond 2^31)
struct Gemm {
  std::size_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  std::size_t a_stride = 0;
  const float* b = nullptr;
  std::size_t b_stride = 0;
  float* c = nullptr;
  std::size_t c_stride = 0;
  bool transpose_a = false, transpose_b = false, accumulate = false;
};

void gemm(const Gemm& g);

/// Restricts the library to the instruction set of a table (Kernels::name). It has no effect after the first product.
void limit_gemm(std::string_view table);

}  // namespace tril::kern

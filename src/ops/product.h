// The three products of a linear map, in the precision of its weight: float32 by the library's GEMM, or bfloat16
// operands with float32 sums if the weight is packed.
//   y = r + drop(f(x W^T + b))    dx = dz W    dW = dz^T x          x [N, in]   W [out, in]   dz, y [N, out]
#pragma once

#include "kern/linear_gradient.h"
#include "ops/ops.h"
#include "ops/shares.h"

namespace tril::ops {

/// Rows that are computed at a time, so that the product is still in cache for bias, activation, dropout and residual.
/// Each block has its own dropout stream, so the result does not depend on the division of blocks among threads.
inline constexpr std::int64_t block_rows = kern::linear_dropout_rows;

/// The result of a product and the operations after x W^T; pointers are to the first row of the block.
struct Tail {
  float* y = nullptr;  ///< receives the result [rows, out]
  const float* bias = nullptr;
  Activation activation = Activation::none;
  kern::Dropout dropout;
  const float* residual = nullptr;
  float* z = nullptr;   ///< receives x W^T + b; may be null
  bool stream = false;  ///< see kern::PackedGemm
};

/// True if a training step should write `values` values with streaming stores: in the caches they would evict each
/// other before the backward pass reads them.
inline bool streams(const Context& c, std::int64_t values) {
  return c.tape() && values >= 1 << 17;
}

/// The form of w that products read.
const Tensor& operand_of(const Weight& w);

/// True if a product with w is worth dividing among the context's threads.
inline bool is_shared(const Context& c, const Weight& w) {
  return is_shared(c.threads(), w.out(), w.in());
}

/// Scratch for products, reused between blocks.
struct ProductSpace {
  /// @param tail  whether dropout or residual will follow
  ProductSpace(Context& c, const Weight& w, std::int64_t rows, bool tail);
  Tensor sums;     ///< float32: the product before dropout and residual
  Tensor operand;  ///< [threads, ...] the left operand, rounded and packed if the precision needs it

  /// The place where a thread of the team packs its operand.
  template <class T>
  T* operand_of(int member) {
    return operand.data<T>() + member * operand.size(1);
  }
};

/// y = the map of x [rows, in], at most block_rows rows -> [rows, out].
void product(Context& c, const Tensor& x, const Weight& w, const Tail& tail, ProductSpace& space);
/// dx (+)= dz W, dx [N, in], which may be a slice of columns.
void input_gradient(Context& c, const Tensor& dz, const Weight& w, Grads::Target dx);
/// dW (+)= dz^T x. The form of `w` determines the precision.
void weight_gradient(Context& c, const Tensor& dz, const Tensor& x, const Weight& w, Grads::Target dw);

}  // namespace tril::ops

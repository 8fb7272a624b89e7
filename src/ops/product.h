// The three products of a linear map, in the precision that its weight is held in: float32 by the library's GEMM, or with
// operands rounded to bfloat16 and float32 sums where the weight comes packed.
//   y = r + drop(f(x W^T + b))    dx = dz W    dW = dz^T x          x [N, in]   W [out, in]   dz, y [N, out]
#pragma once

#include "kern/linear_gradient.h"
#include "ops/ops.h"

namespace tril::ops {

/// Rows that are computed at a time, so that bias, activation, dropout and residual find the product still in cache. A
/// block draws its dropout from a stream of its own: the result does not depend on how blocks are shared out.
inline constexpr std::int64_t block_rows = kern::linear_dropout_rows;

/// What follows x W^T; pointers are to the first row of the block.
struct Tail {
  const float* bias = nullptr;
  Activation activation = Activation::none;
  kern::Dropout dropout;
  const float* residual = nullptr;
  float* z = nullptr;   ///< where x W^T + b is kept, may be none
  bool stream = false;  ///< see kern::PackedGemm
};

/// Whether a training step had better write `values` values past the caches: they would push each other out before the
/// backward pass reads them.
inline bool streams(const Context& c, std::int64_t values) {
  return c.tape() && values >= 1 << 17;
}

/// What a product with w reads of it.
const Tensor& operand_of(const Weight& w);

/// Columns of a weight's product that lie together, whatever its precision: threads share them out by whole panels.
inline constexpr std::int64_t panel_columns = 32;

/// Whether a product with w is worth sharing out: a smaller weight is read sooner than another thread has begun.
inline bool is_shared(const Context& c, const Weight& w) {
  return c.threads() > 1 && w.in() * w.out() >= 1 << 16;
}

/// Space for products, to be reused between blocks.
struct ProductSpace {
  /// @param tail  whether dropout or residual will follow
  ProductSpace(Context& c, const Weight& w, std::int64_t rows, bool tail);
  Tensor sums;     ///< float32: the product before dropout and residual
  Tensor operand;  ///< [threads, ...] the left operand, rounded and packed, where it is

  /// Where a thread of the team packs its operand.
  template <class T>
  T* operand_of(int member) {
    return operand.data<T>() + member * operand.size(1);
  }
};

/// y [rows, out] = the map of x's rows [begin, begin + rows), at most block_rows of them.
void product(Context& c, const Tensor& x, std::int64_t begin, std::int64_t rows, const Weight& w, const Tail& tail,
             ProductSpace& space, float* y);
/// dx (+)= dz W, dx [N, in] with rows dx_stride apart.
void input_gradient(Context& c, const Tensor& dz, const Weight& w, float* dx, std::int64_t dx_stride, bool accumulate);
/// dW (+)= dz^T x. `w` tells the precision.
void weight_gradient(Context& c, const Tensor& dz, const Tensor& x, const Weight& w, float* dw, bool accumulate);

}  // namespace tril::ops

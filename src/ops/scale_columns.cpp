// scale_columns: y_ij = x_ij g_j          dx_ij = dy_ij g_j,  dg_j = sum over i of dy_ij x_ij          saves x, g
#include "ops/scale_columns.h"

#include "ops/sizes.h"

namespace tril::ops {
namespace {

// y_i = x_i * g for each row i.
void rows_times(const kern::Kernels& kernels, const Tensor& x, const Tensor& g, Tensor y) {
  const std::int64_t D = x.size(1);
  for (std::int64_t i = 0; i < x.size(0); ++i)
    kernels.gated(Activation::none, x.data<float>() + i * D, g.data<float>(), y.data<float>() + i * D, z(D));
}

}  // namespace

Tensor scale_columns(Context& c, const Tensor& x, const Tensor& g) {
  const auto [N, D] = x.dims<2>("scale_columns: x");
  check_dense(x, DType::f32, "scale_columns: x");
  check_shape(g, {D}, "scale_columns: g");
  Tensor y = c.empty({N, D});
  const auto time = c.timed("scale_columns", "forward", [&] { return Work{.bytes = bytes_of(x, g, y)}; });
  rows_times(c.kernels(), x, g, y);
  if (c.tape())
    c.tape()->record("scale_columns", {&x, &g}, y, [x, g](Context& k, const Tensor& dy, Grads& d) {
      k.worked([&] { return Work{.bytes = bytes_of(x, dy, dy)}; });
      Tensor product = k.empty(x.shape());
      if (float* const dg = sum_into(k, d.into(k, g))) {
        k.kernels().gated(Activation::none, x.data<float>(), dy.data<float>(), product.data<float>(), z(x.count()));
        k.kernels().column_sums(product.data<float>(), dg, z(x.size(0)), z(x.size(1)));
      }
      rows_times(k.kernels(), dy, g, product);
      pass_on(k, product, d.into(k, x));
    });
  return y;
}

}  // namespace tril::ops

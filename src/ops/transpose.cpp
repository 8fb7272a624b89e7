// transpose: y = x^T        dx = dy^T
//   x [N, D]   y [D, N]
#include "ops/transpose.h"

#include "ops/sizes.h"

namespace tril::ops {

Tensor transpose(Context& c, const Tensor& x) {
  const auto [N, D] = x.dims<2>("transpose");
  check_dense(x, DType::f32, "transpose");
  Tensor y = c.empty({D, N});
  const auto time = c.timed("transpose", "forward", [&] { return Work{.bytes = bytes_of(x, y)}; });
  c.kernels().transpose(x.data<float>(), y.data<float>(), z(N), z(D));
  if (c.tape())
    c.tape()->record("transpose", {&x}, y, [x](Context& k, const Tensor& dy, Grads& d) {
      k.worked([&] { return Work{.bytes = bytes_of(dy, dy)}; });
      Tensor turned = k.empty(x.shape());
      k.kernels().transpose(dy.data<float>(), turned.data<float>(), z(dy.size(0)), z(dy.size(1)));
      pass_on(k, turned, d.into(k, x));
    });
  return y;
}

}  // namespace tril::ops

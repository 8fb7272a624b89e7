// clamp: y = min(max(x, low), high)          dx = dy where low <= x <= high, else 0          saves x
#include "ops/clamp.h"

#include "ops/sizes.h"

namespace tril::ops {

Tensor clamp(Context& c, const Tensor& x, float low, float high) {
  check_dense(x, DType::f32, "clamp: x");
  check(low <= high, "clamp", "the bounds {} and {} are not in order", low, high);
  Tensor y = c.empty(x.shape());
  const auto time = c.timed("clamp", "forward", [&] { return Work{.bytes = bytes_of(x, y)}; });
  c.kernels().clamp(low, high, x.data<float>(), y.data<float>(), z(x.count()));
  if (c.tape())
    c.tape()->record("clamp", {&x}, y, [x, low, high](Context& k, const Tensor& dy, Grads& d) {
      auto dx = d.into(k, x);
      k.worked([&] { return Work{.bytes = bytes_of(x, dy, dx.grad)}; });
      k.kernels().clamp_backward(low, high, x.data<float>(), dy.data<float>(), dx.grad.data<float>(), dx.accumulate,
                                 z(dy.count()));
    });
  return y;
}

}  // namespace tril::ops

// softcap: y = cap tanh(x / cap)          dx = dy (1 - (y / cap)^2)          saves y        [Gemma 2, 2024, section 2]
#include "ops/softcap.h"

#include "ops/sizes.h"

namespace tril::ops {

Tensor softcap(Context& c, const Tensor& x, float cap) {
  check_dense(x, DType::f32, "softcap: x");
  check(cap > 0, "softcap", "a cap of {} is not above 0", cap);
  Tensor y = c.empty(x.shape());
  const auto time = c.timed("softcap", "forward", [&] { return Work{.bytes = bytes_of(x, y)}; });
  c.kernels().softcap(cap, x.data<float>(), y.data<float>(), z(x.count()));
  if (c.tape())
    c.tape()->record("softcap", {&x}, y, [x, y, cap](Context& k, const Tensor& dy, Grads& d) {
      auto dx = d.into(k, x);
      k.worked([&] { return Work{.bytes = bytes_of(y, dy, dx.grad)}; });
      k.kernels().softcap_backward(cap, y.data<float>(), dy.data<float>(), dx.grad.data<float>(), dx.accumulate,
                                   z(dy.count()));
    });
  return y;
}

}  // namespace tril::ops

// rms_norm: y = g x r,  r = 1 / sqrt(mean(x^2) + eps)                              [Zhang & Sennrich 2019, eq. 4]
//   dx = r (g dy - x r^2 mean(g dy x))     dg = sum over rows of dy x r
//   x, y [N, D]   g [D]   saves x, r [N]
#include "ops/shares.h"
#include "ops/sizes.h"

namespace tril::ops {

Tensor rms_norm(Context& c, const Tensor& x, const Tensor& g, float eps) {
  const std::int64_t N = x.dims<2>("rms_norm: x")[0], D = x.size(1);
  check_dense(x, DType::f32, "rms_norm: x");
  check_shape(g, {D}, "rms_norm: g");

  Tensor y = c.empty({N, D});
  Tensor inv_rms = c.tape() ? c.empty({N}) : Tensor();
  const auto time = c.timed("rms_norm", "forward", [&] { return Work{.bytes = bytes_of(x, g, y)}; });
  share_rows(c, N, D, [&](std::int64_t i, std::int64_t end) {
    c.kernels().rms_norm(x.data<float>() + i * D, g.data<float>(), eps, y.data<float>() + i * D,
                         inv_rms ? inv_rms.data<float>() + i : nullptr, z(end - i), z(D));
  });
  if (c.tape())
    c.tape()->record("rms_norm", {&x, &g}, y, [x, g, inv_rms](Context& k, const Tensor& dy, Grads& d) {
      auto dx = d.into(k, x), dg = d.into(k, g);
      k.worked([&] { return Work{.bytes = bytes_of(x, g, dy, dx.grad, dg.grad)}; });
      Tensor unused = dx ? Tensor() : k.empty(x.shape());
      k.kernels().rms_norm_backward(x.data<float>(), g.data<float>(), inv_rms.data<float>(), dy.data<float>(),
                                    (dx ? dx.grad : unused).data<float>(), dx.accumulate, sum_into(k, dg), z(x.size(0)),
                                    z(x.size(1)));
    });
  return y;
}

}  // namespace tril::ops

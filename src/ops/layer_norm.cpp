// layer_norm: y = g n + b,  n = (x - mean) r,  r = 1 / sqrt(var + eps)                        [Ba et al. 2016, eq. 4]
//   dx = r (g dy - mean(g dy) - n mean(g dy n))    dg = sum over rows of dy n    db = sum over rows of dy
//   x, y [N, D]   g, b [D]   saves x, mean [N], r [N]
#include "ops/shares.h"
#include "ops/sizes.h"

namespace tril::ops {

Tensor layer_norm(Context& c, const Tensor& x, const Tensor& g, const Tensor& b, float eps) {
  const std::int64_t N = x.dims<2>("layer_norm: x")[0], D = x.size(1);
  check_dense(x, DType::f32, "layer_norm: x");
  check_shape(g, {D}, "layer_norm: g");
  if (b) check_shape(b, {D}, "layer_norm: b");

  Tensor y = c.empty({N, D});
  Tensor mean = c.tape() ? c.empty({N}) : Tensor(), rstd = c.tape() ? c.empty({N}) : Tensor();
  const auto time = c.timed("layer_norm", "forward", [&] { return Work{.bytes = bytes_of(x, g, b, y)}; });
  share_rows(c, N, D, [&](std::int64_t i, std::int64_t end) {
    c.kernels().layer_norm(x.data<float>() + i * D, g.data<float>(), b ? b.data<float>() : nullptr, eps,
                           y.data<float>() + i * D, mean ? mean.data<float>() + i : nullptr,
                           rstd ? rstd.data<float>() + i : nullptr, z(end - i), z(D));
  });
  if (c.tape())
    c.tape()->record("layer_norm", {&x, &g, &b}, y, [x, g, b, mean, rstd](Context& k, const Tensor& dy, Grads& d) {
      auto dx = d.into(k, x), dg = d.into(k, g), db = d.into(k, b);
      k.worked([&] { return Work{.bytes = bytes_of(x, g, dy, dx.grad, dg.grad, db.grad)}; });
      Tensor unused = dx ? Tensor() : k.empty(x.shape());
      k.kernels().layer_norm_backward(x.data<float>(), g.data<float>(), mean.data<float>(), rstd.data<float>(),
                                      dy.data<float>(), (dx ? dx.grad : unused).data<float>(), dx.accumulate,
                                      sum_into(k, dg), sum_into(k, db), z(x.size(0)), z(x.size(1)));
    });
  return y;
}

}  // namespace tril::ops

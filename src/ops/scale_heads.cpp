// scale_heads: y_ihj = x_ihj g_ih         dx_ihj = dy_ihj g_ih,  dg_ih = sum over j of dy_ihj x_ihj         saves x, g
//   x [N, heads * d]   g [N, heads]   y [N, heads * d]   Token i, head h, value j of the head.
#include "ops/scale_heads.h"

#include "ops/sizes.h"

namespace tril::ops {
namespace {

// y = x g, where each factor g is for a run of values.
void runs_times(const Context& c, const Tensor& x, const Tensor& g, Tensor y) {
  const std::int64_t d = x.size(1) / g.size(1);
  std::int64_t at = 0;
  for (const float factor : host_copy<float>(g)) {
    c.kernels().scale(factor, x.data<float>() + at, y.data<float>() + at, z(d));
    at += d;
  }
}

}  // namespace

Tensor scale_heads(Context& c, const Tensor& x, const Tensor& g) {
  const auto [N, all] = x.dims<2>("scale_heads: x");
  const auto [Ng, heads] = g.dims<2>("scale_heads: g");
  check_dense(x, DType::f32, "scale_heads: x"), check_dense(g, DType::f32, "scale_heads: g");
  check(heads > 0 && all % heads == 0 && N == Ng, "scale_heads", "{} cannot be scaled by {}", x.shape(), g.shape());
  Tensor y = c.empty(x.shape());
  const auto time = c.timed("scale_heads", "forward", [&] { return Work{.bytes = bytes_of(x, g, y)}; });
  runs_times(c, x, g, y);
  if (c.tape())
    c.tape()->record("scale_heads", {&x, &g}, y, [x, g](Context& k, const Tensor& dy, Grads& d) {
      k.worked([&] { return Work{.bytes = bytes_of(x, g, dy, dy, dy)}; });
      const std::int64_t width = x.size(1) / g.size(1);
      std::vector<float> sums;
      for (std::int64_t at = 0; at < dy.count(); at += width)
        sums.push_back(k.kernels().dot(dy.data<float>() + at, x.data<float>() + at, z(width)));
      pass_on(k, k.upload<float>(sums, g.shape()), d.into(k, g));
      const Tensor dx = k.empty(x.shape());
      runs_times(k, dy, g, dx);
      pass_on(k, dx, d.into(k, x));
    });
  return y;
}

}  // namespace tril::ops

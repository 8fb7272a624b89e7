// join_heads: y_h = [s, x_h] for each head h          ds = sum over h of its part of dy_h,  dx_h = the other part
//   s [N, D]   x [N, heads * d]   y [N, heads * (D + d)]   saves nothing but shapes
#include "ops/join_heads.h"

#include "ops/sizes.h"

namespace tril::ops {
namespace {

void copy_columns(const Context& c, const Tensor& x, Tensor y) {
  c.kernels().copy_rows(x.data<float>(), z(x.row_stride()), y.data<float>(), z(y.row_stride()), z(x.size(0)),
                        z(x.size(1)));
}

}  // namespace

Tensor join_heads(Context& c, const Tensor& shared, const Tensor& x, std::int64_t heads) {
  const auto [N, D] = shared.dims<2>("join_heads: shared");
  const auto [Nx, all] = x.dims<2>("join_heads: x");
  check(heads > 0 && all % heads == 0 && N == Nx, "join_heads", "{} and {} do not fit {} heads", shared.shape(),
        x.shape(), heads);
  const std::int64_t d = all / heads, width = D + d;
  Tensor y = c.empty({N, heads * width});
  const auto time = c.timed("join_heads", "forward", [&] { return Work{.bytes = bytes_of(shared, x, y)}; });
  for (std::int64_t h = 0; h < heads; ++h) {
    copy_columns(c, shared, y.columns(h * width, h * width + D));
    copy_columns(c, x.columns(h * d, (h + 1) * d), y.columns(h * width + D, (h + 1) * width));
  }
  if (c.tape())
    c.tape()->record("join_heads", {&shared, &x}, y, [shared, x, heads](Context& k, const Tensor& dy, Grads& g) {
      k.worked([&] { return Work{.bytes = bytes_of(dy, shared, x)}; });
      const std::int64_t common = shared.size(1), own = x.size(1) / heads, both = common + own;
      const Tensor ds = k.zeros(shared.shape()), dx = k.empty(x.shape()), part = k.empty(shared.shape());
      for (std::int64_t h = 0; h < heads; ++h) {
        copy_columns(k, dy.columns(h * both, h * both + common), part);
        k.kernels().axpy(1.0f, part.data<float>(), Tensor(ds).data<float>(), z(part.count()));
        copy_columns(k, dy.columns(h * both + common, (h + 1) * both), Tensor(dx).columns(h * own, (h + 1) * own));
      }
      pass_rows_on(k, ds, g.into(k, shared));
      pass_rows_on(k, dx, g.into(k, x));
    });
  return y;
}

}  // namespace tril::ops

// gated_columns: y = f(gate) up,  x = [gate, up]                                             [Shazeer 2020, eq. 5-6]
//   d gate = f'(gate) up dy,  d up = f(gate) dy
//   x [N, 2 F]   y [N, F]   saves x. Computed row by row, because the halves of rows are not contiguous.
#include "ops/gated_columns.h"

#include "ops/shares.h"
#include "ops/sizes.h"

namespace tril::ops {

Tensor gated_columns(Context& c, Activation f, const Tensor& x) {
  const std::int64_t N = x.dims<2>("gated_columns: x")[0], both = x.size(1);
  check(both % 2 == 0, "gated_columns", "{} cannot be split into two halves", x.shape());
  const std::int64_t F = both / 2;
  Tensor y = c.empty({N, F});
  const auto time = c.timed("gated", "forward", [&] { return Work{.bytes = bytes_of(x, y)}; });
  share_rows(c, N, F, [&](std::int64_t first, std::int64_t end) {
    Tensor to = y;
    for (std::int64_t i = first; i < end; ++i) {
      const float* const row = x.data<float>() + i * x.row_stride();
      c.kernels().gated(f, row, row + F, to.data<float>() + i * F, z(F));
    }
  });
  if (c.tape())
    c.tape()->record("gated", {&x}, y, [x, f](Context& k, const Tensor& dy, Grads& d) {
      auto dx = d.into(k, x);
      k.worked([&] { return Work{.bytes = bytes_of(x, dy, dx.grad)}; });
      const std::int64_t width = dy.size(1);
      for (std::int64_t i = 0; i < dy.size(0); ++i) {
        const float* const row = x.data<float>() + i * x.row_stride();
        float* const to = dx.grad.data<float>() + i * dx.grad.row_stride();
        k.kernels().gated_backward(f, row, row + width, dy.data<float>() + i * width, to, to + width, dx.accumulate,
                                   z(width));
      }
    });
  return y;
}

}  // namespace tril::ops

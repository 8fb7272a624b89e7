// rotary: (y_a, y_b) = R (x_a, x_b),  R = [cos t, -sin t; sin t, cos t],  t = position * frequency of the pair
//                                                                                  [Su et al. 2021, eq. 15 and 34]
//   dx = R^T dy: the same with the angle's sign changed. q R_m (k R_n)^T depends only on n - m.
//   x, y [N, H d]   table [positions, dim], dim <= d   saves the positions
#include "ops/rotary.h"

#include "kern/rotary.h"
#include "ops/shares.h"
#include "ops/sizes.h"

namespace tril::ops {
namespace {

kern::Rotary arguments(const Tensor& from, Tensor to, const Rotation& r, std::int64_t heads) {
  kern::Rotary a;
  a.x = from.data<float>(), a.y = to.data<float>();
  a.x_stride = z(from.row_stride()), a.y_stride = z(to.row_stride());
  a.table = r.table.data<float>(), a.positions = r.positions.data<std::int32_t>();
  a.tokens = z(from.size(0)), a.heads = z(heads), a.d = z(from.size(1) / heads), a.dim = z(r.table.size(1));
  a.interleaved = r.interleaved;
  return a;
}

}  // namespace

Tensor rotary(Context& c, const Tensor& x, const Rotation& r, std::int64_t heads) {
  const std::int64_t N = x.dims<2>("rotary: x")[0], D = x.size(1);
  const auto [T, dim] = r.table.dims<2>("rotary: table");
  check_dense(r.table, DType::f32, "rotary: table");
  check_shape(r.positions, {N}, "rotary: positions");
  check(heads > 0 && D % heads == 0 && dim <= D / heads && dim % 2 == 0, "rotary",
        "x {} of {} heads cannot be rotated by pairs of the first {} values", x.shape(), heads, dim);
  Tensor y = c.empty({N, D});
  const auto time = c.timed("rotary", "forward", [&] { return Work{.bytes = bytes_of(x, y)}; });
  share_rows(c, N, D, [&](std::int64_t first, std::int64_t end) {
    kern::Rotary a = arguments(x, y, r, heads);
    a.x += z(first) * a.x_stride, a.y += z(first) * a.y_stride, a.positions += first, a.tokens = z(end - first);
    c.kernels().rotary(a);
  });
  if (c.tape())
    c.tape()->record("rotary", {&x}, y, [x, r, heads](Context& k, const Tensor& dy, Grads& d) {
      const auto dx = d.into(k, x);
      k.worked([&] { return Work{.bytes = bytes_of(dy, dx.grad)}; });
      kern::Rotary a = arguments(dy, dx.grad, r, heads);
      a.transposed = true, a.accumulate = dx.accumulate;
      k.kernels().rotary(a);
    });
  return y;
}

}  // namespace tril::ops

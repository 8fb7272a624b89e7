// ssru: c_t = s_t c_{t-1} + (1 - s_t) x_t,  y_t = max(c_t, 0),  s_t = 1 / (1 + e^-f_t)      [Kim et al. 2019, eq. 1-3]
//   dc_t = dy_t [c_t > 0] + s_{t+1} dc_{t+1}
//   dx_t = (1 - s_t) dc_t     df_t = s_t (1 - s_t) (c_{t-1} - x_t) dc_t
//   x, f, y [N, D]   saves x, f and c (y lacks c's negative values)
#include "ops/ssru.h"

#include "kern/ssru.h"
#include "ops/sizes.h"

namespace tril::ops {
namespace {

// One row's tokens. `cells` [N, D] or none.
kern::Ssru ssru_of_row(const Tensor& x, const Tensor& f, const Tensor& cells, const Rows& rows, std::int64_t r) {
  const std::int64_t begin = rows.begin(r), D = x.size(1);
  kern::Ssru a;
  a.x = x.data<float>() + begin * x.row_stride(), a.f = f.data<float>() + begin * f.row_stride();
  a.x_stride = z(x.row_stride()), a.f_stride = z(f.row_stride());
  a.tokens = z(rows.length(r)), a.width = z(D);
  if (cells) a.cells = const_cast<float*>(cells.data<float>()) + begin * D;
  return a;
}

}  // namespace

Tensor ssru(Context& c, const Tensor& x, const Tensor& f, const Rows& rows, const States& given) {
  const auto [N, D] = x.dims<2>("ssru: x");
  check_shape(f, {N, D}, "ssru: f");
  check(rows.tokens() == N, "ssru", "{} tokens in rows of {}", N, rows.tokens());
  check(!given || !c.tape(), "ssru", "rows that continue from states have no gradient");
  States states = given;
  if (states) check_states(states, rows, D, "ssru: states");
  Tensor y = c.empty({N, D});
  const Tensor cells = c.tape() ? c.empty({N, D}) : Tensor();
  const auto time = c.timed("ssru", "forward", [&] { return Work{.bytes = bytes_of(x, f, y)}; });
  c.share_out(rows.count(), [&](int, std::int64_t first, std::int64_t end) {
    for (std::int64_t r = first; r < end; ++r) {
      if (rows.length(r) == 0) continue;
      kern::Ssru a = ssru_of_row(x, f, cells, rows, r);
      if (states) a.state = states.of(r);
      a.out = y.data<float>() + rows.begin(r) * a.width;
      c.kernels().ssru(a);
    }
  });
  if (c.tape())
    c.tape()->record("ssru", {&x, &f}, y, [x, f, cells, rows](Context& k, const Tensor& dy, Grads& d) {
      k.worked([&] { return Work{.bytes = bytes_of(x, f, cells, dy, x, f)}; });
      Tensor dx = k.empty(dy.shape()), df = k.empty(dy.shape());
      k.share_out(rows.count(), [&](int, std::int64_t first, std::int64_t end) {
        for (std::int64_t r = first; r < end; ++r) {
          kern::SsruGradient g{.forward = ssru_of_row(x, f, cells, rows, r)};
          const std::int64_t at = rows.begin(r) * dy.size(1);
          g.dy = dy.data<float>() + at, g.dx = dx.data<float>() + at, g.df = df.data<float>() + at;
          k.kernels().ssru_backward(g);
        }
      });
      pass_rows_on(k, dx, d.into(k, x));
      pass_rows_on(k, df, d.into(k, f));
    });
  return y;
}

}  // namespace tril::ops

// short_convolution: y_t = b + sum over k of w_k * x_{t - K + 1 + k},  x_s = 0 before the row  [Poli et al. 2023, section 3]
//   dx_s = sum over k of w_k * dy_{s + K - 1 - k},  dw_k = sum over t of dy_t * x_{t - K + 1 + k},  db = sum over t of dy_t
//   x, y [N, D]   w [K, D]   b [D]   saves x, w
#include "ops/short_convolution.h"

#include "kern/recurrence.h"
#include "ops/sizes.h"

namespace tril::ops {
namespace {

constexpr std::int64_t block = 256;  // channels that one thread takes at once

// Of row r, the channels [first, first + width).
kern::ShortConvolution arguments(const Tensor& x, const Taps& taps, const Rows& rows, std::int64_t r,
                                 std::int64_t first = 0) {
  kern::ShortConvolution a;
  a.x = x.data<float>() + rows.begin(r) * x.row_stride() + first, a.x_stride = z(x.row_stride());
  a.tokens = z(rows.length(r)), a.width = z(x.size(1) - first);
  a.w = taps.w.data<float>() + first, a.w_stride = z(x.size(1)), a.taps = z(taps.w.size(0));
  if (taps.bias) a.bias = taps.bias.data<float>() + first;
  return a;
}

// A state of K - 1 inputs after n more of them.
void shift_in(Context& c, float* state, const Tensor& x, const Rows& rows, std::int64_t r, std::int64_t kept) {
  const std::int64_t D = x.size(1), n = rows.length(r);
  for (std::int64_t i = 0; i < kept; ++i) {
    const std::int64_t from = i + n;  // among the state and the new inputs
    const float* const input =
        from < kept ? state + from * D : x.data<float>() + (rows.begin(r) + from - kept) * x.row_stride();
    if (n > 0) c.kernels().copy(input, state + i * D, z(D) * sizeof(float));
  }
}

}  // namespace

Tensor short_convolution(Context& c, const Tensor& x, const Taps& taps, const Rows& rows, States states) {
  const std::int64_t N = x.dims<2>("short_convolution: x")[0], D = x.size(1);
  const std::int64_t K = taps.w.dims<2>("short_convolution: w")[0];
  check_dense(taps.w, DType::f32, "short_convolution: w");
  check(K >= 1 && taps.w.size(1) == D && rows.tokens() == N, "short_convolution", "x {} in rows of {} tokens and w {}",
        x.shape(), rows.tokens(), taps.w.shape());
  if (taps.bias) check_shape(taps.bias, {D}, "short_convolution: bias");
  if (states) {
    check(!c.tape(), "short_convolution", "states have no gradient");
    check_states(states, rows, short_convolution_state(K, D), "short_convolution: states");
  }
  Tensor y = c.empty({N, D});
  const auto time = c.timed("short_convolution", "forward", [&] {
    return Work{.flops = 2.0 * static_cast<double>(N * D * K), .bytes = bytes_of(x, y)};
  });
  const std::int64_t blocks = (D + block - 1) / block;
  c.share_out(rows.count() * blocks, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t job = begin; job < end; ++job) {
      const std::int64_t r = job / blocks, first = job % blocks * block;
      if (rows.length(r) == 0) continue;
      kern::ShortConvolution a = arguments(x, taps, rows, r, first);
      a.width = std::min(a.width, z(block));
      if (states && K > 1) a.before = states.of(r) + first, a.before_stride = z(D);
      Tensor to = y;
      c.kernels().short_convolution(a, to.data<float>() + rows.begin(r) * D + first, z(D));
    }
  });
  for (std::int64_t r = 0; r < rows.count() && states; ++r)
    if (rows.length(r) > 0) shift_in(c, states.of(r), x, rows, r, K - 1);
  if (c.tape())
    c.tape()->record(
        "short_convolution", {&x, &taps.w, &taps.bias}, y, [x, taps, rows](Context& k, const Tensor& dy, Grads& d) {
          k.worked([&] { return Work{.bytes = bytes_of(x, dy, dy, x)}; });
          auto dx = d.into(k, x);
          float* const dw = sum_into(k, d.into(k, taps.w));
          for (std::int64_t r = 0; r < rows.count(); ++r) {
            const kern::ShortConvolution a = arguments(x, taps, rows, r);
            const float* const from = dy.data<float>() + rows.begin(r) * dy.size(1);
            if (dx)
              k.kernels().short_convolution_backward(a, from, z(dy.size(1)),
                                                     dx.grad.data<float>() + rows.begin(r) * dx.grad.row_stride(),
                                                     z(dx.grad.row_stride()), dx.accumulate);
            if (dw) k.kernels().short_convolution_weights(a, from, z(dy.size(1)), dw);
          }
          if (!taps.bias) return;
          if (float* const db = sum_into(k, d.into(k, taps.bias)))
            k.kernels().column_sums(dy.data<float>(), db, z(dy.size(0)), z(dy.size(1)));
        });
  return y;
}

}  // namespace tril::ops

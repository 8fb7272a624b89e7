// clamped_gate: y = (1 + u) t,  t = silu(a) / alpha,  a = alpha min(gate, L),  u = clamp(up, -L, L)
//   d gate = silu'(a) (1 + u) dy where gate <= L, else 0      d up = t dy where |up| <= L, else 0      [gpt-oss, 2025]
//   x [N, 2 F] = [gate, up]   y [N, F]   saves x. Row by row, as in gated_columns.
#include "ops/clamped_gate.h"

#include <limits>

#include "ops/sizes.h"

namespace tril::ops {
namespace {

constexpr float unbounded = std::numeric_limits<float>::infinity();

// a, t and u of one row [gate, up], each [F].
void parts_of(const kern::Kernels& k, GateClamp o, const float* row, Tensor& parts) {
  const std::int64_t F = parts.size(1);
  float *const a = parts.data<float>(), *const t = a + F, *const u = t + F;
  k.clamp(-unbounded, o.limit, row, a, z(F));
  k.scale(o.alpha, a, a, z(F));
  k.activate(Activation::silu, a, t, z(F));
  k.scale(1 / o.alpha, t, t, z(F));
  k.clamp(-o.limit, o.limit, row + F, u, z(F));
}

// y = (1 + u) x
void times_one_more(const kern::Kernels& k, const float* u, const float* x, float* y, std::size_t n) {
  k.gated(Activation::none, x, u, y, n);
  k.axpy(1.0f, x, y, n);
}

}  // namespace

Tensor clamped_gate(Context& c, const Tensor& x, GateClamp o) {
  const auto [N, both] = x.dims<2>("clamped_gate: x");
  check(both % 2 == 0, "clamped_gate", "{} cannot be split into two halves", x.shape());
  check(o.limit > 0 && o.alpha > 0, "clamped_gate", "a limit of {} and a factor of {}", o.limit, o.alpha);
  const std::int64_t F = both / 2;
  Tensor y = c.empty({N, F}), parts = c.empty({3, F});
  const auto time = c.timed("clamped_gate", "forward", [&] { return Work{.bytes = bytes_of(x, y)}; });
  for (std::int64_t i = 0; i < N; ++i) {
    parts_of(c.kernels(), o, x.data<float>() + i * x.row_stride(), parts);
    const float* const t = parts.data<float>() + F;
    times_one_more(c.kernels(), t + F, t, y.data<float>() + i * F, z(F));
  }
  if (c.tape())
    c.tape()->record("clamped_gate", {&x}, y, [x, o](Context& k, const Tensor& dy, Grads& d) {
      auto dx = d.into(k, x);
      const std::int64_t width = dy.size(1);
      k.worked([&] { return Work{.bytes = bytes_of(x, dy, dx.grad)}; });
      Tensor saved = k.empty({3, width}), product = k.empty({2, width});
      float *const a = saved.data<float>(), *const t = a + width, *const u = t + width;
      float *const first = product.data<float>(), *const second = first + width;
      for (std::int64_t i = 0; i < dy.size(0); ++i) {
        const float* const row = x.data<float>() + i * x.row_stride();
        const float* const dy_i = dy.data<float>() + i * width;
        float* const to = dx.grad.data<float>() + i * dx.grad.row_stride();
        parts_of(k.kernels(), o, row, saved);
        times_one_more(k.kernels(), u, dy_i, first, z(width));
        k.kernels().activate_backward(Activation::silu, a, first, second, /*accumulate=*/false, z(width));
        k.kernels().clamp_backward(-unbounded, o.limit, row, second, to, dx.accumulate, z(width));
        k.kernels().gated(Activation::none, dy_i, t, first, z(width));
        k.kernels().clamp_backward(-o.limit, o.limit, row + width, first, to + width, dx.accumulate, z(width));
      }
    });
  return y;
}

}  // namespace tril::ops

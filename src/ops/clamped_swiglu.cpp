// clamped_swiglu: y = t u,  s = silu(gate),  t = min(s, L),  u = clamp(up, -L, L)
//   d gate = silu'(gate) u dy where s <= L, else 0      d up = t dy where |up| <= L, else 0      [StepFun 2026]
//   x [N, 2 F] = [gate, up]   y [N, F]   saves x. Row by row, as in gated_columns.
#include "ops/clamped_swiglu.h"

#include <limits>

#include "ops/sizes.h"

namespace tril::ops {
namespace {

constexpr float no_lower_bound = -std::numeric_limits<float>::infinity();

// s, t and u of one row [gate, up], each [F].
void bounded_parts(const kern::Kernels& k, float limit, const float* row, Tensor& parts) {
  const std::int64_t F = parts.size(1);
  float *const s = parts.data<float>(), *const t = s + F, *const u = t + F;
  k.activate(Activation::silu, row, s, z(F));
  k.clamp(no_lower_bound, limit, s, t, z(F));
  k.clamp(-limit, limit, row + F, u, z(F));
}

}  // namespace

Tensor clamped_swiglu(Context& c, const Tensor& x, float limit) {
  const auto [N, both] = x.dims<2>("clamped_swiglu: x");
  check(both % 2 == 0, "clamped_swiglu", "{} cannot be split into two halves", x.shape());
  check(limit > 0, "clamped_swiglu", "a limit of {} is not above 0", limit);
  const std::int64_t F = both / 2;
  Tensor y = c.empty({N, F}), parts = c.empty({3, F});
  const auto time = c.timed("clamped_swiglu", "forward", [&] { return Work{.bytes = bytes_of(x, y)}; });
  for (std::int64_t i = 0; i < N; ++i) {
    bounded_parts(c.kernels(), limit, x.data<float>() + i * x.row_stride(), parts);
    const float* const t = parts.data<float>() + F;
    c.kernels().gated(Activation::none, t, t + F, y.data<float>() + i * F, z(F));
  }
  if (c.tape())
    c.tape()->record("clamped_swiglu", {&x}, y, [x, limit](Context& k, const Tensor& dy, Grads& d) {
      auto dx = d.into(k, x);
      const std::int64_t width = dy.size(1);
      k.worked([&] { return Work{.bytes = bytes_of(x, dy, dx.grad)}; });
      Tensor saved = k.empty({3, width}), product = k.empty({2, width});
      const float *const s = saved.data<float>(), *const t = s + width, *const u = t + width;
      float *const first = product.data<float>(), *const second = first + width;
      const auto add = dx.accumulate;
      for (std::int64_t i = 0; i < dy.size(0); ++i) {
        const float* const row = x.data<float>() + i * x.row_stride();
        const float* const dy_i = dy.data<float>() + i * width;
        float* const to = dx.grad.data<float>() + i * dx.grad.row_stride();
        bounded_parts(k.kernels(), limit, row, saved);
        k.kernels().gated(Activation::none, dy_i, u, first, z(width));
        k.kernels().clamp_backward(no_lower_bound, limit, s, first, second, /*accumulate=*/false, z(width));
        k.kernels().activate_backward(Activation::silu, row, second, to, add, z(width));
        k.kernels().gated(Activation::none, dy_i, t, first, z(width));
        k.kernels().clamp_backward(-limit, limit, row + width, first, to + width, add, z(width));
      }
    });
  return y;
}

}  // namespace tril::ops

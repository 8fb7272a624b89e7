// relu: max(x, 0)   relu_squared: its square   gelu: x Phi(x)   gelu_tanh: its tanh form   silu: x / (1 + exp(-x))
// sigmoid: 1 / (1 + exp(-x))   softplus: ln(1 + exp(x))   exp_excess: exp(n) - 1 - n, n = min(x, 0)   [Hendrycks & Gimpel 2016]
//   dx = f'(x) dy; saves x (relu: y)
// gated: y = f(gate) up       d gate = f'(gate) up dy,  d up = f(gate) dy; saves gate, up      [Shazeer 2020, eq. 5-6]
#include "ops/shares.h"
#include "ops/sizes.h"

namespace tril::ops {

Tensor activate(Context& c, Activation f, const Tensor& x) {
  check_dense(x, DType::f32, "activate: x");
  Tensor y = c.empty(x.shape());
  const auto time = c.timed("activate", "forward", [&] { return Work{.bytes = bytes_of(x, y)}; });
  share_values(c, y.count(), [&](std::int64_t i, std::int64_t end) {
    c.kernels().activate(f, x.data<float>() + i, y.data<float>() + i, z(end - i));
  });
  if (c.tape())
    c.tape()->record("activate", {&x}, y,
                     [x, f, saved = f == Activation::relu ? y : x](Context& k, const Tensor& dy, Grads& d) {
                       auto dx = d.into(k, x);
                       k.worked([&] { return Work{.bytes = bytes_of(saved, dy, dx.grad)}; });
                       k.kernels().activate_backward(f, saved.data<float>(), dy.data<float>(), dx.grad.data<float>(),
                                                     dx.accumulate, z(dy.count()));
                     });
  return y;
}

Tensor gated(Context& c, Activation f, const Tensor& gate, const Tensor& up) {
  check_dense(gate, DType::f32, "gated: gate"), check_dense(up, DType::f32, "gated: up");
  check_shape(up, gate.shape(), "gated: up");
  Tensor y = c.empty(gate.shape());
  const auto time = c.timed("gated", "forward", [&] { return Work{.bytes = bytes_of(gate, up, y)}; });
  share_values(c, y.count(), [&](std::int64_t i, std::int64_t end) {
    c.kernels().gated(f, gate.data<float>() + i, up.data<float>() + i, y.data<float>() + i, z(end - i));
  });
  if (c.tape())
    c.tape()->record("gated", {&gate, &up}, y, [gate, up, f](Context& k, const Tensor& dy, Grads& d) {
      k.worked([&] { return Work{.bytes = bytes_of(gate, up, dy, gate, up)}; });
      Tensor d_gate = k.empty(gate.shape()), d_up = k.empty(up.shape());
      k.kernels().gated_backward(f, gate.data<float>(), up.data<float>(), dy.data<float>(), d_gate.data<float>(),
                                 d_up.data<float>(), false, z(dy.count()));
      pass_on(k, d_gate, d.into(k, gate));
      pass_on(k, d_up, d.into(k, up));
    });
  return y;
}

}  // namespace tril::ops

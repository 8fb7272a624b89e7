// xielu: y = a_p r + a_n e + beta x,  r = max(x, 0)^2,  e = exp(min(x, 0)) - 1 - min(x, 0)   [Huang & Schlag 2025, eq. 6]
//   a_p = log(1 + exp(p)),  a_n = beta + log(1 + exp(n))
//   dx = (a_p r' + a_n e' + beta) dy      dp = sigmoid(p) r . dy      dn = sigmoid(n) e . dy
//   x [N, F]   p, n [1]   saves x, p, n; r and e are computed anew.
#include "ops/xielu.h"

#include <cmath>

#include "ops/sizes.h"

namespace tril::ops {
namespace {

// One of the two learned slopes: how files hold it, its value, and the function that it multiplies.
struct Slope {
  float stored = 0, value = 0;
  Activation of;
};

float number(const Tensor& x) {
  return host_copy<float>(x)[0];
}

float softplus(float x) {
  return std::max(x, 0.0f) + std::log1p(std::exp(-std::abs(x)));
}

float sigmoid_of(float x) {
  return 1 / (1 + std::exp(-x));
}

}  // namespace

Tensor xielu(Context& c, const Tensor& x, const Tensor& p, const Tensor& n, float beta) {
  check_dense(x, DType::f32, "xielu: x");
  check_shape(p, {1}, "xielu: p"), check_shape(n, {1}, "xielu: n");
  const float p_stored = number(p), n_stored = number(n);
  const Slope above{p_stored, softplus(p_stored), Activation::relu_squared};
  const Slope below{n_stored, beta + softplus(n_stored), Activation::exp_excess};
  const std::size_t count = z(x.count());
  Tensor y = c.empty(x.shape()), part = c.empty(x.shape());
  const auto time = c.timed("xielu", "forward", [&] { return Work{.bytes = bytes_of(x, x, x, y, y, y)}; });
  c.kernels().scale(beta, x.data<float>(), y.data<float>(), count);
  for (const Slope& s : {above, below}) {
    c.kernels().activate(s.of, x.data<float>(), part.data<float>(), count);
    c.kernels().axpy(s.value, part.data<float>(), y.data<float>(), count);
  }
  if (c.tape())
    c.tape()->record("xielu", {&x, &p, &n}, y, [x, p, n, above, below, beta](Context& k, const Tensor& dy, Grads& d) {
      const std::size_t values = z(dy.count());
      k.worked([&] { return Work{.bytes = bytes_of(x, x, dy, dy, dy, dy)}; });
      Tensor scaled = k.empty(dy.shape());
      for (const auto& [slope, learned] : {std::pair(above, &p), std::pair(below, &n)})
        if (float* const to = sum_into(k, d.into(k, *learned))) {
          k.kernels().activate(slope.of, x.data<float>(), scaled.data<float>(), values);
          const float sum = k.kernels().dot(scaled.data<float>(), dy.data<float>(), values) * sigmoid_of(slope.stored);
          k.kernels().add(to, &sum, to, 1);
        }
      auto dx = d.into(k, x);
      if (!dx) return;
      float* const to = dx.grad.data<float>();
      if (dx.accumulate)
        k.kernels().axpy(beta, dy.data<float>(), to, values);
      else
        k.kernels().scale(beta, dy.data<float>(), to, values);
      for (const Slope& s : {above, below}) {
        k.kernels().scale(s.value, dy.data<float>(), scaled.data<float>(), values);
        k.kernels().activate_backward(s.of, x.data<float>(), scaled.data<float>(), to, /*accumulate=*/true, values);
      }
    });
  return y;
}

}  // namespace tril::ops

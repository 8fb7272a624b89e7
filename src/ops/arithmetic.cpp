// add: y = a + b                 da = dy, db = dy
// scale: y = alpha x             dx = alpha dy
// dropout: y = m x / (1 - p)     dx = m dy / (1 - p); m is drawn again from the same counter, so nothing is saved
// residual: y = h + dropout(x)   dh = dy, dx = m dy / (1 - p)
#include "ops/shares.h"
#include "ops/sizes.h"

namespace tril::ops {

Tensor add(Context& c, const Tensor& a, const Tensor& b) {
  check_dense(a, DType::f32, "add: a"), check_dense(b, DType::f32, "add: b");
  check_shape(b, a.shape(), "add: b");
  Tensor y = c.empty(a.shape());
  const auto time = c.timed("add", "forward", [&] { return Work{.bytes = bytes_of(a, b, y)}; });
  share_values(c, y.count(), [&](std::int64_t i, std::int64_t end) {
    c.kernels().add(a.data<float>() + i, b.data<float>() + i, y.data<float>() + i, z(end - i));
  });
  if (c.tape())
    c.tape()->record("add", {&a, &b}, y, [a, b](Context& k, const Tensor& dy, Grads& d) {
      k.worked([&] { return Work{.bytes = 2 * bytes_of(dy, dy)}; });
      pass_on(k, dy, d.into(k, a));
      pass_on(k, dy, d.into(k, b));
    });
  return y;
}

Tensor scale(Context& c, const Tensor& x, float alpha) {
  check_dense(x, DType::f32, "scale: x");
  Tensor y = c.empty(x.shape());
  const auto time = c.timed("scale", "forward", [&] { return Work{.bytes = bytes_of(x, y)}; });
  c.kernels().scale(alpha, x.data<float>(), y.data<float>(), z(y.count()));
  if (c.tape())
    c.tape()->record("scale", {&x}, y, [x, alpha](Context& k, Tensor dy, Grads& d) {
      k.worked([&] { return Work{.bytes = bytes_of(dy, dy)}; });
      k.kernels().scale(alpha, dy.data<float>(), dy.data<float>(), z(dy.count()));
      pass_on(k, dy, d.into(k, x));
    });
  return y;
}

Tensor dropout(Context& c, const Tensor& x, float p) {
  check_dense(x, DType::f32, "dropout: x");
  const kern::Dropout drop = draw_dropout(c, p);
  if (drop.p == 0) return x;
  Tensor y = c.empty(x.shape());
  const auto time = c.timed("dropout", "forward", [&] { return Work{.bytes = bytes_of(x, y)}; });
  c.kernels().dropout(drop, x.data<float>(), y.data<float>(), z(y.count()));
  if (c.tape())
    c.tape()->record("dropout", {&x}, y, [x, drop](Context& k, const Tensor& dy, Grads& d) {
      auto dx = d.into(k, x);
      k.worked([&] { return Work{.bytes = bytes_of(dy, dx.grad)}; });
      if (dx.accumulate)
        k.kernels().axpy_dropout(drop, dy.data<float>(), dx.grad.data<float>(), z(dy.count()));
      else
        k.kernels().dropout(drop, dy.data<float>(), dx.grad.data<float>(), z(dy.count()));
    });
  return y;
}

Tensor residual(Context& c, const Tensor& h, const Tensor& x, float p) {
  check_dense(h, DType::f32, "residual: h"), check_dense(x, DType::f32, "residual: x");
  check_shape(x, h.shape(), "residual: x");
  const kern::Dropout drop = draw_dropout(c, p);
  if (drop.p == 0) return add(c, h, x);
  Tensor y = c.empty(h.shape());
  const auto time = c.timed("residual", "forward", [&] { return Work{.bytes = bytes_of(h, x, y)}; });
  c.kernels().add_dropout(drop, h.data<float>(), x.data<float>(), y.data<float>(), z(y.count()));
  if (c.tape())
    c.tape()->record("residual", {&h, &x}, y, [h, x, drop](Context& k, const Tensor& dy, Grads& d) {
      k.worked([&] { return Work{.bytes = 2 * bytes_of(dy, dy)}; });
      pass_on(k, dy, d.into(k, h));
      if (auto dx = d.into(k, x); dx.accumulate)
        k.kernels().axpy_dropout(drop, dy.data<float>(), dx.grad.data<float>(), z(dy.count()));
      else if (dx)
        k.kernels().dropout(drop, dy.data<float>(), dx.grad.data<float>(), z(dy.count()));
    });
  return y;
}

}  // namespace tril::ops

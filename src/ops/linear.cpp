// linear: y = r + drop(f(z)), z = x W^T + b                                     [Vaswani et al. 2017, section 3.3]
//   dz = f'(z) * drop(dy)    dx = dz W    dW = dz^T x    db = sum over rows of dz    dr = dy
//   x [N, in]   W [out, in]   b [out]   r, y [N, out]
// Saves x, and z where f is not none (but for relu alone, whose derivative can be read off its own result).
#include "ops/product.h"
#include "ops/sizes.h"

namespace tril::ops {
namespace {

kern::Dropout of_block(kern::Dropout drop, std::int64_t begin) {
  if (drop.p > 0) drop.key = sub_key(drop.key, static_cast<std::uint64_t>(begin / block_rows));
  return drop;
}

}  // namespace

Tensor linear(Context& c, const Tensor& x, const Weight& w, const Tensor& b, const LinearOptions& o) {
  const auto [N, in] = x.dims<2>("linear: x");
  const auto [out, w_in] = w.value.dims<2>("linear: W");
  check_dense(w.value, DType::f32, "linear: W");
  check(in == w_in, "linear", "x {} and W {} do not agree", x.shape(), w.value.shape());
  if (w.transposed) check_shape(w.transposed, {in, out}, "linear: W^T");
  if (b) check_shape(b, {out}, "linear: b");
  if (o.residual)
    check_shape(o.residual, {N, out}, "linear: residual"), check_dense(o.residual, DType::f32, "linear: residual");

  const kern::Dropout drop = draw_dropout(c, o.dropout);
  const Activation f = o.activation;
  const bool has_tail = drop.p > 0 || o.residual;
  const bool keep_z = c.tape() && f != Activation::none && (f != Activation::relu || has_tail);

  const Tensor y = c.empty({N, out});
  const Tensor zs = keep_z ? c.empty({N, out}) : Tensor();
  const auto time = c.timed("linear", "forward", [&] {
    return product_work(static_cast<bool>(w.packed), product_flops(N, out, in),
                        bytes_of(x, w.packed ? w.packed : w.value, b, o.residual, y, zs));
  });
  const ProductSpace space(c, w, N, has_tail);
  for (std::int64_t i = 0; i < N; i += block_rows) {
    const Tail tail{.bias = b ? b.data<float>() : nullptr,
                    .activation = f,
                    .dropout = of_block(drop, i),
                    .residual = o.residual ? o.residual.data<float>() + i * out : nullptr,
                    .z = keep_z ? zs.data<float>() + i * out : nullptr};
    product(c, x, i, std::min(block_rows, N - i), w, tail, space, y.data<float>() + i * out);
  }

  if (c.tape())
    c.tape()->record("linear", {&x, &w.value, &b, &o.residual}, y,
                     [x, w, b, r = o.residual, drop, f,
                      saved = keep_z                  ? zs
                              : f == Activation::relu ? y
                                                      : Tensor()](Context& k_, const Tensor& dy, Grads& d) {
                       const kern::Kernels& kernels = k_.kernels();
                       const std::int64_t n = dy.size(0), width = dy.size(1);
                       k_.worked([&] {
                         return Work{.bytes = bytes_of(r, r) + (drop.p > 0 || saved ? bytes_of(dy, dy, saved) : 0) +
                                              (b ? bytes_of(dy, b) : 0)};
                       });
                       if (r) pass_on(k_, dy, d.into(k_, r));
                       const Tensor& dz = dy;  // in place
                       for (std::int64_t i = 0; i < n && (drop.p > 0 || saved); i += block_rows) {
                         const std::int64_t rows = std::min(block_rows, n - i);
                         float* const at = dz.data<float>() + i * width;
                         if (drop.p > 0) kernels.dropout(of_block(drop, i), at, at, z(rows * width));
                         if (saved)
                           kernels.activate_backward(f, saved.data<float>() + i * width, at, at, false,
                                                     z(rows * width));
                       }
                       if (const auto db = d.into(k_, b); db)
                         kernels.column_sums(dz.data<float>(), sum_into(k_, db), z(n), z(width));
                       if (const auto dw = d.into(k_, w.value); dw)
                         weight_gradient(k_, dz, x, w, dw.grad.data<float>(), dw.accumulate);
                       if (const auto dx = d.into(k_, x); dx)
                         input_gradient(k_, dz, w, dx.grad.data<float>(), dx.grad.row_stride(), dx.accumulate);
                     });
  return y;
}

}  // namespace tril::ops

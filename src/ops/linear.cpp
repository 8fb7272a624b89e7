// linear: y = r + drop(f(z)), z = x W^T + b                                     [Vaswani et al. 2017, section 3.3]
//   dz = f'(z) * drop(dy)    dx = dz W    dW = dz^T x    db = sum over rows of dz    dr = dy
//   x [N, in]   W [out, in]   b [out]   r, y [N, out]
// Saves x, and z where f is not none (but for relu alone, whose derivative can be read off its own result).
//
// The rows are taken in blocks, so that bias, activation, dropout and residual find the product still in cache. A block
// draws its dropout from a stream of its own: the result does not depend on how blocks are shared out.
#include "ops/sizes.h"

namespace tril::ops {
namespace {

constexpr std::int64_t block_rows = 256;

kern::Dropout of_block(kern::Dropout drop, std::int64_t begin) {
  if (drop.p > 0) drop.key = sub_key(drop.key, static_cast<std::uint64_t>(begin / block_rows));
  return drop;
}

// z = x W^T, by the transposed copy where there is one.
void product(Context& c, const Tensor& x, const Weight& w, float* out, std::int64_t begin, std::int64_t rows) {
  const std::int64_t in = x.size(1), n = w.value.size(0);
  const bool direct = !w.transposed;
  c.kernels().gemm({.m = z(rows),
                    .n = z(n),
                    .k = z(in),
                    .a = x.data<float>() + begin * x.row_stride(),
                    .a_stride = z(x.row_stride()),
                    .b = direct ? w.value.data<float>() : w.transposed.data<float>(),
                    .b_stride = direct ? z(in) : z(n),
                    .c = out,
                    .c_stride = z(n),
                    .transpose_b = direct,
                    .threads = c.threads()});
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
  const bool finish_apart = drop.p > 0 || o.residual;  // the product goes to scratch, the sum to y
  const bool keep_z = c.tape() && f != Activation::none && (f != Activation::relu || finish_apart);

  const Tensor y = c.empty({N, out});
  const Tensor zs = keep_z ? c.empty({N, out}) : Tensor();
  const Tensor scratch = finish_apart ? c.empty({std::min(N, block_rows), out}) : Tensor();
  const kern::Kernels& k = c.kernels();
  for (std::int64_t i = 0; i < N; i += block_rows) {
    const std::int64_t rows = std::min(block_rows, N - i);
    float* const at = finish_apart ? scratch.data<float>() : y.data<float>() + i * out;
    float* const raw = keep_z ? zs.data<float>() + i * out : at;
    product(c, x, w, raw, i, rows);
    if (b) k.bias_activate(keep_z ? Activation::none : f, raw, b.data<float>(), raw, z(rows), z(out));
    if (keep_z || (!b && f != Activation::none)) k.activate(f, raw, at, z(rows * out));
    if (!finish_apart) continue;
    float* const to = y.data<float>() + i * out;
    const kern::Dropout d = of_block(drop, i);
    if (o.residual)
      k.add_dropout(d, o.residual.data<float>() + i * out, at, to, z(rows * out));
    else
      k.dropout(d, at, to, z(rows * out));
  }

  if (c.tape())
    c.tape()->record("linear", {&x, &w.value, &b, &o.residual}, y,
                     [x, W = w.value, b, r = o.residual, drop, f,
                      saved = keep_z                  ? zs
                              : f == Activation::relu ? y
                                                      : Tensor()](Context& k_, const Tensor& dy, Grads& d) {
                       const kern::Kernels& kernels = k_.kernels();
                       const std::int64_t n = dy.size(0), width = dy.size(1);
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
                       if (const auto dW = d.into(k_, W); dW)
                         k_.kernels().gemm({.m = z(width),
                                            .n = z(x.size(1)),
                                            .k = z(n),
                                            .a = dz.data<float>(),
                                            .a_stride = z(width),
                                            .b = x.data<float>(),
                                            .b_stride = z(x.row_stride()),
                                            .c = dW.grad.data<float>(),
                                            .c_stride = z(x.size(1)),
                                            .transpose_a = true,
                                            .accumulate = dW.accumulate,
                                            .threads = k_.threads()});
                       if (const auto dx = d.into(k_, x); dx)
                         k_.kernels().gemm({.m = z(n),
                                            .n = z(x.size(1)),
                                            .k = z(width),
                                            .a = dz.data<float>(),
                                            .a_stride = z(width),
                                            .b = W.data<float>(),
                                            .b_stride = z(x.size(1)),
                                            .c = dx.grad.data<float>(),
                                            .c_stride = z(dx.grad.row_stride()),
                                            .accumulate = dx.accumulate,
                                            .threads = k_.threads()});
                     });
  return y;
}

}  // namespace tril::ops

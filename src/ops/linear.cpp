// linear: y = r + drop(f(z)), z = x W^T + b                                     [Vaswani et al. 2017, section 3.3]
//   dz = f'(z) * drop(dy)    dx = dz W    dW = dz^T x    db = sum over rows of dz    dr = dy
//   x [N, in]   W [out, in]   b [out]   r, y [N, out]
// Saves x, and z if f is not none (relu saves y instead, which determines its derivative).
#include "ops/product.h"
#include "ops/sizes.h"

namespace tril::ops {
namespace {

kern::Dropout of_block(kern::Dropout drop, std::int64_t begin) {
  if (drop.p > 0) drop.key = sub_key(drop.key, static_cast<std::uint64_t>(begin / block_rows));
  return drop;
}

// The operations between dy and dz.
struct BackwardTail {
  kern::Dropout drop;
  Activation activation;
  Tensor saved;  // z, or relu's y; none if dz = drop(dy)
};

void float_gradient(Context& c, Tensor dy, const Tensor& x, const Weight& w, const Tensor& b, const Tensor& r,
                    const BackwardTail& tail, Grads& d) {
  const kern::Kernels& kernels = c.kernels();
  const std::int64_t N = dy.size(0), out = dy.size(1);
  c.worked([&] {
    const bool passes = tail.drop.p > 0 || tail.saved;
    return Work{.bytes = bytes_of(r, r) + (passes ? bytes_of(dy, dy, tail.saved) : 0) + (b ? bytes_of(dy, b) : 0)};
  });
  if (r) pass_on(c, dy, d.into(c, r));
  Tensor& dz = dy;  // in place
  for (std::int64_t i = 0; i < N && (tail.drop.p > 0 || tail.saved); i += block_rows) {
    const std::size_t n = z(std::min(block_rows, N - i) * out);
    float* const at = dz.data<float>() + i * out;
    if (tail.drop.p > 0) kernels.dropout(of_block(tail.drop, i), at, at, n);
    if (tail.saved) kernels.activate_backward(tail.activation, tail.saved.data<float>() + i * out, at, at, false, n);
  }
  if (const auto db = d.into(c, b); db) kernels.column_sums(dz.data<float>(), sum_into(c, db), z(N), z(out));
  if (auto dw = d.into(c, w.value); dw) weight_gradient(c, dz, x, w, dw);
  if (auto dx = d.into(c, x); dx) input_gradient(c, dz, w, dx);
}

void mixed_gradient(Context& c, const Tensor& dy, const Tensor& x, const Weight& w, const Tensor& b, const Tensor& r,
                    const BackwardTail& tail, Grads& d) {
  auto db = d.into(c, b), dw = d.into(c, w.value), dx = d.into(c, x);
  kern::LinearGradient g{.tokens = z(dy.size(0)), .out = z(dy.size(1)), .in = z(x.size(1))};
  g.dy = dy.data<float>();
  g.dropout = tail.drop;
  g.activation = tail.activation;
  if (tail.saved) g.saved = tail.saved.data<float>();
  g.x = x.data<float>(), g.x_stride = z(x.row_stride());
  g.w = w.packed_transposed.data<std::uint16_t>();
  g.db = sum_into(c, db);
  if (dw) g.dw = dw.grad.data<float>(), g.add_dw = dw.accumulate;
  if (dx)
    g.dx = dx.grad.data<float>(), g.dx_stride = z(dx.grad.row_stride()), g.add_dx = dx.accumulate,
    g.stream_dx = streams(c, dy.size(0) * x.size(1));
  Tensor scratch = c.empty_vector(kern::linear_gradient_scratch(g.tokens, g.out, g.in), DType::bf16);
  g.scratch = scratch.data<std::uint16_t>();
  const auto time = c.timed_part("gradients", [&] {
    const double products = (dw ? 1 : 0) + (dx ? 1 : 0);
    return product_work(true, products * product_flops(dy.size(0), dy.size(1), x.size(1)),
                        bytes_of(dy, tail.saved, b, w.value, w.packed_transposed) + products * bytes_of(x));
  });
  c.kernels().linear_gradient(g);
  if (r && !d.hand_over(c, r, dy)) pass_on(c, dy, d.into(c, r));
}

}  // namespace

Tensor linear(Context& c, const Tensor& x, const Weight& w, const Tensor& b, const LinearOptions& o) {
  const auto [N, in] = x.dims<2>("linear: x");
  check(w.shape.rank() == 2, "linear: W", "expected 2 dimensions, got {}", w.shape);
  const std::int64_t out = w.out();
  if (w.value) check_dense(w.value, DType::f32, "linear: W");
  check(in == w.in(), "linear", "x {} and W {} do not agree", x.shape(), w.shape);
  check(!c.tape() || w.value, "linear", "a weight loaded only for serving has no gradient",
        "load the model for training");
  if (w.transposed) check_shape(w.transposed, {in, out}, "linear: W^T");
  if (b) check_shape(b, {out}, "linear: b");
  if (o.residual)
    check_shape(o.residual, {N, out}, "linear: residual"), check_dense(o.residual, DType::f32, "linear: residual");

  const kern::Dropout drop = draw_dropout(c, o.dropout);
  const Activation f = o.activation;
  const bool has_tail = drop.p > 0 || o.residual;
  const bool keep_z = c.tape() && f != Activation::none && (f != Activation::relu || has_tail);

  Tensor y = c.empty({N, out});
  Tensor zs = keep_z ? c.empty({N, out}) : Tensor();
  const auto time = c.timed("linear", "forward", [&, N = N, in = in] {
    return product_work(w.is_bf16(), product_flops(N, out, in), bytes_of(x, operand_of(w), b, o.residual, y, zs));
  });
  ProductSpace space(c, w, N, has_tail);
  for (std::int64_t i = 0; i < N; i += block_rows) {
    const Tail tail{.y = y.data<float>() + i * out,
                    .bias = b ? b.data<float>() : nullptr,
                    .activation = f,
                    .dropout = of_block(drop, i),
                    .residual = o.residual ? o.residual.data<float>() + i * out : nullptr,
                    .z = keep_z ? zs.data<float>() + i * out : nullptr,
                    .stream = streams(c, N * out)};
    product(c, x.rows(i, std::min(N, i + block_rows)), w, tail, space);
  }

  if (c.tape())
    c.tape()->record("linear", {&x, &w.value, &b, &o.residual}, y,
                     [x, w, b, r = o.residual,
                      tail = BackwardTail{drop, f,
                                          keep_z                  ? zs
                                          : f == Activation::relu ? y
                                                                  : Tensor()}](Context& k, const Tensor& dy, Grads& d) {
                       w.packed ? mixed_gradient(k, dy, x, w, b, r, tail, d)
                                : float_gradient(k, dy, x, w, b, r, tail, d);
                     });
  return y;
}

}  // namespace tril::ops

// projected_cross_entropy: cross_entropy(x W^T + b) in chunks of rows, so that the [N, V] logits never exist.
//   dx = dl W    dW = dl^T x    db = sum over rows of dl,   dl: the gradient of the logits, as in cross_entropy
//   x [N, D]   W [V, D]   b [V]   targets [N]
// Saves dx, dW, db, which are made in the same pass while a chunk of logits is in cache; W itself is not needed again.
#include "ops/loss.h"

namespace tril::ops {
namespace {

constexpr std::int64_t chunk_rows =
    128;  // by measurement: 64 to 256 rows of 10,000 logits are alike, beyond that the cache overflows

// logits [rows, V] = x[begin, +rows) W^T + b
void project(Context& c, const Tensor& x, const Weight& w, const Tensor& b, const Tensor& logits, std::int64_t begin) {
  const std::int64_t rows = logits.size(0), V = logits.size(1), D = x.size(1);
  const bool direct = !w.transposed;
  c.kernels().gemm({.m = z(rows),
                    .n = z(V),
                    .k = z(D),
                    .a = x.data<float>() + begin * D,
                    .a_stride = z(D),
                    .b = direct ? w.value.data<float>() : w.transposed.data<float>(),
                    .b_stride = direct ? z(D) : z(V),
                    .c = logits.data<float>(),
                    .c_stride = z(V),
                    .transpose_b = direct,
                    .threads = c.threads()});
  if (b)
    c.kernels().bias_activate(Activation::none, logits.data<float>(), b.data<float>(), logits.data<float>(), z(rows),
                              z(V));
}

void check_projection(const Tensor& x, const Weight& w, const Tensor& b) {
  const auto [N, D] = x.dims<2>("projected_cross_entropy: x");
  const auto [V, D_w] = w.value.dims<2>("projected_cross_entropy: W");
  check_dense(x, DType::f32, "projected_cross_entropy: x");
  check(D == D_w, "projected_cross_entropy", "x {} and W {} do not agree", x.shape(), w.value.shape());
  if (b) check(b.count() == V, "projected_cross_entropy", "b {} for a vocabulary of {}", b.shape(), V);
}

}  // namespace

Tensor projected_cross_entropy(Context& c, const Tensor& x, const Weight& w, const Tensor& b, const Tensor& targets,
                               const LossOptions& o) {
  check_projection(x, w, b);
  const std::int64_t N = x.size(0), D = x.size(1), V = w.value.size(0);
  check_shape(targets, {N}, "projected_cross_entropy: targets");
  if (o.weights) check_shape(o.weights, {N}, "projected_cross_entropy: weights");
  const double n = targets_that_count(targets, V, o);
  Tape* const tape = c.tape();
  const bool wants_x = tape && tape->wants(x), wants_w = tape && tape->wants(w.value), wants_b = tape && tape->wants(b);
  const Tensor dx = wants_x ? c.empty({N, D}) : Tensor(), dw = wants_w ? c.empty({V, D}) : Tensor(),
               db = wants_b ? c.zeros({V}) : Tensor();

  const Tensor losses = c.empty({N});
  const Tensor space = c.empty({std::min(N, chunk_rows), V});
  for (std::int64_t i = 0; i < N; i += chunk_rows) {
    const std::int64_t rows = std::min(chunk_rows, N - i);
    const Tensor chunk = space.rows(0, rows);
    project(c, x, w, b, chunk, i);
    const kern::CrossEntropy args{targets.data<std::int32_t>() + i, o.ignore_id, o.label_smoothing,
                                  static_cast<float>(1 / n), o.weights ? o.weights.data<float>() + i : nullptr};
    float* const logits = chunk.data<float>();
    c.kernels().cross_entropy(args, logits, losses.data<float>() + i, wants_x || wants_w || wants_b ? logits : nullptr,
                              z(rows), z(V));
    if (wants_b) c.kernels().column_sums(logits, db.data<float>(), z(rows), z(V));
    if (wants_x)
      c.kernels().gemm({.m = z(rows),
                        .n = z(D),
                        .k = z(V),
                        .a = logits,
                        .a_stride = z(V),
                        .b = w.value.data<float>(),
                        .b_stride = z(D),
                        .c = dx.data<float>() + i * D,
                        .c_stride = z(D),
                        .threads = c.threads()});
    if (wants_w)
      c.kernels().gemm({.m = z(V),
                        .n = z(D),
                        .k = z(rows),
                        .a = logits,
                        .a_stride = z(V),
                        .b = x.data<float>() + i * D,
                        .b_stride = z(D),
                        .c = dw.data<float>(),
                        .c_stride = z(D),
                        .transpose_a = true,
                        .accumulate = i > 0,
                        .threads = c.threads()});
  }
  if (wants_w && N == 0) c.kernels().fill(0.0f, dw.data<float>(), z(V * D));

  const Tensor y = sum_of_losses(c, losses, n);
  if (tape)
    tape->record("projected_cross_entropy", {&x, &w.value, &b}, y,
                 [x, W = w.value, b, dx, dw, db](Context& k, const Tensor& dy, Grads& d) {
                   const auto give = [&](const Tensor& value, const Tensor& gradient) {
                     if (!gradient) return;
                     scale_by(k, gradient, dy);
                     pass_on(k, gradient, d.into(k, value));
                   };
                   give(x, dx), give(W, dw), give(b, db);
                 });
  return y;
}

Tensor target_log_probs(Context& c, const Tensor& x, const Weight& w, const Tensor& b, const Tensor& targets) {
  check_projection(x, w, b);
  const std::int64_t N = x.size(0), V = w.value.size(0);
  check_shape(targets, {N}, "target_log_probs: targets");
  targets_that_count(targets, V, {});
  const Tensor log_probs = c.empty({N}), space = c.empty({std::min(N, chunk_rows), V});
  for (std::int64_t i = 0; i < N; i += chunk_rows) {
    const std::int64_t rows = std::min(chunk_rows, N - i);
    const Tensor chunk = space.rows(0, rows);
    project(c, x, w, b, chunk, i);
    const kern::CrossEntropy args{targets.data<std::int32_t>() + i, -1, 0, 1, nullptr};
    c.kernels().cross_entropy(args, chunk.data<float>(), log_probs.data<float>() + i, nullptr, z(rows), z(V));
  }
  c.kernels().scale(-1.0f, log_probs.data<float>(), log_probs.data<float>(), z(N));
  return log_probs;
}

}  // namespace tril::ops

// projected_cross_entropy: cross_entropy(x W^T + b) in chunks of rows, so that the [N, V] logits never exist.
//   dx = dl W    dW = dl^T x    db = sum over rows of dl,   dl: the gradient of the logits, as in cross_entropy
//   x [N, D]   W [V, D]   b [V]   targets [N]
// Saves dx, dW, db, which are made in the same pass while a chunk of logits is in cache; W itself is not needed again.
#include "ops/loss.h"
#include "ops/projection.h"

namespace tril::ops {

Tensor projected_cross_entropy(Context& c, const Tensor& x, const Weight& w, const Tensor& b, const Tensor& targets,
                               const LossOptions& o) {
  check_projection(x, w, b);
  const std::int64_t N = x.size(0), V = w.value.size(0);
  check_shape(targets, {N}, "projected_cross_entropy: targets");
  if (o.weights) check_shape(o.weights, {N}, "projected_cross_entropy: weights");
  const double n = targets_that_count(targets, V, o);
  ProjectionGradients gradients(c, x, w, b);

  const Tensor losses = c.empty({N});
  const Tensor space = c.empty({std::min(N, chunk_rows), V});
  for (std::int64_t i = 0; i < N; i += chunk_rows) {
    const std::int64_t rows = std::min(chunk_rows, N - i);
    const Tensor chunk = space.rows(0, rows);
    project(c, x, w, b, chunk, i);
    const kern::CrossEntropy args{targets.data<std::int32_t>() + i, o.ignore_id, o.label_smoothing,
                                  static_cast<float>(1 / n), o.weights ? o.weights.data<float>() + i : nullptr};
    float* const logits = chunk.data<float>();
    c.kernels().cross_entropy(args, logits, losses.data<float>() + i, gradients ? logits : nullptr, z(rows), z(V));
    if (gradients) project_back(c, x, w, chunk, i, gradients);
  }

  const Tensor y = sum_of_losses(c, losses, n);
  record_projected(c, "projected_cross_entropy", y, x, w, b, gradients);
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

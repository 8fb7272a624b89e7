// r_drop: two passes over the same targets with different dropout learn to agree with the targets and with each
// other [Liang et al. 2021, equations 3 and 4, halved to be a mean over both passes]
//   L = 1/n sum_i w_i [ (CE(a_i) + CE(b_i)) / 2 + alpha/2 J_i ],   J_i = (KL(p_i || q_i) + KL(q_i || p_i)) / 2
//   p_i = softmax(a_i)   q_i = softmax(b_i)   a = x[0, N) W^T + bias   b = x[N, 2N) W^T + bias   CE: cross_entropy
//   da_i = w_i/n [ (p_i - (1 - eps) onehot(t_i) - eps/V) / 2 + alpha/4 (p_i (log p_i/q_i - KL(p_i || q_i)) + p_i - q_i) ]
//   db_i: the same with p and q exchanged;   dx, dW, db from da and db as in projection.h
//   x [2N, D]   W [V, D]   bias [V]   targets [N]
// Saves dx, dW and db, computed in the same pass over pairs of chunks; logits of more than two chunks never exist.
#include "ops/loss.h"
#include "ops/projection.h"

namespace tril::ops {

Tensor r_drop(Context& c, const Projected& p, const Tensor& targets, const LossOptions& o, float alpha) {
  check_projection(p);
  const std::int64_t N = targets.count(), V = p.w.out();
  check(p.x.size(0) == 2 * N, "r_drop", "x {} for two passes of {} targets", p.x.shape(), N);
  check(alpha >= 0, "r_drop", "alpha {} is below 0", alpha);
  if (o.weights) check_shape(o.weights, {N}, "r_drop: weights");
  const double n = targets_that_count(targets, V, o);
  const auto time = c.timed("r_drop", "forward", [] { return Work(); });
  ProjectionGradients gradients(c, p);

  Tensor losses = c.empty({N});
  const Tensor first = c.empty({std::min(N, chunk_rows), V}), second = c.empty({std::min(N, chunk_rows), V});
  for (std::int64_t i = 0; i < N; i += chunk_rows) {
    const std::int64_t rows = std::min(chunk_rows, N - i);
    Tensor of_a = first.rows(0, rows), of_b = second.rows(0, rows);
    project(c, p, of_a, i), project(c, p, of_b, N + i);
    const bool wanted = static_cast<bool>(gradients);
    const Tensor capped_a = cap(c, o.softcap, of_a, wanted), capped_b = cap(c, o.softcap, of_b, wanted);
    const kern::CrossEntropy args{targets.data<std::int32_t>() + i, o.ignore_id, o.label_smoothing,
                                  static_cast<float>(1 / n), o.weights ? o.weights.data<float>() + i : nullptr};
    const auto softmax = c.timed_part("softmax", [&] { return Work{.bytes = 2 * bytes_of(of_a, of_b)}; });
    c.kernels().r_drop(args, alpha, of_a.data<float>(), of_b.data<float>(), losses.data<float>() + i, wanted, z(rows),
                       z(V));
    if (!wanted) continue;
    uncap(c, o.softcap, capped_a, of_a), uncap(c, o.softcap, capped_b, of_b);
    project_back(c, p, of_a, i, gradients), project_back(c, p, of_b, N + i, gradients);
  }

  Tensor y = sum_of_losses(c, losses, n);
  record_projected(c, "r_drop", y, p, gradients);
  return y;
}

}  // namespace tril::ops

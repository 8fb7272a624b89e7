// projected_cross_entropy: cross_entropy(x W^T + b) in chunks of rows, so that the [N, V] logits never exist.
//   dx = dl W    dW = dl^T x    db = sum over rows of dl,   dl: the gradient of the logits, as in cross_entropy
//   with a soft cap the logits are cap tanh((x W^T + b) / cap), and dl is multiplied by 1 - (logits / cap)^2
//   x [N, D]   W [V, D]   b [V]   targets [N]
// In float32 it saves dx, dW, db, which are computed in the same pass while a chunk of logits is in cache; W itself
// is not needed again. In mixed precision it saves only the log-sum-exps: recomputing logits costs less than keeping
// them (kern/projected_loss.h), and gradients are added directly to their destinations.
#include "kern/projected_loss.h"

#include "ops/loss.h"
#include "ops/projection.h"

namespace tril::ops {
namespace {

/// The arguments of both passes of the loss in mixed precision.
struct MixedLoss {
  Projected p;
  Tensor targets, lse;
  LossOptions options;
  double n;

  kern::ProjectedCrossEntropy arguments(double dy, Tensor& scratch) const {
    const auto& [x, w, b] = p;
    Tensor sums = lse;  // written in the forward pass, read in the backward pass
    return {.loss = {targets.data<std::int32_t>(), options.ignore_id, options.label_smoothing,
                     static_cast<float>(dy / n), options.weights ? options.weights.data<float>() : nullptr},
            .rows = z(x.size(0)),
            .vocab = z(w.value.size(0)),
            .d = z(x.size(1)),
            .x = x.data<float>(),
            .x_stride = z(x.row_stride()),
            .w = w.packed.data<std::uint16_t>(),
            .w_transposed = w.packed_transposed.data<std::uint16_t>(),
            .bias = b ? b.data<float>() : nullptr,
            .softcap = options.softcap,
            .lse = sums.data<float>(),
            .scratch = scratch.data<std::uint16_t>()};
  }

  /// The work of `products` products as large as the logits, including reading their operands.
  Work work(int products) const {
    return product_work(true, products * product_flops(p.x.size(0), p.w.value.size(0), p.x.size(1)),
                        bytes_of(p.x, p.w.packed, p.b));
  }
};

Tensor mixed_cross_entropy(Context& c, const MixedLoss& loss) {
  const auto scratch_of = [](const Context& k, const MixedLoss& l) {
    return k.empty_vector(kern::projected_loss_scratch(z(l.p.x.size(1))), DType::bf16);
  };
  Tensor losses = c.empty({loss.p.x.size(0)}), scratch = scratch_of(c, loss);
  const auto time = c.timed("projected_cross_entropy", "forward", [&] { return loss.work(1); });
  c.kernels().projected_cross_entropy(loss.arguments(1, scratch), losses.data<float>());
  Tensor y = sum_of_losses(c, losses, loss.n);
  if (c.tape())
    c.tape()->record("projected_cross_entropy", {&loss.p.x, &loss.p.w.value, &loss.p.b}, y,
                     [loss, scratch_of](Context& k, const Tensor& dy, Grads& d) {
                       auto dx = d.into(k, loss.p.x), dw = d.into(k, loss.p.w.value), db = d.into(k, loss.p.b);
                       k.worked([&] { return loss.work(1 + (dx ? 1 : 0) + (dw ? 1 : 0)); });
                       k.worked([&] { return Work{.bytes = bytes_of(dx.grad, dw.grad, db.grad)}; });
                       kern::ProjectedGradients g;
                       if (dx)
                         g.dx = dx.grad.data<float>(), g.dx_stride = z(dx.grad.row_stride()),
                         g.accumulate_x = dx.accumulate;
                       if (dw) g.dw = dw.grad.data<float>(), g.accumulate_w = dw.accumulate;
                       g.db = sum_into(k, db);
                       Tensor space = scratch_of(k, loss);
                       k.kernels().projected_cross_entropy_backward(loss.arguments(host_copy<float>(dy)[0], space), g);
                     });
  return y;
}

}  // namespace

Tensor projected_cross_entropy(Context& c, const Projected& p, const Tensor& targets, const LossOptions& o) {
  check_projection(p);
  const std::int64_t N = p.x.size(0), V = p.w.out();
  check_shape(targets, {N}, "projected_cross_entropy: targets");
  if (o.weights) check_shape(o.weights, {N}, "projected_cross_entropy: weights");
  const double n = targets_that_count(targets, V, o);
  if (p.w.packed) return mixed_cross_entropy(c, {p, targets, c.empty({N}), o, n});
  const auto time = c.timed("projected_cross_entropy", "forward", [] { return Work(); });
  ProjectionGradients gradients(c, p);

  Tensor losses = c.empty({N});
  const Tensor space = c.empty({std::min(N, chunk_rows), V});
  for (std::int64_t i = 0; i < N; i += chunk_rows) {
    const std::int64_t rows = std::min(chunk_rows, N - i);
    Tensor chunk = space.rows(0, rows);
    project(c, p, chunk, i);
    const Tensor capped = cap(c, o.softcap, chunk, static_cast<bool>(gradients));
    const kern::CrossEntropy args{targets.data<std::int32_t>() + i, o.ignore_id, o.label_smoothing,
                                  static_cast<float>(1 / n), o.weights ? o.weights.data<float>() + i : nullptr};
    float* const logits = chunk.data<float>();
    const auto softmax = c.timed_part("softmax", [&] { return Work{.bytes = (gradients ? 2 : 1) * bytes_of(chunk)}; });
    c.kernels().cross_entropy(args, logits, losses.data<float>() + i, gradients ? logits : nullptr, z(rows), z(V));
    if (!gradients) continue;
    uncap(c, o.softcap, capped, chunk);
    project_back(c, p, chunk, i, gradients);
  }

  Tensor y = sum_of_losses(c, losses, n);
  record_projected(c, "projected_cross_entropy", y, p, gradients);
  return y;
}

Tensor target_log_probs(Context& c, const Projected& p, const Tensor& targets, float softcap) {
  check_projection(p);
  const std::int64_t N = p.x.size(0), V = p.w.out();
  check_shape(targets, {N}, "target_log_probs: targets");
  targets_that_count(targets, V, {});
  Tensor log_probs = c.empty({N});
  const Tensor space = c.empty({std::min(N, chunk_rows), V});
  for (std::int64_t i = 0; i < N; i += chunk_rows) {
    const std::int64_t rows = std::min(chunk_rows, N - i);
    Tensor chunk = space.rows(0, rows);
    project(c, p, chunk, i);
    cap(c, softcap, chunk, false);
    const kern::CrossEntropy args{targets.data<std::int32_t>() + i, -1, 0, 1, nullptr};
    c.kernels().cross_entropy(args, chunk.data<float>(), log_probs.data<float>() + i, nullptr, z(rows), z(V));
  }
  c.kernels().scale(-1.0f, log_probs.data<float>(), log_probs.data<float>(), z(N));
  return log_probs;
}

}  // namespace tril::ops

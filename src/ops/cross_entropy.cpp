// cross_entropy: L = 1/n sum_i w_i [ -(1 - eps) log p_i(t_i) - eps / V sum_v log p_i(v) ],  p_i = softmax(logits_i)
//   d logits_i = w_i / n (p_i - (1 - eps) onehot(t_i) - eps / V)         [Szegedy et al. 2016, section 7]
//   logits [N, V]   targets [N]   n: the normalizer; rows with t_i == ignore_id contribute nothing
// Saves the gradient of the logits (computed in the same pass), not the logits.
#include "ops/loss.h"

namespace tril::ops {

double targets_that_count(const Tensor& targets, std::int64_t V, const LossOptions& o) {
  check_dense(targets, DType::i32, "loss: targets");
  const std::vector<std::int32_t> ids = host_copy<std::int32_t>(targets);
  std::int64_t n = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == o.ignore_id) continue;
    check(ids[i] >= 0 && ids[i] < V, "loss: targets", "value {} at {} is not in [0, {})", ids[i], i, V);
    ++n;
  }
  return o.normalizer != 0 ? o.normalizer : static_cast<double>(std::max<std::int64_t>(n, 1));
}

Tensor sum_of_losses(Context& c, const Tensor& losses, double normalizer) {
  double sum = 0;
  for (float l : host_copy<float>(losses)) sum += static_cast<double>(l);
  const float mean = static_cast<float>(sum / normalizer);
  return c.upload<float>(std::span(&mean, 1), {1});
}

void scale_by(Context& c, Tensor x, const Tensor& dy) {
  const float factor = host_copy<float>(dy)[0];
  if (factor != 1.0f) c.kernels().scale(factor, x.data<float>(), x.data<float>(), z(x.count()));
}

Tensor cross_entropy(Context& c, const Tensor& logits, const Tensor& targets, const LossOptions& o) {
  const auto [N, V] = logits.dims<2>("cross_entropy: logits");
  check_dense(logits, DType::f32, "cross_entropy: logits");
  check_shape(targets, {N}, "cross_entropy: targets");
  if (o.weights) check_shape(o.weights, {N}, "cross_entropy: weights");
  const double n = targets_that_count(targets, V, o);
  Tensor losses = c.empty({N});
  Tensor d_logits = c.tape() && c.tape()->wants(logits) ? c.empty({N, V}) : Tensor();
  const kern::CrossEntropy args{targets.data<std::int32_t>(), o.ignore_id, o.label_smoothing, static_cast<float>(1 / n),
                                o.weights ? o.weights.data<float>() : nullptr};
  const auto time = c.timed("cross_entropy", "forward", [&] { return Work{.bytes = bytes_of(logits, d_logits)}; });
  c.kernels().cross_entropy(args, logits.data<float>(), losses.data<float>(),
                            d_logits ? d_logits.data<float>() : nullptr, z(N), z(V));
  Tensor y = sum_of_losses(c, losses, n);
  if (d_logits)
    c.tape()->record("cross_entropy", {&logits}, y, [logits, d_logits](Context& k, const Tensor& dy, Grads& d) {
      k.worked([&] { return Work{.bytes = 2 * bytes_of(d_logits)}; });
      scale_by(k, d_logits, dy);
      pass_on(k, d_logits, d.into(k, logits));
    });
  return y;
}

}  // namespace tril::ops

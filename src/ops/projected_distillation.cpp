// projected_distillation: a student learns from the targets and from teachers' distributions over the same vocabulary
// [Hinton et al. 2015; word-level distillation of Kim & Rush 2016, section 3.1]
//   L = 1/n sum_i w_i [ (1 - A) CE(s_i) + A T^2 KL(softmax(t_i / T) || softmax(s_i / T)) ]
//   ds_i = w_i/n [ (1 - A) (softmax(s_i) - (1 - eps) onehot - eps/V) + A T (softmax(s_i / T) - softmax(t_i / T)) ]
//   s = x W^T + b, and t_k likewise for each teacher k;   t = mean of t_k: the geometric mean of K distributions
//   [Hinton et al.]
//   dx, dW, db from ds as in projection.h
// Saves dx, dW and db, computed in the same pass; only one chunk of logits of student and teachers exists at a time.
#include "ops/loss.h"
#include "ops/projection.h"

namespace tril::ops {
namespace {

// w_i; zero if the target does not count.
std::vector<float> row_weights(const Tensor& targets, const LossOptions& o) {
  const std::vector<std::int32_t> ids = host_copy<std::int32_t>(targets);
  std::vector<float> weights = o.weights ? host_copy<float>(o.weights) : std::vector<float>(ids.size(), 1.0f);
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] == o.ignore_id) weights[i] = 0;
  return weights;
}

// logits = the mean of the teachers' logits of rows [begin, +rows); `space` has the same size.
void mean_of_teachers(Context& c, std::span<const Projected> teachers, Tensor logits, Tensor space,
                      std::int64_t begin) {
  const float share = 1.0f / static_cast<float>(teachers.size());
  project(c, teachers[0], logits, begin);
  if (teachers.size() > 1) c.kernels().scale(share, logits.data<float>(), logits.data<float>(), z(logits.count()));
  for (const Projected& t : teachers.subspan(1)) {
    project(c, t, space, begin);
    c.kernels().axpy(share, space.data<float>(), logits.data<float>(), z(logits.count()));
  }
}

}  // namespace

Tensor projected_distillation(Context& c, const Distillation& models, const Tensor& targets, const LossOptions& o,
                              const DistillationOptions& how) {
  const auto& [student, teachers] = models;
  check_projection(student);
  const std::int64_t N = student.x.size(0), V = student.w.out();
  check_shape(targets, {N}, "projected_distillation: targets");
  if (o.weights) check_shape(o.weights, {N}, "projected_distillation: weights");
  check(!teachers.empty(), "projected_distillation", "there is no teacher");
  for (const Projected& t : teachers) {
    check_projection(t);
    check(t.x.size(0) == N && t.w.out() == V, "projected_distillation",
          "a teacher of {} rows and {} words for a student of {} and {}", t.x.size(0), t.w.out(), N, V);
  }
  check(o.softcap == 0, "projected_distillation", "a student with capped logits is not supported");
  check(how.temperature > 0, "projected_distillation", "temperature {} is not above 0", how.temperature);
  check(how.mix >= 0 && how.mix <= 1, "projected_distillation", "mix {} is not in [0, 1]", how.mix);
  const double n = targets_that_count(targets, V, o);
  const float of_targets = 1 - how.mix, of_teachers = how.mix;
  const Tensor weights = c.upload(row_weights(targets, o));
  const auto time = c.timed("projected_distillation", "forward", [] { return Work(); });
  ProjectionGradients gradients(c, student);

  Tensor losses = c.empty({N}), divergences = c.empty({N});
  const Shape chunk{std::min(N, chunk_rows), V};
  const Tensor space = c.empty(chunk), teacher_space = c.empty(chunk), more_space = c.empty(chunk);
  for (std::int64_t i = 0; i < N; i += chunk_rows) {
    const std::int64_t rows = std::min(chunk_rows, N - i);
    Tensor s = space.rows(0, rows), t = teacher_space.rows(0, rows), more = more_space.rows(0, rows);
    project(c, student, s, i);
    mean_of_teachers(c, teachers, t, more, i);
    const kern::CrossEntropy args{targets.data<std::int32_t>() + i, o.ignore_id, o.label_smoothing,
                                  static_cast<float>(of_targets / n), weights.data<float>() + i};
    c.kernels().cross_entropy(args, s.data<float>(), losses.data<float>() + i, gradients ? more.data<float>() : nullptr,
                              z(rows), z(V));
    c.kernels().distillation(s.data<float>(), t.data<float>(), weights.data<float>() + i, how.temperature,
                             static_cast<float>(of_teachers / n), divergences.data<float>() + i,
                             gradients ? s.data<float>() : nullptr, z(rows), z(V));
    if (!gradients) continue;
    c.kernels().axpy(1.0f, more.data<float>(), s.data<float>(), z(rows * V));
    project_back(c, student, s, i, gradients);
  }

  c.kernels().scale(of_targets, losses.data<float>(), losses.data<float>(), z(N));
  c.kernels().axpy(of_teachers, divergences.data<float>(), losses.data<float>(), z(N));
  Tensor y = sum_of_losses(c, losses, n);
  record_projected(c, "projected_distillation", y, student, gradients);
  return y;
}

}  // namespace tril::ops

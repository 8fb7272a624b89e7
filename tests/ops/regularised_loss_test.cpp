// Losses with a second term: R-Drop and distillation.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "ops/losses.h"

namespace tril::test::loss_test {
namespace {

// The paper's equations 3 and 4, summed over the targets and divided by twice the normalizer.
Doubles r_drop_in_double(const Setting& s, double alpha, const Doubles& logits) {
  const auto half = static_cast<std::ptrdiff_t>(s.N * s.V);
  const Doubles a(logits.begin(), logits.begin() + half), b(logits.begin() + half, logits.end());
  const auto targets = some_targets(s.N, s.V, s.ignore);
  double kl = 0, counted = 0;
  for (std::int64_t i = 0; i < s.N; ++i) {
    if (targets[static_cast<std::size_t>(i)] == s.ignore) continue;
    const Doubles p = log_softmax(a, i, s.V), q = log_softmax(b, i, s.V);
    double pq = 0, qp = 0;
    for (std::size_t v = 0; v < p.size(); ++v)
      pq += std::exp(p[v]) * (p[v] - q[v]), qp += std::exp(q[v]) * (q[v] - p[v]);
    kl += (s.weights ? weight_of(i) : 1) * (pq + qp) / 2;
    ++counted;
  }
  kl /= s.normalizer != 0 ? s.normalizer : std::max(counted, 1.0);
  const double nll = loss_in_double(s, a)[0] + loss_in_double(s, b)[0];
  return {(nll + alpha * kl) / 2};
}

OpCase r_drop_case(const Setting& s, float alpha, std::int64_t D, bool bias, bool in_bf16 = false) {
  return {
      .name = fmt::format("r_drop N {} V {} D {} alpha {} bias {} mixed {}", s.N, s.V, D, alpha, bias, in_bf16),
      .shapes = bias ? std::vector<Shape>{{2 * s.N, D}, {s.V, D}, {s.V}} : std::vector<Shape>{{2 * s.N, D}, {s.V, D}},
      .run =
          [=](Context& c, std::span<const Tensor> x) {
            return ops::r_drop(c, {x[0], weight_of_output(c, x[1], in_bf16), bias ? x[2] : Tensor()},
                               c.upload(some_targets(s.N, s.V, s.ignore)), options_of(c, s), alpha);
          },
      .reference =
          [=](std::span<const Doubles> x) {
            return r_drop_in_double(s, static_cast<double>(alpha),
                                    logits_in_double(x[0], x[1], bias ? x[2] : Doubles(), 2 * s.N, s.V, D, s.softcap));
          },
      // the divergence is as steep as alpha
      .tolerance = in_bf16 ? 1e-2 * (1 + static_cast<double>(alpha)) : 1e-5,
      .gradient_tolerance = in_bf16 ? (1 + static_cast<double>(alpha)) * gradient_rounding(s, D) : 5e-5};
}

TEST(RDrop, AnswersEveryQuestion) {
  for (const Setting& s : settings)
    for (float alpha : {0.0f, 5.0f})
      for (bool bias : {false, true})
        if (s.V < 100) check_op(r_drop_case(s, alpha, 5, bias));
  check_op(r_drop_case({.N = 130, .V = 5, .smoothing = 0.1f, .ignore = 2}, 1, 3, true));  // a chunk and two rows
  check_op(r_drop_case({.N = 256, .V = 3}, 2, 2, false));                                 // two whole chunks
}

TEST(RDrop, InMixedPrecision) {
  for (const Setting& s : settings)
    if (s.V < 100) check_op(r_drop_case(s, 1, 5, true, true));
  check_op(r_drop_case({.N = 130, .V = 70, .smoothing = 0.1f, .ignore = 2}, 1, 33, false, true));
}

TEST(RDrop, TwoEqualPassesAreCrossEntropy) {
  Arena arena;
  Context c(arena);
  const std::int64_t N = 140, D = 4, V = 11;
  const Setting s{.N = N, .V = V, .smoothing = 0.1f};
  std::vector<float> once = normal_values(N * D, 1), twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  const Tensor w = c.upload<float>(normal_values(V * D, 2), {V, D}), targets = c.upload(some_targets(N, V, -1));
  const Tensor drop = ops::r_drop(c, {c.upload<float>(twice, {2 * N, D}), {w, {}}, {}}, targets, options_of(c, s), 7);
  const Tensor plain =
      ops::projected_cross_entropy(c, {c.upload<float>(once, {N, D}), {w, {}}, {}}, targets, options_of(c, s));
  EXPECT_NEAR(host_copy<float>(drop)[0], host_copy<float>(plain)[0], 1e-6);
}

TEST(RDrop, OfCappedLogits) {
  for (const bool in_bf16 : {false, true})
    check_op(r_drop_case({.N = 130, .V = 7, .smoothing = 0.1f, .ignore = 2, .softcap = 1.5f}, 2, 3, true, in_bf16));
}

// Teachers of other widths than the student's.
struct TeacherCase {
  std::int64_t D;
  std::uint64_t stream;
};

OpCase projected_distillation_case(const Setting& s, float T, float mix, std::int64_t D, bool bias,
                                   const std::vector<TeacherCase>& teachers, bool in_bf16 = false) {
  const auto states = [s](const TeacherCase& t) { return normal_values(s.N * t.D, t.stream); };
  const auto weight = [s](const TeacherCase& t) { return normal_values(s.V * t.D, t.stream + 1); };
  return {
      .name = fmt::format("projected_distillation N {} V {} T {} mix {} teachers {} mixed {}", s.N, s.V, T, mix,
                          teachers.size(), in_bf16),
      .shapes = bias ? std::vector<Shape>{{s.N, D}, {s.V, D}, {s.V}} : std::vector<Shape>{{s.N, D}, {s.V, D}},
      .run =
          [=](Context& c, std::span<const Tensor> x) {
            std::vector<ops::Projected> those;
            for (const TeacherCase& t : teachers)
              those.push_back({c.upload<float>(states(t), {s.N, t.D}),
                               weight_of_output(c, c.upload<float>(weight(t), {s.V, t.D}), in_bf16),
                               {}});
            return ops::projected_distillation(
                c, {{x[0], weight_of_output(c, x[1], in_bf16), bias ? x[2] : Tensor()}, those},
                c.upload(some_targets(s.N, s.V, s.ignore)), options_of(c, s), {.temperature = T, .mix = mix});
          },
      .reference =
          [=](std::span<const Doubles> x) {
            const Doubles student = logits_in_double(x[0], x[1], bias ? x[2] : Doubles(), s.N, s.V, D);
            Doubles mean(student.size());
            for (const TeacherCase& t : teachers) {
              const auto h = states(t), w = weight(t);
              const Doubles logits = logits_in_double({h.begin(), h.end()}, {w.begin(), w.end()}, {}, s.N, s.V, t.D);
              for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += logits[i] / static_cast<double>(teachers.size());
            }
            const auto targets = some_targets(s.N, s.V, s.ignore);
            const double temperature = static_cast<double>(T), A = static_cast<double>(mix);
            double sum = 0, counted = 0;
            for (std::int64_t i = 0; i < s.N; ++i) {
              if (targets[static_cast<std::size_t>(i)] == s.ignore) continue;
              const Doubles p = log_softmax(mean, i, s.V, temperature), q = log_softmax(student, i, s.V, temperature);
              double kl = 0;
              for (std::size_t v = 0; v < p.size(); ++v) kl += std::exp(p[v]) * (p[v] - q[v]);
              sum += (s.weights ? weight_of(i) : 1) * temperature * temperature * kl;
              ++counted;
            }
            sum /= s.normalizer != 0 ? s.normalizer : std::max(counted, 1.0);
            return Doubles{(1 - A) * loss_in_double(s, student)[0] + A * sum};
          },
      .tolerance = in_bf16 ? 2e-2 : 1e-5,
      .gradient_tolerance = in_bf16 ? 2 * gradient_rounding(s, D) : 5e-5};
}

TEST(ProjectedDistillation, AnswersEveryQuestion) {
  const std::vector<TeacherCase> one{{3, 60}}, three{{3, 60}, {6, 70}, {5, 80}};
  for (const Setting& s : settings)
    for (const auto& teachers : {one, three})
      if (s.V < 100) {
        check_op(projected_distillation_case(s, 1, 0.5f, 5, true, teachers));
        check_op(projected_distillation_case(s, 2.5f, 0.25f, 5, false, teachers));
      }
  check_op(projected_distillation_case({.N = 130, .V = 5, .ignore = 2, .weights = true}, 2, 1, 3, true, one));
  check_op(projected_distillation_case({.N = 256, .V = 3, .smoothing = 0.1f}, 1, 0, 2, false, one));
}

TEST(ProjectedDistillation, InMixedPrecision) {
  const std::vector<TeacherCase> two{{3, 60}, {6, 70}};
  for (const Setting& s : settings)
    if (s.V < 100) check_op(projected_distillation_case(s, 1.5f, 0.5f, 5, true, two, true));
  check_op(projected_distillation_case({.N = 130, .V = 40, .ignore = 2, .weights = true}, 1, 1, 33, false, two, true));
}

}  // namespace
}  // namespace tril::test::loss_test

// Clamped values, scaled columns, matrices side by side; activations with weights or bounds of their own.
#include <algorithm>
#include <cmath>

#include "ops/clamp.h"
#include "ops/clamped_gate.h"
#include "ops/concat_columns.h"
#include "ops/scale_columns.h"
#include "ops/xielu.h"
#include "support/op_case.h"

namespace tril::test {
namespace {

TEST(Clamp, AnswersEveryQuestion) {
  check_op({.name = "clamp",
            .shapes = {{5, 7}},
            .run = [](Context& c, std::span<const Tensor> x) { return ops::clamp(c, x[0], -0.75f, 1.25f); },
            .reference =
                [](std::span<const Doubles> x) {
                  Doubles y;
                  for (const double v : x[0]) y.push_back(std::clamp(v, -0.75, 1.25));
                  return y;
                }});
  Arena arena;
  Context c(arena);
  expect_error([&] { ops::clamp(c, c.zeros({2}), 1, 0); }, "not in order");
}

TEST(ScaleColumns, AnswersEveryQuestion) {
  for (const Shape& s : {Shape{1, 1}, Shape{5, 7}, Shape{17, 64}})
    check_op({.name = "scale_columns " + s.text(),
              .shapes = {s, {s[1]}},
              .run = [](Context& c, std::span<const Tensor> x) { return ops::scale_columns(c, x[0], x[1]); },
              .reference =
                  [](std::span<const Doubles> x) {
                    Doubles y;
                    for (std::size_t i = 0; i < x[0].size(); ++i) y.push_back(x[0][i] * x[1][i % x[1].size()]);
                    return y;
                  }});
}

TEST(ClampedGate, AnswersEveryQuestion) {
  const ops::GateClamp o{.alpha = 1.702f, .limit = 0.8f};  // normal values reach beyond
  for (const std::int64_t F : {1, 7, 33})
    check_op({.name = fmt::format("clamped_gate {}", F),
              .shapes = {{4, 2 * F}},
              .run = [=](Context& c, std::span<const Tensor> x) { return ops::clamped_gate(c, x[0], o); },
              .reference =
                  [=](std::span<const Doubles> x) {
                    Doubles y;
                    const double limit = o.limit, alpha = o.alpha;
                    for (std::int64_t i = 0; i < 4; ++i)
                      for (std::int64_t j = 0; j < F; ++j) {
                        const double g = std::min(at(x[0], i, j, 2 * F), limit);
                        const double u = std::clamp(at(x[0], i, F + j, 2 * F), -limit, limit);
                        y.push_back((1 + u) * g / (1 + std::exp(-alpha * g)));
                      }
                    return y;
                  },
              .columns = {0}});
  Arena arena;
  Context c(arena);
  expect_error([&] { ops::clamped_gate(c, c.zeros({2, 3}), o); }, "two halves");
  expect_error([&] { ops::clamped_gate(c, c.zeros({2, 4}), {.limit = 0}); }, "a limit of 0");
}

TEST(Xielu, AnswersEveryQuestion) {
  for (const Shape& s : {Shape{1, 1}, Shape{5, 7}, Shape{17, 33}})
    check_op({.name = "xielu " + s.text(),
              .shapes = {s, {1}, {1}},
              .run = [](Context& c, std::span<const Tensor> x) { return ops::xielu(c, x[0], x[1], x[2], 0.5f); },
              .reference =
                  [](std::span<const Doubles> x) {
                    const double above = std::log1p(std::exp(x[1][0])), below = 0.5 + std::log1p(std::exp(x[2][0]));
                    Doubles y;
                    for (const double v : x[0])
                      y.push_back((v > 0 ? above * v * v : below * (std::expm1(v) - v)) + 0.5 * v);
                    return y;
                  }});
}

TEST(ConcatColumns, AnswersEveryQuestion) {
  check_op({.name = "concat_columns",
            .shapes = {{3, 2}, {3, 5}},
            .run = [](Context& c, std::span<const Tensor> x) { return ops::concat_columns(c, x); },
            .reference =
                [](std::span<const Doubles> x) {
                  Doubles y;
                  for (std::size_t i = 0; i < 3; ++i) {
                    y.insert(y.end(), x[0].begin() + std::ptrdiff_t(2 * i), x[0].begin() + std::ptrdiff_t(2 * i + 2));
                    y.insert(y.end(), x[1].begin() + std::ptrdiff_t(5 * i), x[1].begin() + std::ptrdiff_t(5 * i + 5));
                  }
                  return y;
                }});
  Arena arena;
  Context c(arena);
  const Tensor parts[] = {c.zeros({2, 3}), c.zeros({3, 3})};
  expect_error([&] { ops::concat_columns(c, parts); }, "concat_columns: a part: expected [2, 3], got [3, 3]");
}

}  // namespace
}  // namespace tril::test

// Clamped values, scaled columns, matrices side by side.
#include <algorithm>

#include "ops/clamp.h"
#include "ops/concat_columns.h"
#include "ops/scale_columns.h"
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

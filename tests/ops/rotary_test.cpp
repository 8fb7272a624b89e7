// rotary, gated_columns and dense: values and gradients.
#include "ops/rotary.h"

#include <cmath>

#include "ops/dense.h"
#include "ops/gated_columns.h"
#include "support/op_case.h"

namespace tril::test {
namespace {

// Angles of seven positions, each with its own cosine and sine.
std::vector<float> angles(std::int64_t positions, std::int64_t dim) {
  std::vector<float> table;
  for (std::int64_t p = 0; p < positions; ++p)
    for (const bool sine : {false, true})
      for (std::int64_t i = 0; i < dim / 2; ++i) {
        const double angle = 0.3 * static_cast<double>(p) / static_cast<double>(i + 1);
        table.push_back(static_cast<float>(sine ? std::sin(angle) : std::cos(angle)));
      }
  return table;
}

TEST(Rotary, ValueAndGradient) {
  const std::vector<std::int32_t> positions{3, 0, 6, 1, 6};
  struct Sizes {
    std::int64_t heads, d, dim;
  };
  for (const Sizes& sizes : {Sizes{1, 2, 2}, {3, 7, 4}, {2, 12, 12}, {2, 40, 36}})
    for (const bool interleaved : {false, true}) {
      const std::int64_t heads = sizes.heads, d = sizes.d, dim = sizes.dim;
      const std::vector<float> table = angles(7, dim);
      check_op({.name = fmt::format("rotary {} {} {} {}", heads, d, dim, interleaved),
                .shapes = {{5, heads * d}},
                .run =
                    [=](Context& c, std::span<const Tensor> x) {
                      const Tensor t = c.upload<float>(table, {7, dim});
                      return ops::rotary(c, x[0], {t, c.upload(positions), interleaved}, heads);
                    },
                .reference =
                    [=](std::span<const Doubles> x) {
                      Doubles y = x[0];
                      for (std::int64_t n = 0; n < 5; ++n)
                        for (std::int64_t h = 0; h < heads; ++h)
                          for (std::int64_t i = 0; i < dim / 2; ++i) {
                            const auto row = static_cast<std::size_t>(positions[static_cast<std::size_t>(n)] * dim + i);
                            const double cosine = table[row], sine = table[row + static_cast<std::size_t>(dim / 2)];
                            const auto first = static_cast<std::size_t>(n * heads * d + h * d);
                            const std::size_t a = first + static_cast<std::size_t>(interleaved ? 2 * i : i),
                                              b = first +
                                                  static_cast<std::size_t>(interleaved ? 2 * i + 1 : i + dim / 2);
                            y[a] = cosine * x[0][a] - sine * x[0][b];
                            y[b] = sine * x[0][a] + cosine * x[0][b];
                          }
                      return y;
                    },
                .columns = {0}});
    }
}

TEST(Rotary, NamesWhatIsWrong) {
  Arena arena;
  Context c(arena);
  const Tensor x = c.zeros({2, 12}), positions = c.upload<std::int32_t>({0, 1});
  expect_error([&] { ops::rotary(c, x, {c.zeros({4, 8}), positions}, 2); }, "pairs of the first 8 values");
  expect_error([&] { ops::rotary(c, x, {c.zeros({4, 6}), positions}, 5); }, "of 5 heads");
  expect_error([&] { ops::rotary(c, x, {c.zeros({4, 6}), c.upload<std::int32_t>({0})}, 2); }, "expected [2], got [1]");
}

TEST(GatedColumns, ValueAndGradient) {
  for (const auto f : {ops::Activation::silu, ops::Activation::gelu_tanh})
    for (const std::int64_t F : {1, 7, 33})
      check_op({.name = fmt::format("gated_columns {}", F),
                .shapes = {{4, 2 * F}},
                .run = [=](Context& c, std::span<const Tensor> x) { return ops::gated_columns(c, f, x[0]); },
                .reference =
                    [=](std::span<const Doubles> x) {
                      Doubles y;
                      for (std::int64_t i = 0; i < 4; ++i)
                        for (std::int64_t j = 0; j < F; ++j)
                          y.push_back(activation(f, at(x[0], i, j, 2 * F)) * at(x[0], i, F + j, 2 * F));
                      return y;
                    },
                .columns = {0}});
}

TEST(Dense, ValueAndGradient) {
  for (const std::int64_t D : {1, 5, 33})
    check_op({.name = fmt::format("dense {}", D),
              .shapes = {{4, D}},
              .run = [](Context& c, std::span<const Tensor> x) { return ops::scale(c, ops::dense(c, x[0]), 2); },
              .reference =
                  [](std::span<const Doubles> x) {
                    Doubles y;
                    for (double v : x[0]) y.push_back(2 * v);
                    return y;
                  },
              .columns = {0}});
}

}  // namespace
}  // namespace tril::test

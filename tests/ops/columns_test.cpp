// Clamped values, scaled columns and heads, matrices side by side; activations with weights or bounds of their own.
#include <algorithm>
#include <cmath>

#include "ops/clamp.h"
#include "ops/clamped_gate.h"
#include "ops/clamped_swiglu.h"
#include "ops/concat_columns.h"
#include "ops/join_heads.h"
#include "ops/latent_heads.h"
#include "ops/scale_columns.h"
#include "ops/scale_heads.h"
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

TEST(ScaleHeads, AnswersEveryQuestion) {
  for (const std::int64_t heads : {1, 3})
    for (const std::int64_t d : {1, 7, 33})
      check_op({.name = fmt::format("scale_heads {} {}", heads, d),
                .shapes = {{4, heads * d}, {4, heads}},
                .run = [](Context& c, std::span<const Tensor> x) { return ops::scale_heads(c, x[0], x[1]); },
                .reference =
                    [=](std::span<const Doubles> x) {
                      Doubles y;
                      for (std::size_t i = 0; i < x[0].size(); ++i) y.push_back(x[0][i] * x[1][i / as_size(d)]);
                      return y;
                    }});
  Arena arena;
  Context c(arena);
  expect_error([&] { ops::scale_heads(c, c.zeros({2, 4}), c.zeros({2, 3})); }, "[2, 4] cannot be scaled by [2, 3]");
  expect_error([&] { ops::scale_heads(c, c.zeros({2, 4}), c.zeros({1, 2})); }, "[2, 4] cannot be scaled by [1, 2]");
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

TEST(ClampedSwiglu, AnswersEveryQuestion) {
  for (const std::int64_t F : {1, 5, 33})
    for (const double limit : {0.2, 0.9})
      check_op(
          {.name = fmt::format("clamped_swiglu {} {}", F, limit),
           .shapes = {{4, 2 * F}},
           .run = [=](Context& c,
                      std::span<const Tensor> x) { return ops::clamped_swiglu(c, x[0], static_cast<float>(limit)); },
           .reference =
               [=](std::span<const Doubles> x) {
                 Doubles y;
                 for (std::int64_t i = 0; i < 4; ++i)
                   for (std::int64_t j = 0; j < F; ++j) {
                     const double g = at(x[0], i, j, 2 * F), u = at(x[0], i, F + j, 2 * F);
                     y.push_back(std::min(g / (1 + std::exp(-g)), limit) * std::clamp(u, -limit, limit));
                   }
                 return y;
               },
           .columns = {0}});
  Arena arena;
  Context c(arena);
  expect_error([&] { ops::clamped_swiglu(c, c.zeros({2, 3}), 1); }, "two halves");
  expect_error([&] { ops::clamped_swiglu(c, c.zeros({2, 4}), 0); }, "not above 0");
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

TEST(JoinHeads, AnswersEveryQuestion) {
  for (const std::int64_t heads : {1, 3})
    check_op({.name = fmt::format("join_heads {}", heads),
              .shapes = {{4, 5}, {4, heads * 2}},
              .run = [=](Context& c, std::span<const Tensor> x) { return ops::join_heads(c, x[0], x[1], heads); },
              .reference =
                  [=](std::span<const Doubles> x) {
                    Doubles y;
                    for (std::int64_t i = 0; i < 4; ++i)
                      for (std::int64_t h = 0; h < heads; ++h) {
                        for (std::int64_t j = 0; j < 5; ++j) y.push_back(at(x[0], i, j, 5));
                        for (std::int64_t j = 0; j < 2; ++j) y.push_back(at(x[1], i, 2 * h + j, 2 * heads));
                      }
                    return y;
                  },
              .columns = {0, 1}});
  Arena arena;
  Context c(arena);
  expect_error([&] { ops::join_heads(c, c.zeros({2, 3}), c.zeros({2, 4}), 3); }, "do not fit 3 heads");
  expect_error([&] { ops::join_heads(c, c.zeros({1, 3}), c.zeros({2, 3}), 3); }, "do not fit 3 heads");
}

// Scores by latents equal those by the keys that are made of them, and so do values, on every table.
TEST(LatentHeads, AreTheProductsThatTheyReplace) {
  constexpr ops::LatentHeads s{.heads = 3, .rotated = 2, .own = 5, .d_v = 4, .rank = 7};
  constexpr std::int64_t N = 6;
  for (const kern::Kernels* kernels : kern::tables()) {
    SCOPED_TRACE(kernels->name);
    Arena arena;
    Context c(arena, *kernels);
    const auto filled = [&](const Shape& shape, std::uint64_t stream) {
      return c.upload<float>(normal_values(shape.count(), stream), shape);
    };
    const Tensor q = filled({N, s.heads * (s.rotated + s.own)}, 1), y = filled({N, s.heads * s.rank}, 2);
    const Tensor w = filled({s.heads * (s.own + s.d_v), s.rank}, 3);
    const auto Q = host_copy<float>(q), Y = host_copy<float>(y), W = host_copy<float>(w);
    const auto weight = [&](std::int64_t row, std::int64_t r) {
      return static_cast<double>(W[static_cast<std::size_t>(row * s.rank + r)]);
    };
    const auto to = host_copy<float>(ops::queries_to_latents(c, q, w, s));
    const auto values = host_copy<float>(ops::latents_to_values(c, y, w, s));
    for (std::int64_t i = 0; i < N; ++i)
      for (std::int64_t h = 0; h < s.heads; ++h) {
        const std::int64_t from = (i * s.heads + h) * (s.rotated + s.own),
                           into = (i * s.heads + h) * (s.rotated + s.rank);
        for (std::int64_t j = 0; j < s.rotated; ++j)
          EXPECT_EQ(to[static_cast<std::size_t>(into + j)], Q[static_cast<std::size_t>(from + j)]);
        for (std::int64_t r = 0; r < s.rank; ++r) {
          double sum = 0;
          for (std::int64_t j = 0; j < s.own; ++j)
            sum += static_cast<double>(Q[static_cast<std::size_t>(from + s.rotated + j)]) * weight(h * s.own + j, r);
          EXPECT_NEAR(static_cast<double>(to[static_cast<std::size_t>(into + s.rotated + r)]), sum, 1e-5);
        }
        for (std::int64_t v = 0; v < s.d_v; ++v) {
          double sum = 0;
          for (std::int64_t r = 0; r < s.rank; ++r)
            sum += static_cast<double>(Y[static_cast<std::size_t>((i * s.heads + h) * s.rank + r)]) *
                   weight(s.heads * s.own + h * s.d_v + v, r);
          EXPECT_NEAR(static_cast<double>(values[static_cast<std::size_t>((i * s.heads + h) * s.d_v + v)]), sum, 1e-5);
        }
      }
    expect_error([&] { ops::queries_to_latents(c, q, y, s); }, "expected [27, 7]");
  }
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

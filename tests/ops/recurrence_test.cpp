// short_convolution and gated_delta against plain loops in double, and their steps against whole rows.
#include <cmath>

#include "ops/gated_delta.h"
#include "ops/short_convolution.h"
#include "support/op_case.h"

namespace tril::test {
namespace {

const std::vector<std::vector<std::int32_t>> row_lengths{{5}, {3, 0, 7}, {1, 1}, {130, 2}};

OpCase convolution_case(const std::vector<std::int32_t>& lengths, std::int64_t D, std::int64_t K, bool bias) {
  const Rows rows = Rows::of_lengths(lengths);
  OpCase op{
      .name = fmt::format("short convolution, {} rows, {} channels, {} taps, bias {}", lengths.size(), D, K, bias),
      .shapes = {{rows.tokens(), D}, {K, D}},
      .run =
          [=](Context& c, std::span<const Tensor> x) {
            return ops::short_convolution(c, x[0], {x[1], bias ? x[2] : Tensor()}, rows);
          },
      .reference =
          [=](std::span<const Doubles> x) {
            Doubles y;
            for (std::int64_t r = 0; r < rows.count(); ++r)
              for (std::int64_t t = 0; t < rows.length(r); ++t)
                for (std::int64_t i = 0; i < D; ++i) {
                  double sum = bias ? x[2][static_cast<std::size_t>(i)] : 0;
                  for (std::int64_t k = 0; k < K; ++k)
                    if (t - K + 1 + k >= 0) sum += at(x[1], k, i, D) * at(x[0], rows.begin(r) + t - K + 1 + k, i, D);
                  y.push_back(sum);
                }
            return y;
          },
      .columns = {0}};
  if (bias) op.shapes.push_back({D});
  return op;
}

TEST(ShortConvolution, SumsTheLastTokens) {
  for (const auto& lengths : row_lengths)
    for (const auto& [D, K] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {5, 3}, {19, 4}}) {
      check_op(convolution_case(lengths, D, K, false));
      check_op(convolution_case(lengths, D, K, true));
    }
  check_op(convolution_case({3, 2}, 300, 3, true));  // more than a block of channels
}

struct Sizes {
  std::int64_t key_heads, heads, d_k, d_v;
};

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// decay and beta are made from normal values, so that they are in (0, 1).
ops::GatedDelta inputs(Context& c, std::span<const Tensor> x) {
  using enum ops::Activation;
  return {.q = x[0],
          .k = x[1],
          .v = x[2],
          .decay = ops::activate(c, sigmoid, x[3]),
          .beta = ops::activate(c, sigmoid, x[4]),
          .scale = 0.7f};
}

std::vector<Shape> shapes_of(std::int64_t N, const Sizes& s) {
  return {{N, s.key_heads * s.d_k}, {N, s.key_heads * s.d_k}, {N, s.heads * s.d_v}, {N, s.heads}, {N, s.heads}};
}

OpCase delta_case(const std::vector<std::int32_t>& lengths, const Sizes& s, bool unit_keys) {
  const Rows rows = Rows::of_lengths(lengths);
  const std::int64_t key_heads = s.key_heads, heads = s.heads, d_k = s.d_k, d_v = s.d_v;
  // Keys longer than one would make states grow without bound.
  const double shrink = unit_keys ? 1 / std::sqrt(2.0 * static_cast<double>(d_k)) : 1;
  return {.name = fmt::format("gated delta, {} rows, {} of {} heads, d_k {}, d_v {}", lengths.size(), key_heads, heads,
                              d_k, d_v),
          .shapes = shapes_of(rows.tokens(), s),
          .run =
              [=](Context& c, std::span<const Tensor> x) {
                ops::GatedDelta in = inputs(c, x);
                if (unit_keys) in.k = ops::scale(c, in.k, static_cast<float>(shrink));
                return ops::gated_delta(c, in, key_heads, rows);
              },
          .reference =
              [=](std::span<const Doubles> x) {
                Doubles y(static_cast<std::size_t>(rows.tokens() * heads * d_v));
                for (std::int64_t r = 0; r < rows.count(); ++r)
                  for (std::int64_t h = 0; h < heads; ++h) {
                    const std::int64_t key = h / (heads / key_heads) * d_k, keys = key_heads * d_k;
                    Doubles S(static_cast<std::size_t>(d_k * d_v));
                    const auto s_of = [&](std::int64_t i, std::int64_t j) -> double& {
                      return S[static_cast<std::size_t>(i * d_v + j)];
                    };
                    for (std::int64_t t = rows.begin(r); t < rows.end(r); ++t)
                      for (std::int64_t j = 0; j < d_v; ++j) {
                        const double decay = sigmoid(at(x[3], t, h, heads)), beta = sigmoid(at(x[4], t, h, heads));
                        double known = 0, result = 0;
                        for (std::int64_t i = 0; i < d_k; ++i) {
                          s_of(i, j) *= decay;
                          known += s_of(i, j) * shrink * at(x[1], t, key + i, keys);
                        }
                        const double u = beta * (at(x[2], t, h * d_v + j, heads * d_v) - known);
                        for (std::int64_t i = 0; i < d_k; ++i) {
                          s_of(i, j) += shrink * at(x[1], t, key + i, keys) * u;
                          result += s_of(i, j) * at(x[0], t, key + i, keys);
                        }
                        y[static_cast<std::size_t>((t * heads + h) * d_v + j)] = static_cast<double>(0.7f) * result;
                      }
                  }
                return y;
              },
          .columns = unit_keys ? std::vector<std::size_t>{0, 2} : std::vector<std::size_t>{0, 1, 2},
          .tolerance = 3e-5,
          .gradient_tolerance = 2e-4};
}

TEST(GatedDelta, ForgetsAndCorrects) {
  for (const auto& lengths : {row_lengths[0], row_lengths[1], row_lengths[2]})
    for (const Sizes& s : {Sizes{1, 1, 1, 1}, Sizes{2, 4, 3, 5}, Sizes{1, 2, 8, 19}})
      check_op(delta_case(lengths, s, s.d_k > 1));
  check_op(delta_case({4}, {1, 2, 1, 3}, false));
  check_op(delta_case(row_lengths[3], {1, 1, 2, 3}, true));  // more tokens than the backward pass holds states of
}

TEST(DeltaDecay, IsBetweenZeroAndOne) {
  check_op({.name = "delta decay",
            .shapes = {{5, 3}, {3}, {3}},
            .run = [](Context& c, std::span<const Tensor> x) { return ops::delta_decay(c, x[0], x[1], x[2]); },
            .reference =
                [](std::span<const Doubles> x) {
                  Doubles y;
                  for (std::int64_t t = 0; t < 5; ++t)
                    for (std::int64_t h = 0; h < 3; ++h)
                      y.push_back(
                          std::exp(-std::exp(x[1][static_cast<std::size_t>(h)]) *
                                   std::log1p(std::exp(at(x[0], t, h, 3) + x[2][static_cast<std::size_t>(h)]))));
                  return y;
                },
            .columns = {0}});
}

/// Some tokens of each row after another, some rows without any, with the states of `rows` in other slots.
/// step(tokens, rows, slots) gets the numbers of the tokens.
template <class F>
void in_portions(const Rows& rows, const F& step) {
  std::vector<std::int32_t> at(static_cast<std::size_t>(rows.count()), 0), slots;
  for (std::int64_t r = rows.count(); r-- > 0;) slots.push_back(static_cast<std::int32_t>(r) + 1);
  for (std::int32_t number = 0, read = 0; read < rows.tokens(); ++number) {
    Rows next;
    std::vector<std::int32_t> tokens;
    for (std::int64_t r = 0; r < rows.count(); ++r) {
      auto& begin = at[static_cast<std::size_t>(r)];
      const std::int32_t wanted = number % 3 == 0 ? 1 : (static_cast<std::int32_t>(r) + number) % 6,
                         n = std::min(rows.length(r) - begin, wanted);
      next.append(n, begin);
      for (std::int32_t t = 0; t < n; ++t) tokens.push_back(rows.begin(r) + begin++);
    }
    read += static_cast<std::int32_t>(tokens.size());
    if (!tokens.empty()) step(tokens, next, slots);
  }
}

void expect_rows(const Tensor& part, const std::vector<std::int32_t>& tokens, const std::vector<float>& all) {
  const auto y = host_copy<float>(part);
  const auto width = static_cast<std::size_t>(part.size(1));
  for (std::size_t i = 0; i < y.size(); ++i)
    ASSERT_NEAR(y[i], all[static_cast<std::size_t>(tokens[i / width]) * width + i % width], 2e-5);
}

TEST(ShortConvolution, StepByStepEqualsAllAtOnce) {
  for (const kern::Kernels* kernels : kern::tables())
    for (const std::int64_t K : {1, 2, 4}) {
      Arena arena;
      Context c(arena, *kernels);
      const std::int64_t D = 21;
      const Rows rows = Rows::of_lengths(std::vector<std::int32_t>{40, 1, 23});
      const Tensor x = c.upload<float>(normal_values(rows.tokens() * D, 1), {rows.tokens(), D}),
                   w = c.upload<float>(normal_values(K * D, 2), {K, D});
      const auto all = host_copy<float>(ops::short_convolution(c, x, {w}, rows));
      const Tensor wide = c.zeros({5, ops::short_convolution_state(K, D) + 3});  // beside other parts of a state
      in_portions(rows, [&](const auto& tokens, const Rows& next, const auto& slots) {
        const Tensor part = ops::embedding(c, x, c.upload(tokens), 1, -1);
        const ops::States states{wide.columns(2, 2 + ops::short_convolution_state(K, D)), slots};
        expect_rows(ops::short_convolution(c, part, {w}, next, states), tokens, all);
      });
    }
}

TEST(GatedDelta, StepByStepEqualsAllAtOnce) {
  for (const kern::Kernels* kernels : kern::tables())
    for (const Sizes& s : {Sizes{1, 1, 1, 1}, Sizes{2, 4, 8, 19}}) {
      Arena arena;
      Context c(arena, *kernels);
      const Rows rows = Rows::of_lengths(std::vector<std::int32_t>{40, 1, 23});
      std::vector<Tensor> x;
      for (const Shape& shape : shapes_of(rows.tokens(), s))
        x.push_back(c.upload<float>(normal_values(shape.count(), 1 + x.size()), shape));
      x[1] = ops::scale(c, x[1], 1 / std::sqrt(2 * static_cast<float>(s.d_k)));
      const auto all = host_copy<float>(ops::gated_delta(c, inputs(c, x), s.key_heads, rows));
      const std::int64_t size = ops::gated_delta_state(s.heads, s.d_k, s.d_v);
      const Tensor wide = c.zeros({5, size + 3});
      in_portions(rows, [&](const auto& tokens, const Rows& next, const auto& slots) {
        std::vector<Tensor> part;
        const Tensor which = c.upload(tokens);
        for (const Tensor& whole : x) part.push_back(ops::embedding(c, whole, which, 1, -1));
        expect_rows(ops::gated_delta(c, inputs(c, part), s.key_heads, next, {wide.columns(1, 1 + size), slots}), tokens,
                    all);
      });
    }
}

// Threads share rows and heads, or rows and channels; the bits stay.
TEST(Recurrence, ThreadsChangeNoBit) {
  Arena arena;
  Context c(arena);
  const Sizes s{2, 4, 8, 19};
  const Rows rows = Rows::of_lengths(std::vector<std::int32_t>{9, 4, 12});
  std::vector<Tensor> x;
  for (const Shape& shape : shapes_of(rows.tokens(), s))
    x.push_back(c.upload<float>(normal_values(shape.count(), 1 + x.size()), shape));
  const Tensor y = c.upload<float>(normal_values(rows.tokens() * 600, 9), {rows.tokens(), 600}),
               w = c.upload<float>(normal_values(3 * 600, 10), {3, 600});
  const auto run = [&] {
    auto both = host_copy<float>(ops::gated_delta(c, inputs(c, x), s.key_heads, rows));
    const auto more = host_copy<float>(ops::short_convolution(c, y, {w}, rows));
    both.insert(both.end(), more.begin(), more.end());
    return both;
  };
  const auto alone = run();
  Team team(3);
  c.set_team(&team);
  EXPECT_EQ(run(), alone);
}

TEST(Recurrence, Errors) {
  Arena arena;
  Context c(arena);
  const Tensor x = c.zeros({3, 6}), w = c.zeros({2, 6}), gates = c.zeros({3, 2});
  const Rows rows = Rows::rectangle(3, 1);
  expect_error([&] { ops::short_convolution(c, x, {c.zeros({2, 5})}, rows); }, "[3, 6]");
  expect_error([&] { ops::short_convolution(c, x, {w}, Rows::rectangle(2, 1)); }, "in rows of 2 tokens");
  const Tensor states = c.zeros({3, 6});
  const auto step = [&](const std::vector<std::int32_t>& slots) {
    return [&, slots] { ops::short_convolution(c, x, {w}, rows, {states, slots}); };
  };
  expect_error(step({0, 1, 3}), "row 2 has slot 3 of 3");
  expect_error(step({0, 1, -1}), "row 2 has slot -1 of 3");
  expect_error(step({0, 1}), "2 slots for 3 rows");
  expect_error(
      [&] {
        ops::gated_delta(c, {x, x, x, gates, gates}, 1, rows, {states, std::vector<std::int32_t>{0, 1, 2}});
      },
      "states of 6 values, expected 36");
  expect_error([&] { ops::gated_delta(c, {x, x, x, gates, gates}, 4, rows); }, "k [3, 6] of 4 heads");
  expect_error([&] { ops::gated_delta(c, {x, x, x, gates, c.zeros({3, 1})}, 2, rows); }, "beta");
}

}  // namespace
}  // namespace tril::test

// linear: y = residual + dropout(f(x W^T + b)), every combination.
#include <cmath>

#include "support/op_case.h"

namespace tril::test::linear_test {
namespace {

using ops::Activation;

struct Setting {
  std::int64_t N, in, out;
  Activation f = Activation::none;
  bool bias = true, residual = false, transposed = false, mixed = false;
  float dropout = 0;
};

// Inputs: x, W, then b and the residual if present.
OpCase linear_case(const Setting& s) {
  OpCase op;
  op.name = fmt::format("linear N {} in {} out {} f {} bias {} residual {} transposed {} mixed {} dropout {}", s.N,
                        s.in, s.out, static_cast<int>(s.f), s.bias, s.residual, s.transposed, s.mixed, s.dropout);
  op.shapes = {{s.N, s.in}, {s.out, s.in}};
  if (s.bias) op.shapes.push_back({s.out});
  if (s.residual) op.shapes.push_back({s.N, s.out});
  op.columns = {0};
  op.training = s.dropout > 0;
  op.tolerance = op.gradient_tolerance = 1e-5 * std::sqrt(static_cast<double>(s.in + s.N + s.out) + 1);
  // An operand rounded to bfloat16 is off by at most 2^-8 of itself, and errors of a sum grow with the square root of
  // its terms.
  if (s.mixed)
    op.tolerance = op.gradient_tolerance = 1.6e-2 * std::sqrt(static_cast<double>(std::max({s.in, s.N, s.out})));
  op.run = [s](Context& c, std::span<const Tensor> x) {
    ops::Weight w{x[1], {}};
    if (s.transposed) {
      w.transposed = c.empty({s.in, s.out});
      c.kernels().transpose(x[1].data<float>(), w.transposed.data<float>(), static_cast<std::size_t>(s.out),
                            static_cast<std::size_t>(s.in));
    }
    if (s.mixed) w = mixed(c, x[1]);
    return ops::linear(c, x[0], w, s.bias ? x[2] : Tensor(),
                       {.activation = s.f, .residual = s.residual ? x.back() : Tensor(), .dropout = s.dropout});
  };
  op.reference = [s](std::span<const Doubles> x) {
    Doubles y;
    const RandomKey key = random_key(op_seed, 0);
    for (std::int64_t i = 0; i < s.N; ++i)
      for (std::int64_t j = 0; j < s.out; ++j) {
        double z = s.bias ? x[2][static_cast<std::size_t>(j)] : 0;
        for (std::int64_t k = 0; k < s.in; ++k) z += at(x[0], i, k, s.in) * at(x[1], j, k, s.in);
        double v = activation(s.f, z);
        // Dropout uses one stream for each block of 256 rows.
        if (s.dropout > 0)
          v *= dropout_factor(s.dropout, sub_key(key, static_cast<std::uint64_t>(i / 256)),
                              static_cast<std::size_t>(i % 256 * s.out + j));
        y.push_back(v + (s.residual ? at(x.back(), i, j, s.out) : 0));
      }
    return y;
  };
  return op;
}

TEST(Linear, EveryActivationWithEverythingElse) {
  for (Activation f : {Activation::none, Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu})
    for (bool bias : {false, true})
      for (bool residual : {false, true})
        for (float dropout : {0.0f, 0.3f})
          check_op(
              linear_case({.N = 5, .in = 7, .out = 9, .f = f, .bias = bias, .residual = residual, .dropout = dropout}));
}

TEST(Linear, OddSizesAndTransposedCopies) {
  for (const auto& [N, in, out] :
       {std::array<std::int64_t, 3>{1, 1, 1}, {1, 33, 17}, {17, 1, 3}, {3, 64, 65}, {0, 5, 3}})
    for (bool transposed : {false, true})
      check_op(linear_case({.N = N, .in = in, .out = out, .f = Activation::gelu, .transposed = transposed}));
}

TEST(Linear, MoreRowsThanABlock) {
  check_op(linear_case({.N = 300, .in = 3, .out = 5, .f = Activation::relu, .residual = true, .dropout = 0.25f}));
  check_op(linear_case({.N = 257, .in = 3, .out = 2, .f = Activation::silu}));
}

TEST(Linear, InMixedPrecision) {
  for (Activation f : {Activation::none, Activation::relu, Activation::gelu})
    for (bool residual : {false, true})
      for (float dropout : {0.0f, 0.3f})
        for (const auto& [N, in, out] : {std::array<std::int64_t, 3>{5, 7, 9}, {40, 33, 17}, {0, 5, 3}})
          check_op(linear_case(
              {.N = N, .in = in, .out = out, .f = f, .residual = residual, .mixed = true, .dropout = dropout}));
  check_op(linear_case({.N = 300, .in = 3, .out = 5, .residual = true, .mixed = true, .dropout = 0.25f}));
}

TEST(Linear, Errors) {
  Arena arena;
  Context c(arena);
  const Tensor x = c.zeros({2, 3}), w = c.zeros({4, 3}), b = c.zeros({4});
  expect_error([&] { ops::linear(c, c.zeros({2, 5}), {w, {}}, b); }, "[2, 5] and W [4, 3] do not agree");
  expect_error([&] { ops::linear(c, x, {w, {}}, c.zeros({3})); }, "linear: b: expected [4], got [3]");
  expect_error([&] { ops::linear(c, x, {w, c.zeros({4, 3})}, b); }, "expected [3, 4], got [4, 3]");
  expect_error([&] { ops::linear(c, x, {w, {}}, b, {.residual = c.zeros({2, 3})}); }, "expected [2, 4], got [2, 3]");
  expect_error([&] { ops::linear(c, c.zeros({3}), {w, {}}, b); }, "expected 2 dimensions, got [3]");
  expect_error([&] { ops::linear(c, x, {c.zeros({4, 6}).columns(0, 3), {}}, b); }, "expected a dense tensor");
  expect_error([&] { ops::linear(c, x, {w, {}}, b, {.dropout = 1.5f}); }, "1.5 is not in [0, 1)");
}

}  // namespace
}  // namespace tril::test::linear_test

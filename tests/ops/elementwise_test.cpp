// add, scale, dropout, residual, activations, gated units, norms, embedding and positions.
#include <cmath>

#include "support/op_case.h"

namespace tril::test {
namespace {

using ops::Activation;

const Shape odd_shapes[] = {{1, 1}, {3, 7}, {17, 64}, {2, 1027}, {0, 5}, {1, 33}};

template <class F>
std::function<Doubles(std::span<const Doubles>)> each(F f) {  // f(values of the inputs at i, i)
  return [f](std::span<const Doubles> x) {
    Doubles y;
    for (std::size_t i = 0; i < x[0].size(); ++i) y.push_back(f(x, i));
    return y;
  };
}

TEST(Arithmetic, Add) {
  for (const Shape& s : odd_shapes)
    check_op({.name = "add " + s.text(),
              .shapes = {s, s},
              .run = [](Context& c, std::span<const Tensor> x) { return ops::add(c, x[0], x[1]); },
              .reference = each([](std::span<const Doubles> x, std::size_t i) { return x[0][i] + x[1][i]; })});
}

TEST(Arithmetic, AddToItself) {
  check_op({.name = "x + x",
            .shapes = {{3, 7}},
            .run = [](Context& c, std::span<const Tensor> x) { return ops::add(c, x[0], x[0]); },
            .reference = each([](std::span<const Doubles> x, std::size_t i) { return 2 * x[0][i]; })});
}

TEST(Arithmetic, Scale) {
  for (const Shape& s : odd_shapes)
    check_op({.name = "scale " + s.text(),
              .shapes = {s},
              .run = [](Context& c, std::span<const Tensor> x) { return ops::scale(c, x[0], -1.75f); },
              .reference = each([](std::span<const Doubles> x, std::size_t i) { return -1.75 * x[0][i]; })});
}

TEST(Arithmetic, DropoutAndResidual) {
  const RandomKey key = random_key(op_seed, 0);
  for (const Shape& s : odd_shapes)
    for (float p : {0.1f, 0.7f}) {
      check_op({.name = "dropout " + s.text(),
                .shapes = {s},
                .run = [p](Context& c, std::span<const Tensor> x) { return ops::dropout(c, x[0], p); },
                .reference = each(
                    [=](std::span<const Doubles> x, std::size_t i) { return x[0][i] * dropout_factor(p, key, i); }),
                .training = true});
      check_op({.name = "residual " + s.text(),
                .shapes = {s, s},
                .run = [p](Context& c, std::span<const Tensor> x) { return ops::residual(c, x[0], x[1], p); },
                .reference = each([=](std::span<const Doubles> x, std::size_t i) {
                  return x[0][i] + x[1][i] * dropout_factor(p, key, i);
                }),
                .training = true});
    }
}

TEST(Arithmetic, DropoutDropsNothingWhileServing) {
  Arena arena;
  Context c(arena);
  const Tensor x = c.upload(normal_values(50, 1));
  EXPECT_EQ(host_copy<float>(ops::dropout(c, x, 0.5f)), host_copy<float>(x));
  EXPECT_EQ(c.rng().position(), 0u) << "no random numbers are drawn";
  EXPECT_EQ(host_copy<float>(ops::residual(c, x, x, 0.5f)), host_copy<float>(ops::add(c, x, x)));
}

TEST(Arithmetic, DropoutKeepsTheRightShare) {
  Arena arena;
  Context c(arena);
  c.set_training(true);
  const std::size_t n = 100000;
  const Tensor y = ops::dropout(c, c.upload(std::vector<float>(n, 1.0f)), 0.3f);
  double kept = 0;
  for (float v : host_copy<float>(y)) {
    if (v != 0) {
      EXPECT_NEAR(v, 1 / 0.7, 1e-6);
    }
    kept += v != 0;
  }
  EXPECT_NEAR(kept / n, 0.7, 5 * std::sqrt(0.3 * 0.7 / n));  // five standard deviations
}

TEST(Activation, All) {
  for (Activation f : {Activation::relu, Activation::relu_squared, Activation::gelu, Activation::gelu_tanh,
                       Activation::silu, Activation::sigmoid, Activation::softplus, Activation::exp_excess})
    for (const Shape& s : odd_shapes) {
      check_op({.name = fmt::format("activation {} {}", static_cast<int>(f), s.text()),
                .shapes = {s},
                .run = [f](Context& c, std::span<const Tensor> x) { return ops::activate(c, f, x[0]); },
                .reference = each([f](std::span<const Doubles> x, std::size_t i) { return activation(f, x[0][i]); })});
      check_op({.name = fmt::format("gated {} {}", static_cast<int>(f), s.text()),
                .shapes = {s, s},
                .run = [f](Context& c, std::span<const Tensor> x) { return ops::gated(c, f, x[0], x[1]); },
                .reference =
                    each([f](std::span<const Doubles> x, std::size_t i) { return activation(f, x[0][i]) * x[1][i]; })});
    }
}

Doubles norm_in_double(std::span<const Doubles> x, std::int64_t D, bool centred, double eps) {
  Doubles y;
  for (std::size_t begin = 0; begin < x[0].size(); begin += static_cast<std::size_t>(D)) {
    double mean = 0, var = 0;
    const double* row = x[0].data() + begin;
    for (std::int64_t j = 0; centred && j < D; ++j) mean += row[j] / static_cast<double>(D);
    for (std::int64_t j = 0; j < D; ++j) var += (row[j] - mean) * (row[j] - mean) / static_cast<double>(D);
    for (std::int64_t j = 0; j < D; ++j) {
      const std::size_t c = static_cast<std::size_t>(j);
      y.push_back(x[1][c] * (row[j] - mean) / std::sqrt(var + eps) + (x.size() > 2 ? x[2][c] : 0));
    }
  }
  return y;
}

TEST(Norm, LayerNorm) {
  for (const Shape& s : {Shape{3, 2}, Shape{5, 7}, Shape{17, 64}, Shape{2, 1027}, Shape{0, 5}, Shape{1, 33}})
    for (bool bias : {false, true})
      check_op({.name = "layer_norm " + s.text(),
                .shapes = bias ? std::vector<Shape>{s, {s[1]}, {s[1]}} : std::vector<Shape>{s, {s[1]}},
                .run =
                    [bias](Context& c, std::span<const Tensor> x) {
                      return ops::layer_norm(c, x[0], x[1], bias ? x[2] : Tensor(), 1e-2f);
                    },
                .reference =
                    [D = s[1]](std::span<const Doubles> x) {
                      return norm_in_double(x, D, true, static_cast<double>(1e-2f));
                    }});
}

TEST(Norm, RmsNorm) {
  for (const Shape& s : {Shape{3, 1}, Shape{5, 7}, Shape{17, 64}, Shape{2, 1027}, Shape{0, 5}, Shape{1, 33}})
    check_op({.name = "rms_norm " + s.text(),
              .shapes = {s, {s[1]}},
              .run = [](Context& c, std::span<const Tensor> x) { return ops::rms_norm(c, x[0], x[1], 1e-3f); },
              .reference =
                  [D = s[1]](std::span<const Doubles> x) {
                    return norm_in_double(x, D, false, static_cast<double>(1e-3f));
                  }});
}

TEST(Norm, ConstantRowsAreFinite) {
  Arena arena;
  Context c(arena);
  const Tensor x = c.upload<float>(std::vector<float>(12, 3.0f), {2, 6}), g = c.upload(std::vector<float>(6, 1.0f)),
               b = c.zeros({6});
  for (float v : host_copy<float>(ops::layer_norm(c, x, g, b, 1e-5f))) EXPECT_NEAR(v, 0, 1e-3);
  for (float v : host_copy<float>(ops::rms_norm(c, c.zeros({2, 6}), g, 1e-6f))) EXPECT_EQ(v, 0);
}

OpCase embedding_case(std::vector<std::int32_t> ids, std::int64_t V, std::int64_t D, std::int32_t padding) {
  return {.name = fmt::format("embedding of {} ids, V {} D {} padding {}", ids.size(), V, D, padding),
          .shapes = {{V, D}},
          .run = [=](Context& c,
                     std::span<const Tensor> x) { return ops::embedding(c, x[0], c.upload(ids), 2.5f, padding); },
          .reference =
              [=](std::span<const Doubles> x) {
                Doubles y;
                for (std::int32_t id : ids)
                  for (std::int64_t j = 0; j < D; ++j) y.push_back(2.5 * at(x[0], id, j, D));
                return y;
              }};
}

TEST(Embedding, RowsOfTheTable) {
  check_op(embedding_case({4, 0, 4, 2, 4, 1}, 5, 7, -1));
  check_op(embedding_case({0}, 1, 1, -1));
  check_op(embedding_case({2, 2, 2}, 3, 33, -1));
  check_op(embedding_case({}, 3, 5, -1));
}

TEST(Embedding, PaddingGetsNoGradient) {
  for (const kern::Kernels* kernels : kern::tables()) {
    Arena arena;
    Context c(arena, *kernels);
    const Tensor table = c.upload<float>(normal_values(12, 1), {4, 3});
    Tape tape;
    Grads grads;
    tape.watch(table);
    c.set_tape(&tape);
    const Tensor y = ops::embedding(c, table, c.upload<std::int32_t>({1, 2, 1, 0}), 2.0f, 1);
    EXPECT_EQ(host_copy<float>(y.rows(0, 1))[0], 2 * host_copy<float>(table)[3])
        << "its value is the table's all the same";
    tape.backward(c, y, c.upload<float>(std::vector<float>(12, 1.0f), {4, 3}), grads);
    EXPECT_EQ(host_copy<float>(grads.get(table)), (std::vector<float>{2, 2, 2, 0, 0, 0, 2, 2, 2, 0, 0, 0}));
  }
}

TEST(Embedding, Positions) {
  const std::vector<std::int32_t> positions{3, 0, 3, 1};
  for (std::int64_t D : {1, 7, 33})
    check_op({.name = "add_positions",
              .shapes = {{4, D}, {5, D}},
              .run = [=](Context& c,
                         std::span<const Tensor> x) { return ops::add_positions(c, x[0], x[1], c.upload(positions)); },
              .reference =
                  [=](std::span<const Doubles> x) {
                    Doubles y;
                    for (std::int64_t i = 0; i < 4; ++i)
                      for (std::int64_t j = 0; j < D; ++j)
                        y.push_back(at(x[0], i, j, D) + at(x[1], positions[static_cast<std::size_t>(i)], j, D));
                    return y;
                  }});
}

TEST(ElementwiseErrors, NameWhatIsWrong) {
  Arena arena;
  Context c(arena);
  const Tensor x = c.zeros({2, 3});
  expect_error([&] { ops::add(c, x, c.zeros({3, 2})); }, "add: b: expected [2, 3], got [3, 2]");
  expect_error([&] { ops::add(c, x, Tensor()); }, "add: b: expected a tensor, got none");
  expect_error([&] { ops::scale(c, c.zeros({2, 6}).columns(1, 3), 2); }, "expected a dense tensor");
  expect_error([&] { ops::scale(c, c.empty({2}, DType::i32), 2); }, "expected f32, got i32");
  expect_error([&] { ops::dropout(c, x, -0.1f); }, "-0.1 is not in [0, 1)");
  expect_error([&] { ops::residual(c, x, c.zeros({2, 2}), 0); }, "expected [2, 3], got [2, 2]");
  expect_error([&] { ops::gated(c, Activation::silu, x, c.zeros({2, 4})); }, "gated: up: expected [2, 3], got [2, 4]");
  expect_error([&] { ops::layer_norm(c, x, c.zeros({2}), Tensor(), 1e-5f); }, "layer_norm: g: expected [3], got [2]");
  expect_error([&] { ops::rms_norm(c, x, c.zeros({4}), 1e-5f); }, "rms_norm: g: expected [3], got [4]");
  expect_error([&] { ops::embedding(c, x, c.upload<std::int32_t>({0, 2}), 1, -1); }, "value 2 at 1 is not in [0, 2)");
  expect_error([&] { ops::embedding(c, x, c.upload<std::int32_t>({-1}), 1, -1); }, "value -1 at 0 is not in [0, 2)");
  expect_error([&] { ops::embedding(c, x, c.zeros({2}), 1, -1); }, "expected i32, got f32");
  expect_error([&] { ops::add_positions(c, x, c.zeros({4, 2}), c.upload<std::int32_t>({0, 1})); }, "do not agree");
  expect_error(
      [&] {
        ops::add_positions(c, x, c.zeros({4, 3}), c.upload<std::int32_t>({0, 4}));
      },
      "value 4 at 1 is not in [0, 4)");
}

}  // namespace
}  // namespace tril::test

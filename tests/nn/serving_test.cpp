// Weights for serving: in every precision they equal those that were set, stored separately or stacked.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "kern/quantize_int4.h"
#include "nn/attention.h"

namespace tril::nn::serving_test {
namespace {

std::vector<float> normal(std::size_t n, std::uint64_t stream, double sigma = 1) {
  RandomSequence random(3, stream);
  std::vector<float> x(n);
  for (float& v : x) v = static_cast<float>(sigma * random.normal());
  return x;
}

struct Projections {
  Parameters p;
  Linear q, k, v;
  const Stack* stack;

  explicit Projections(std::int64_t width)
      : q(p, "q", width, width), k(p, "k", width, 2 * width), v(p, "v", width, width) {
    stack = p.stack({q.weight(), k.weight(), v.weight()}, {q.bias(), k.bias(), v.bias()});
  }
  void fill() {
    std::uint64_t stream = 0;
    for (Parameter& w : p.all())
      p.set(kern::best(), w, normal(static_cast<std::size_t>(w.shape.count()), ++stream, 0.2));
    p.refresh(kern::best());
  }
};

class Serving : public testing::TestWithParam<Precision> {};

TEST_P(Serving, IsAsCloseAsItsBits) {
  for (const std::int64_t width : {64, 40}) {
    Projections plain(width), served(width);
    plain.p.allocate(), plain.fill();
    served.p.allocate_serving(GetParam()), served.fill();
    Arena arena;
    Context c(arena);
    const Tensor x = c.upload<float>(normal(static_cast<std::size_t>(9 * width), 50), {9, width});
    const std::vector<float> expected = host_copy<float>(plain.q.forward(c, x)),
                             got = host_copy<float>(served.q.forward(c, x));
    double error = 0, size = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      error += std::pow(got[i] - expected[i], 2), size += std::pow(expected[i], 2);
    const double relative = std::sqrt(error / size);
    switch (GetParam()) {
      case Precision::fp32:
        EXPECT_EQ(got, expected);
        break;
      case Precision::bf16:
        EXPECT_LT(relative, 4e-3);
        break;
      case Precision::int8:
        EXPECT_LT(relative, 1.2e-2);
        break;
      case Precision::int4:
        EXPECT_LT(relative, 0.12);
        break;
      case Precision::blocks:  // not instantiated: a weight has them from a file
        FAIL();
    }
    EXPECT_EQ(relative > 1e-5, GetParam() != Precision::fp32) << "nothing was rounded";
    EXPECT_EQ(static_cast<bool>(served.q.weight()->value), false) << "kept twice";
  }
}

TEST_P(Serving, AStackIsItsMatrices) {
  for (const std::int64_t width : {64, 40}) {
    Projections s(width);
    s.p.allocate_serving(GetParam()), s.fill();
    if (GetParam() == Precision::fp32 || width % 32 != 0) {
      EXPECT_TRUE(s.stack->from.empty());
      continue;
    }
    ASSERT_EQ(s.stack->from.size(), 3u);
    Arena arena;
    Context c(arena);
    const Tensor x = c.upload<float>(normal(static_cast<std::size_t>(5 * width), 50), {5, width});
    const Tensor q = s.q.forward(c, x), k = s.k.forward(c, x), v = s.v.forward(c, x);
    const Tensor all = ops::linear(c, x, s.stack->from[0].weight, s.stack->from[0].bias);
    EXPECT_EQ(host_copy<float>(all.columns(0, width)), host_copy<float>(q));
    EXPECT_EQ(host_copy<float>(all.columns(width, 3 * width)), host_copy<float>(k));
    EXPECT_EQ(host_copy<float>(all.columns(3 * width, 4 * width)), host_copy<float>(v));
    const Tensor lower = ops::linear(c, x, s.stack->from[1].weight, s.stack->from[1].bias);
    EXPECT_EQ(host_copy<float>(lower), host_copy<float>(all.columns(width, 4 * width)));
  }
}

TEST_P(Serving, TablesGiveTheirRows) {
  Parameters p;
  const Embedding e(p, "table", 50, 32, {.scale = 2});
  p.allocate_serving(GetParam());
  const std::vector<float> values = normal(50 * 32, 1);
  p.set(kern::best(), p.all()[0], values);
  p.refresh(kern::best());
  Arena arena;
  Context c(arena);
  const std::vector<std::int32_t> ids{0, 49, 7, 7};
  const std::vector<float> got = host_copy<float>(e.forward(c, ids));
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], 2 * values[static_cast<std::size_t>(ids[i / 32]) * 32 + i % 32], 0.05);
  const std::vector<std::int32_t> beyond{50};
  EXPECT_THROW(e.forward(c, beyond), Error);
}

TEST_P(Serving, DoesNotTrain) {
  Projections s(64);
  s.p.allocate_serving(GetParam()), s.fill();
  Arena arena;
  Context c(arena);
  Tape tape;
  c.set_tape(&tape);
  EXPECT_THROW(s.q.forward(c, c.zeros({2, 64})), Error);
}

std::string name_of_precision(const testing::TestParamInfo<Precision>& p) {
  static constexpr std::array names{"fp32", "bf16", "int8", "int4"};
  return names[static_cast<std::size_t>(p.param)];
}

INSTANTIATE_TEST_SUITE_P(Precisions, Serving,
                         testing::Values(Precision::fp32, Precision::bf16, Precision::int8, Precision::int4),
                         name_of_precision);

// Sums of more products would leave 32 bits.
TEST(ServingInEightBits, RefusesMatricesThatAreTooWide) {
  constexpr auto most = static_cast<std::int64_t>(kern::int8_most_width);
  for (const Precision precision : {Precision::int8, Precision::int4}) {
    Parameters fits, too_wide;
    const Linear a(fits, "w", most, 1, {.bias = false}), b(too_wide, "w", most + 1, 1, {.bias = false});
    fits.allocate_serving(precision);
    EXPECT_THROW(too_wide.allocate_serving(precision), Error);
  }
  // The largest sums: all values are the same.
  Parameters p;
  const Linear widest(p, "w", most, 1, {.bias = false});
  p.allocate_serving(Precision::int8);
  p.set(kern::best(), p.all()[0], std::vector<float>(kern::int8_most_width, -1));
  p.refresh(kern::best());
  const std::vector<float> ones(kern::int8_most_width, 1);
  for (const kern::Kernels* k : kern::tables()) {
    Arena arena;
    Context c(arena, *k);
    const std::vector<float> y = host_copy<float>(widest.forward(c, c.upload<float>(ones, {1, most})));
    EXPECT_NEAR(y[0], -static_cast<float>(most), 1) << k->name;
  }
}

TEST(QuantisedRows, AreWhatRoundingAtLoadGives) {
  const std::vector<float> values = normal(64 * 100, 1);
  for (const Precision precision : {Precision::int8, Precision::int4}) {
    Parameters rounded, given;
    const Linear a(rounded, "w", 100, 64, {.bias = false}), b(given, "w", 100, 64, {.bias = false});
    rounded.allocate_serving(precision), given.allocate_serving(precision);
    rounded.set(kern::best(), rounded.all()[0], values);
    std::vector<float> scales(64);
    std::vector<std::uint8_t> rows, multipliers;
    if (precision == Precision::int8) {
      std::vector<std::int8_t> wide(64 * kern::int8_depth(100));
      kern::best().quantize_rows(values.data(), 100, 64, 100, wide.data(), scales.data());
      for (std::size_t j = 0; j < 64; ++j)
        for (std::size_t i = 0; i < 100; ++i)
          rows.push_back(static_cast<std::uint8_t>(wide[j * kern::int8_depth(100) + i]));
    } else {
      rows.resize(64 * 50), multipliers.resize(64 * 4);
      kern::quantize_int4(values.data(), 64, 100, {rows.data(), multipliers.data(), scales.data()});
    }
    const QuantizedRows q{precision == Precision::int8 ? 8 : 4, rows, multipliers, scales};
    given.set(kern::best(), given.all()[0], q);
    Arena arena;
    Context c(arena);
    const Tensor x = c.upload<float>(normal(500, 2), {5, 100});
    EXPECT_EQ(host_copy<float>(a.forward(c, x)), host_copy<float>(b.forward(c, x)));
    QuantizedRows wrong = q;
    wrong.rows = wrong.rows.first(10);
    EXPECT_THROW(given.set(kern::best(), given.all()[0], wrong), Error);
    wrong = q, wrong.bits = 12 - q.bits;
    EXPECT_THROW(given.set(kern::best(), given.all()[0], wrong), Error);
  }
}

}  // namespace
}  // namespace tril::nn::serving_test

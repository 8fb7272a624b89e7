// Weights for serving: in every precision they equal those that were set, stored separately or stacked.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
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
  void fill(double sigma = 0.2) {
    std::uint64_t stream = 0;
    for (Parameter& w : p.all())
      p.set(kern::best(), w, normal(static_cast<std::size_t>(w.shape.count()), ++stream, sigma));
    p.refresh(kern::best());
  }
};

class Serving : public testing::TestWithParam<ServingForm> {};

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
    switch (GetParam().precision) {
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
    EXPECT_EQ(relative > 1e-5, GetParam().precision != Precision::fp32) << "nothing was rounded";
    EXPECT_EQ(static_cast<bool>(served.q.weight()->value), false) << "kept twice";
  }
}

TEST_P(Serving, AStackIsItsMatrices) {
  for (const std::int64_t width : {64, 40}) {
    Projections s(width);
    s.p.allocate_serving(GetParam()), s.fill();
    if (GetParam().precision == Precision::fp32 || width % 32 != 0) {
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

// Of a matrix by itself, whose last panel is not whole, and of a stack's matrices.
TEST_P(Serving, RowsCanBeSetInParts) {
  if (GetParam().precision == Precision::fp32) return;
  for (const std::int64_t width : {96, 70}) {
    Projections all(width), parts(width);
    all.p.allocate_serving(GetParam()), all.fill();
    parts.p.allocate_serving(GetParam()), parts.fill(0.1);  // which is replaced
    std::uint64_t stream = 0;
    for (Parameter& w : parts.p.all()) {
      const std::vector<float> values = normal(static_cast<std::size_t>(w.shape.count()), ++stream, 0.2);
      if (w.shape.rank() != 2) {
        parts.p.set(kern::best(), w, values);
        continue;
      }
      ASSERT_TRUE(parts.p.is_set_in_parts(w));
      for (const std::int64_t row : {64, 32, 0}) {  // in any order
        const std::int64_t rows = row == 64 ? w.shape[0] - row : 32;
        const auto begin = static_cast<std::size_t>(row * width), count = static_cast<std::size_t>(rows * width);
        parts.p.set_rows(kern::best(), w, row, std::span(values).subspan(begin, count));
      }
    }
    parts.p.refresh(kern::best());
    Arena arena;
    Context c(arena);
    const Tensor x = c.upload<float>(normal(static_cast<std::size_t>(3 * width), 50), {3, width});
    for (const auto& [a, b] : {std::pair(&all.q, &parts.q), std::pair(&all.k, &parts.k), std::pair(&all.v, &parts.v)})
      EXPECT_EQ(host_copy<float>(a->forward(c, x)), host_copy<float>(b->forward(c, x)));
  }
}

TEST_P(Serving, SaysHowMuchMemoryItTakes) {
  Parameters p;
  const Linear w(p, "w", 1024, 1024, {.bias = false});
  p.allocate_serving(GetParam());
  p.set(kern::best(), p.all()[0], normal(1024 * 1024, 1, 0.02));
  EXPECT_EQ(p.serving_form().compact, GetParam().compact);
  const std::span<const std::byte> image = p.serving_image();
  const std::size_t used = p.serving_memory(GetParam()), page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  EXPECT_EQ(image.size(), p.serving_bytes(GetParam()));
  EXPECT_NEAR(product_bytes(p.all()[0], GetParam()), static_cast<double>(used), 0.07 * static_cast<double>(used));
  if (!GetParam().compact) {
    EXPECT_EQ(used, image.size());
    return;
  }
  ASSERT_EQ(used % page, 0u);
  const std::span<const std::byte> reserved = image.subspan(used);
  std::vector<unsigned char> pages((reserved.size() + page - 1) / page);
  ASSERT_EQ(mincore(const_cast<std::byte*>(reserved.data()), reserved.size(), pages.data()), 0);
  EXPECT_LT(std::ranges::count_if(pages, [](unsigned char c) { return c & 1U; }), std::ssize(pages) / 10);
}

TEST_P(Serving, ATiedTableIsStoredOnce) {
  if (GetParam().precision == Precision::fp32) return;
  Parameters p;
  const Embedding e(p, "table", 50, 32, {});
  Parameter& table = p.all()[0];
  table.in_products = true;
  p.allocate_serving(GetParam());
  p.set(kern::best(), table, normal(50 * 32, 1));
  EXPECT_FALSE(table.value);
  Arena arena;
  Context c(arena);
  const std::vector<std::int32_t> ids{49, 3};
  EXPECT_EQ(host_copy<float>(e.forward(c, ids)),
            host_copy<float>(ops::rows_of(c, table, c.upload<std::int32_t>(ids, {2}))));
}

ServingForm bf16(bool compact) {
  ServingForm form(Precision::bf16);
  form.compact = compact;
  return form;
}

INSTANTIATE_TEST_SUITE_P(Forms, Serving,
                         testing::Values(Precision::fp32, bf16(false), bf16(true), Precision::int8, Precision::int4),
                         [](const auto& p) {
                           return std::string(name_of(p.param.precision)) + (p.param.compact ? "_compact" : "");
                         });

// As few rows and as many as there are ways to multiply, with the rows of a matrix and of a stack.
TEST(ServingInBf16, CompactMatricesHaveTheBitsOfPackedOnes) {
  Projections packed(96), compact(96);
  packed.p.allocate_serving(bf16(false)), packed.fill();
  compact.p.allocate_serving(bf16(true)), compact.fill();
  EXPECT_FALSE(packed.q.weight()->compact);
  EXPECT_FALSE(compact.q.weight()->packed);
  EXPECT_LT(product_bytes(*compact.q.weight(), bf16(true)), 0.78 * 2 * 96 * 96);
  for (const std::int64_t rows : {1, 3, 9, 40}) {
    Arena arena;
    Context c(arena);
    const Tensor x = c.upload<float>(normal(static_cast<std::size_t>(rows * 96), 50), {rows, 96});
    EXPECT_EQ(host_copy<float>(compact.k.forward(c, x)), host_copy<float>(packed.k.forward(c, x)));
    for (const std::size_t i : {0, 1, 2}) {
      const auto of = [&](const Projections& s) {
        return host_copy<float>(ops::linear(c, x, s.stack->from[i].weight, s.stack->from[i].bias));
      };
      EXPECT_EQ(of(compact), of(packed));
    }
  }
  Arena arena;
  Context c(arena);
  const Tensor ids = c.upload<std::int32_t>(std::vector<std::int32_t>{95, 0, 33}, {3});
  EXPECT_EQ(host_copy<float>(ops::rows_of(c, *compact.q.weight(), ids)),
            host_copy<float>(ops::rows_of(c, *packed.q.weight(), ids)));
}

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

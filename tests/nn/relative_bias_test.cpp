// T5's bias by distance: its buckets, its use in attention with and without a cache, and other such biases.
#include "nn/relative_bias.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nn/attention.h"

namespace tril::nn {
namespace {

// The first distance of every bucket, away from the query, in the authors' code for 32 buckets up to 128, computed by
// PyTorch.
TEST(RelativeBias, BucketsAreTheAuthors) {
  const std::vector<std::int64_t> both{0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91},
      before{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
             16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
  for (std::int64_t r = 0; r < 1000; ++r) {
    const auto last = [&](const std::vector<std::int64_t>& first) {
      return std::upper_bound(first.begin(), first.end(), r) - first.begin() - 1;
    };
    EXPECT_EQ(relative_bucket(-r, true, 32, 128), last(both)) << r;
    EXPECT_EQ(relative_bucket(r, true, 32, 128), last(both) + (r > 0 ? 16 : 0)) << r;
    EXPECT_EQ(relative_bucket(-r, false, 32, 128), last(before)) << r;
    EXPECT_EQ(relative_bucket(r, false, 32, 128), 0);
    const std::vector<std::int64_t> exact{0, 1, 2, 3, 4, 8, 16, 32};  // where the logarithm meets whole numbers
    EXPECT_EQ(relative_bucket(-r, true, 16, 64), last(exact)) << r;
  }
}

TEST(RelativeBias, ATableOfDistances) {
  Parameters p;
  const RelativeBias bias(p, "bias", {.num_heads = 3, .num_buckets = 8, .max_distance = 20});
  p.allocate();
  p.initialise(1);
  Arena arena;
  Context c(arena);
  const ops::RelativeBias b = bias.forward(c, 4, 30);
  ASSERT_EQ(b.table.shape(), (Shape{3, 33}));
  EXPECT_EQ(b.zero, 29);
  const auto table = host_copy<float>(b.table), w = host_copy<float>(p.find("bias")->value);
  for (std::int64_t h = 0; h < 3; ++h)
    for (std::int64_t r = -29; r <= 3; ++r)
      EXPECT_EQ(table[static_cast<std::size_t>(h * 33 + 29 + r)],
                w[static_cast<std::size_t>(relative_bucket(r, true, 8, 20) * 3 + h)]);
  Parameters others;
  EXPECT_THROW(RelativeBias(others, "few", {.num_buckets = 2}), Error);
}

// What the authors' code gives, as `transformers` has it for BLOOM and for MPT.
TEST(RelativeBias, SlopesAreTheAuthors) {
  const auto powers = [](const std::vector<double>& exponents) {
    std::vector<float> slopes;
    for (const double e : exponents) slopes.push_back(static_cast<float>(std::exp2(-e)));
    return slopes;
  };
  EXPECT_EQ(alibi_slopes(1), powers({8}));
  EXPECT_EQ(alibi_slopes(8), powers({1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(alibi_slopes(3), powers({4, 8, 2}));
  EXPECT_EQ(alibi_slopes(12), powers({1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5}));
}

// A table that was made once and one that is made when longer rows come hold the same numbers.
TEST(RelativeBias, SlopesReachAnyDistance) {
  Arena arena;
  Context c(arena);
  const RelativeBias bias(alibi_slopes(3), /*kept=*/4);
  const std::vector<float> slopes = alibi_slopes(3);
  for (const auto& [queries, keys] : {std::pair{0, 0}, {1, 4}, {4, 4}, {1, 5}, {5, 5}, {3, 40}}) {
    const ops::RelativeBias b = bias.forward(c, queries, keys);
    ASSERT_GE(b.zero, std::max(keys, 1) - 1);
    const std::int64_t width = b.table.size(1);
    ASSERT_GE(width - b.zero, std::max(queries, 1));
    const auto table = host_copy<float>(b.table);
    for (std::int64_t h = 0; h < 3; ++h)
      for (std::int64_t r = 1 - keys; r < queries; ++r)
        EXPECT_EQ(table[static_cast<std::size_t>(h * width + b.zero + r)],
                  slopes[static_cast<std::size_t>(h)] * static_cast<float>(r));
  }
}

// ALiBi [Press et al. 2022] as a table gives the same as adding slope * distance to each score.
TEST(RelativeBias, SlopesAreOneToo) {
  Arena arena;
  Context c(arena);
  const std::int64_t T = 9, H = 2;
  RandomSequence random(3, 1);
  std::vector<float> x(static_cast<std::size_t>(T * 3 * H * 4));
  for (float& v : x) v = static_cast<float>(random.normal());
  const Tensor all = c.upload<float>(x, {T, 3 * H * 4});
  const Tensor q = all.columns(0, 8), k = all.columns(8, 16), v = all.columns(16, 24);
  std::vector<float> slopes;
  for (std::int64_t h = 0; h < H; ++h)
    for (std::int64_t r = 1 - T; r < T; ++r)
      slopes.push_back(static_cast<float>(std::pow(2.0, -4.0 * double(h + 1)) * double(r)));
  const auto spans = ops::spans_of(Rows::rectangle(1, T), Rows::rectangle(1, T));
  const auto got = host_copy<float>(ops::attention(
      c, {q, k, v}, spans,
      {.num_heads = H, .mask = ops::Mask::causal(), .bias = {c.upload<float>(slopes, {H, 2 * T - 1}), T - 1}}));
  for (std::int64_t h = 0; h < H; ++h)
    for (std::int64_t i = 0; i < T; ++i) {
      const auto at = [&](std::int64_t token, std::int64_t which, std::int64_t d) {
        return static_cast<double>(x[static_cast<std::size_t>(token * 24 + which * 8 + h * 4 + d)]);
      };
      double sum = 0, y[4] = {};
      for (std::int64_t j = 0; j <= i; ++j) {
        double s = 0;
        for (std::int64_t d = 0; d < 4; ++d) s += at(i, 0, d) * at(j, 1, d);
        const double w = std::exp(s / 2 - std::pow(2.0, -4.0 * double(h + 1)) * double(i - j));
        sum += w;
        for (std::int64_t d = 0; d < 4; ++d) y[d] += w * at(j, 2, d);
      }
      for (std::int64_t d = 0; d < 4; ++d)
        EXPECT_NEAR(got[static_cast<std::size_t>(i * 8 + h * 4 + d)], y[d] / sum, 1e-5);
    }
}

}  // namespace
}  // namespace tril::nn

// Rotary positions: a score depends only on the distance; cached and computed tables agree; rows use their own lengths.
#include "nn/rotary.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tril::nn {
namespace {

using Scaling = RotaryOptions::Scaling;

// The cosines and sines of each token of `rows`.
std::vector<std::vector<float>> table_of(const RotaryPositions& rotary, const Rows& rows,
                                         const std::vector<std::int32_t>& given = {}) {
  Arena arena;
  Context c(arena);
  const ops::Rotation r = rotary.rotation(c, rows, given);
  const std::vector<float> table = host_copy<float>(r.table);
  const auto dim = static_cast<std::ptrdiff_t>(rotary.options().dim);
  std::vector<std::vector<float>> found;
  for (const std::int32_t p : host_copy<std::int32_t>(r.positions))
    found.emplace_back(table.begin() + p * dim, table.begin() + (p + 1) * dim);
  return found;
}

Rows one_row(std::int32_t length, std::int32_t start = 0) {
  Rows rows;
  rows.append(length, start);
  return rows;
}

TEST(Rotary, TheFormula) {
  const RotaryPositions rotary({.dim = 6, .theta = 500}, 4);
  const auto table = table_of(rotary, one_row(3, 60));
  for (std::size_t n = 0; n < 3; ++n)
    for (std::size_t i = 0; i < 3; ++i) {
      const double angle = static_cast<double>(60 + n) * std::pow(500.0, -2.0 * static_cast<double>(i) / 6);
      EXPECT_NEAR(table[n][i], std::cos(angle), 1e-5);
      EXPECT_NEAR(table[n][3 + i], std::sin(angle), 1e-5);
    }
}

TEST(Rotary, KeptOrNotTheValueIsTheSame) {
  const Rows rows = [] {
    Rows r = one_row(5);
    r.append(2, 30);
    return r;
  }();
  EXPECT_EQ(table_of(RotaryPositions({.dim = 8}, 64), rows), table_of(RotaryPositions({.dim = 8}, 7), rows));
}

TEST(Rotary, ScoresDependOnTheDistanceAlone) {
  for (const bool interleaved : {false, true}) {
    const RotaryPositions rotary({.dim = 16, .interleaved = interleaved}, 256);
    Arena arena;
    Context c(arena);
    RandomSequence random(3, 0);
    std::vector<float> q(16), k(16);
    for (std::size_t i = 0; i < 16; ++i) q[i] = float(random.normal()), k[i] = float(random.normal());
    const auto at = [&](const std::vector<float>& x, std::int32_t p) {
      return host_copy<float>(ops::rotary(c, c.upload<float>(x, {1, 16}), rotary.rotation(c, one_row(1, p)), 1));
    };
    const auto score = [&](std::int32_t m, std::int32_t n) {
      const auto a = at(q, m), b = at(k, n);
      double sum = 0;
      for (std::size_t i = 0; i < 16; ++i) sum += double(a[i]) * double(b[i]);
      return sum;
    };
    for (const std::int32_t distance : {0, 1, 9, 100})
      for (const std::int32_t n : {1, 17, 200}) EXPECT_NEAR(score(n + distance, n), score(distance, 0), 2e-5);
    EXPECT_GT(std::abs(score(9, 0) - score(0, 0)), 0.1) << "the distance matters";
  }
}

// A row beyond the original length has other angles than a shorter one, whatever is in its batch.
TEST(Rotary, RowsCountByTheirOwnLength) {
  for (const Scaling scaling : {Scaling::dynamic, Scaling::longrope}) {
    const RotaryPositions rotary(
        {.dim = 4, .scaling = scaling, .factor = 2, .original = 8, .short_factors = {1, 2}, .long_factors = {3, 4}});
    Rows both = one_row(8);
    both.append(9);
    const auto together = table_of(rotary, both), within = table_of(rotary, one_row(8)),
               beyond = table_of(rotary, one_row(9));
    EXPECT_TRUE(std::equal(within.begin(), within.end(), together.begin()));
    EXPECT_TRUE(std::equal(beyond.begin(), beyond.end(), together.begin() + 8));
    EXPECT_NE(within[7], beyond[7]);
  }
}

// The length for a token is that of its row's prompt, or its own position after that, however the row is split.
TEST(Rotary, TokensAreTurnedForWhatTheirRowWasGiven) {
  const RotaryPositions rotary({.dim = 4, .scaling = Scaling::dynamic, .factor = 2, .original = 8});
  const std::vector<std::int32_t> given{12};
  const auto whole = table_of(rotary, one_row(12));
  std::vector<std::vector<float>> parts;
  for (const auto& [length, start] : {std::pair{5, 0}, {1, 5}, {6, 6}})
    for (const auto& token : table_of(rotary, one_row(length, start), given)) parts.push_back(token);
  EXPECT_EQ(parts, whole);
  // Two following tokens, together and one by one.
  const auto both = table_of(rotary, one_row(2, 12), given);
  EXPECT_EQ(both[0], table_of(rotary, one_row(1, 12))[0]);
  EXPECT_EQ(both[1], table_of(rotary, one_row(1, 13))[0]);
  EXPECT_NE(both[0], table_of(rotary, one_row(2, 12))[0]) << "of a row that was given both";
}

TEST(Rotary, LongropeDoesNotGrowAcrossItsBound) {
  RotaryOptions options{
      .dim = 4, .scaling = Scaling::longrope, .original = 8, .short_factors = {1, 2}, .long_factors = {3, 4}};
  // In all families but one, cached keys keep their angles, and tokens beyond the bound use the long ones.
  const RotaryPositions grows(options);
  EXPECT_EQ(table_of(grows, one_row(1, 8), {3}), table_of(grows, one_row(1, 8), {9}));
  EXPECT_NE(table_of(grows, one_row(1, 7), {3}), table_of(grows, one_row(1, 7), {9}));
  options.read_anew = true;
  const RotaryPositions rotary(options);
  EXPECT_NO_THROW(table_of(rotary, one_row(1, 7)));
  EXPECT_NO_THROW(table_of(rotary, one_row(1, 9)));
  EXPECT_THROW(table_of(rotary, one_row(1, 8), {3}), Error);
  EXPECT_THROW(table_of(rotary, one_row(5, 5), {8}), Error);
  EXPECT_NO_THROW(table_of(rotary, one_row(5, 5), {9})) << "all of it was given beyond the bound";
}

}  // namespace
}  // namespace tril::nn

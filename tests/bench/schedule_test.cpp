#include "cores/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tril::bench {
namespace {

const Shapes small{
    .name = "1B", .d_model = 2048, .heads = 32, .kv_heads = 8, .d_ff = 8192, .layers = 16, .vocabulary = 128256};

TEST(Schedule, OneThreadIsTheSumOfItsParts) {
  const Costs costs;
  const std::vector<Part> parts = parts_of(small, {.name = "a token"}, costs);
  double sum = 0;
  for (const Part& part : parts) sum += static_cast<double>(part.times) * part.seconds;
  const Prediction one = predict(parts, costs, 1);
  EXPECT_NEAR(one.seconds, sum, 1e-12);
  EXPECT_EQ(one.speedup, 1);
  EXPECT_EQ(one.rounds, 0);
  EXPECT_GT(sum, 1.2e9 * costs.byte) << "a token reads all weights";
}

TEST(Schedule, SharesAreNeverBelowTheMean) {
  const Costs costs;
  for (const Call& call :
       {Call{.name = "a token"}, Call{.name = "texts", .rows = 9}, Call{.name = "a prompt", .queries = 512}})
    for (const Part& part : parts_of(small, call, costs))
      for (int threads = 1; threads <= 64; ++threads) {
        const double largest = part.largest(threads);
        EXPECT_GE(largest, 1.0 / threads - 1e-12) << part.name << " " << threads;
        EXPECT_LE(largest, 1) << part.name << " " << threads;
        if (!part.takes_round(threads)) {
          EXPECT_EQ(largest, 1) << part.name << " " << threads;
        }
      }
}

// 4096 rows are 128 panels: two threads have 64 each, 48 have two or three.
TEST(Schedule, UnevenPanelsAreSeen) {
  Shapes wide = small;
  wide.d_model = 4096, wide.kv_heads = wide.heads = 32;
  const std::vector<Part> parts = parts_of(wide, {.name = "a token"}, Costs{});
  const auto product =
      std::find_if(parts.begin(), parts.end(), [](const Part& p) { return p.name == "product of heads"; });
  ASSERT_NE(product, parts.end());
  EXPECT_EQ(product->largest(2), 0.5);
  EXPECT_EQ(product->largest(48), 3.0 / 128);
  EXPECT_EQ(product->largest(64), 2.0 / 128);
}

TEST(Schedule, RoundsCostMoreWithMembers) {
  Costs free, dear;
  free.round = free.member = 0;
  const std::vector<Part> parts = parts_of(small, {.name = "a token"}, free);
  EXPECT_GT(predict(parts, free, 64).speedup, predict(parts, free, 32).speedup);
  EXPECT_LT(predict(parts, dear, 64).speedup, predict(parts, free, 64).speedup);
  EXPECT_EQ(predict(parts, dear, 64).rounds, predict(parts, dear, 2).rounds);
  const Prediction p = predict(parts, dear, 64);
  EXPECT_LT(p.serial + p.waiting + p.in_rounds, 1);
}

TEST(Schedule, DividedMatricesPackEvenly) {
  const Shapes base{.name = "base",
                    .d_model = 512,
                    .heads = 8,
                    .kv_heads = 8,
                    .d_ff = 2048,
                    .layers = 6,
                    .vocabulary = 32000,
                    .gated = false,
                    .encoder_layers = 6};
  for (int threads = 1; threads <= 64; ++threads) {
    EXPECT_LT(packing_ratio(base, threads, false), 1.5) << threads;
    EXPECT_GE(packing_ratio(base, threads, false), 1 - 1e-12) << threads;
  }
  EXPECT_GT(packing_ratio(base, 16, true), 3) << "the table of the vocabulary was one worker's";
}

}  // namespace
}  // namespace tril::bench

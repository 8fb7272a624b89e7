// The cost model of bench/ranks against independently known numbers.
#include "ranks/cost_model.h"

#include <gtest/gtest.h>

namespace tril::bench {
namespace {

constexpr Link link{.latency = 1e-3, .overhead = 0, .bytes_per_second = 1e6};

TEST(CostModel, RingsAndHalvingMoveTheSameBytes) {
  // 2 (N - 1) / N of 1 s, and 2 (N - 1) or 2 log2 N latencies.
  EXPECT_NEAR(ring_all_reduce(1e6, 8, link), 2 * 7.0 / 8 + 14e-3, 1e-9);
  EXPECT_NEAR(halving_all_reduce(1e6, 8, link), 2 * 7.0 / 8 + 6e-3, 1e-9);
  EXPECT_NEAR(doubling_all_reduce(1e6, 8, link), 3 * 1.001, 1e-9);
  EXPECT_NEAR(tree_all_reduce(1e6, 8, link), 6 * 1.001, 1e-9);
  EXPECT_NEAR(ring_all_gather(1e6, 8, link) * 2, ring_all_reduce(1e6, 8, link), 1e-9);
  EXPECT_EQ(ring_all_reduce(1e6, 1, link), 0);
}

TEST(CostModel, TwoLevelsOfOneRankAreARing) {
  EXPECT_NEAR(two_level_all_reduce(1e6, 8, 1, link, link), ring_all_reduce(1e6, 8, link), 1e-9);
}

// Of two draws 1 / sqrt(pi), of three 1.5 / sqrt(pi); of 10 and 100 as tabled [Tippett 1925].
TEST(CostModel, TheLargestOfSomeDraws) {
  EXPECT_NEAR(expected_largest(2), 0.56419, 1e-4);
  EXPECT_NEAR(expected_largest(3), 0.84628, 1e-4);
  EXPECT_NEAR(expected_largest(10), 1.53875, 1e-4);
  EXPECT_NEAR(expected_largest(100), 2.50759, 1e-4);
}

TEST(CostModel, EverythingIsDealtOutInPieces) {
  EXPECT_EQ(deal(1 << 20, 8).most_values, 1 << 17);
  EXPECT_EQ(deal(1 << 20, 1024).most_pieces, 1);  // 64 of them for 1,024 ranks
  EXPECT_EQ(deal(64 << 20, 64).messages_out, 64 * 63);
}

TEST(CostModel, AStepOfOneRankHasNoMessages) {
  Step s{.weights = 1e6, .compute = 1, .summing = 0.1, .packing = 0.1, .inside = link, .outside = link};
  EXPECT_NEAR(step_cost(s).total(), 1.2, 1e-9);
  s.ranks = 2;
  const double together = step_cost(s).total();
  s.overlap = false;
  EXPECT_LT(together, step_cost(s).total());
  // Only the last 2/3 of the backward pass hides communication.
  EXPECT_NEAR(step_cost(s).total() - together, 2.0 / 3, 0.01);
}

}  // namespace
}  // namespace tril::bench

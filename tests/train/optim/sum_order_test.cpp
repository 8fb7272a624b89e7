#include "train/optim/sum_order.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/rng.h"

namespace tril::train {
namespace {

using Sum = std::optional<float>;

Sum add(const Sum& a, const Sum& b) {
  return *a + *b;
}

std::vector<float> values_of(std::size_t count) {
  RandomSequence random(count, 1);
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(random.normal() * (random.below(2) ? 1 : 1e4));
  return values;
}

TEST(SumOrder, EveryBatchIsOneRanksAndSharesAreEven) {
  for (std::size_t count = 0; count <= 40; ++count)
    for (std::size_t ranks = 1; ranks <= 9; ++ranks) {
      std::size_t next = 0;
      for (std::size_t r = 0; r < ranks; ++r) {
        const Branch share = share_of(count, r, ranks);
        EXPECT_EQ(share.first, next);
        EXPECT_GE(share.size(), count / ranks);
        EXPECT_LE(share.size(), (count + ranks - 1) / ranks);
        next = share.last;
      }
      EXPECT_EQ(next, count);
    }
}

TEST(SumOrder, AShareIsWholeBranchesAndFewOfThem) {
  for (std::size_t count = 1; count <= 40; ++count)
    for (std::size_t first = 0; first <= count; ++first)
      for (std::size_t last = first; last <= count; ++last) {
        std::vector<Branch> branches;
        append_branches({0, count}, {first, last}, branches);
        std::size_t next = first;
        for (Branch b : branches) {
          EXPECT_EQ(b.first, next);
          EXPECT_GT(b.size(), 0u);
          next = b.last;
        }
        EXPECT_EQ(next, last) << first << " to " << last << " of " << count;
        EXPECT_LE(branches.size(), 2u * static_cast<std::size_t>(std::bit_width(count)));
      }
}

// One process's sum, and that of several, each summing the branches of its share: the same bits.
TEST(SumOrder, AnyNumberOfRanksMakesTheSameSum) {
  std::size_t unlike_a_running_sum = 0;
  for (std::size_t count = 1; count <= 40; ++count) {
    const std::vector<float> values = values_of(count);
    const auto one_batch = [&](Branch b) -> Sum {
      if (b.size() > 1) return {};
      return values[b.first];
    };
    const Branch all{0, count};
    const Sum alone = sum_in_order(all, one_batch, add);
    ASSERT_TRUE(alone);
    float running = 0;
    for (float v : values) running += v;
    unlike_a_running_sum += running != *alone;
    for (std::size_t ranks = 1; ranks <= 9; ++ranks) {
      std::vector<std::pair<Branch, Sum>> given;
      for (std::size_t r = 0; r < ranks; ++r) {
        std::vector<Branch> branches;
        append_branches(all, share_of(count, r, ranks), branches);
        for (Branch b : branches) given.emplace_back(b, sum_in_order(b, one_batch, add));
      }
      const auto what_was_given = [&](Branch b) -> Sum {
        for (const auto& [branch, sum] : given)
          if (branch == b) return sum;
        return {};
      };
      EXPECT_EQ(sum_in_order(all, what_was_given, add), alone) << count << " batches, " << ranks << " ranks";
    }
  }
  EXPECT_GT(unlike_a_running_sum, 10u) << "or the test shows nothing";
}

TEST(SumOrder, WhatIsMissingIsLeftOut) {
  const auto leaf = [](Branch b) -> Sum {
    if (b.size() > 1 || b.first == 1) return {};
    return static_cast<float>(b.first + 1);
  };
  EXPECT_EQ(sum_in_order(Branch{0, 3}, leaf, add), Sum(4));
  EXPECT_EQ(sum_in_order(Branch{1, 2}, leaf, add), Sum());
}

}  // namespace
}  // namespace tril::train

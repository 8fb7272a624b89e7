#include "train/distributed/stragglers.h"

#include <gtest/gtest.h>

namespace tril::train {
namespace {

// The result after a hundred updates of these times.
std::vector<Stragglers::Slow> hundred(Stragglers& s, const std::vector<double>& seconds) {
  for (int i = 1; i < 100; ++i) EXPECT_TRUE(s.add(seconds).empty()) << "before the window is full";
  return s.add(seconds);
}

TEST(Stragglers, NamesWhoTakesHalfAsLongAgainAsTheMedian) {
  Stragglers s;
  const auto slow = hundred(s, {1.0, 1.2, 1.7, 0.9});
  ASSERT_EQ(slow.size(), 1u);
  EXPECT_EQ(slow[0].rank, 2);
  EXPECT_NEAR(slow[0].seconds, 1.7, 1e-9);
  EXPECT_NEAR(s.median(), 1.0, 1e-9) << "of four the second";
}

TEST(Stragglers, OfTwoTheSlowerIsSeen) {
  Stragglers s;
  const auto slow = hundred(s, {3.0, 1.0});
  ASSERT_EQ(slow.size(), 1u);
  EXPECT_EQ(slow[0].rank, 0);
}

TEST(Stragglers, OneSlowUpdateIsNoStraggler) {
  Stragglers s;
  s.add({1.0, 30.0, 1.0});
  for (int i = 1; i < 100; ++i) EXPECT_TRUE(s.add({1.0, 1.0, 1.0}).empty()) << i;
}

TEST(Stragglers, AreToldOnceInAThousandUpdates) {
  Stragglers s;
  int told = 0;
  for (int i = 0; i < 3000; ++i) told += !s.add({1.0, 2.0, 1.0}).empty();
  EXPECT_EQ(told, 3);
  Stragglers late;
  for (int i = 0; i < 500; ++i) EXPECT_TRUE(late.add({1.0, 1.0}).empty());
  EXPECT_EQ(hundred(late, {1.0, 2.0}).size(), 1u) << "one that becomes slow later is seen at once";
}

TEST(Stragglers, ARankAloneWaitsForNobody) {
  Stragglers s;
  for (int i = 0; i < 300; ++i) {
    EXPECT_TRUE(s.add({5.0}).empty());
    EXPECT_TRUE(s.add({}).empty());
  }
}

}  // namespace
}  // namespace tril::train

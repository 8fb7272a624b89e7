// The generator is a function of its key and index alone, and its numbers are as uniform and normal as they should be.
#include "base/rng.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>
#include <vector>

namespace tril {
namespace {

TEST(Rng, SameKeySameNumbersInAnyOrder) {
  const RandomKey key = random_key(7, 3);
  std::vector<std::uint32_t> forward, backward;
  for (std::uint32_t i = 0; i < 1000; ++i) forward.push_back(random_bits(key, i));
  for (std::uint32_t i = 1000; i-- > 0;) backward.insert(backward.begin(), random_bits(random_key(7, 3), i));
  EXPECT_EQ(forward, backward);
}

TEST(Rng, KeysOfNeighbouringSeedsAndStreamsDiffer) {
  std::set<std::uint64_t> keys;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (std::uint64_t stream = 0; stream < 100; ++stream) {
      const RandomKey k = random_key(seed, stream);
      keys.insert(std::uint64_t{k.a} << 32 | k.b);
    }
  EXPECT_EQ(keys.size(), 10'000u);
  EXPECT_NE(sub_key(random_key(1, 1), 0), sub_key(random_key(1, 1), 1));
  EXPECT_NE(sub_key(random_key(1, 1), 0), random_key(1, 1));
}

TEST(Rng, SeekRepeats) {
  Rng rng(11);
  rng.next_key();
  const std::uint64_t at = rng.position();
  const RandomKey first = rng.next_key(), second = rng.next_key();
  EXPECT_NE(first, second);
  rng.seek(at);
  EXPECT_EQ(rng.next_key(), first);
  EXPECT_EQ(Rng(11, at).next_key(), first);
  EXPECT_NE(Rng(12, at).next_key(), first);
}

// A binomial count of n bits has a standard deviation of sqrt(n)/2: six of them are a one in a billion chance, and the
// numbers are fixed, so that the test never flickers.
TEST(Rng, EveryBitIsFairAndNeighboursAreIndependent) {
  constexpr int n = 1 << 17;
  const double six_deviations = 6 * std::sqrt(n) / 2;
  for (std::uint64_t stream = 0; stream < 4; ++stream) {
    const RandomKey key = random_key(5, stream);
    std::vector<int> ones(32), changes(32);
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t bits = random_bits(key, i), change = bits ^ random_bits(key, i + 1);
      for (std::uint32_t b = 0; b < 32; ++b) ones[b] += bits >> b & 1, changes[b] += change >> b & 1;
    }
    for (std::size_t b = 0; b < 32; ++b) {
      EXPECT_NEAR(ones[b], n / 2, six_deviations) << "bit " << b << " of stream " << stream;
      EXPECT_NEAR(changes[b], n / 2, six_deviations) << "bit " << b << " of stream " << stream;
    }
  }
}

TEST(Rng, DropoutThresholdDropsTheShareAskedFor) {
  EXPECT_EQ(dropout_threshold(0.0f), 0u);
  constexpr int n = 1 << 18;
  for (const float p : {0.1f, 0.3f, 0.5f, 0.9f}) {
    int dropped = 0;
    for (std::uint32_t i = 0; i < n; ++i) dropped += random_bits(random_key(9, 2), i) < dropout_threshold(p);
    EXPECT_NEAR(dropped, static_cast<double>(p) * n, 6 * std::sqrt(n * p * (1 - p)));
  }
}

TEST(RandomSequence, UniformBelowAndNormalHaveTheirMoments) {
  constexpr int n = 200'000;
  RandomSequence sequence(3, 1);
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    const double u = sequence.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  EXPECT_NEAR(sum / n, 0.5, 6 * std::sqrt(1.0 / 12 / n));

  std::vector<int> counts(7);
  for (int i = 0; i < n; ++i) ++counts.at(sequence.below(7));
  for (const int count : counts) EXPECT_NEAR(count, n / 7.0, 6 * std::sqrt(n / 7.0));
  EXPECT_EQ(sequence.below(1), 0u);

  sum = 0;
  for (int i = 0; i < n; ++i) {
    const double x = sequence.normal();
    ASSERT_TRUE(std::isfinite(x));
    sum += x, squares += x * x;
  }
  EXPECT_NEAR(sum / n, 0.0, 6 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1.0, 6 * std::sqrt(2.0 / n));
}

TEST(RandomSequence, ACopyRepeats) {
  RandomSequence a(1, 2);
  a.bits();
  RandomSequence b = a;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(a.bits64(), b.bits64());
}

}  // namespace
}  // namespace tril

// The quality of dropout's random bits: each statistic is compared with its distribution under true randomness, at five
// standard deviations; the streams are fixed, so results never vary.
#include <bit>

#include "kern/support.h"

namespace tril::kern {
namespace {

constexpr std::uint32_t draws = 1u << 18;
constexpr double n = draws;

/// Realistic keys: neighbouring streams, seeds and parts. (Arbitrary keys such as {0, 0} and {0, 1} give related
/// streams: random_key does the mixing of keys.)
std::vector<RandomKey> keys() {
  return {random_key(1, 0),
          random_key(1, 1),
          random_key(1, 2),
          random_key(2, 0),
          random_key(0, 0),
          sub_key(random_key(1, 0), 0),
          sub_key(random_key(1, 0), 1)};
}

double centred(std::uint32_t bits) {
  return bits * 0x1p-32 - 0.5;
}  // variance 1 / 12

TEST(RandomBits, HaveTheMeanAndVarianceOfUniformNumbers) {
  for (const RandomKey key : keys()) {
    double sum = 0, squares = 0;
    for (std::uint32_t i = 0; i < draws; ++i) {
      const double x = centred(random_bits(key, i));
      sum += x;
      squares += x * x;
    }
    EXPECT_NEAR(sum / n, 0, 5 * std::sqrt(1 / 12.0 / n));
    EXPECT_NEAR(squares / n, 1 / 12.0, 5 * std::sqrt(1 / 180.0 / n));
  }
}

/// Over all draws: within 2^15 of them bits 5 and 20 of some keys agree in 51.5% of the cases, which is the limit of
/// two multiplications, and has no effect on comparisons with a threshold.
TEST(RandomBits, AreBalancedAndPairwiseIndependent) {
  for (const RandomKey key : keys()) {
    int ones[32] = {}, same[32][32] = {};
    for (std::uint32_t i = 0; i < draws; ++i) {
      const std::uint32_t x = random_bits(key, i);
      for (int b = 0; b < 32; ++b) {
        ones[b] += x >> b & 1;
        const std::uint32_t equal = ~(x ^ (std::uint32_t{0} - (x >> b & 1)));
        for (int c = 0; c < b; ++c) same[b][c] += equal >> c & 1;
      }
    }
    const double bound = 5 * std::sqrt(n) / 2;
    for (int b = 0; b < 32; ++b) {
      EXPECT_NEAR(ones[b], n / 2, bound) << "bit " << b;
      for (int c = 0; c < b; ++c) EXPECT_NEAR(same[b][c], n / 2, bound) << "bits " << b << ", " << c;
    }
  }
}

TEST(RandomBits, AreNotCorrelatedAlongTheStream) {
  for (const RandomKey key : keys())
    for (const std::uint32_t lag : {1u, 2u, 3u, 8u, 16u, 128u, 512u, 4096u, 65536u}) {
      double sum = 0;
      for (std::uint32_t i = 0; i < draws; ++i)
        sum += centred(random_bits(key, i)) * centred(random_bits(key, i + lag));
      EXPECT_NEAR(sum / n * 12, 0, 5 / std::sqrt(n)) << "lag " << lag;
    }
}

TEST(RandomBits, OfDifferentKeysAreIndependent) {
  const auto all = keys();
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      double sum = 0, flipped = 0;
      for (std::uint32_t i = 0; i < draws; ++i) {
        const std::uint32_t x = random_bits(all[a], i), y = random_bits(all[b], i);
        sum += centred(x) * centred(y);
        flipped += std::popcount(x ^ y);
      }
      EXPECT_NEAR(sum / n * 12, 0, 5 / std::sqrt(n)) << a << ", " << b;
      EXPECT_NEAR(flipped / n, 16, 5 * std::sqrt(8 / n)) << a << ", " << b;
    }
}

TEST(RandomBits, ChangeHalfTheirBitsWithOneBitOfTheIndex) {
  for (const RandomKey key : keys())
    for (int bit = 0; bit < 20; ++bit) {
      double flipped = 0;
      for (std::uint32_t i = 0; i < draws / 8; ++i)
        flipped += std::popcount(random_bits(key, i) ^ random_bits(key, i ^ (1u << bit)));
      EXPECT_NEAR(flipped / (n / 8), 16, 0.5) << "bit " << bit;
    }
}

TEST(RandomBits, DropTheShareThatWasAskedFor) {
  for (const float p : {0.0f, 0.1f, 0.3f, 0.5f, 0.9f})
    for (const RandomKey key : keys()) {
      double dropped = 0;
      for (std::uint32_t i = 0; i < draws; ++i) dropped += random_bits(key, i) < dropout_threshold(p);
      EXPECT_NEAR(dropped / n, p, 5 * std::sqrt(p * (1 - p) / n) + 1e-7) << p;
    }
}

}  // namespace
}  // namespace tril::kern

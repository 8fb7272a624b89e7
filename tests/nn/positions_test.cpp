// Positions: the paper's sinusoids, also beyond the cached table; learned positions end with their table.
#include "nn/positions.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace tril::nn {
namespace {

using Layout = SinusoidalPositions::Layout;

std::vector<float> encode(const SinusoidalPositions& pe, std::int64_t d, const std::vector<std::int32_t>& positions) {
  Arena arena;
  Context c(arena);
  const auto N = static_cast<std::int64_t>(positions.size());
  return host_copy<float>(pe.forward(c, c.zeros({N, d}), positions));
}

TEST(SinusoidalPositions, TheFormula) {
  const std::int64_t d = 6;
  for (Layout layout : {Layout::interleaved, Layout::concatenated}) {
    const SinusoidalPositions pe(d, layout, 4);
    const std::vector<std::int32_t> positions{0, 3, 1, 50, 49999};  // the last two are beyond what is kept
    const std::vector<float> got = encode(pe, d, positions);
    for (std::size_t n = 0; n < positions.size(); ++n)
      for (std::int64_t i = 0; i < d / 2; ++i) {
        const double angle = positions[n] / std::pow(10000.0, 2.0 * static_cast<double>(i) / static_cast<double>(d));
        const float* row = got.data() + n * static_cast<std::size_t>(d);
        EXPECT_NEAR(row[layout == Layout::interleaved ? 2 * i : i], std::sin(angle), 1e-6);
        EXPECT_NEAR(row[layout == Layout::interleaved ? 2 * i + 1 : d / 2 + i], std::cos(angle), 1e-6);
      }
  }
}

// The authors' code, which fairseq follows: frequencies from 1 down to exactly 1/10000; and positions with an offset.
TEST(SinusoidalPositions, OfTensor2Tensor) {
  const std::int64_t d = 6;
  const SinusoidalPositions pe(d, Layout::tensor2tensor, 4, 2);
  const std::vector<std::int32_t> positions{0, 3, 50};
  const std::vector<float> got = encode(pe, d, positions);
  for (std::size_t n = 0; n < positions.size(); ++n)
    for (std::size_t i = 0; i < 3; ++i) {
      const double angle = (positions[n] + 2) * std::array{1.0, 0.01, 0.0001}[i];
      EXPECT_NEAR(got[n * 6 + i], std::sin(angle), 1e-6);
      EXPECT_NEAR(got[n * 6 + 3 + i], std::cos(angle), 1e-6);
    }
}

// PE(p + k) = R_k PE(p), with R_k the same for all p: the reason why the authors chose sinusoids. R_k is computed from
// two positions, pair by pair, and must then hold for all others.
TEST(SinusoidalPositions, AStepIsARotation) {
  const std::int64_t d = 16;
  const SinusoidalPositions pe(d, Layout::interleaved, 64);
  const std::vector<float> table = pe.table(200);
  const auto value = [&](std::int64_t p, std::int64_t j) {
    return static_cast<double>(table[static_cast<std::size_t>(p * d + j)]);
  };
  for (std::int64_t k : {1, 7, 90})
    for (std::int64_t i = 0; i < d; i += 2) {
      // (sin, cos) of p + k = [[c, s], [-s, c]] (sin, cos) of p; from p = 0, where (sin, cos) = (0, 1):
      const double s = value(k, i), c = value(k, i + 1);
      EXPECT_NEAR(s * s + c * c, 1, 1e-6);
      for (std::int64_t p = 0; p + k < 200; ++p) {
        EXPECT_NEAR(value(p + k, i), c * value(p, i) + s * value(p, i + 1), 1e-6);
        EXPECT_NEAR(value(p + k, i + 1), -s * value(p, i) + c * value(p, i + 1), 1e-6);
      }
    }
}

TEST(SinusoidalPositions, KeptOrNotTheValueIsTheSame) {
  const std::vector<std::int32_t> positions{0, 5, 100, 2000};
  EXPECT_EQ(encode(SinusoidalPositions(10, Layout::concatenated, 4096), 10, positions),
            encode(SinusoidalPositions(10, Layout::concatenated, 2), 10, positions));
}

TEST(SinusoidalPositions, Errors) {
  EXPECT_THROW(SinusoidalPositions(7, Layout::interleaved), Error);
  EXPECT_THROW(encode(SinusoidalPositions(4, Layout::interleaved, 2), 4, {-1}), Error);
  EXPECT_THROW(encode(SinusoidalPositions(4, Layout::interleaved, 2), 4, {-1, 7}), Error);
}

TEST(LearnedPositions, EndWithTheirTable) {
  Parameters p;
  const LearnedPositions positions(p, "positions", {.length = 4, .d_model = 3, .deviation = 1.0});
  p.allocate();
  p.initialise(1);
  Arena arena;
  Context c(arena);
  const Tensor x = c.zeros({2, 3});
  const auto table = host_copy<float>(p.find("positions")->value);
  EXPECT_EQ(host_copy<float>(positions.forward(c, x, std::vector<std::int32_t>{3, 0})),
            (std::vector<float>{table[9], table[10], table[11], table[0], table[1], table[2]}));
  try {
    positions.forward(c, x, std::vector<std::int32_t>{3, 4});
    ADD_FAILURE() << "position 4 of 4";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("value 4 at 1 is not in [0, 4)"), std::string::npos) << e.what();
    EXPECT_NE(e.hint().find("longer than the model's positions"), std::string::npos) << e.hint();
  }
}

}  // namespace
}  // namespace tril::nn

#include "train/loop/rate_finder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "support/training.h"

namespace tril::train {
namespace {

TEST(RateFinder, RatesRiseByAFactor) {
  const RateSweepOptions sweep{.lowest = 1e-4, .highest = 1, .updates = 5};
  for (std::int64_t i = 0; i < 5; ++i)
    EXPECT_NEAR(sweep_rate(sweep, i), std::pow(10, static_cast<double>(i) - 4), 1e-9);
}

// A loss that is flat, falls fastest at 1e-2 and turns at 1e-1.
TEST(RateFinder, SuggestsWhereTheLossFallsFastest) {
  RateSweep sweep;
  for (int i = 0; i <= 400; ++i) {
    const double power = -5 + i * 0.0125;
    const double loss = 5 - 2 / (1 + std::exp(-8 * (power + 2))) + (power > -1 ? 30 * std::pow(power + 1, 2) : 0);
    sweep.points.push_back({i + 1, std::pow(10, power), loss, 0});
  }
  judge(sweep);
  ASSERT_TRUE(sweep.suggestion.has_value() && sweep.turn.has_value());
  EXPECT_NEAR(std::log10(*sweep.suggestion), -2, 0.25) << "smoothing lags behind";
  EXPECT_NEAR(std::log10(*sweep.turn), -1, 0.3);
  const std::string svg = rate_sweep_svg(sweep);
  EXPECT_TRUE(contains(svg, "<svg") && contains(svg, "</svg>") && contains(svg, "1e-3"));

  for (RatePoint& p : sweep.points) p.loss = 5 + p.rate;
  judge(sweep);
  EXPECT_FALSE(sweep.suggestion.has_value()) << "it never fell";
}

TEST(RateFinder, SweepsAModelAndLeavesTheDiskAlone) {
  const TemporaryDirectory dir;
  test::write_reversals(dir, "train", 120, 1);
  TrainOptions o = test::small_options(dir);
  const auto tokenizer = std::make_shared<test::LetterTokenizer>();
  const std::unique_ptr<model::Model> m = build_model(o.model, *tokenizer);
  m->parameters().initialise(1);
  int told = 0;
  const RateSweep sweep = sweep_rates(o, *m, tokenizer, {.lowest = 1e-4, .highest = 1000, .updates = 150},
                                      [&](const RatePoint&) { ++told; });
  EXPECT_EQ(static_cast<std::size_t>(told), sweep.points.size());
  EXPECT_TRUE(sweep.diverged) << "a rate of 1000 must";
  EXPECT_LT(sweep.points.size(), 150u);
  ASSERT_TRUE(sweep.suggestion.has_value());
  EXPECT_GT(*sweep.suggestion, 5e-4);
  EXPECT_LT(*sweep.suggestion, 0.5);
  EXPECT_FALSE(std::filesystem::exists(o.run.model));
}

}  // namespace
}  // namespace tril::train

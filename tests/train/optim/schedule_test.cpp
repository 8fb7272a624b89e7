#include "train/optim/schedule.h"

#include <gtest/gtest.h>

namespace tril::train {
namespace {

TEST(Schedule, InverseSqrtIsThePapersFormula) {
  // d_model^-0.5 min(t^-0.5, t w^-1.5), whose peak at t = w is (d_model w)^-0.5 [Vaswani et al. 2017, eq. 3].
  const double d = 512;
  const std::int64_t w = 4000;
  const Schedule s{ScheduleKind::inverse_sqrt, 1 / std::sqrt(d * static_cast<double>(w)), w, 0};
  for (std::int64_t t : {1, 2, 37, 3999, 4000, 4001, 100'000}) {
    const double x = static_cast<double>(t);
    const double paper = 1 / std::sqrt(d) * std::min(1 / std::sqrt(x), x * std::pow(static_cast<double>(w), -1.5));
    EXPECT_NEAR(learning_rate(s, t), paper, 1e-12) << t;
  }
}

TEST(Schedule, LinearAndCosineEndAtTheLeastRate) {
  for (ScheduleKind kind : {ScheduleKind::linear, ScheduleKind::cosine}) {
    const Schedule s{kind, 1e-3, 100, 5000, 1e-4};
    EXPECT_DOUBLE_EQ(learning_rate(s, 100), 1e-3);
    EXPECT_NEAR(learning_rate(s, 2550), 5.5e-4, 1e-9);
    EXPECT_NEAR(learning_rate(s, 5000), 1e-4, 1e-12);
    EXPECT_NEAR(learning_rate(s, 9999), 1e-4, 1e-12);
  }
}

TEST(Schedule, LinearAndCosineGoGoFromThePeakToZero) {
  for (ScheduleKind kind : {ScheduleKind::linear, ScheduleKind::cosine}) {
    const Schedule s{kind, 0.4, 100, 1100};
    EXPECT_DOUBLE_EQ(learning_rate(s, 25), 0.1);
    EXPECT_DOUBLE_EQ(learning_rate(s, 100), 0.4);
    EXPECT_NEAR(learning_rate(s, 600), 0.2, 1e-12);
    EXPECT_NEAR(learning_rate(s, 1100), 0, 1e-12);
    EXPECT_NEAR(learning_rate(s, 9999), 0, 1e-12);
    for (std::int64_t t = 101; t <= 1100; ++t) EXPECT_LT(learning_rate(s, t), learning_rate(s, t - 1)) << t;
  }
  EXPECT_NEAR(learning_rate({ScheduleKind::linear, 0.4, 100, 1100}, 350), 0.3, 1e-12);
  EXPECT_NEAR(learning_rate({ScheduleKind::cosine, 0.4, 100, 1100}, 350), 0.4 * (1 + std::sqrt(0.5)) / 2, 1e-12);
}

TEST(Schedule, ConstantAndNoWarmup) {
  EXPECT_DOUBLE_EQ(learning_rate({ScheduleKind::constant, 0.3, 10, 0}, 5), 0.15);
  EXPECT_DOUBLE_EQ(learning_rate({ScheduleKind::constant, 0.3, 10, 0}, 123456), 0.3);
  EXPECT_DOUBLE_EQ(learning_rate({ScheduleKind::inverse_sqrt, 0.3, 0, 0}, 1), 0.3);
  EXPECT_DOUBLE_EQ(learning_rate({ScheduleKind::inverse_sqrt, 0.3, 0, 0}, 9), 0.1);
}

TEST(Schedule, AverageForgetsTheStart) {
  EXPECT_DOUBLE_EQ(average_decay(0.999, 1), 2.0 / 11);
  EXPECT_DOUBLE_EQ(average_decay(0.999, 1'000'000), 0.999);
}

}  // namespace
}  // namespace tril::train

#include "base/number_text.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

TEST(NumberText, IsWordsWhereItIsNoNumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(number_text(2.5), "2.5");
  EXPECT_EQ(number_text(1.0 / 3), "0.333333");
  EXPECT_EQ(number_text(nan), "not a number");
  EXPECT_EQ(number_text(-nan), "not a number");
  EXPECT_EQ(number_text(infinity), "infinite");
  EXPECT_EQ(number_text(-infinity), "minus infinite");
  EXPECT_EQ(fmt::format("{:.3f}", unsigned_nan(std::copysign(nan, -1.0))), "nan");
  EXPECT_EQ(unsigned_nan(-1.5), -1.5);
}

TEST(NumberText, WhatIsCountedIsOneOrMany) {
  EXPECT_EQ(counted(1, "line"), "1 line");
  EXPECT_EQ(counted(std::size_t{0}, "line"), "0 lines");
  EXPECT_EQ(counted(21, "batch", "batches"), "21 batches");
  EXPECT_EQ(counted(std::string("1"), "pair has", "pairs have"), "1 pair has");
  EXPECT_EQ(counted("1,001", "update"), "1,001 updates");
}

}  // namespace
}  // namespace tril

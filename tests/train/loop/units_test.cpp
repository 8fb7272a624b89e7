#include "train/loop/units.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tril::train {
namespace {

TEST(Units, ReadsEveryUnitAndFactor) {
  EXPECT_EQ(parse_amount("8000u", "x"), (Amount{8000, Unit::updates}));
  EXPECT_EQ(parse_amount("8000", "x"), (Amount{8000, Unit::updates}));
  EXPECT_EQ(parse_amount("100Ku", "x"), (Amount{100'000, Unit::updates}));
  EXPECT_EQ(parse_amount("30e", "x"), (Amount{30, Unit::epochs}));
  EXPECT_EQ(parse_amount("10m", "x"), (Amount{10, Unit::minutes}));
  EXPECT_EQ(parse_amount("0.5m", "x"), (Amount{0.5, Unit::minutes}));
  EXPECT_EQ(parse_amount("5Gt", "x"), (Amount{5e9, Unit::tokens}));
  EXPECT_EQ(parse_amount("1.5Mt", "x"), (Amount{1.5e6, Unit::tokens}));
}

TEST(Units, RefusesWhatIsNoAmount) {
  for (const char* bad :
       {"", "u", "-3u", "3x", "3uu", "3Kx", "nan", "inf", "1e400", "30 e", "3,5u", "0.5e", "1.5u", "3e2q"})
    EXPECT_THROW(parse_amount(bad, "after"), Error) << bad;
  try {
    parse_amount("30x", "after");
    FAIL() << "an amount of 30x";
  } catch (const Error& e) {
    EXPECT_EQ(e.where(), "after");
    EXPECT_NE(std::string(e.what()).find("30e"), std::string::npos) << e.what();
  }
}

TEST(Units, SeveralEndWithTheFirst) {
  const auto after = parse_amounts("30e,8000u", "x");
  ASSERT_EQ(after.size(), 2u);
  EXPECT_FALSE(reached(after, {7999, 29, 0, 0}));
  EXPECT_TRUE(reached(after, {8000, 2, 0, 0}));
  EXPECT_TRUE(reached(after, {10, 30, 0, 0}));
  EXPECT_TRUE(parse_amounts("0", "x").empty());
  EXPECT_THROW(parse_amounts("", "x"), Error);
  EXPECT_FALSE(reached({}, {1'000'000, 1'000'000, 1e9, 1'000'000'000}));
}

TEST(Units, TextReadsBack) {
  for (const char* text : {"0", "8000u", "30e,0.5m", "5Gt", "2Mt,1500000u"})
    EXPECT_EQ(to_text(parse_amounts(text, "x")), text);
  EXPECT_EQ(to_text(parse_amounts("100K", "x")), "100000u");
}

TEST(Units, DueOncePerMultiple) {
  const auto every = parse_amounts("100u,1e", "x");
  int times = 0;
  Position before;
  for (std::int64_t u = 1; u <= 1000; ++u) {
    const Position now{u, u / 250, 0, 0};
    times += due(every, before, now) ? 1 : 0;
    before = now;
  }
  EXPECT_EQ(times, 12);  // ten hundreds, and the epochs' ends at 250 and 750 (those at 500 and 1000 fall on hundreds)
}

}  // namespace
}  // namespace tril::train

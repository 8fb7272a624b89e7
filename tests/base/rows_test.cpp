// Ragged rows: offsets, positions, empty rows, and the rectangle as a special case.
#include "base/rows.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

using Ints = std::vector<std::int32_t>;

TEST(Rows, OffsetsLengthsAndPositions) {
  const Rows rows = Rows::of_lengths(Ints{3, 0, 2});
  EXPECT_EQ(rows.count(), 3);
  EXPECT_EQ(rows.tokens(), 5);
  EXPECT_EQ(rows.longest(), 3);
  EXPECT_EQ(Ints(rows.offsets().begin(), rows.offsets().end()), (Ints{0, 3, 3, 5}));
  EXPECT_EQ(rows.begin(2), 3);
  EXPECT_EQ(rows.end(2), 5);
  EXPECT_EQ(rows.length(1), 0);
  EXPECT_EQ(rows.positions(), (Ints{0, 1, 2, 0, 1}));
}

TEST(Rows, AppendStartsWhereACacheEnds) {
  Rows rows;
  rows.append(1, 7);
  rows.append(2);
  EXPECT_EQ(rows.start(0), 7);
  EXPECT_EQ(rows.positions(), (Ints{7, 0, 1}));
}

TEST(Rows, NoRows) {
  const Rows rows;
  EXPECT_EQ(rows.count(), 0);
  EXPECT_EQ(rows.tokens(), 0);
  EXPECT_EQ(rows.longest(), 0);
  EXPECT_TRUE(rows.positions().empty());
  EXPECT_EQ(rows, Rows::of_lengths(Ints{}));
}

TEST(Rows, RectangleIsEqualLengths) {
  EXPECT_EQ(Rows::rectangle(3, 4), Rows::of_lengths(Ints{4, 4, 4}));
  EXPECT_EQ(Rows::rectangle(0, 4).count(), 0);
  EXPECT_NE(Rows::rectangle(2, 6), Rows::rectangle(3, 4));
}

TEST(Rows, NegativeLengthOrStartIsAnError) {
  Rows rows;
  EXPECT_THROW(rows.append(-1), Error);
  EXPECT_THROW(rows.append(1, -1), Error);
  EXPECT_EQ(rows.count(), 0);
}

}  // namespace
}  // namespace tril

// The first row continues the row in the cache; later rows are new.
#include "decode/steps/resumed_step.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/recorded_step.h"

namespace tril::search {
namespace {

using Ids = std::vector<std::int32_t>;

TEST(ResumedStep, TheFirstRowGoesOn) {
  Arena arena;
  Context c(arena);
  std::vector<tril::testing::RecordedInput> seen;
  ResumedStep step(std::make_unique<tril::testing::RecordedStep>(seen), 3);
  const Ids prompt{1, 2, 3, 4, 5}, rest{4, 5}, two{2}, begins{-1}, whose{0};
  EXPECT_THROW(step.reuse_prefix(0, std::span(prompt).first(3)), Error) << "nothing would be left to read";
  EXPECT_EQ(step.reuse_prefix(0, prompt), 3);
  step.step(c, {rest, two, begins, whose});
  EXPECT_EQ(seen[0].parents, (Ids{0}));
  EXPECT_EQ(seen[0].ids, rest);
  EXPECT_EQ(step.reuse_prefix(1, prompt), 0);
  step.step(c, {rest, two, begins, whose});
  EXPECT_EQ(seen[1].parents, begins);
}

TEST(ResumedStep, SeveralRowsCannotGoOnFromOne) {
  Arena arena;
  Context c(arena);
  std::vector<tril::testing::RecordedInput> seen;
  ResumedStep step(std::make_unique<tril::testing::RecordedStep>(seen), 3);
  const Ids ids{4, 5}, ones{1, 1}, begin{-1, -1}, whose{0, 1};
  EXPECT_THROW(step.step(c, {ids, ones, begin, whose}), Error);
}

}  // namespace
}  // namespace tril::search

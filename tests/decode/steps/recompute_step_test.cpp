// Without a cache the inner step sees only new rows, each from its first token.
#include "decode/steps/recompute_step.h"

#include <gtest/gtest.h>

#include "support/recorded_step.h"

namespace tril::search {
namespace {

using Ids = std::vector<std::int32_t>;

TEST(RecomputeStep, EveryRowBeginsAgain) {
  Arena arena;
  Context c(arena);
  std::vector<tril::testing::RecordedInput> seen;
  RecomputeStep step(std::make_unique<tril::testing::RecordedStep>(seen));
  const Ids first{1, 2, 3}, counts{3}, begins{-1}, whose{7};
  step.step(c, {first, counts, begins, whose});
  // The row forks, and another one begins.
  const Ids next{4, 5, 8, 9}, more{1, 1, 2}, parents{0, 0, -1}, sentences{7, 7, 8};
  step.step(c, {next, more, parents, sentences});
  // The second row loses two of its tokens; the first row has ended.
  const Ids last{6, 9}, ones{1, 1}, kept{1, 2}, of_these{7, 8}, cuts{2, 0}, prompts{3, 2};
  step.step(
      c,
      {.ids = last, .counts = ones, .parents = kept, .sentences = of_these, .cuts = cuts, .prompt_lengths = prompts});

  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].ids, first);
  EXPECT_EQ(seen[1].ids, (Ids{1, 2, 3, 4, 1, 2, 3, 5, 8, 9}));
  EXPECT_EQ(seen[1].counts, (Ids{4, 4, 2}));
  EXPECT_EQ(seen[1].parents, (Ids{-1, -1, -1}));
  EXPECT_EQ(seen[2].ids, (Ids{1, 2, 6, 8, 9, 9}));
  EXPECT_EQ(seen[2].counts, (Ids{3, 3}));
  EXPECT_EQ(seen[2].sentences, of_these);
  EXPECT_TRUE(seen[2].cuts.empty());
  EXPECT_EQ(seen[2].prompt_lengths, prompts);
}

}  // namespace
}  // namespace tril::search

// A row that grows beyond the length is read again once, from its first token; rows whose prompts are longer never are.
#include "decode/steps/reread_step.h"

#include <gtest/gtest.h>

#include "support/recorded_step.h"

namespace tril::search {
namespace {

using Ids = std::vector<std::int32_t>;

struct Reread : ::testing::Test {
  Arena arena;
  Context c{arena};
  std::vector<tril::testing::RecordedInput> seen;
  RereadStep step{std::make_unique<tril::testing::RecordedStep>(seen), 4};
};

TEST_F(Reread, ARowThatGrowsBeyond) {
  const Ids whose{0, 1}, goes_on{0, 1}, begins{-1, -1}, prompts{3, 5}, ones{1, 1};
  const Ids texts{1, 2, 3, 11, 12, 13, 14, 15}, lengths{3, 5};
  step.step(c, {.ids = texts, .counts = lengths, .parents = begins, .sentences = whose, .prompt_lengths = prompts});
  for (std::int32_t i = 4; i <= 6; ++i) {
    const Ids fresh{i, 12 + i};
    step.step(c, {.ids = fresh, .counts = ones, .parents = goes_on, .sentences = whose, .prompt_lengths = prompts});
  }
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen[0].ids, texts);
  EXPECT_EQ(seen[1].ids, (Ids{4, 16})) << "it is no longer than that yet";
  EXPECT_EQ(seen[2].ids, (Ids{1, 2, 3, 4, 5, 17}));
  EXPECT_EQ(seen[2].counts, (Ids{5, 1}));
  EXPECT_EQ(seen[2].cuts, (Ids{4, 0})) << "all that was read is taken back";
  EXPECT_EQ(seen[2].parents, goes_on);
  EXPECT_EQ(seen[2].prompt_lengths, (Ids{5, 5}));
  EXPECT_EQ(seen[3].ids, (Ids{6, 18})) << "once";
  EXPECT_EQ(seen[3].cuts, (Ids{0, 0}));
  EXPECT_EQ(seen[3].prompt_lengths, (Ids{6, 5}));
}

TEST_F(Reread, WhatIsTakenBackIsNotReadAgain) {
  const Ids whose{0}, begins{-1}, goes_on{0}, prompts{2}, text{1, 2, 3, 4}, four{4}, fresh{7, 8}, two{2}, cut{1};
  step.step(c, {.ids = text, .counts = four, .parents = begins, .sentences = whose, .prompt_lengths = prompts});
  step.step(
      c, {.ids = fresh, .counts = two, .parents = goes_on, .sentences = whose, .cuts = cut, .prompt_lengths = prompts});
  EXPECT_EQ(seen[1].ids, (Ids{1, 2, 3, 7, 8}));
  EXPECT_EQ(seen[1].cuts, (Ids{4}));
}

// A step that has cached the beginning of each prompt.
class Beginning : public tril::testing::RecordedStep {
 public:
  using RecordedStep::RecordedStep;
  std::int32_t reuse_prefix(std::int32_t, std::span<const std::int32_t>) override { return 2; }
};

TEST(RereadStep, KnowsTheBeginningThatWasThere) {
  Arena arena;
  Context c(arena);
  std::vector<tril::testing::RecordedInput> seen;
  RereadStep step(std::make_unique<Beginning>(seen), 4);
  const Ids prompt{1, 2, 3, 4}, rest{3, 4}, two{2}, begins{-1}, goes_on{0}, whose{0}, given{4}, next{5}, one{1};
  EXPECT_EQ(step.reuse_prefix(0, prompt), 2);
  step.step(c, {.ids = rest, .counts = two, .parents = begins, .sentences = whose, .prompt_lengths = given});
  step.step(c, {.ids = next, .counts = one, .parents = goes_on, .sentences = whose, .prompt_lengths = given});
  EXPECT_EQ(seen[1].ids, (Ids{1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace tril::search

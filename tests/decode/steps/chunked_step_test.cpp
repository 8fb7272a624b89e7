// The inner step gets all tokens in order, in chunks, and those that need an answer in the last chunk.
#include "decode/steps/chunked_step.h"

#include <gtest/gtest.h>

#include <numeric>

#include "support/recorded_step.h"

namespace tril::search {
namespace {

using Ids = std::vector<std::int32_t>;

struct Chunks : ::testing::Test {
  Arena arena;
  Context c{arena};
  nn::KvCache cache{c, {{1, 1}}};
  std::vector<tril::testing::RecordedInput> seen;
  ChunkedStep step{std::make_unique<tril::testing::RecordedStep>(seen), cache, 4};
  Ids ids = [] {
    Ids list(20);
    std::iota(list.begin(), list.end(), 0);
    return list;
  }();
};

TEST_F(Chunks, RowsShareThem) {
  cache.add_rows(2);
  cache.extend(Ids{1, 5});
  const Ids counts{1, 3, 7}, parents{1, 0, -1}, sentences{4, 5, 6}, cuts{2, 0, 0};
  step.step(
      c, {.ids = std::span(ids).first(11), .counts = counts, .parents = parents, .sentences = sentences, .cuts = cuts});
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].ids, (Ids{1, 2, 4, 5})) << "one token of each row is to be answered";
  EXPECT_EQ(seen[0].counts, (Ids{0, 2, 2}));
  EXPECT_EQ(seen[0].parents, parents);
  EXPECT_EQ(seen[0].cuts, cuts);
  EXPECT_EQ(seen[0].answers, (Ids{0, 0, 0}));
  EXPECT_EQ(seen[0].wanted, Wanted::nothing);
  EXPECT_EQ(seen[1].ids, (Ids{6, 7, 8, 9}));
  EXPECT_EQ(seen[1].counts, (Ids{0, 0, 4}));
  EXPECT_EQ(seen[1].parents, (Ids{0, 1, 2}));
  EXPECT_TRUE(seen[1].cuts.empty());
  EXPECT_EQ(seen[2].ids, (Ids{0, 3, 10}));
  EXPECT_EQ(seen[2].counts, (Ids{1, 1, 1}));
  EXPECT_TRUE(seen[2].answers.empty());
  EXPECT_EQ(seen[2].wanted, Wanted::logits);
  for (const auto& input : seen) EXPECT_EQ(input.prompt_lengths, (Ids{4, 4, 7})) << "of the whole step";
}

TEST_F(Chunks, WhatIsToBeAnsweredStaysTogether) {
  const Ids counts{7}, parents{-1}, sentences{0}, answers{6}, prompts{9};
  step.step(c, {.ids = std::span(ids).first(7),
                .counts = counts,
                .parents = parents,
                .sentences = sentences,
                .answers = answers,
                .prompt_lengths = prompts,
                .attention = true});
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].ids, (Ids{0}));
  EXPECT_FALSE(seen[0].attention);
  EXPECT_EQ(seen[1].ids, (Ids{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(seen[1].answers, answers);
  EXPECT_EQ(seen[1].prompt_lengths, prompts);
  EXPECT_TRUE(seen[1].attention);
}

TEST_F(Chunks, ShortStepsPassAsTheyAre) {
  const Ids counts{4}, parents{-1}, sentences{0}, ones(5, 1), begin(5, -1), whose{0, 1, 2, 3, 4};
  step.step(c, {std::span(ids).first(4), counts, parents, sentences});
  step.step(c, {std::span(ids).first(5), ones, begin, whose});
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_TRUE(seen[0].prompt_lengths.empty());
  EXPECT_EQ(seen[1].counts, ones) << "a token of each of many rows";
}

}  // namespace
}  // namespace tril::search

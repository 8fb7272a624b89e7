// The logits are those of the whole vocabulary at the ids of a sentence's list, and -inf at ids that only other sentences' lists
// contain.
#include "decode/steps/shortlist_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "support/recorded_step.h"

namespace tril::search {
namespace {

using Ids = std::vector<std::int32_t>;

TEST(ShortlistStep, LogitsOfTheListsAlone) {
  constexpr std::int64_t V = 10, D = 4;
  const std::vector<Ids> lists{{1, 4, 9}, {0, 4, 5}, {2}};
  SentenceShortlists of_sentences;
  for (std::int32_t s = 0; s < 3; ++s) of_sentences.set(s, std::make_shared<Ids>(lists[static_cast<std::size_t>(s)]));
  for (const kern::Kernels* kernels : kern::tables())
    for (const float softcap : {0.0f, 2.0f}) {
      SCOPED_TRACE(kernels->name);
      Arena arena;
      Context c(arena, *kernels);
      RandomSequence random(1, 1);
      const auto values = [&](std::int64_t n) {
        std::vector<float> x(static_cast<std::size_t>(n));
        for (float& v : x) v = static_cast<float>(random.below(1000)) / 500 - 1;
        return x;
      };
      const std::vector<float> h = values(3 * D), w = values(V * D), b = values(V);
      std::vector<tril::testing::RecordedInput> seen;
      ShortlistStep step(
          std::make_unique<tril::testing::RecordedStep>(seen, StepOutput{.hidden = c.upload<float>(h, {3, D}),
                                                                         .weight = c.upload<float>(w, {V, D}),
                                                                         .bias = c.upload<float>(b, {V}),
                                                                         .softcap = softcap}),
          of_sentences);
      const Ids ids{1, 2}, counts{1, 1}, parents{0, 1}, sentences{0, 1}, answers{2, 1};
      const StepOutput output =
          step.step(c, {.ids = ids, .counts = counts, .parents = parents, .sentences = sentences, .answers = answers});
      EXPECT_EQ(seen[0].wanted, Wanted::hidden);
      const Ids columns(output.columns.begin(), output.columns.end());
      ASSERT_EQ(columns, (Ids{0, 1, 4, 5, 9}));
      const std::vector<float> logits = host_copy<float>(output.logits);
      ASSERT_EQ(logits.size(), 15u);
      for (std::size_t row = 0; row < 3; ++row)
        for (std::size_t i = 0; i < columns.size(); ++i) {
          const auto& list = lists[row == 2 ? 1 : 0];
          const float got = logits[row * columns.size() + i];
          if (!std::binary_search(list.begin(), list.end(), columns[i])) {
            EXPECT_EQ(got, -INFINITY);
            continue;
          }
          const auto id = static_cast<std::size_t>(columns[i]);
          double expected = static_cast<double>(b[id]);
          for (std::size_t d = 0; d < D; ++d)
            expected += static_cast<double>(h[row * D + d]) * static_cast<double>(w[id * D + d]);
          if (softcap > 0) expected = 2 * std::tanh(expected / 2);
          EXPECT_NEAR(static_cast<double>(got), expected, 1e-5) << "four products of numbers up to 1";
        }
    }
}

// A sentence without a list has the whole vocabulary, also beside others.
TEST(ShortlistStep, OfSomeSentences) {
  Arena arena;
  Context c(arena);
  std::vector<tril::testing::RecordedInput> seen;
  SentenceShortlists lists;
  const StepOutput output{.hidden = c.upload<float>(std::vector<float>{1, 10}, {2, 1}),
                          .weight = c.upload<float>(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {10, 1})};
  ShortlistStep step(std::make_unique<tril::testing::RecordedStep>(seen, output), lists);
  const Ids ids{1, 2}, counts{1, 1}, parents{0, 1}, sentences{0, 1};
  const StepInput input{.ids = ids, .counts = counts, .parents = parents, .sentences = sentences};
  step.step(c, input);
  EXPECT_EQ(seen.back().wanted, Wanted::logits) << "no list: nothing is changed";

  lists.set(1, std::make_shared<Ids>(Ids{1, 3}));
  const StepOutput mixed = step.step(c, input);
  EXPECT_TRUE(mixed.columns.empty());
  const float no = -INFINITY;
  EXPECT_EQ(host_copy<float>(mixed.logits), (std::vector<float>{1,  2,  3,  4,  5,  6,  7,  8,  9,  10,  //
                                                                no, 20, no, 40, no, no, no, no, no, no}));

  lists.set(0, std::make_shared<Ids>(Ids{4}));
  lists.set(1, std::make_shared<Ids>(Ids{0, 2}));  // another sentence of the same number
  const StepOutput changed = step.step(c, input);
  EXPECT_EQ(Ids(changed.columns.begin(), changed.columns.end()), (Ids{0, 2, 4}));
  EXPECT_EQ(host_copy<float>(changed.logits), (std::vector<float>{no, no, 5, 10, 30, no}));
}

TEST(ShortlistStep, StepsThatOnlyReadHaveNoLogits) {
  Arena arena;
  Context c(arena);
  std::vector<tril::testing::RecordedInput> seen;
  SentenceShortlists lists;
  lists.set(0, std::make_shared<Ids>(Ids{1, 2}));
  ShortlistStep step(std::make_unique<tril::testing::RecordedStep>(seen), lists);
  const Ids ids{1}, counts{1}, parents{-1}, sentences{0};
  const StepOutput output = step.step(
      c, {.ids = ids, .counts = counts, .parents = parents, .sentences = sentences, .wanted = Wanted::nothing});
  EXPECT_EQ(seen[0].wanted, Wanted::nothing);
  EXPECT_FALSE(output.logits);
}

}  // namespace
}  // namespace tril::search

// What prompt lookup proposes: from the text, its source and a prediction.
#include "decode/batches/prompt_lookup.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace tril::search::prompt_lookup_test {
namespace {

using Ids = std::vector<std::int32_t>;

TEST(PromptLookup, ProposesWhatFollowed) {
  const std::vector<Ids> sources{{7, 8, 9, 10, 0}, {5}};
  Lookup lookup(2);
  lookup.add(Ids{0, 1}, sources);
  Arena arena;
  Context c(arena);
  const auto proposed = [&](const Ids& text, std::int32_t sentence, std::int32_t most) {
    std::vector<Ids> out;
    SearchPlan plan;
    plan.eos_ids = {11};
    const Request request;
    const DraftRow row{.tokens = text,
                       .sentence = sentence,
                       .most = most,
                       .request = &request,
                       .plan = std::make_shared<SearchPlan>(plan)};
    lookup.propose(c, {{&row, 1}}, out);
    return out[0];
  };
  EXPECT_EQ(proposed({1, 2, 3, 4, 1, 2}, 0, 2), (Ids{3, 4}));
  EXPECT_EQ(proposed({1, 2, 3, 4, 1, 2}, 0, 9), (Ids{3, 4, 1, 2})) << "the text's own end may be what follows";
  EXPECT_EQ(proposed({59, 8, 9}, 0, 5), (Ids{10, 0})) << "of the source";
  EXPECT_EQ(proposed({2, 3, 2, 4, 6, 2}, 0, 1), (Ids{4})) << "the last time that it came";
  EXPECT_EQ(proposed({1, 2, 3}, 1, 4), Ids{}) << "nothing came twice";
  EXPECT_EQ(proposed({1, 2, 11, 1, 2}, 1, 4), Ids{}) << "an end is the model's own to say";
  EXPECT_EQ(proposed({1, 2, 3, 11, 1, 2}, 1, 4), (Ids{3})) << "nor is anything proposed behind it";
  EXPECT_EQ(proposed({59, 8, 9}, 0, 0), Ids{}) << "no room";
  lookup.remove(0);
  EXPECT_EQ(proposed({59, 8, 9}, 0, 5), Ids{}) << "the source is gone";
}

TEST(PromptLookup, FollowsAPrediction) {
  Lookup lookup(0);
  Arena arena;
  Context c(arena);
  const Request request{.prefix = {50, 51},
                        .prediction = std::make_shared<const Ids>(Ids{1, 2, 3, 4, 2, 3, 5, 2, 3, 6})};
  EXPECT_TRUE(lookup.may_propose(request));
  EXPECT_FALSE(lookup.may_propose({.prefix = {50, 51}}));
  const auto proposed = [&](const Ids& generated, std::int32_t most = 3) {
    Ids text{59, 50, 51};
    text.insert(text.end(), generated.begin(), generated.end());
    const DraftRow row{.tokens = text, .most = most, .request = &request, .plan = std::make_shared<SearchPlan>()};
    std::vector<Ids> out;
    lookup.propose(c, {{&row, 1}}, out);
    return out[0];
  };
  EXPECT_EQ(proposed({}), Ids{}) << "nothing to follow";
  EXPECT_EQ(proposed({1}), (Ids{2, 3, 4}));
  EXPECT_EQ(proposed({9}), Ids{}) << "it began otherwise";
  EXPECT_EQ(proposed({9, 2, 3}), (Ids{4, 2, 3})) << "the first of equal places";
  EXPECT_EQ(proposed({4, 2, 3}), (Ids{5, 2, 3})) << "the place that agrees with most tokens";
  EXPECT_EQ(proposed({9, 5, 2, 3}, 9), (Ids{6})) << "up to its end";
  EXPECT_EQ(proposed({1, 2, 9, 3}), Ids{}) << "one token is not enough after a difference";
  EXPECT_EQ(proposed({3, 6}), Ids{}) << "nothing follows its end";
  EXPECT_EQ(proposed({50, 51}), Ids{}) << "the prompt is not searched";
  EXPECT_EQ(proposed({1, 2}, 0), Ids{}) << "no room";
  lookup.clear();
  EXPECT_EQ(proposed({1, 2, 3, 4}, 2), (Ids{2, 3}));
  EXPECT_EQ(proposed({1, 2, 3, 4, 9, 9, 2, 3}, 2), (Ids{5, 2}))
      << "of equal places, the next one after where the text was";
}

// A prediction comes before what the text has, and an end token in it ends a proposal.
TEST(PromptLookup, APredictionIsSearchedBeforeTheText) {
  Lookup lookup(3);
  Arena arena;
  Context c(arena);
  const Request request{.prefix = {7, 8, 9}, .prediction = std::make_shared<const Ids>(Ids{7, 8, 5, 11, 6})};
  SearchPlan plan;
  plan.eos_ids = {11};
  const auto proposed = [&](const Ids& text) {
    const DraftRow row{
        .tokens = text, .most = 4, .request = &request, .plan = std::make_shared<const SearchPlan>(plan)};
    std::vector<Ids> out;
    lookup.propose(c, {{&row, 1}}, out);
    return out[0];
  };
  EXPECT_EQ(proposed({1, 7, 8, 9, 7, 8}), (Ids{5})) << "up to its end token";
  EXPECT_EQ(proposed({1, 7, 8, 9, 4, 7}), (Ids{8, 9, 4, 7})) << "what the prediction does not know, the text does";
}

}  // namespace
}  // namespace tril::search::prompt_lookup_test

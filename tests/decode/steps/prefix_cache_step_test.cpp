// The inner step sees rows with a cached prefix as continued rows of the KV cache.
#include "decode/steps/prefix_cache_step.h"

#include <gtest/gtest.h>

#include "support/recorded_step.h"

namespace tril::search {
namespace {

using Ids = std::vector<std::int32_t>;

struct PrefixCacheSteps : ::testing::Test {
  Arena arena;
  Context c{arena};
  nn::KvCache cache{c, {{1, 1}}};
  PrefixCache prefixes{cache, 1000};
  std::vector<tril::testing::RecordedInput> seen;
  Ids text = [] {
    Ids t(40);
    for (std::size_t i = 0; i < t.size(); ++i) t[i] = static_cast<std::int32_t>(i);
    return t;
  }();

  // Adds a row that has read the text, as the inner step would.
  void read() {
    cache.reorder({});
    cache.add_rows(1);
    const auto count = static_cast<std::int32_t>(text.size());
    cache.extend({&count, 1});
  }
};

TEST_F(PrefixCacheSteps, RowsBeginWithWhatIsKept) {
  PrefixCacheStep step(std::make_unique<tril::testing::RecordedStep>(seen), cache, prefixes, 0);
  read();
  const Ids one{1}, whose{5}, goes_on{0}, given{40}, next{3};
  step.step(c, {.ids = next, .counts = one, .parents = goes_on, .sentences = whose, .prompt_lengths = given});
  step.keep_prefix(0, text);
  EXPECT_EQ(prefixes.tokens(), 32);

  EXPECT_EQ(step.reuse_prefix(6, text), 32);
  EXPECT_EQ(step.reuse_prefix(7, Ids{9, 9, 9}), 0);
  const Ids ids{3, 9, 9, 32, 33}, counts{1, 2, 2}, parents{0, -1, -1}, sentences{5, 7, 6}, prompts{40, 3, 40};
  step.step(c, {.ids = ids, .counts = counts, .parents = parents, .sentences = sentences, .prompt_lengths = prompts});
  EXPECT_EQ(seen[1].parents, (Ids{0, 1, 2}));
  EXPECT_EQ(seen[1].ids, ids);
  ASSERT_EQ(cache.rows(), 3);
  EXPECT_EQ(cache.length(1), 0);
  EXPECT_EQ(cache.length(2), 32);
  const auto whole = cache.slots(0);
  EXPECT_EQ(cache.slots(2), (std::vector<std::int32_t>(whole.begin(), whole.begin() + 32)));

  step.step(c, {.ids = ids, .counts = counts, .parents = parents, .sentences = sentences, .prompt_lengths = prompts});
  EXPECT_EQ(seen[2].parents, parents) << "each is found for one beginning";
}

TEST_F(PrefixCacheSteps, LongTextsNeitherKeepNorReuse) {
  PrefixCacheStep step(std::make_unique<tril::testing::RecordedStep>(seen), cache, prefixes, 39);
  read();
  const Ids one{1}, whose{0}, goes_on{0}, short_prompt{8}, next{3};
  step.step(c, {.ids = next, .counts = one, .parents = goes_on, .sentences = whose, .prompt_lengths = short_prompt});
  step.keep_prefix(0, text);
  EXPECT_EQ(prefixes.tokens(), 0) << "the row has 40 tokens";
  cache.truncate(0, 36);
  step.keep_prefix(0, text);
  EXPECT_EQ(prefixes.tokens(), 32) << "as many as were read";
  EXPECT_EQ(step.reuse_prefix(1, text), 0);
  EXPECT_EQ(step.reuse_prefix(1, std::span(text).first(39)), 32);
}

}  // namespace
}  // namespace tril::search

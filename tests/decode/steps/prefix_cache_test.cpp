// Prefix cache against a list of all kept texts: it finds the longest prefix of whole blocks, keeps its limit, and
// drops the least recently used first.
#include "decode/steps/prefix_cache.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "ops/ops.h"

namespace tril::search {
namespace {

using Text = std::vector<std::int32_t>;

struct Kept : ::testing::Test {
  Arena arena;
  Context c{arena};
  nn::KvCache cache{c, {{1, 1}}};

  // A row that has read this many tokens.
  void read(std::size_t n) {
    cache.reorder({});
    cache.add_rows(1);
    const auto count = static_cast<std::int32_t>(n);
    cache.extend({&count, 1});
  }
  void keep(PrefixCache& prefixes, const Text& text) {
    read(text.size());
    prefixes.keep(0, text);
    cache.reorder({});
  }
};

Text text_of(std::int32_t first, std::size_t n) {
  Text text(n);
  for (std::size_t i = 0; i < n; ++i) text[i] = first + static_cast<std::int32_t>(i / 16);
  return text;
}

TEST_F(Kept, FindsTheLongestBeginning) {
  PrefixCache prefixes(cache, 1000);
  keep(prefixes, text_of(1, 70));
  EXPECT_EQ(prefixes.tokens(), 64);
  EXPECT_EQ(cache.used_slots(), 64);
  EXPECT_EQ(prefixes.find(text_of(1, 70)).size(), 64u);
  EXPECT_EQ(prefixes.find(text_of(1, 64)).size(), 48u) << "the last token is to be read";
  EXPECT_EQ(prefixes.find(text_of(1, 65)).size(), 64u);
  EXPECT_EQ(prefixes.find(text_of(2, 65)).size(), 0u);
  EXPECT_EQ(prefixes.find({}).size(), 0u);
  Text other = text_of(1, 70);
  other[40] = 99;
  EXPECT_EQ(prefixes.find(other).size(), 32u);
  keep(prefixes, other);  // shared blocks are stored once
  EXPECT_EQ(prefixes.tokens(), 64 + 32);
  EXPECT_EQ(cache.used_slots(), 64 + 32);
  const Text whole = prefixes.find(text_of(1, 70)), mixed = prefixes.find(other);
  EXPECT_TRUE(std::equal(whole.begin(), whole.begin() + 32, mixed.begin()));
  prefixes.clear();
  EXPECT_EQ(cache.used_slots(), 0);
}

TEST_F(Kept, TheLeastRecentlyUsedGoFirst) {
  PrefixCache prefixes(cache, 64);
  keep(prefixes, text_of(100, 32));
  keep(prefixes, text_of(200, 32));
  EXPECT_EQ(prefixes.find(text_of(100, 33)).size(), 32u);  // used again
  keep(prefixes, text_of(300, 16));
  EXPECT_EQ(prefixes.find(text_of(100, 33)).size(), 32u);
  EXPECT_EQ(prefixes.find(text_of(200, 33)).size(), 16u) << "the end goes before the beginning";
  keep(prefixes, text_of(400, 1000));
  EXPECT_EQ(prefixes.tokens(), 64) << "no more of a text than there is room for";
  EXPECT_EQ(prefixes.find(text_of(400, 1000)).size(), 64u);
  PrefixCache none(cache, 0);
  keep(none, text_of(1, 100));
  EXPECT_EQ(none.tokens(), 0);
}

TEST_F(Kept, AtRandomItHoldsWhatItSays) {
  RandomSequence random(3, 3);
  {
    PrefixCache prefixes(cache, 200);
    for (int i = 0; i < 3000; ++i) {
      Text text;
      for (std::uint64_t n = random.below(8); n > 0; --n)
        text.insert(text.end(), 16, static_cast<std::int32_t>(random.below(3)));
      text.resize(text.size() + random.below(16), 1);
      const Text slots = prefixes.find(text);
      EXPECT_LT(slots.size(), std::max<std::size_t>(text.size(), 1));
      keep(prefixes, text);
      EXPECT_LE(prefixes.tokens(), 200);
      ASSERT_EQ(cache.used_slots(), prefixes.tokens());
      const Text again = prefixes.find(text);
      EXPECT_EQ(again.size(), text.empty() ? 0 : (std::min<std::size_t>(text.size() - 1, 192)) / 16 * 16);
      EXPECT_TRUE(std::equal(slots.begin(), slots.end(), again.begin())) << "what was known stays where it is";
    }
  }
  EXPECT_EQ(cache.used_slots(), 0);
}

TEST_F(Kept, AWindowKeepsNoBeginnings) {
  cache.configure({.window = 8});
  EXPECT_THROW(PrefixCache(cache, 100), Error);
}

}  // namespace
}  // namespace tril::search

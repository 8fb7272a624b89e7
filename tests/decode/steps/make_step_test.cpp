// With any decorators, the logits are those of reading whole rows.
#include "decode/steps/make_step.h"

#include <gtest/gtest.h>

#include "decode/steps/model_step.h"
#include "model_io/source/registry.h"
#include "support/small_decoders.h"

namespace tril::search {
namespace {

using Ids = std::vector<std::int32_t>;

// Logits of the last token of each text, read at once.
std::vector<float> whole(Context& c, const model::Model& m, const std::vector<Ids>& texts) {
  Ids ids, counts, sentences;
  for (const Ids& text : texts) {
    ids.insert(ids.end(), text.begin(), text.end());
    counts.push_back(static_cast<std::int32_t>(text.size()));
    sentences.push_back(static_cast<std::int32_t>(sentences.size()));
  }
  const Ids begin(texts.size(), -1);
  ModelStep step(m, nullptr, nullptr);
  return host_copy<float>(step.step(c, {ids, counts, begin, sentences}).logits);
}

void expect_logits(const std::vector<float>& got, const std::vector<float>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  // Logits are a few units large; products of one row and of several round differently.
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-4) << i;
}

// Rows that begin, fork, lose tokens and end.
TEST(MakeStep, RowsForkAndTakeTokensBack) {
  for (const auto& config : tril::testing::small_decoders()) {
    const auto m = model::make(JsonObject(config, "test"));
    SCOPED_TRACE(m->family());
    m->parameters().allocate();
    m->parameters().initialise(3);
    m->parameters().refresh(kern::best());
    for (const bool cached : {true, false}) {
      Arena arena;
      Context c(arena);
      const std::unique_ptr<nn::KvCache> cache = cached ? m->make_cache(c) : nullptr;
      if (cached && (!cache || cache->keeps_states())) continue;
      const std::unique_ptr<Step> step = make_step({.model = m.get(), .cache = cache.get()});
      const auto logits = [&](const StepInput& input) { return host_copy<float>(step->step(c, input).logits); };
      const Ids a{1, 2, 3}, three{3}, begins{-1}, whose{0};
      expect_logits(logits({a, three, begins, whose}), whole(c, *m, {a}));
      const Ids ids{4, 5, 6, 7}, counts{1, 1, 2}, parents{0, 0, -1}, two{0, 0, 1};
      expect_logits(logits({ids, counts, parents, two}), whole(c, *m, {{1, 2, 3, 4}, {1, 2, 3, 5}, {6, 7}}));
      const Ids last{8, 9}, ones{1, 1}, rows{1, 2}, of{0, 1}, cuts{2, 0};
      expect_logits(logits({.ids = last, .counts = ones, .parents = rows, .sentences = of, .cuts = cuts}),
                    whole(c, *m, {{1, 2, 8}, {6, 7, 9}}));
    }
  }
}

}  // namespace
}  // namespace tril::search

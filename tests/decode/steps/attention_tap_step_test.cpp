// Steps with attention return the weights of each row's last token.
#include "decode/steps/attention_tap_step.h"

#include <gtest/gtest.h>

#include "support/recorded_step.h"
#include "support/small_marian.h"

namespace tril::search {
namespace {

using Ids = std::vector<std::int32_t>;

// Behaves like a model with three rows: two tokens over a source of three, no token, and one token over a source of two.
class TappedModel : public tril::testing::RecordedStep {
 public:
  TappedModel(std::vector<tril::testing::RecordedInput>& inputs, std::vector<bool>& had_keys)
      : RecordedStep(inputs), had_keys_(&had_keys) {}
  StepOutput step(Context& c, const StepInput& input) override {
    if (input.tap) {
      had_keys_->push_back(static_cast<bool>(input.tap->keys));
      input.tap->keys = c.zeros({1});
      input.tap->weights = c.upload<float>(std::vector<float>{0.1f, 0.2f, 0.7f, 0.3f, 0.3f, 0.4f, 0.75f, 0.25f}, {8});
    }
    return RecordedStep::step(c, input);
  }

 private:
  std::vector<bool>* had_keys_;
};

TEST(AttentionTapStep, TellsTheLastTokensWeightsWhereAStepAsks) {
  const auto m = tril::testing::small_marian();
  Arena arena;
  Context c(arena);
  Sources sources(*m);
  const std::vector<Ids> first{{5, 6, 0}}, second{{7, 0}};
  const Ids zero{0}, one{1}, two{2};
  sources.add(c, first, zero);
  sources.add(c, second, one);
  std::vector<tril::testing::RecordedInput> seen;
  std::vector<bool> had_keys;
  AttentionTapStep step(std::make_unique<TappedModel>(seen, had_keys), *m, sources, {});
  const Ids ids{1, 2, 3}, counts{2, 0, 1}, parents{0, 1, 2}, sentences{0, 0, 1}, answers{1, 0, 1};
  StepInput input{.ids = ids, .counts = counts, .parents = parents, .sentences = sentences, .answers = answers};
  EXPECT_TRUE(step.step(c, input).attention.lengths.empty());
  EXPECT_TRUE(had_keys.empty());
  input.attention = true;
  const StepAttention attention = step.step(c, input).attention;
  EXPECT_EQ(attention.lengths, (Ids{3, 3, 2}));
  EXPECT_EQ(attention.weights, (std::vector<float>{0.3f, 0.3f, 0.4f, 0, 0, 0, 0.75f, 0.25f}));
  step.step(c, input);
  sources.add(c, second, two);
  step.step(c, input);
  EXPECT_EQ(had_keys, (std::vector<bool>{false, true, false})) << "keys hold until sources come";
}

TEST(AttentionTapStep, RefusesHeadsThatTheModelLacksOnceItIsAsked) {
  const auto m = tril::testing::small_marian();
  Arena arena;
  Context c(arena);
  const Sources sources(*m);
  std::vector<tril::testing::RecordedInput> seen;
  AttentionTapStep step(std::make_unique<tril::testing::RecordedStep>(seen), *m, sources, {.layer = 99});
  EXPECT_NO_THROW(step.step(c, {}));
  EXPECT_THROW(step.step(c, {.attention = true}), Error);
}

}  // namespace
}  // namespace tril::search

// Logit bias: a search with it equals a search over a model with biased logits; its order among the processors.
#include <gtest/gtest.h>

#include "decode/batches/decode.h"
#include "search/processors.h"
#include "support/tree_model.h"

namespace tril::search {
namespace {

using testing::TreeModel;
using testing::TreeStep;
using Bias = std::vector<std::pair<std::int32_t, float>>;

class BiasedStep : public Step {
 public:
  BiasedStep(const TreeModel& model, Bias bias) : step_(model), bias_(std::move(bias)) {}
  std::int64_t vocab_size() const override { return step_.vocab_size(); }
  StepOutput step(Context& c, const StepInput& input) override {
    const Tensor x = step_.step(c, input).logits;
    std::vector<float> values = host_copy<float>(x);
    for (std::int64_t r = 0; r < x.size(0); ++r)
      for (const auto& [id, b] : bias_) values[static_cast<std::size_t>(r * x.size(1) + id)] += b;
    return {.logits = c.upload<float>(values, {x.size(0), x.size(1)})};
  }

 private:
  TreeStep step_;
  Bias bias_;
};

TEST(LogitBias, IsThatOfAModelWhoseLogitsAreSo) {
  const TreeModel model(3, 20, 19, 2, -1);
  const Bias bias{{4, 2.5f}, {11, -3}, {19, 0.75f}, {0, 1}};
  Arena arena;
  Context c(arena);
  for (const int way : {0, 1, 2}) {
    SearchPlan o;
    o.eos_ids = {19};
    o.scores = true;
    if (way == 1) o.sampling.on = true, o.n_best = 4;
    if (way == 2) o.beam_size = 4, o.n_best = 4;
    std::vector<Request> requests;
    for (std::uint64_t i = 0; i < 6; ++i) requests.push_back({.max_length = 12, .number = i});
    BiasedStep biased(model, bias);
    const auto expected = decode(c, biased, {requests, o});
    o.logit_bias = bias;
    TreeStep plain(model);
    const auto found = decode(c, plain, {requests, o});
    for (std::size_t i = 0; i < requests.size(); ++i) {
      ASSERT_EQ(found[i].size(), expected[i].size()) << way;
      for (std::size_t n = 0; n < expected[i].size(); ++n) {
        EXPECT_EQ(found[i][n].tokens, expected[i][n].tokens) << way;
        EXPECT_NEAR(found[i][n].log_prob, expected[i][n].log_prob, 1e-4);
        EXPECT_LE(found[i][n].log_prob, 0) << way;
      }
    }
  }
}

TEST(LogitBias, ComesBeforePenaltiesAndProhibitions) {
  Arena arena;
  Context c(arena);
  SearchPlan o;
  o.logit_bias = {{2, 3.0f}, {3, 100.0f}, {4, -2.0f}};
  o.repetition_penalty = 2;
  o.suppress_ids = {3};
  const std::vector<std::int32_t> tokens{0, 2};
  const Request request{.max_length = 9};
  const RowView row{.tokens = tokens, .request = &request};
  const Tensor logits = c.upload<float>(std::vector<float>{1, 1, 1, 1, 1}, {1, 5});
  StepLogits editable(c, logits, {});
  for (const auto& p : make_processors(o)) p->apply({&row, 1}, editable);
  EXPECT_EQ(host_copy<float>(logits), (std::vector<float>{0.5f, 1, 2, -INFINITY, -1}));
}

TEST(RepetitionPenalty, NextToNothingMakesNoNumberThatIsNone) {
  Arena arena;
  Context c(arena);
  SearchPlan o;
  for (const double penalty : {1e-320, 1e-39, 1e300}) {
    o.repetition_penalty = penalty;
    const std::vector<std::int32_t> tokens{0, 1, 2, 3};
    const Request request{.max_length = 9};
    const RowView row{.tokens = tokens, .request = &request};
    const Tensor logits = c.upload<float>(std::vector<float>{2, 0, -1, -INFINITY, 1}, {1, 5});
    StepLogits editable(c, logits, {});
    for (const auto& p : make_processors(o)) p->apply({&row, 1}, editable);
    const std::vector<float> x = host_copy<float>(logits);
    EXPECT_EQ(x[0] > 1 && std::isfinite(x[0]), penalty < 1) << penalty;
    EXPECT_EQ(x[1], 0);
    EXPECT_EQ(x[2] > -1e-30f, penalty < 1) << penalty;
    EXPECT_EQ(x[3], -INFINITY);
    EXPECT_EQ(x[4], 1);
  }
}

TEST(LogitBias, IsRefusedWhereItSaysNothing) {
  for (const Bias& bias :
       {Bias{{5, 1.0f}}, Bias{{-1, 1.0f}}, Bias{{1, NAN}}, Bias{{1, INFINITY}}, Bias{{2, 1}, {2, 1}}}) {
    SearchPlan o;
    o.logit_bias = bias;
    EXPECT_THROW(check_options(o, 5), Error);
  }
}

}  // namespace
}  // namespace tril::search

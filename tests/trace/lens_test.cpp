// Analyses of a pass: logit lens, rollout, attribution, scores of heads.
#include "trace/lens.h"

#include <gtest/gtest.h>

#include "support/contains.h"
#include "support/error_of.h"
#include "trace/head_scores.h"
#include "trace/traced.h"

namespace tril::trace {
namespace {

// Of every family: the lens's last row is the model's own logits, to the bit.
TEST(LogitLens, OfEveryFamilyEndsWithTheLogits) {
  for (const char* name :
       {"gpt2", "llama", "gemma2", "t5", "marian", "opt", "bloom", "mixtral", "granite", "cohere", "lfm2"}) {
    SCOPED_TRACE(name);
    const auto m = golden(name);
    const Input input = input_of(*m);
    const std::vector<LensRow> rows = logit_lens(*m, input);
    ASSERT_GE(rows.size(), 2u);
    EXPECT_EQ(rows.front().point, "decoder.stream");
    EXPECT_EQ(rows.back().logits, run_pass(*m, input).logits);
    EXPECT_NE(rows.front().logits, rows.back().logits);
  }
}

TEST(Rollout, IsADistributionOverEarlierTokens) {
  const auto m = golden("gpt2");
  const std::vector<float> r = rollout(*m, input_of(*m), "decoder");
  ASSERT_EQ(r.size(), 81u);
  for (std::size_t i = 0; i < 9; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < 9; ++k) {
      sum += static_cast<double>(r[i * 9 + k]);
      if (k > i) {
        EXPECT_EQ(r[i * 9 + k], 0.0f);
      }
    }
    EXPECT_NEAR(sum, 1, 1e-5);
  }
  EXPECT_FLOAT_EQ(r[0], 1.0f);
  const auto recurrent = golden("lfm2");
  EXPECT_TRUE(
      contains(error_of([&] { rollout(*recurrent, input_of(*recurrent), "decoder"); }), "no attention weights"));
}

TEST(Attribution, PartsAddUpToTheLogit) {
  for (const char* name : {"gpt2", "llama", "qwen2", "bloom", "t5"}) {
    SCOPED_TRACE(name);
    const auto m = golden(name);
    const Input input = input_of(*m);
    const Outcome o = run_pass(*m, input);
    const Attribution a = attribute(*m, input, 8, 17);
    EXPECT_NEAR(a.logit, o.logits[as_size(8 * o.vocab + 17)], 1e-4);  // a product of other rows, in another order
    double sum = a.bias;
    for (const Attribution::Part& p : a.parts) sum += p.logit;
    // What is left are biases of the attention's output, and rounding.
    EXPECT_NEAR(sum + a.rest, a.logit, 1e-6);
    if (std::string(name) == "llama") {
      EXPECT_NEAR(a.rest, 0, 2e-3 * (1 + std::abs(a.logit)));
    }
  }
}

TEST(Attribution, RefusesPostNorm) {
  const auto m = golden("bart");
  EXPECT_TRUE(contains(error_of([&] { attribute(*m, input_of(*m), 2, 3); }), "not the sum of its parts"));
}

TEST(HeadScores, AreShares) {
  const auto m = golden("gpt2");
  const std::vector<HeadScore> scores = head_scores(*m, 6, 1);
  EXPECT_GE(scores.size(), 4u);
  for (const HeadScore& s : scores)
    for (const double x : {s.previous, s.duplicate, s.induction, s.copying}) {
      EXPECT_GE(x, 0);
      EXPECT_LE(x, 1 + 1e-6);
    }
  EXPECT_TRUE(contains(error_of([&] { head_scores(*m, 1, 1); }), "at least 2"));
}

// Each of the many passes of an analysis asks whether somebody waits.
TEST(HeadScores, AndAttributionEndWhereTheCheckpointThrows) {
  const auto m = golden("gpt2");
  Input input = input_of(*m);
  int calls = 0;
  input.checkpoint = [&calls] {
    if (++calls >= 4) throw Error(ErrorKind::failure, "", "nobody waits");
  };
  EXPECT_TRUE(contains(error_of([&] { head_scores(*m, 6, 1, input); }), "nobody waits"));
  EXPECT_EQ(calls, 4);
  calls = 0;
  EXPECT_TRUE(contains(error_of([&] { attribute(*m, input, 3, 17); }), "nobody waits"));
  EXPECT_EQ(calls, 4);
}

}  // namespace
}  // namespace tril::trace

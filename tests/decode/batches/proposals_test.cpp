// What proposes tokens in a continuous batch changes no result: drafts, prompt lookup and predictions.
#include <gtest/gtest.h>

#include "decode/batches/session.h"
#include "support/batch_jobs.h"
#include "support/random_heads.h"

namespace tril::search::testing {
namespace {

// Proposed tokens do not change any result, with any proposer. Sentence numbers are reused, and the draft reads texts in portions
// too.
TEST(ContinuousSession, ProposalsChangeNothing) {
  const auto lm = gpt2(), other = gpt2(4, 100);
  const auto translator = marian(nn::Precision::fp32);
  for (const bool translates : {false, true}) {
    const model::Model& m = translates ? static_cast<const model::Model&>(*translator) : *lm;
    const tril::testing::RandomHeads random({.heads = 4, .layers = 1, .d_model = m.d_model()});
    const std::vector<SpeculativeOptions> ways{{.draft = &m, .tokens = 5},
                                               {.draft = translates ? &m : other.get(), .tokens = 3, .min_prob = 0.05f},
                                               {.lookup = 2, .tokens = 4},
                                               {.lookup = 3, .tokens = 8, .measured = true},
                                               {.draft = &m, .tokens = 8, .measured = true},
                                               {.heads = &random.heads, .tokens = 4}};
    for (std::size_t way = 0; way < ways.size(); ++way)
      for (const std::int32_t portion : {7, 512}) {
        SCOPED_TRACE(fmt::format("{}, way {}, portion {}", m.family(), way, portion));
        ContinuousSessionOptions options{.prompt_tokens = portion, .speculative = ways[way]};
        if (way == 0) options.prefix_tokens = 64;
        if (way == 1 && translates) options.cache.use = false;
        if (way == 2) options.cache.kept = {.window = 40, .sinks = 4};
        std::vector<Job> jobs = jobs_of(60, 12 + way, translates, translates ? 3 : 150);
        for (Job& job : jobs) job.request.max_length *= 4;
        const Speculation counts = compare(m, jobs, options, 6);
        EXPECT_TRUE(ways[way].measured || counts.proposed > 50) << counts.proposed;
        EXPECT_GT(counts.tokens, 100);
        EXPECT_TRUE(way > 0 || counts.accepted > counts.proposed * 9 / 10) << "a model agrees with itself";
      }
  }
}

// Decodes one request alone; its hypothesis, and the counts of its proposals.
ContinuousBatch::Ended ended_of(ContinuousSession& session, const Request& request, const Options& plan) {
  session.join(std::vector<ContinuousSession::Arrival>{{.sentence = 0, .request = request, .options = plan}});
  while (!session.empty()) session.step();
  std::vector<ContinuousBatch::Ended> ended = session.take_ended();
  EXPECT_EQ(ended.size(), 1u);
  EXPECT_FALSE(ended[0].error);
  return std::move(ended[0]);
}

// In 8 bits a difference in the last bit of a hidden value becomes one of hundredths in scores. Proposals make none in language models;
// only sums of probabilities are rounded. So a model agrees with itself in everything.
TEST(ContinuousSession, ProposalsChangeNothingIn8Bits) {
  Arena arena;
  Context c(arena, kern::best());
  const auto m = gpt2(3, 400, nn::Precision::int8);
  for (const nn::KvCache::Precision precision : {nn::KvCache::Precision::fp32, nn::KvCache::Precision::int8})
    for (const SpeculativeOptions& way :
         {SpeculativeOptions{.lookup = 2, .tokens = 8}, {.draft = m.get(), .tokens = 5}}) {
      const CacheOptions cache{.kept = {.precision = precision}};
      ContinuousSession plain(c, *m, {.cache = cache}), open(c, *m, {.cache = cache, .speculative = way});
      std::vector<Job> jobs = jobs_of(20, 31, false, 90);
      for (Job& job : jobs) {
        job.request.max_length *= 4, job.request.phrases.clear();
        const Hypothesis expected = ended_of(plain, job.request, kinds()[0]).hypotheses[0];
        const Hypothesis got = ended_of(open, job.request, kinds()[0]).hypotheses[0];
        ASSERT_EQ(got.tokens, expected.tokens);
        ASSERT_NEAR(got.log_prob, expected.log_prob, 1e-5);
      }
      const Speculation& counts = open.speculation();
      EXPECT_GT(counts.accepted, 50);
      EXPECT_TRUE(!way.draft || counts.accepted == counts.proposed) << counts.accepted << " of " << counts.proposed;
    }
}

// A talk with a draft: the next turn begins with the last one's text, which neither model reads again.
TEST(ContinuousSession, ATalkWithADraftGoesOn) {
  Arena arena;
  Context c(arena, kern::batch_invariant(kern::best()));
  const auto m = gpt2(), draft = gpt2(4);
  const Options plan = kinds()[0];
  ContinuousSession open(c, *m, {.prefix_tokens = 400, .speculative = {.draft = draft.get(), .tokens = 4}});
  ContinuousSession plain(c, *m, {});
  std::vector<std::int32_t> text(40, 7);
  for (int turn = 0; turn < 4; ++turn) {
    const Request request{.start_id = start, .max_length = 40, .prefix = text};
    std::vector<std::vector<std::int32_t>> answers;
    for (ContinuousSession* const session : {&open, &plain}) {
      session->join(std::vector<ContinuousSession::Arrival>{{.sentence = 0, .request = request, .options = plan}});
      std::size_t remembered = 0;
      while (!session->empty()) {
        session->step();
        remembered += session->last().remembered;
      }
      EXPECT_TRUE(session != &open || turn == 0 || remembered + 40 >= text.size()) << turn << " " << remembered;
      const std::vector<ContinuousBatch::Ended> ended = session->take_ended();
      ASSERT_EQ(ended.size(), 1u);
      ASSERT_FALSE(ended[0].error);
      answers.push_back(ended[0].hypotheses[0].tokens);
    }
    EXPECT_EQ(answers[0], answers[1]) << turn;
    text.insert(text.end(), answers[0].begin(), answers[0].end());
  }
  EXPECT_GT(open.speculation().proposed, 50);
}

// A prediction makes decoding faster where it is right. Right, changed in the middle or wrong, it changes no result.
TEST(ContinuousSession, PredictionsChangeNothing) {
  Arena arena;
  Context c(arena, kern::batch_invariant(kern::best()));
  const auto m = gpt2();
  for (const Options& plan : {kinds()[0], kinds()[5], kinds()[6]}) {
    ContinuousSession plain(c, *m, {}), open(c, *m, {.speculative = {.predictions = true, .tokens = 6}});
    Request request{.start_id = start, .min_length = 60, .max_length = 60, .prefix = {5, 6, 7}};
    const std::vector<std::int32_t> text = ended_of(plain, request, plan).hypotheses[0].tokens;
    EXPECT_EQ(ended_of(open, request, plan).hypotheses[0].tokens, text);
    EXPECT_EQ(open.speculation().rows, 0) << "a request without a prediction is decoded as ever";

    const auto predict = [&](std::vector<std::int32_t> tokens) {
      request.prediction = std::make_shared<const std::vector<std::int32_t>>(std::move(tokens));
    };
    predict(text);
    const ContinuousBatch::Ended right = ended_of(open, request, plan);
    EXPECT_EQ(right.hypotheses[0].tokens, text);
    EXPECT_EQ(right.proposals.accepted, right.proposals.proposed);
    EXPECT_LE(open.speculation().rows, 60 / 7 + 2) << "seven tokens a step";

    std::vector<std::int32_t> other = text;
    other.insert(other.begin() + 30, {3, 4, 3});
    other.erase(other.begin() + 10, other.begin() + 14);
    predict(other);
    const ContinuousBatch::Ended edited = ended_of(open, request, plan);
    EXPECT_EQ(edited.hypotheses[0].tokens, text);
    EXPECT_GT(edited.proposals.accepted, 20);
    EXPECT_LT(edited.proposals.accepted, edited.proposals.proposed);

    predict({3, 4, 5, 3, 4, 5});
    EXPECT_EQ(ended_of(open, request, plan).hypotheses[0].tokens, text);
  }
}

// Requests with and without predictions, and searches that take none, in one batch; with prompt lookup as well.
TEST(ContinuousSession, PredictionsOfSomeAreBesideOthers) {
  const auto m = gpt2();
  for (const SpeculativeOptions& way : {SpeculativeOptions{.predictions = true, .tokens = 4},
                                        {.lookup = 2, .tokens = 5},
                                        {.predictions = true, .tokens = 9, .measured = true}}) {
    std::vector<Job> jobs = jobs_of(60, 21, false, 60);
    Arena arena;
    Context c(arena, kern::batch_invariant(kern::best()));
    Session alone(c, *m);
    RandomSequence random(4, 4);
    for (Job& job : jobs) {
      job.request.max_length *= 3;
      if (random.below(3) == 0) continue;
      std::vector<std::int32_t> tokens = alone.decode({}, {&job.request, 1}, *job.options)[0][0].tokens;
      for (std::int32_t& token : tokens)
        if (random.below(8) == 0) token = 3;
      job.request.prediction = std::make_shared<const std::vector<std::int32_t>>(std::move(tokens));
    }
    const Speculation counts = compare(*m, jobs, {.prompt_tokens = 9, .speculative = way}, 8);
    EXPECT_TRUE(way.measured || (counts.accepted > 50 && counts.accepted < counts.proposed))
        << counts.accepted << " of " << counts.proposed;
  }
}

}  // namespace
}  // namespace tril::search::testing

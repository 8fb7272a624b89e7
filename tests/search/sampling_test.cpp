// Sampling: the frequencies of samples, and what they may depend on; prefixes, stops and streamed tokens.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/rng.h"
#include "decode/batches/decode.h"
#include "search/step_logits.h"
#include "search/warpers.h"
#include "support/tree_model.h"

namespace tril::search::testing::sampling_test {
namespace {

constexpr std::int32_t eos = 1, start = 0;

struct Sampling : ::testing::Test {
  Arena arena{std::size_t{1} << 30};
  Context c{arena};
};

SearchPlan sampled(std::int32_t samples, std::uint64_t seed = 1) {
  SearchPlan o;
  o.n_best = samples;
  o.eos_ids = {eos};
  o.scores = true;
  o.sampling.on = true;
  o.sampling.seed = seed;
  return o;
}

TEST_F(Sampling, DrawsTokensAsOftenAsTheyAreProbable) {
  const TreeModel model(5, 12, eos, 1.5, 0);
  TreeStep step(model);
  constexpr int n = 20000;
  const auto found = decode(c, step, {std::vector{Request{start, 0, 1}}, sampled(n)})[0];
  ASSERT_EQ(found.size(), static_cast<std::size_t>(n));
  std::map<std::int32_t, int> counts;
  for (const Hypothesis& h : found) ++counts[h.tokens.at(0)];
  const std::vector<double> p = model.log_probs(0, {start});
  for (std::int32_t v = 0; v < 12; ++v) {
    const double expected = n * std::exp(p[static_cast<std::size_t>(v)]);
    EXPECT_NEAR(counts[v], expected, 5 * std::sqrt(expected) + 1) << "token " << v;
  }
  for (int i = 0; i < 20; ++i)
    EXPECT_NEAR(found[static_cast<std::size_t>(i)].log_prob,
                p[static_cast<std::size_t>(found[static_cast<std::size_t>(i)].tokens[0])], 1e-5);
}

TEST_F(Sampling, IsAFunctionOfSeedRequestSampleAndPosition) {
  const TreeModel model(6, 30, eos, 1, 0.5);
  std::vector<Request> requests;
  for (std::uint64_t i = 0; i < 9; ++i) requests.push_back({start, 0, 12, {}, 100 + i});
  const auto tokens_of = [](const std::vector<Hypothesis>& list) {
    std::vector<Ids> tokens;
    for (const Hypothesis& h : list) tokens.push_back(h.tokens);
    return tokens;
  };
  TreeStep all_step(model);
  const auto all = decode(c, all_step, {requests, sampled(3)});
  for (std::int64_t live : {1, 2, 5}) {
    TreeStep step(model);
    const auto again = decode(c, step, {requests, sampled(3), live});
    for (std::size_t i = 0; i < requests.size(); ++i) EXPECT_EQ(tokens_of(again[i]), tokens_of(all[i])) << live;
  }
  // One sample equals the first of three; another seed gives others; no two samples are equal.
  TreeStep one_step(model), seed_step(model);
  const auto one = decode(c, one_step, {requests, sampled(1)}), other = decode(c, seed_step, {requests, sampled(3, 2)});
  std::set<Ids> different;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(one[i].at(0).tokens, all[i].at(0).tokens);
    for (const auto& list : {all[i], other[i]})
      for (const Hypothesis& h : list) different.insert(h.tokens);
  }
  EXPECT_GT(different.size(), 45u) << "of 54";
}

TEST_F(Sampling, ReadsTheFirstStepOnceForAllSamples) {
  const TreeModel model(7, 30, eos, 1, -20);
  TreeStep step(model);
  decode(c, step, {std::vector{Request{start, 0, 4}}, sampled(10)});
  EXPECT_EQ(step.calls, 4);
  EXPECT_EQ(step.rows, 1 + 3 * 10);
}

TEST_F(Sampling, NarrowedToOneTokenIsGreedy) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const TreeModel model(seed, 25, eos, 1, 1);
    const Request request{start, 0, 8};
    for (int way = 0; way < 5; ++way) {
      SearchPlan o = sampled(1, seed);
      if (way == 0) o.sampling.top_k = 1;
      if (way == 1) o.sampling.top_p = 0;
      if (way == 2) o.sampling.min_p = 1;
      if (way == 3) o.sampling.temperature = 1e-6;
      if (way == 4) o.sampling.temperature = 1e-308;  // no logit can be divided by it
      TreeStep step(model);
      const auto got = decode(c, step, {std::vector{request}, o})[0][0];
      const Hypothesis expected = reference_greedy(model, 0, request, o);
      EXPECT_EQ(got.tokens, expected.tokens) << way;
      EXPECT_NEAR(got.log_prob, expected.log_prob, 1e-4) << way;
    }
  }
}

TEST_F(Sampling, ForbiddenTokensAreNeverDrawn) {
  const TreeModel model(8, 20, eos, 0.5, 2);
  SearchPlan o = sampled(200);
  o.suppress_ids = {3, 4};
  o.no_repeat_ngram = 1;
  TreeStep step(model);
  const auto found = decode(c, step, {std::vector{Request{start, 5, 12}}, o})[0];
  for (const Hypothesis& h : found) {
    EXPECT_EQ(std::set<std::int32_t>(h.tokens.begin(), h.tokens.end()).size(), h.tokens.size()) << "a token twice";
    EXPECT_GT(h.tokens.size(), 5u);
    for (std::int32_t id : h.tokens) EXPECT_TRUE(id != 3 && id != 4);
  }
}

TEST_F(Sampling, WithNothingLeftToSayEnds) {
  const TreeModel model(8, 4, eos, 0.5, 0);
  SearchPlan o = sampled(2);
  o.eos_ids = {};
  o.no_repeat_ngram = 1;
  TreeStep step(model);
  const auto found = decode(c, step, {std::vector{Request{start, 0, 9}}, o})[0];
  for (const Hypothesis& h : found) EXPECT_EQ(h.tokens.size(), 3u) << "the start token counts as said";
}

TEST_F(Sampling, NumbersThatAreNoneAreAnError) {
  struct Broken : Step {
    std::int64_t vocab_size() const override { return 3; }
    StepOutput step(Context& context, const StepInput&) override {
      return {.logits = context.upload<float>(std::vector<float>{0, NAN, 1}, {1, 3})};
    }
  } broken;
  EXPECT_THROW(decode(c, broken, {std::vector{Request{start, 0, 4}}, sampled(1)}), Error);

  // Forbidden tokens rank above NaN, and must not be taken for a dead end.
  struct AllBroken : Broken {
    StepOutput step(Context& context, const StepInput&) override {
      return {.logits = context.upload<float>(std::vector<float>{NAN, NAN, NAN}, {1, 3})};
    }
  } all;
  for (const bool scores : {false, true})
    for (const bool forbids : {false, true}) {
      SearchPlan o;
      o.scores = scores;
      if (forbids) o.suppress_ids = {1};
      EXPECT_THROW(decode(c, all, {std::vector{Request{start, 0, 4}}, o}), Error) << scores << forbids;
    }
}

// Nor may a constraint take such a row for an empty one, however much it allows.
TEST_F(Sampling, NumbersThatAreNoneAreLeftByAMask) {
  for (const std::size_t allowed : {4u, 300u, 600u}) {
    std::vector<std::uint64_t> mask(10, 0);
    for (std::size_t id = 0; id < allowed; ++id) mask[id / 64] |= std::uint64_t{1} << (id % 64);
    const Tensor broken = c.upload<float>(std::vector<float>(640, NAN), {1, 640});
    EXPECT_TRUE(StepLogits(c, broken, {}).keep(0, mask, static_cast<std::int64_t>(allowed))) << allowed;
    const Tensor none = c.upload<float>(std::vector<float>(640, -INFINITY), {1, 640});
    EXPECT_FALSE(StepLogits(c, none, {}).keep(0, mask, static_cast<std::int64_t>(allowed))) << allowed;
  }
}

TEST_F(Sampling, OptionsThatMakeNoSenseAreErrors) {
  const auto refused = [](void (*change)(SearchPlan&)) {
    SearchPlan o = sampled(1);
    change(o);
    EXPECT_THROW(check_options(o, 10), Error);
  };
  refused([](SearchPlan& o) { o.beam_size = 2; });
  refused([](SearchPlan& o) { o.sampling.temperature = 0; });
  refused([](SearchPlan& o) { o.sampling.top_k = -1; });
  refused([](SearchPlan& o) { o.sampling.top_p = 1.1; });
  refused([](SearchPlan& o) { o.sampling.min_p = -0.1; });
  refused([](SearchPlan& o) { o.sampling.typical_p = 0; });
  refused([](SearchPlan& o) { o.repetition_penalty = 0; });
  refused([](SearchPlan& o) { o.presence_penalty = NAN; });
  refused([](SearchPlan& o) { o.frequency_penalty = INFINITY; });
}

// The search's own steps, by hand: the prefix is read, is not part of the result, and counts for penalties.
TEST_F(Sampling, PrefixesAreReadAndNotGenerated) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const TreeModel model(seed, 25, eos, 1, 0.5);
    const Ids prefix{5, 6, 5};
    const Request request{start, 2, 6, prefix};
    for (std::int32_t beam : {1, 3}) {
      SearchPlan o;
      o.beam_size = beam;
      o.eos_ids = {eos};
      o.scores = true;
      o.no_repeat_ngram = 2;
      TreeStep step(model);
      const Hypothesis got = decode(c, step, {std::vector{request}, o})[0][0];
      Ids history{start, 5, 6, 5};
      double sum = 0;
      for (std::int32_t id : got.tokens) {
        const std::vector<double> p = constrained(model, 0, history, request, o);
        if (beam == 1) {
          EXPECT_EQ(id, std::max_element(p.begin(), p.end()) - p.begin());
        }
        sum += p[static_cast<std::size_t>(id)];
        history.push_back(id);
      }
      EXPECT_NEAR(got.log_prob, sum, 1e-4);
      EXPECT_NE(got.tokens[0], 6) << "5 6 would come twice";
    }
  }
}

TEST_F(Sampling, SearchesEndWhereTheyAreTold) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const TreeModel model(seed, 10, eos, 0.7, -1);
    for (int way = 0; way < 3; ++way) {  // greedy, samples, beam
      SearchPlan o = way == 1 ? sampled(4, seed) : SearchPlan{};
      o.eos_ids = {eos};
      if (way == 2) o.beam_size = o.n_best = 3;
      o.ends = [](std::span<const std::int32_t>, std::span<const std::int32_t> tokens) {
        return tokens.back() % 3 == 2;
      };
      TreeStep step(model);
      const auto found = decode(c, step, {std::vector{Request{start, 2, 9}}, o})[0];
      for (const Hypothesis& h : found) {
        for (std::size_t i = 0; i + 1 < h.tokens.size(); ++i) EXPECT_NE(h.tokens[i] % 3, 2) << way;
        EXPECT_TRUE(h.tokens.back() % 3 == 2 || h.tokens.back() == eos || h.tokens.size() == 9) << way;
      }
    }
  }
}

TEST_F(Sampling, TokensAreToldAsTheyCome) {
  const TreeModel model(11, 20, eos, 1, 1);
  const std::vector<Request> requests{{start, 0, 9, {}, 0}, {start, 0, 5, {4, 4}, 1}, {start, 0, 7, {}, 2}};
  std::map<std::pair<std::size_t, std::int32_t>, Ids> told;
  std::set<std::pair<std::size_t, std::int32_t>> ended;
  TreeStep step(model);
  const OnToken on_token = [&](const NewToken& t) {
    EXPECT_FALSE(ended.contains({t.request, t.sample}));
    told[{t.request, t.sample}].push_back(t.token);
    if (t.ended) ended.insert({t.request, t.sample});
  };
  const auto found = decode(c, step, {requests, sampled(3), 2, {.on_token = on_token}});
  EXPECT_EQ(ended.size(), 9u);
  for (std::size_t i = 0; i < found.size(); ++i)
    for (std::size_t s = 0; s < 3; ++s)
      EXPECT_EQ(found[i][s].tokens, (told[{i, static_cast<std::int32_t>(s)}])) << i << " " << s;
}

}  // namespace
}  // namespace tril::search::testing::sampling_test

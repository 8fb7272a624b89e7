#include "search/beam_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/rng.h"
#include "decode/batches/decode.h"
#include "support/tree_model.h"

namespace tril::search::testing {
namespace {

constexpr std::int32_t eos = 1, start = 0;

struct Decode : ::testing::Test {
  Arena arena{std::size_t{1} << 30};
  Context c{arena};
};

SearchPlan options(std::int32_t beam_size) {
  SearchPlan o;
  o.beam_size = beam_size;
  o.n_best = beam_size;
  o.eos_ids = {eos};
  o.scores = true;
  return o;
}

void expect_same(const std::vector<Hypothesis>& got, const std::vector<Hypothesis>& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].tokens, expected[i].tokens) << what << ", hypothesis " << i;
    EXPECT_NEAR(got[i].log_prob, expected[i].log_prob, 1e-4) << what;
    EXPECT_NEAR(got[i].score, expected[i].score, 1e-4) << what;
  }
}

bool occurs(const Ids& word, const Ids& tokens) {
  return std::search(tokens.begin(), tokens.end(), word.begin(), word.end()) != tokens.end();
}

TEST_F(Decode, BeamSearchIsThatOfTransformers) {
  int early_ends = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    RandomSequence random(seed, 1);
    const auto vocab = static_cast<std::int32_t>(12 + random.below(20));
    const TreeModel model(seed, vocab, eos, 0.5 + 2 * random.uniform(), 3 * random.uniform());
    SearchPlan o = options(static_cast<std::int32_t>(2 + random.below(4)));
    o.length_penalty = std::array{-1.0, 0.0, 0.6, 1.0, 2.0}[random.below(5)];
    o.early_stopping = std::array{EarlyStopping::no, EarlyStopping::yes, EarlyStopping::never}[random.below(3)];
    const Request request{start, 0, static_cast<std::int32_t>(1 + random.below(9))};
    TreeStep step(model);
    const auto got = decode(c, step, {std::vector{request}, o});
    expect_same(got[0], reference_beam_search(model, 0, request, o), "seed " + std::to_string(seed));
    early_ends += step.calls < request.max_length ? 1 : 0;
  }
  EXPECT_GT(early_ends, 50) << "the cases do not test stopping";
}

TEST_F(Decode, PatienceIsHowManyFinishedHypothesesAreWanted) {
  int more = 0, fewer = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomSequence random(seed, 3);
    const TreeModel model(seed, 20, eos, 1 + random.uniform(), 2 + random.uniform());
    SearchPlan o = options(static_cast<std::int32_t>(2 + random.below(4)));
    o.n_best = 1;
    o.early_stopping = random.below(2) ? EarlyStopping::yes : EarlyStopping::no;
    const Request request{start, 0, 12};
    TreeStep usual(model);
    decode(c, usual, {std::vector{request}, o});
    o.patience = std::array{0.3, 0.5, 1.5, 2.0, 4.0}[random.below(5)];
    o.n_best = std::min(o.beam_size, o.pool_size());
    TreeStep step(model);
    const auto got = decode(c, step, {std::vector{request}, o});
    expect_same(got[0], reference_beam_search(model, 0, request, o), "seed " + std::to_string(seed));
    EXPECT_TRUE(o.patience > 1 ? step.calls >= usual.calls : step.calls <= usual.calls);
    more += step.calls > usual.calls ? 1 : 0;
    fewer += step.calls < usual.calls ? 1 : 0;
  }
  EXPECT_GT(more, 20);
  EXPECT_GT(fewer, 20);
}

TEST_F(Decode, ConstraintsAreThoseOfTransformers) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomSequence random(seed, 2);
    const TreeModel model(seed, 24, eos, 1.5, 1);
    SearchPlan o = options(static_cast<std::int32_t>(1 + random.below(4)));
    if (o.beam_size == 1) o.early_stopping = EarlyStopping::yes;
    const auto some_id = [&] { return static_cast<std::int32_t>(2 + random.below(22)); };
    if (random.below(2)) o.bad_words = {{some_id()}, {some_id(), some_id()}, {eos}, {some_id(), some_id(), some_id()}};
    if (random.below(2)) o.forced_bos_id = some_id();
    if (random.below(2)) o.forced_eos_id = eos;
    if (random.below(3) == 0) o.suppress_ids = {some_id()};
    if (random.below(3) == 0) o.begin_suppress_ids = {some_id(), some_id()};
    if (random.below(3) == 0) o.no_repeat_ngram = static_cast<std::int32_t>(1 + random.below(2));
    o.renormalize = random.below(3) == 0;
    if (random.below(3) == 0) o.presence_penalty = random.uniform(), o.frequency_penalty = random.uniform();
    if (random.below(3) == 0 && o.beam_size > 1) o.repetition_penalty = 0.7 + random.uniform();  // else: of logits
    Request request{start, 0, static_cast<std::int32_t>(3 + random.below(6))};
    request.min_length = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(request.max_length)));
    TreeStep step(model);
    const auto got = decode(c, step, {std::vector{request}, o})[0];
    const std::string what = "seed " + std::to_string(seed);
    if (o.beam_size == 1)
      expect_same(got, {reference_greedy(model, 0, request, o)}, what);
    else
      expect_same(got, reference_beam_search(model, 0, request, o), what);
    for (const Hypothesis& h : got) {
      for (const Ids& word : o.bad_words)
        if (word != Ids{eos} && word.back() != o.forced_bos_id) {
          EXPECT_FALSE(occurs(word, h.tokens)) << what;
        }
      const auto length = static_cast<std::int32_t>(h.tokens.size());
      EXPECT_GE(length - (h.tokens.back() == eos ? 1 : 0), std::min(request.min_length, request.max_length - 1))
          << what;
      EXPECT_LE(length, request.max_length) << what;
      if (o.forced_eos_id >= 0) {
        EXPECT_EQ(h.tokens.back(), eos) << what;
      }
      if (o.forced_bos_id >= 0) {
        EXPECT_EQ(h.tokens.front(), o.forced_bos_id) << what;
      }
    }
  }
}

TEST_F(Decode, ABeamAsWideAsTheSpaceFindsTheBest) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const TreeModel model(seed, 4, eos, 2, 0);
    SearchPlan o = options(81);  // 3 tokens continue at each of the first 4 steps
    o.early_stopping = EarlyStopping::never;
    const Request request{start, 0, 5};
    TreeStep step(model);
    const auto got = decode(c, step, {std::vector{request}, o})[0];
    auto all = exhaustive(model, 0, request, o);
    ASSERT_GE(all.size(), got.size());
    all.resize(got.size());
    expect_same(got, all, "seed " + std::to_string(seed));
  }
}

TEST_F(Decode, TheNBestAreSortedAndDistinct) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const TreeModel model(seed, 30, eos, 1, 2);
    SearchPlan o = options(6);
    o.n_best = 4;
    TreeStep step(model);
    const auto got = decode(c, step, {std::vector{Request{start, 0, 8}}, o})[0];
    ASSERT_EQ(got.size(), 4u);
    std::set<Ids> texts;
    for (std::size_t i = 0; i < got.size(); ++i) {
      texts.insert(got[i].tokens);
      if (i > 0) {
        EXPECT_GE(got[i - 1].score, got[i].score);
      }
    }
    EXPECT_EQ(texts.size(), got.size());
  }
}

TEST_F(Decode, GreedyIsABeamOfOne) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const TreeModel model(seed, 17, eos, 1, 1);
    SearchPlan o = options(1);
    o.early_stopping = EarlyStopping::yes;
    const Request request{start, 0, 12};
    TreeStep step(model);
    const auto greedy = decode(c, step, {std::vector{request}, o})[0];
    o.scores = false;
    TreeStep again(model);
    const auto lean = decode(c, again, {std::vector{request}, o})[0];
    EXPECT_EQ(greedy[0].tokens, lean[0].tokens);
    EXPECT_EQ(lean[0].log_prob, 0);

    // A beam that keeps the one best token at every step and ends with it.
    expect_same(greedy, {reference_greedy(model, 0, request, o)}, "seed " + std::to_string(seed));
    BeamSearch beam(o);
    beam.begin(request);
    Ids history{start};
    while (!beam.done()) {
      const auto p = model.log_probs(0, history);
      const auto best = static_cast<std::int32_t>(std::max_element(p.begin(), p.end()) - p.begin());
      beam.advance(std::vector{Candidate{static_cast<float>(p[static_cast<std::size_t>(best)]), best}}, 1);
      history.push_back(best);
    }
    expect_same(beam.hypotheses(), greedy, "seed " + std::to_string(seed));
  }
}

TEST_F(Decode, ManySentencesAreDecodedAsEachAlone) {
  const TreeModel model(5, 40, eos, 1.5, 1.5);
  for (std::int32_t beam_size : {1, 3}) {
    const SearchPlan o = options(beam_size);
    std::vector<Request> requests;
    for (std::int32_t i = 0; i < 40; ++i) requests.push_back({start, i % 4, 4 + i % 13});

    // Sentence i alone: the step identifies sentences by number, so the others are never queried.
    std::vector<std::vector<Hypothesis>> alone;
    for (std::int32_t i = 0; i < 40; ++i)
      alone.push_back(beam_size == 1 ? std::vector{reference_greedy(model, i, requests[static_cast<std::size_t>(i)], o)}
                                     : reference_beam_search(model, i, requests[static_cast<std::size_t>(i)], o));
    std::int64_t rows = 0;
    for (std::int64_t max_live : {0, 1, 2, 7, 39, 40, 1000}) {
      TreeStep step(model);
      const auto got = decode(c, step, {requests, o, max_live});
      for (std::size_t i = 0; i < got.size(); ++i)
        expect_same(got[i], alone[i], "sentence " + std::to_string(i) + ", live " + std::to_string(max_live));
      EXPECT_LE(step.most_sentences, max_live == 0 ? 40 : max_live);
      EXPECT_EQ(step.most_sentences, std::min<std::int64_t>(40, max_live == 0 ? 40 : max_live));
      // Finished sentences cost nothing, however they are batched.
      if (rows == 0) rows = step.rows;
      EXPECT_EQ(step.rows, rows);
    }
  }
}

TEST_F(Decode, MemoryGoesBackToTheArena) {
  const TreeModel model(6, 40, eos, 1.5, 1.5);
  TreeStep step(model);
  decode(c, step, {std::vector(10, Request{start, 0, 10}), options(4)});
  EXPECT_EQ(arena.stats().live_bytes, 0u);
}

TEST_F(Decode, TiesGoToTheLowerRowAndId) {
  const TreeModel uniform(1, 9, eos, 0, 0);
  SearchPlan o = options(3);
  o.bad_words = {{0}};
  const Request request{start, 3, 3};
  TreeStep step(uniform);
  const auto got = decode(c, step, {std::vector{request}, o})[0];
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].tokens, (Ids{2, 2, 2}));
  EXPECT_EQ(got[1].tokens, (Ids{2, 2, 3}));
  EXPECT_EQ(got[2].tokens, (Ids{2, 2, 4}));
}

TEST_F(Decode, WhereNothingMayFollowTheSearchEndsWithWhatThereIs) {
  const TreeModel model(1, 5, eos, 1, 0);
  for (std::int32_t beam_size : {1, 3}) {
    SearchPlan o = options(beam_size);
    o.forced_bos_id = 3;
    o.bad_words = {{3, 0}, {3, 2}, {3, 3}, {3, 4}};
    TreeStep step(model);
    const auto got = decode(c, step, {std::vector{Request{start, 4, 6}}, o})[0];
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].tokens, Ids{3});
  }
}

TEST_F(Decode, AVocabularySmallerThanTheBeam) {
  const TreeModel model(3, 3, eos, 1, 0);
  SearchPlan o = options(8);
  o.early_stopping = EarlyStopping::never;
  TreeStep step(model);
  const auto got = decode(c, step, {std::vector{Request{start, 0, 4}}, o})[0];
  const auto all = exhaustive(model, 0, {start, 0, 4}, o);
  ASSERT_FALSE(got.empty());
  EXPECT_EQ(got[0].tokens, all[0].tokens);
}

TEST_F(Decode, NoRequestsNoSteps) {
  const TreeModel model(3, 3, eos, 1, 0);
  TreeStep step(model);
  EXPECT_TRUE(decode(c, step, {{}, options(2)}).empty());
  EXPECT_EQ(step.calls, 0);
}

TEST_F(Decode, WrongOptionsAreNamed) {
  const TreeModel model(3, 10, eos, 1, 0);
  TreeStep step(model);
  const std::vector requests{Request{start, 0, 4}};
  const auto message = [&](const SearchPlan& o, const std::vector<Request>& r) {
    try {
      decode(c, step, {r, o});
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::usage);
      return std::string(e.what());
    }
    return std::string("no error");
  };
  SearchPlan o = options(2);
  o.n_best = 3;
  EXPECT_NE(message(o, requests).find("beam size of 2"), std::string::npos);
  o = options(2);
  o.bad_words = {{4, 10}};
  EXPECT_NE(message(o, requests).find("10 is outside the vocabulary of 10"), std::string::npos);
  o = options(0);
  EXPECT_NE(message(o, requests).find("beam_size"), std::string::npos);
  EXPECT_NE(message(options(2), {{start, 0, 0}}).find("maximum length"), std::string::npos);
  EXPECT_NE(message(options(1), {{start, 5, 4}}).find("minimum length"), std::string::npos);
}

TEST(BeamSearch, ScoresThatAreNotNumbersAreAnError) {
  const SearchPlan o = options(2);
  BeamSearch search(o);
  search.begin({start, 0, 5});
  EXPECT_THROW(search.advance(std::vector{Candidate{NAN, 3}}, 1), Error);
}

}  // namespace
}  // namespace tril::search::testing

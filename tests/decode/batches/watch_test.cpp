// Searches that are ended early, by time, another thread or an error: their results, and that they release everything
// they held.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "decode/batches/continuous_batch.h"
#include "decode/batches/parallel.h"
#include "model/families/gpt2.h"
#include "search/beam_search.h"
#include "support/tree_model.h"

namespace tril::search::testing::watch_test {
namespace {

constexpr std::int32_t eos = 1, start = 0;

SearchPlan options(std::int32_t beam_size) {
  SearchPlan o;
  o.beam_size = beam_size;
  o.n_best = beam_size;
  o.eos_ids = {eos};
  o.scores = true;
  return o;
}

// A slow step, or one that does something else each time.
struct SlowStep : TreeStep {
  SlowStep(const TreeModel& model, std::function<void(std::int64_t call)> at_step)
      : TreeStep(model), at_step_(std::move(at_step)) {}
  StepOutput step(Context& c, const StepInput& input) override {
    at_step_(calls);
    return TreeStep::step(c, input);
  }
  std::function<void(std::int64_t)> at_step_;
};

struct Watched : ::testing::Test {
  Arena arena{std::size_t{1} << 30};
  Context c{arena};
  TreeModel endless{3, 20, eos, 1, -30};
};

TEST_F(Watched, ATimeLimitGivesTheBestSoFar) {
  for (std::int32_t beam_size : {1, 3}) {
    SearchPlan o = options(beam_size);
    o.time_limit = 0.05;
    SlowStep step(endless, [](std::int64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(10)); });
    const std::vector requests(3, Request{start, 0, 10'000});
    const auto got = decode(c, step, {requests, o, 2});
    EXPECT_LE(step.calls, 12) << "two rounds of five steps: the third sentence's time begins when it does";
    EXPECT_GE(step.calls, 2);
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_EQ(got[i].size(), static_cast<std::size_t>(beam_size));
      for (const Hypothesis& h : got[i]) EXPECT_EQ(h.stop_reason, StopReason::time_limit);
      // The first tokens equal those of a search with that length.
      SearchPlan same = options(beam_size);
      const auto n = static_cast<std::int32_t>(got[i][0].tokens.size());
      const Request shorter{start, 0, n};
      const auto expected = beam_size == 1
                                ? std::vector{reference_greedy(endless, static_cast<std::int32_t>(i), shorter, same)}
                                : reference_beam_search(endless, static_cast<std::int32_t>(i), shorter, same);
      EXPECT_EQ(got[i][0].tokens, expected[0].tokens);
      EXPECT_NEAR(got[i][0].score, expected[0].score, 1e-4);
    }
  }
  SearchPlan o = options(3);
  o.time_limit = 1000;
  TreeStep step(endless);
  const std::vector requests{Request{start, 0, 5}};
  EXPECT_FALSE(is_cut(decode(c, step, {requests, o})[0][0].stop_reason));
}

TEST_F(Watched, FinishedHypothesesComeBeforeRunningOnes) {
  const TreeModel model(3, 20, eos, 1, 3);
  SearchPlan o = options(4);
  o.patience = 100;
  o.time_limit = 0.5;
  SlowStep step(model, [](std::int64_t call) {  // some have finished by then
    if (call == 9) std::this_thread::sleep_for(std::chrono::milliseconds(600));
  });
  const auto got = decode(c, step, {std::vector{Request{start, 0, 1000}}, o})[0];
  ASSERT_FALSE(got.empty());
  for (const Hypothesis& h : got) {
    EXPECT_EQ(h.stop_reason, StopReason::time_limit);
    EXPECT_EQ(h.tokens.back(), eos);
  }
}

TEST_F(Watched, AStopEndsAllThatGoesOnOrWaits) {
  for (std::int32_t beam_size : {1, 3}) {
    std::stop_source source;
    SlowStep step(endless, [&](std::int64_t call) {
      if (call == 4) source.request_stop();
    });
    std::vector<std::size_t> ended;
    Watch watch{.stop = source.get_token()};
    if (beam_size == 1)
      watch.on_token = [&](const NewToken& t) {
        if (t.ended) ended.push_back(t.request);
      };
    const auto got = decode(c, step, {std::vector(5, Request{start, 0, 100}), options(beam_size), 2, watch});
    EXPECT_EQ(step.calls, 5) << "the step that is under way is the last";
    ASSERT_EQ(got.size(), 5u);
    for (std::size_t i = 0; i < 5; ++i) {
      ASSERT_FALSE(got[i].empty());
      EXPECT_EQ(got[i][0].stop_reason, StopReason::cancelled);
      EXPECT_EQ(got[i][0].tokens.size(), i < 2 ? 5u : 0u);
    }
    if (beam_size == 1) {
      EXPECT_EQ(ended.size(), 5u) << "every end is reported";
    }
    TreeStep none(endless);
    decode(c, none, {std::vector(5, Request{start, 0, 100}), options(beam_size), 2, {.stop = source.get_token()}});
    EXPECT_EQ(none.calls, 0);
    EXPECT_EQ(arena.stats().live_bytes, 0u);
  }
}

TEST_F(Watched, PartialResultsAreTheBestRowsOfEachStep) {
  const TreeModel model(4, 20, eos, 1, 1);
  for (std::int32_t beam_size : {1, 3}) {
    std::vector<std::vector<Ids>> told(2);
    Watch watch;
    watch.on_partial = [&](const Partial& p) { told[p.request].emplace_back(p.tokens.begin(), p.tokens.end()); };
    TreeStep step(model);
    const auto got =
        decode(c, step, {std::vector{Request{start, 3, 8}, Request{start, 5, 12}}, options(beam_size), 0, watch});
    for (std::size_t i = 0; i < 2; ++i) {
      ASSERT_GE(told[i].size(), i == 0 ? 3u : 5u);
      for (std::size_t t = 0; t < told[i].size(); ++t) {
        EXPECT_EQ(told[i][t].size(), t + 1);
        if (beam_size == 1) {
          EXPECT_TRUE(std::equal(told[i][t].begin(), told[i][t].end(), got[i][0].tokens.begin()));
        }
      }
    }
  }
}

TEST_F(Watched, TheBestRowOfGroupsNeedNotBeTheFirst) {
  SearchPlan o = options(2);
  o.beam_groups = 2, o.diversity_penalty = 1;
  o.eos_ids = {};
  BeamSearch search(o);
  search.begin({.start_id = start, .max_length = 9});
  search.advance(std::vector<Candidate>{{-0.1f, 1}, {-0.5f, 2}, {-3, 3}, {-4, 4}}, 4);
  EXPECT_EQ(search.best_row(), 0);
  search.advance(std::vector<Candidate>{{-5, 5}, {-6, 6}, {-7, 7}, {-8, 8}, {-0.1f, 6}, {-6, 5}, {-7, 7}, {-8, 8}}, 4);
  ASSERT_EQ(search.rows(), 2);
  EXPECT_EQ(search.best_row(), 1);
  const auto text = search.view(1).new_tokens();
  EXPECT_EQ(Ids(text.begin(), text.end()), (Ids{2, 6}));
}

TEST_F(Watched, ALongPromptIsLateWhileItIsRead) {
  TreeStep step(endless);
  SearchPlan o = options(1);
  o.time_limit = 1e-9;
  const auto shared = std::make_shared<const SearchPlan>(o);
  ContinuousBatch batch(step, {.prompt_tokens = 10});
  batch.join(0, {.start_id = start, .max_length = 5, .prefix = Ids(100, 3)}, shared);
  batch.step(c);
  const auto ended = batch.take_ended();
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].hypotheses.at(0).stop_reason, StopReason::time_limit);
  EXPECT_TRUE(batch.empty());
}

TEST_F(Watched, WhoeverThrowsWhenToldOfACutEndsOneSentence) {
  TreeStep step(endless);
  const auto shared = std::make_shared<const SearchPlan>(options(1));
  ContinuousBatch batch(step, {.prompt_tokens = 10, .on_token = [](const NewToken& t) {
                                 if (t.ended) fail("test", "no more");
                               }});
  batch.join(0, {.start_id = start, .max_length = 5}, shared);
  batch.step(c);
  EXPECT_NO_THROW(batch.cut(0, StopReason::cancelled));
  const auto ended = batch.take_ended();
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_TRUE(ended[0].error);
  EXPECT_TRUE(batch.empty());
}

// No token may follow: the result is the text so far, with its stop reason.
TEST_F(Watched, ADeadEndIsTold) {
  const TreeModel model(4, 6, 5, 1, 1);
  for (const std::int32_t beam_size : {1, 3}) {
    SearchPlan o = options(beam_size);
    o.eos_ids = {5};
    o.no_repeat_ngram = 1, o.suppress_ids = {5};
    TreeStep step(model);
    const auto got = decode(c, step, {std::vector{Request{0, 0, 20}}, o})[0];
    EXPECT_EQ(got[0].stop_reason, StopReason::dead_end);
    EXPECT_EQ(name_of(got[0].stop_reason), "dead_end");
    EXPECT_EQ(got[0].tokens.size(), 4u);
    o.suppress_ids.clear();
    EXPECT_FALSE(is_cut(decode(c, step, {std::vector{Request{0, 0, 20}}, o})[0][0].stop_reason));
  }
}

// A small language model with access to its cache.
struct WatchedModel : ::testing::Test {
  WatchedModel() {
    model::Gpt2Config k;
    k.vocab_size = 40;
    k.n_positions = 400;
    k.n_embd = 32, k.n_layer = 2, k.n_head = 4;
    k.initializer_range = 0.5;
    k.bos_token_id = k.eos_token_id = eos;
    m = std::make_unique<model::Gpt2>(k);
    m->parameters().allocate();
    m->parameters().initialise(3);
    m->parameters().refresh(kern::best());
    for (int i = 0; i < 12; ++i) requests.push_back({.start_id = 2, .max_length = 300, .prefix = {3, 4 + i}});
  }
  std::unique_ptr<model::Gpt2> m;
  std::vector<Request> requests;
};

TEST_F(WatchedModel, WhateverEndsASearchTheCacheIsEmptyBehindIt) {
  Arena arena;
  Context c(arena);
  Session session(c, *m);
  for (std::int32_t beam_size : {1, 4}) {
    SearchPlan o = options(beam_size);
    o.suppress_ids = {eos};
    for (int calls : {1, 2, 7, 30}) {
      std::atomic<int> left = calls;
      o.ends = [&](std::span<const std::int32_t>, std::span<const std::int32_t>) -> bool {
        if (--left < 0) fail("test", "an error in the middle");
        return false;
      };
      EXPECT_THROW(session.decode({}, requests, o, 5), Error);
      EXPECT_EQ(session.cache()->used_slots(), 0);
      EXPECT_EQ(session.cache()->rows(), 0);
    }
    o.ends = {};
    o.time_limit = 1e-4;
    for (const auto& list : session.decode({}, requests, o, 5)) EXPECT_EQ(list[0].stop_reason, StopReason::time_limit);
    EXPECT_EQ(session.cache()->used_slots(), 0);
    o.time_limit = 0;
    std::stop_source source;
    int steps = 0;
    Watch watch{.stop = source.get_token()};
    watch.on_partial = [&](const Partial&) {
      if (++steps == 20) source.request_stop();
    };
    for (const auto& list : session.decode({}, requests, o, 5, watch))
      EXPECT_EQ(list[0].stop_reason, StopReason::cancelled);
    EXPECT_EQ(session.cache()->used_slots(), 0);
    // The next search finds the same as before.
    std::vector<Request> shorter = requests;
    for (Request& r : shorter) r.max_length = 6;
    Session fresh(c, *m);
    const auto again = session.decode({}, shorter, o, 5), first = fresh.decode({}, shorter, o, 5);
    for (std::size_t i = 0; i < again.size(); ++i) EXPECT_EQ(again[i][0].tokens, first[i][0].tokens);
  }
}

TEST_F(WatchedModel, AnotherThreadEndsAllWorkers) {
  ParallelOptions o;
  o.search = options(4);
  o.search.suppress_ids = {eos};
  o.threads = 2;
  o.batch_size = 3;
  ParallelDecoder decoder(*m, o);
  for (int round = 0; round < 5; ++round) {
    std::stop_source source;
    std::atomic<int> steps{0};
    Watch watch{.stop = source.get_token()};
    watch.on_partial = [&](const Partial&) {  // it must not end by itself
      if (++steps > 10 * round + 100)
        while (!source.stop_requested()) std::this_thread::yield();
    };
    std::thread other([&] {
      while (steps < 10 * round) std::this_thread::yield();
      source.request_stop();
    });
    const auto got = decoder.decode({}, requests, watch);
    other.join();
    ASSERT_EQ(got.size(), requests.size());
    for (const auto& list : got) {
      ASSERT_FALSE(list.empty());
      EXPECT_EQ(list[0].stop_reason, StopReason::cancelled);
    }
  }
}

}  // namespace
}  // namespace tril::search::testing::watch_test

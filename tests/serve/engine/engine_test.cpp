// The engine under load: results equal decoding each request alone, cancelled or late requests end at once, limits
// hold, and nothing is left afterwards.
#include "serve/engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <set>

#include "decode/batches/session.h"
#include "model/families/gpt2.h"
#include "model/families/marian.h"

namespace tril::serve {
namespace {

constexpr std::int32_t vocab = 40, eos = 1, start = 2;
using Options = std::shared_ptr<const search::SearchPlan>;

std::shared_ptr<model::Model> marian(std::int64_t positions = 128) {
  model::MarianConfig k;
  k.vocab_size = k.decoder_vocab_size = vocab;
  k.d_model = 32;
  k.encoder_layers = k.decoder_layers = 2;
  k.encoder_attention_heads = k.decoder_attention_heads = 4;
  k.encoder_ffn_dim = k.decoder_ffn_dim = 64;
  k.max_position_embeddings = positions;
  k.pad_token_id = k.decoder_start_token_id = start;
  k.eos_token_id = eos;
  k.init_std = 0.3;
  auto m = std::make_shared<model::Marian>(k);
  m->parameters().allocate();
  m->parameters().initialise(7);
  m->parameters().refresh(kern::best());
  return m;
}

std::shared_ptr<model::Model> gpt2(std::int64_t positions) {
  model::Gpt2Config k;
  k.vocab_size = vocab;
  k.n_positions = positions;
  k.n_embd = 32, k.n_layer = 2, k.n_head = 4;
  k.initializer_range = 0.5;
  k.bos_token_id = k.eos_token_id = eos;
  auto m = std::make_shared<model::Gpt2>(k);
  m->parameters().allocate();
  m->parameters().initialise(3);
  m->parameters().refresh(kern::best());
  return m;
}

Options options(std::int32_t beam, bool endless = false) {
  search::SearchPlan o;
  o.eos_ids = {eos};
  o.scores = true;
  o.beam_size = o.n_best = beam;
  if (endless) o.suppress_ids = {eos};
  return std::make_shared<const search::SearchPlan>(o);
}

// Submits a request and waits for it.
struct Asked {
  WorkPtr work = std::make_shared<Work>();
  std::promise<Outcome> promise;
  std::future<Outcome> outcome = promise.get_future();
  std::atomic<int> ends = 0, tokens = 0;

  Asked(Options o, std::int32_t length, std::vector<std::int32_t> source = {}, std::vector<std::int32_t> prefix = {}) {
    work->source = std::move(source);
    work->options = std::move(o);
    work->request = {.start_id = start, .max_length = length, .prefix = std::move(prefix)};
    work->on_token = [this](const search::NewToken&) { ++tokens; };
    work->on_end = [this](Outcome&& o2) {
      if (++ends == 1) promise.set_value(std::move(o2));
    };
  }
  Outcome get() {
    if (outcome.wait_for(std::chrono::seconds(60)) != std::future_status::ready) fail("test", "no end came");
    return outcome.get();
  }
};

std::vector<std::int32_t> words(RandomSequence& random, std::uint64_t most) {
  std::vector<std::int32_t> ids;
  for (std::uint64_t n = random.below(most); n > 0; --n)
    ids.push_back(3 + static_cast<std::int32_t>(random.below(vocab - 3)));
  return ids;
}

TEST(Engine, GivesWhatDecodingEachAloneGives) {
  for (const bool translates : {true, false})
    for (const int threads : {1, 3}) {
      const auto m = translates ? marian() : gpt2(200);
      Statistics statistics;
      EngineOptions o;
      o.threads = threads;
      o.batch_size = 6;
      o.deterministic = true;
      o.session.prompt_tokens = 32;
      Engine engine(m, o, statistics);
      RandomSequence random(5, 1);
      const std::vector<Options> kinds{options(1), options(4), options(2)};
      std::vector<std::unique_ptr<Asked>> asked;
      for (int i = 0; i < 90; ++i) {
        std::vector<std::int32_t> source = words(random, 30);
        source.push_back(eos);
        asked.push_back(std::make_unique<Asked>(kinds[random.below(3)], 1 + static_cast<std::int32_t>(random.below(25)),
                                                translates ? source : std::vector<std::int32_t>{}, words(random, 60)));
        asked.back()->work->client = std::string(1, static_cast<char>('a' + i % 3));
        ASSERT_EQ(engine.submit({&asked.back()->work, 1}), Engine::Answer::taken);
        if (i % 10 == 9) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      Arena arena;
      Context c(arena, kern::best());
      search::Session alone(c, *m);
      for (const auto& a : asked) {
        const Outcome got = a->get();
        std::vector<std::vector<std::int32_t>> sources;
        if (translates) sources.push_back(a->work->source);
        const auto expected = alone.decode(sources, {&a->work->request, 1}, *a->work->options)[0];
        ASSERT_EQ(got.hypotheses.size(), expected.size());
        for (std::size_t n = 0; n < expected.size(); ++n) {
          EXPECT_EQ(got.hypotheses[n].tokens, expected[n].tokens);
          EXPECT_NEAR(got.hypotheses[n].score, expected[n].score, 1e-3);
        }
        EXPECT_EQ(a->ends, 1);
      }
      engine.drain();
      EXPECT_EQ(statistics.ended.value(), 90u);
      EXPECT_EQ(statistics.cache().used_slots, 0);
      EXPECT_EQ(engine.running() + engine.waiting(), 0u);
    }
}

TEST(Engine, WorkersRunOnTheirCores) {
  const std::vector<int> allowed = processors_of_thread();
  Statistics statistics;
  EngineOptions o;
  if (allowed.size() < 2) GTEST_SKIP() << "two workers need two cores";
  o.threads = 2;
  o.batch_size = 2;  // one worker cannot take all
  o.placement = placement_of({.pin = "compact"}, o.threads);
  std::mutex mutex;
  std::condition_variable both_came;
  bool waits = true;
  std::set<std::vector<int>> bound;
  {
    Engine engine(gpt2(200), o, statistics);
    std::vector<std::unique_ptr<Asked>> asked;
    for (int i = 0; i < 12; ++i) {
      asked.push_back(std::make_unique<Asked>(options(1, true), 60));
      asked.back()->work->on_token = [&](const search::NewToken&) {
        std::unique_lock lock(mutex);
        bound.insert(processors_of_thread());
        both_came.notify_all();
        if (waits) waits = both_came.wait_for(lock, std::chrono::seconds(30), [&] { return bound.size() == 2; });
      };
      ASSERT_EQ(engine.submit({&asked.back()->work, 1}), Engine::Answer::taken);
    }
    for (const auto& a : asked) a->get();
  }
  EXPECT_EQ(bound.size(), 2u) << "each worker has a core of its own";
  for (const std::vector<int>& cores : bound) {
    ASSERT_EQ(cores.size(), 1u) << "a worker has one core";
    EXPECT_TRUE(std::count(o.placement.cores.begin(), o.placement.cores.end(), cores[0]));
  }
  EXPECT_EQ(processors_of_thread(), allowed);
}

TEST(Engine, WhoGoesAwayIsGoneWithinAStepWhereverItIs) {
  Statistics statistics;
  EngineOptions o;
  o.batch_size = 2;
  Engine engine(gpt2(20'000), o, statistics);
  Asked a(options(1, true), 15'000), b(options(1, true), 15'000), waits(options(1, true), 15'000);
  int at_end = 0;  // b's tokens when a ends, recorded by the engine's own thread
  a.work->on_end = [&, tell = a.work->on_end](Outcome&& o2) {
    at_end = b.tokens;
    tell(std::move(o2));
  };
  for (Asked* x : {&a, &b, &waits}) ASSERT_EQ(engine.submit({&x->work, 1}), Engine::Answer::taken);
  while (a.tokens < 3 || b.tokens < 3) std::this_thread::yield();
  EXPECT_EQ(engine.running(), 2u);
  engine.cancel({&waits.work, 1});
  EXPECT_EQ(waits.get().stop_reason, search::StopReason::cancelled);
  EXPECT_TRUE(waits.work->begun == Clock::time_point{});
  const int at = b.tokens;
  a.work->cancelled = true;
  EXPECT_EQ(a.get().stop_reason, search::StopReason::cancelled);
  EXPECT_LE(at_end - at, 3) << "b went on while a was still there";
  b.work->cancelled = true;
  b.get();
  engine.drain();
  EXPECT_EQ(statistics.cache().used_slots, 0);
  EXPECT_EQ(statistics.cancelled.value(), 3u);
}

// Beams that fill a step delay others only briefly, not until they end; a long queue makes the batch grow at once.
TEST(Engine, ATranslationDoesNotWaitForTheEndOfLongOnes) {
  Statistics statistics;
  EngineOptions o;
  o.threads = 2;
  o.batch_size = 8;
  Engine engine(marian(8000), o, statistics);
  std::vector<std::unique_ptr<Asked>> asked;
  const auto ask = [&](Options how, std::int32_t length) {
    asked.push_back(std::make_unique<Asked>(std::move(how), length, std::vector<std::int32_t>{5, 6, eos}));
    asked.back()->work->client = std::to_string(asked.size());
    return engine.submit({&asked.back()->work, 1});
  };
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(ask(options(16, true), 7000), Engine::Answer::taken);
    while (engine.running() < i + 1) std::this_thread::yield();
  }
  ASSERT_EQ(ask(options(1), 5), Engine::Answer::taken);
  EXPECT_FALSE(asked.back()->get().hypotheses.empty());
  EXPECT_EQ(asked[0]->ends + asked[1]->ends, 0) << "both are at it";
  EXPECT_GE(asked.back()->work->begun - asked.back()->work->arrived, std::chrono::milliseconds(5))
      << "kept out at first";
  EXPECT_FALSE(engine.crowded());
  while (engine.running() > 2) std::this_thread::yield();
  for (int i = 0; i < 30; ++i) ASSERT_EQ(ask(options(1, true), 1000), Engine::Answer::taken);
  while (engine.running() < 14) std::this_thread::yield();
  EXPECT_TRUE(engine.crowded());
  engine.cancel_all();
  engine.drain();
}

// A full queue is reported before anything is read; even with few places, all waiting requests get one.
TEST(Engine, TellsWhetherThereIsRoom) {
  Statistics statistics;
  EngineOptions o;
  o.batch_size = 9, o.queue_size = 4;
  Engine engine(gpt2(20'000), o, statistics);
  std::vector<std::unique_ptr<Asked>> asked;
  const auto ask = [&] {
    asked.push_back(std::make_unique<Asked>(options(1, true), 15'000));
    asked.back()->work->client = "one";
    return engine.submit({&asked.back()->work, 1});
  };
  for (std::size_t i = 0; i < 9; ++i) {
    ASSERT_EQ(ask(), Engine::Answer::taken);
    while (engine.running() < i + 1) std::this_thread::yield();
  }
  EXPECT_TRUE(engine.has_room("one"));
  for (int i = 0; i < 2; ++i) ASSERT_EQ(ask(), Engine::Answer::taken);
  EXPECT_FALSE(engine.has_room("one")) << "half of the queue is a client's";
  EXPECT_FALSE(engine.has_room("one", false));
  EXPECT_TRUE(engine.has_room("two"));
  EXPECT_EQ(statistics.refused.value(), 1u);
  asked[0]->work->cancelled = true;  // its place goes to the next
  asked[0]->get();
  while (engine.waiting() > 1) std::this_thread::yield();
  EXPECT_TRUE(engine.has_room("one"));
  engine.cancel_all();
  for (std::size_t i = 1; i < asked.size(); ++i) asked[i]->get();
}

TEST(Engine, DeadlinesHoldForThoseWhoRunAndThoseWhoWait) {
  Statistics statistics;
  EngineOptions o;
  o.batch_size = 1;
  Asked runs(options(1, true), 15'000), waits(options(1, true), 15'000);
  std::atomic<bool> asked = false;
  runs.work->on_token = [&](const search::NewToken&) {  // becomes late after the other one's first token
    if (++runs.tokens < 2) return;
    while (!asked) std::this_thread::yield();
    if (waits.ends > 0) runs.work->deadline = Clock::now();
  };
  Engine engine(gpt2(20'000), o, statistics);
  engine.submit({&runs.work, 1});
  while (runs.tokens == 0) std::this_thread::yield();
  waits.work->deadline = Clock::now() + std::chrono::milliseconds(100);
  engine.submit({&waits.work, 1});
  asked = true;
  const Outcome late = waits.get();
  EXPECT_EQ(late.stop_reason, search::StopReason::time_limit);
  EXPECT_TRUE(late.hypotheses.empty());
  const Outcome cut = runs.get();
  EXPECT_EQ(cut.stop_reason, search::StopReason::time_limit);
  ASSERT_EQ(cut.hypotheses.size(), 1u);
  EXPECT_GT(cut.hypotheses[0].tokens.size(), 1u);
}

TEST(Engine, RefusesWhatItHasNoRoomFor) {
  Statistics statistics;
  EngineOptions o;
  o.batch_size = 4;
  o.queue_size = 4;
  o.cache_tokens = 250;
  std::atomic<bool> go = false;  // declared before the engine, whose thread reads it
  Engine engine(gpt2(20'000), o, statistics);
  Asked too_long(options(1), 300);
  EXPECT_THROW(engine.submit({&too_long.work, 1}), Error);
  std::vector<std::unique_ptr<Asked>> asked;
  int full = 0;
  for (int i = 0; i < 12; ++i) {
    asked.push_back(std::make_unique<Asked>(options(1, true), 100));
    asked.back()->work->client = std::to_string(i);
    asked.back()->work->on_token = [&go](const search::NewToken&) {  // none ends before all are submitted
      while (!go) std::this_thread::yield();
    };
    full += engine.submit({&asked.back()->work, 1}) == Engine::Answer::full;
  }
  go = true;
  EXPECT_GE(full, 12 - 4 - 2) << "two fit into the cache, four wait";
  EXPECT_EQ(statistics.refused.value(), static_cast<std::uint64_t>(full));
  EXPECT_LE(engine.running(), 2u) << "the cache's tokens bound who runs";
  engine.drain();
  EXPECT_EQ(statistics.ended.value() + static_cast<std::uint64_t>(full), 12u);
  Asked after(options(1), 10);
  EXPECT_EQ(engine.submit({&after.work, 1}), Engine::Answer::closed);
}

// A request of more works than may wait: the first ones wait, each of the others comes when one has ended, and one who gives up ends
// them all.
TEST(Engine, LongRequestsComeIntoTheQueuePieceByPiece) {
  for (const bool gives_up : {false, true}) {
    Statistics statistics;
    EngineOptions o;
    o.batch_size = 2;
    o.queue_size = 8;
    std::vector<std::unique_ptr<Asked>> asked;
    std::vector<WorkPtr> works;
    Engine engine(gpt2(20'000), o, statistics);
    std::atomic<std::size_t> most_waiting = 0;
    for (int i = 0; i < 30; ++i) {
      asked.push_back(std::make_unique<Asked>(options(1, true), gives_up && i > 5 ? 15'000 : 5));
      works.push_back(asked.back()->work);
      works.back()->client = "a";
      works.back()->on_token = [&](const search::NewToken&) {
        most_waiting = std::max(most_waiting.load(), engine.waiting());
      };
    }
    ASSERT_EQ(engine.submit(works), Engine::Answer::taken);
    if (gives_up) {
      asked[5]->get();
      engine.cancel(works);
    }
    for (int i = 0; i < 30; ++i) {
      const auto& a = asked[static_cast<std::size_t>(i)];
      const Outcome outcome = i == 5 && gives_up ? Outcome{} : a->get();
      if (i > 5) {
        EXPECT_EQ(outcome.stop_reason, gives_up ? search::StopReason::cancelled : search::StopReason::length) << i;
      }
      EXPECT_EQ(a->ends, 1) << i;
    }
    EXPECT_LE(most_waiting, 2u) << "a quarter of the queue";
  }
}

TEST(Engine, EndsEverythingWhenItGoes) {
  Statistics statistics;
  std::vector<std::unique_ptr<Asked>> asked;
  {
    EngineOptions o;
    o.threads = 2;
    o.batch_size = 3;
    Engine engine(gpt2(20'000), o, statistics);
    for (int i = 0; i < 20; ++i) {
      asked.push_back(std::make_unique<Asked>(options(1 + i % 3, true), 15'000));
      engine.submit({&asked.back()->work, 1});
    }
    while (asked[0]->tokens == 0) std::this_thread::yield();
  }
  for (const auto& a : asked) {
    EXPECT_EQ(a->get().stop_reason, search::StopReason::cancelled);
    EXPECT_EQ(a->ends, 1);
  }
}

TEST(Engine, AnErrorIsTheRequestsOwn) {
  Statistics statistics;
  Engine engine(gpt2(400), {}, statistics);
  search::SearchPlan bad = *options(1, true);
  bad.ends = [](std::span<const std::int32_t>, std::span<const std::int32_t> t) -> bool {
    if (t.size() == 5) fail("test", "in the middle");
    return false;
  };
  Asked good(options(1, true), 50), wrong(std::make_shared<const search::SearchPlan>(bad), 50), nonsense(options(1), 0);
  for (Asked* x : {&good, &wrong, &nonsense}) engine.submit({&x->work, 1});
  EXPECT_TRUE(wrong.get().error);
  EXPECT_TRUE(nonsense.get().error);
  const Outcome fine = good.get();
  EXPECT_FALSE(fine.error);
  EXPECT_EQ(fine.hypotheses[0].tokens.size(), 50u);
}

TEST(Statistics, QuantilesAreWithinAQuarter) {
  Histogram h;
  EXPECT_EQ(h.quantile(0.5), 0);
  for (int i = 1; i <= 1000; ++i) h.add(i * 1e-3);
  EXPECT_EQ(h.count(), 1000u);
  EXPECT_NEAR(h.sum(), 500.5, 1e-6);
  for (double q : {0.01, 0.5, 0.9, 0.99}) {
    EXPECT_GE(h.quantile(q), q * 0.999);
    EXPECT_LE(h.quantile(q), q * 1.27);
  }
  EXPECT_EQ(h.at_most(1e-9), 0u);
  EXPECT_EQ(h.at_most(1), 1000u);
  h.add(0), h.add(1e9);
  EXPECT_EQ(h.count(), 1002u);
}

}  // namespace
}  // namespace tril::serve

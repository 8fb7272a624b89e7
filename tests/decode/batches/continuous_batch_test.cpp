// Sentences of all kinds that join and leave a running batch at random get the same results as alone; their resources
// are returned when they leave.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "decode/batches/continuous_session.h"
#include "decode/batches/parallel.h"
#include "kern/batch_invariant.h"
#include "model/families/gpt2.h"
#include "model/families/marian.h"
#include "support/random_adapters.h"
#include "support/tree_model.h"

namespace tril::search::testing {
namespace {

constexpr std::int32_t vocab = 40, eos = 1, start = 2;
using Options = std::shared_ptr<const SearchPlan>;

// Searches of many kinds, some with options of their own.
std::vector<Options> kinds() {
  std::vector<Options> list;
  const auto add = [&](auto change) {
    SearchPlan o;
    o.eos_ids = {eos};
    o.scores = true;
    change(o);
    list.push_back(std::make_shared<const SearchPlan>(std::move(o)));
  };
  add([](SearchPlan&) {});
  add([](SearchPlan& o) { o.scores = false, o.no_repeat_ngram = 2; });
  add([](SearchPlan& o) { o.beam_size = o.n_best = 4; });
  add([](SearchPlan& o) { o.beam_size = 6, o.length_penalty = 0.4, o.early_stopping = EarlyStopping::yes; });
  add([](SearchPlan& o) { o.sampling.on = true, o.sampling.top_p = 0.9, o.n_best = 3, o.sampling.seed = 5; });
  add([](SearchPlan& o) { o.sampling = {.on = true, .temperature = 0.7, .top_k = 9, .seed = 6}; });
  add([](SearchPlan& o) { o.repetition_penalty = 1.4, o.presence_penalty = 0.5, o.renormalize = true; });
  add([](SearchPlan& o) { o.beam_size = o.n_best = 4, o.beam_groups = 2, o.diversity_penalty = 0.3; });
  add([](SearchPlan& o) { o.alternatives = true, o.n_best = 3, o.beam_size = 2; });
  add([](SearchPlan& o) {
    o.ends = [](std::span<const std::int32_t>, std::span<const std::int32_t> t) {
      return t.size() > 3 && t.back() % 3 == 0;
    };
    o.suppress_ids = {5, 6}, o.bad_words = {{7, 8}};
  });
  return list;
}

struct Job {
  std::vector<std::int32_t> source;
  Request request;
  Options options;
};

std::vector<Job> jobs_of(std::size_t n, std::uint64_t seed, bool translated, std::int32_t longest_prefix) {
  RandomSequence random(seed, 3);
  const std::vector<Options> options = kinds();
  const auto word = [&] { return 3 + static_cast<std::int32_t>(random.below(vocab - 3)); };
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < n; ++i) {
    Job j{.source = {}, .request = {.start_id = start}, .options = options[random.below(options.size())]};
    if (translated) {
      for (std::uint64_t k = random.below(40); k > 0; --k) j.source.push_back(word());
      j.source.push_back(eos);
    }
    for (std::uint64_t k = random.below(static_cast<std::uint64_t>(longest_prefix) + 1); k > 0; --k)
      j.request.prefix.push_back(word());
    j.request.max_length = 1 + static_cast<std::int32_t>(random.below(20));
    j.request.min_length = static_cast<std::int32_t>(random.below(3)) % j.request.max_length;
    j.request.number = i;
    if (j.options->has_beam() && random.below(3) == 0) j.request.phrases = {{word(), word()}, {word()}};
    jobs.push_back(std::move(j));
  }
  return jobs;
}

void expect_same(const std::vector<Hypothesis>& got, const std::vector<Hypothesis>& expected, const std::string& what,
                 double tolerance = 1e-3) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t n = 0; n < got.size(); ++n) {
    EXPECT_EQ(got[n].tokens, expected[n].tokens) << what << ", hypothesis " << n;
    EXPECT_NEAR(got[n].score, expected[n].score, tolerance) << what << ", hypothesis " << n;
    EXPECT_EQ(got[n].unsatisfied, expected[n].unsatisfied) << what;
    EXPECT_EQ(got[n].attention.size(), expected[n].attention.size()) << what;
    for (std::size_t i = 0; i < std::min(got[n].attention.size(), expected[n].attention.size()); ++i)
      ASSERT_NEAR(got[n].attention[i], expected[n].attention[i], tolerance) << what;
  }
}

TEST(ContinuousBatch, SentencesOfAnyOptionsComeAndGo) {
  Arena arena;
  Context c(arena);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const TreeModel model(seed, vocab, eos, 2, 0.5);
    const std::vector<Job> jobs = jobs_of(60, seed, false, 4);
    RandomSequence random(seed, 11);
    TreeStep step(model);
    ContinuousBatch batch(step, {});
    std::map<std::int32_t, std::vector<Hypothesis>> got;
    std::map<std::int32_t, std::int32_t> steps_left;  // of sentences that will be cut off
    std::size_t waiting = 0, most = 0;
    while (waiting < jobs.size() || !batch.empty()) {
      for (std::uint64_t n = random.below(6); n > 0 && waiting < jobs.size(); --n, ++waiting) {
        batch.join(static_cast<std::int32_t>(waiting), jobs[waiting].request, jobs[waiting].options);
        if (random.below(5) == 0)
          steps_left[static_cast<std::int32_t>(waiting)] = static_cast<std::int32_t>(random.below(6));
      }
      for (auto at = steps_left.begin(); at != steps_left.end();)
        if (at->second-- == 0) {
          batch.cut(at->first, StopReason::cancelled);
          at = steps_left.erase(at);
        } else {
          ++at;
        }
      most = std::max(most, batch.sentences());
      batch.step(c);
      for (ContinuousBatch::Ended& e : batch.take_ended()) {
        EXPECT_EQ(got.count(e.sentence), 0u);
        EXPECT_FALSE(e.error);
        got[e.sentence] = std::move(e.hypotheses);
      }
    }
    EXPECT_EQ(got.size(), jobs.size());
    EXPECT_GT(most, 4u);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const std::vector<Hypothesis>& list = got[static_cast<std::int32_t>(i)];
      ASSERT_FALSE(list.empty());
      if (list[0].stop_reason == StopReason::cancelled) continue;
      struct Numbered : TreeStep {  // the sentence's number determines the TreeModel's output
        Numbered(const TreeModel& m, std::int32_t n) : TreeStep(m), number(n) {}
        StepOutput step(Context& k, const StepInput& input) override {
          const std::vector<std::int32_t> numbers(input.sentences.size(), number);
          StepInput same = input;
          same.sentences = numbers;
          return TreeStep::step(k, same);
        }
        std::int32_t number;
      } alone(model, static_cast<std::int32_t>(i));
      expect_same(list, decode(c, alone, {{&jobs[i].request, 1}, *jobs[i].options})[0], fmt::format("sentence {}", i));
    }
  }
  EXPECT_EQ(arena.stats().live_bytes, 0u);
}

TEST(ContinuousBatch, AnErrorOfOneSentenceIsItsOwn) {
  Arena arena;
  Context c(arena);
  const TreeModel model(1, vocab, eos, 2, -30);
  SearchPlan bad;
  bad.eos_ids = {eos};
  bad.ends = [](std::span<const std::int32_t>, std::span<const std::int32_t> t) -> bool {
    if (t.size() == 3) fail("test", "an error in the middle");
    return false;
  };
  TreeStep step(model);
  ContinuousBatch batch(step, {});
  const std::vector<Options> all = kinds();
  batch.join(0, {.start_id = start, .max_length = 8}, all[0]);
  batch.join(1, {.start_id = start, .max_length = 8}, std::make_shared<const SearchPlan>(bad));
  batch.join(2, {.start_id = start, .max_length = 8}, all[2]);
  EXPECT_THROW(batch.join(3, {.start_id = start, .max_length = 0}, all[0]), Error);
  EXPECT_THROW(batch.join(3, {.start_id = start, .max_length = 4, .phrases = {{4}}}, all[0]), Error);
  std::map<std::int32_t, bool> failed;
  while (!batch.empty()) {
    batch.step(c);
    for (const ContinuousBatch::Ended& e : batch.take_ended()) failed[e.sentence] = static_cast<bool>(e.error);
  }
  EXPECT_EQ(failed, (std::map<std::int32_t, bool>{{0, false}, {1, true}, {2, false}}));
}

std::unique_ptr<model::Marian> marian(nn::Precision precision) {
  model::MarianConfig k;
  k.vocab_size = k.decoder_vocab_size = vocab;
  k.d_model = 64;
  k.encoder_layers = k.decoder_layers = 2;
  k.encoder_attention_heads = k.decoder_attention_heads = 4;
  k.encoder_ffn_dim = k.decoder_ffn_dim = 64;
  k.max_position_embeddings = 128;
  k.pad_token_id = k.decoder_start_token_id = start;
  k.eos_token_id = eos;
  k.init_std = 0.25;
  auto plain = std::make_unique<model::Marian>(k);
  plain->parameters().allocate();
  plain->parameters().initialise(9);
  plain->parameters().refresh(kern::best());
  if (precision == nn::Precision::fp32) return plain;
  auto served = std::make_unique<model::Marian>(k);
  served->parameters().allocate_serving(precision);
  for (nn::Parameter& p : plain->parameters().all())
    for (nn::Parameter& q : served->parameters().all())
      if (q.name == p.name) served->parameters().set(kern::best(), q, host_copy<float>(p.value));
  served->parameters().refresh(kern::best());
  return served;
}

std::unique_ptr<model::Gpt2> gpt2(std::uint64_t seed = 3, std::int64_t positions = 400) {
  model::Gpt2Config k;
  k.vocab_size = vocab;
  k.n_positions = positions;
  k.n_embd = 32, k.n_layer = 2, k.n_head = 4;
  k.initializer_range = 0.5;
  k.bos_token_id = k.eos_token_id = eos;
  auto m = std::make_unique<model::Gpt2>(k);
  m->parameters().allocate();
  m->parameters().initialise(seed);
  m->parameters().refresh(kern::best());
  return m;
}

// Jobs join and leave a session at random, and are compared with a session for each alone. The kernels are those whose
// results do not depend on the batch; products of fewer bits still round depending on it.
// @return the counts of the proposals
Speculation compare(const model::Model& m, const std::vector<Job>& jobs, const ContinuousSessionOptions& options,
                    std::uint64_t seed, double tolerance = 1e-5) {
  Arena arena;
  Context c(arena, kern::batch_invariant(kern::best()));
  ContinuousSession open(c, m, options);
  RandomSequence random(seed, 17);
  std::map<std::int32_t, std::size_t> job_of;  // by sentence number; numbers are reused
  std::vector<std::vector<Hypothesis>> got(jobs.size());
  std::vector<bool> cancelled(jobs.size(), false);
  std::size_t waiting = 0, done = 0;
  while (done < jobs.size()) {
    std::vector<ContinuousSession::Arrival> arrivals;
    for (std::uint64_t n = random.below(4); n > 0 && waiting < jobs.size(); --n, ++waiting) {
      std::int32_t number = 0;
      while (job_of.count(number)) ++number;
      job_of[number] = waiting;
      arrivals.push_back({number, jobs[waiting].source, jobs[waiting].request, jobs[waiting].options});
    }
    open.join(arrivals);
    if (random.below(8) == 0 && !job_of.empty()) {
      cancelled[job_of.begin()->second] = true;
      open.cut(job_of.begin()->first, StopReason::cancelled);
    }
    open.step();
    for (ContinuousBatch::Ended& e : open.take_ended()) {
      EXPECT_FALSE(e.error);
      got[job_of.at(e.sentence)] = std::move(e.hypotheses);
      job_of.erase(e.sentence);
      ++done;
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(open.used_slots(), 0);
  Session alone(c, m, {.cache = options.cache});
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (cancelled[i]) continue;
    std::vector<std::vector<std::int32_t>> sources;
    if (m.has_encoder()) sources.push_back(jobs[i].source);
    expect_same(got[i], alone.decode(sources, {&jobs[i].request, 1}, *jobs[i].options)[0],
                fmt::format("sentence {}", i), tolerance);
  }
  return open.speculation();
}

TEST(ContinuousSession, TranslationsThatComeAndGoAreThoseOfEachAlone) {
  for (const nn::Precision precision : {nn::Precision::fp32, nn::Precision::bf16, nn::Precision::int8}) {
    const auto m = marian(precision);
    std::vector<Job> jobs = jobs_of(80, 5, true, 3);
    for (std::size_t i = 0; i < jobs.size(); i += 3) {
      SearchPlan o = *jobs[i].options;
      o.attention.emplace();
      jobs[i].options = std::make_shared<const SearchPlan>(std::move(o));
    }
    ContinuousSessionOptions options;
    if (precision == nn::Precision::int8) options.cache.kept.precision = nn::KvCache::Precision::int8;
    compare(*m, jobs, options, 1, precision == nn::Precision::fp32 ? 1e-5 : 2e-2);
  }
}

TEST(ContinuousSession, PromptsAreReadInPortionsBesideOthers) {
  const auto m = gpt2();
  for (const std::int32_t portion : {1, 7, 64, 512})
    compare(*m, jobs_of(40, 6, false, 150), {.cache = {}, .prompt_tokens = portion, .attention = {}}, 2);
  ContinuousSessionOptions bytes{.cache = {}, .prompt_tokens = 16, .attention = {}};
  bytes.cache.prompt_chunk = 5;
  compare(*m, jobs_of(40, 7, false, 60), bytes, 3);
  ContinuousSessionOptions again{.cache = {.use = false}, .prompt_tokens = 16, .attention = {}};
  compare(*m, jobs_of(20, 8, false, 30), again, 4);
}

// Prompts with a cached prefix give the same results as without the cache.
TEST(ContinuousSession, BeginningsThatWereReadBeforeChangeNothing) {
  const auto m = gpt2();
  for (const std::int64_t kept : {16, 64, 4000})
    for (const std::int32_t portion : {16, 512}) {
      std::vector<Job> jobs = jobs_of(60, 9, false, 60);
      const std::vector<Job> beginnings = jobs_of(3, 4, false, 90);
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        std::vector<std::int32_t>& prefix = jobs[i].request.prefix;
        const auto& begin = beginnings[i % 3].request.prefix;
        prefix.insert(prefix.begin(), begin.begin(), begin.end() - static_cast<std::ptrdiff_t>(i % 7 % begin.size()));
        jobs[i].request.phrases.clear();
      }
      ContinuousSessionOptions options{.cache = {}, .prompt_tokens = portion, .prefix_tokens = kept, .attention = {}};
      compare(*m, jobs, options, 3);
      options.cache.prompt_chunk = 5;
      compare(*m, jobs, options, 5);
    }
}

void draw_adapters(std::vector<Job>& jobs, std::uint64_t seed) {
  RandomSequence random(seed, 8);
  for (Job& j : jobs) j.request.adapter = static_cast<std::int32_t>(random.below(tril::testing::adapter_count + 1)) - 1;
}

// Proposed tokens do not change any result, with any proposer. Sentence numbers are reused, and the draft reads texts in portions
// too.
TEST(ContinuousSession, ProposalsChangeNothing) {
  const auto lm = gpt2(), other = gpt2(4, 100);
  const auto translator = marian(nn::Precision::fp32);
  for (const bool translates : {false, true}) {
    const model::Model& m = translates ? static_cast<const model::Model&>(*translator) : *lm;
    const std::vector<SpeculativeOptions> ways{{.draft = &m, .tokens = 5},
                                               {.draft = translates ? &m : other.get(), .tokens = 3, .min_prob = 0.05f},
                                               {.lookup = 2, .tokens = 4},
                                               {.lookup = 3, .tokens = 8, .measured = true},
                                               {.draft = &m, .tokens = 8, .measured = true}};
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

TEST(ContinuousSession, RowsOfDifferentAdaptersAreThoseOfEachAlone) {
  const auto translator = marian(nn::Precision::fp32);
  tril::testing::give_adapters(*translator);
  std::vector<Job> translations = jobs_of(80, 5, true, 3);
  draw_adapters(translations, 1);
  compare(*translator, translations, {}, 1);
  const auto m = gpt2();
  tril::testing::give_adapters(*m);
  for (const std::int32_t portion : {7, 512}) {
    std::vector<Job> jobs = jobs_of(60, 9, false, 60);
    draw_adapters(jobs, 2);
    compare(*m, jobs, {.cache = {}, .prompt_tokens = portion, .attention = {}}, 2);
  }
  std::vector<Job> jobs = jobs_of(20, 8, false, 30);
  draw_adapters(jobs, 3);
  compare(*m, jobs, {.cache = {.use = false}, .prompt_tokens = 16, .attention = {}}, 4);
}

// Of one and the same beginning, each adapter has keys and values of its own.
TEST(ContinuousSession, BeginningsOfOneAdapterServeNoOther) {
  const auto m = gpt2();
  tril::testing::give_adapters(*m);
  std::vector<Job> jobs = jobs_of(60, 9, false, 60);
  draw_adapters(jobs, 4);
  const std::vector<std::int32_t> beginning = jobs_of(1, 4, false, 90)[0].request.prefix;
  ASSERT_GT(beginning.size(), 16u);
  for (Job& j : jobs) {
    j.request.prefix.insert(j.request.prefix.begin(), beginning.begin(), beginning.end());
    j.request.phrases.clear();
  }
  for (const std::int32_t portion : {16, 512})
    compare(*m, jobs, {.cache = {}, .prompt_tokens = portion, .prefix_tokens = 4000, .attention = {}}, 3);
}

TEST(Session, ARequestsAdapterIsThatOfAModelOfIt) {
  for (const bool translated : {true, false}) {
    const auto make = [&](std::int32_t standard) -> std::unique_ptr<model::Model> {
      std::unique_ptr<model::Model> m;
      if (translated)
        m = marian(nn::Precision::fp32);
      else
        m = gpt2();
      tril::testing::give_adapters(*m, standard);
      return m;
    };
    const auto m = make(-1);
    Arena arena;
    Context c(arena, kern::batch_invariant(kern::best()));
    Session any(c, *m);
    std::vector<Job> jobs = jobs_of(12, 5, translated, 3);
    std::set<std::vector<std::int32_t>> results;
    for (std::int32_t k = -1; k < tril::testing::adapter_count; ++k) {
      const auto of_one = make(k);
      Session own(c, *of_one);
      for (const Job& j : jobs) {
        std::vector<std::vector<std::int32_t>> sources;
        if (translated) sources = {j.source};
        Request with = j.request;
        with.adapter = k;
        const auto got = any.decode(sources, std::span(&with, 1), *j.options),
                   expected = own.decode(sources, std::span(&j.request, 1), *j.options);
        expect_same(got[0], expected[0], "adapter " + std::to_string(k));
        results.insert(got[0][0].tokens);
      }
    }
    EXPECT_GT(results.size(), 2 * jobs.size()) << "adapters change what is decoded";
  }
}

TEST(ContinuousSession, ATalkGoesOnFromWhatWasReadAndSaid) {
  const auto m = gpt2();
  Arena arena;
  Context c(arena);
  SearchPlan o;
  o.suppress_ids = {eos};
  const auto options = std::make_shared<const SearchPlan>(o);
  ContinuousSession open(c, *m, {.cache = {}, .prompt_tokens = 512, .prefix_tokens = 160, .attention = {}});
  std::size_t read = 0, remembered = 0;
  const auto say = [&](std::vector<std::int32_t> text) {
    read = remembered = 0;
    open.join(std::vector<ContinuousSession::Arrival>{
        {0, {}, {.start_id = start, .max_length = 20, .prefix = text}, options}});
    while (!open.empty()) {
      open.step();
      read += open.last().prompt_tokens;
      remembered += open.last().remembered;
    }
    const std::vector<std::int32_t> said = open.take_ended().at(0).hypotheses.at(0).tokens;
    text.insert(text.end(), said.begin(), said.end());
    return text;
  };
  std::vector<std::int32_t> talk(50, 7);
  talk = say(talk);  // with the start token 51 tokens and 20 more; the last was never read
  EXPECT_EQ(read, 51u);
  EXPECT_EQ(open.prefix_tokens(), 64);
  EXPECT_EQ(open.used_slots(), 0);
  talk.insert(talk.end(), {5, 6, 7});
  talk = say(talk);
  EXPECT_EQ(remembered, 64u);
  EXPECT_EQ(read, 1 + 50 + 20 + 3 - 64u);
  say(std::vector<std::int32_t>(100, 9));  // the least recently used is dropped
  EXPECT_LE(open.prefix_tokens(), 160);
  say(std::vector<std::int32_t>(100, 9));
  EXPECT_EQ(remembered, 96u);
  say(std::vector<std::int32_t>(15, 9));  // the last token is always read
  EXPECT_EQ(remembered, 0u);
  EXPECT_EQ(read, 16u);
}

TEST(ContinuousSession, WhatTheModelCannotDoEndsThoseWhoAreThereAndNobodyElse) {
  const auto m = gpt2();
  Arena arena;
  Context c(arena);
  ContinuousSession open(c, *m, {});
  const std::vector<Options> all = kinds();
  open.join(std::vector<ContinuousSession::Arrival>{
      {0, {}, {.start_id = start, .min_length = 500, .max_length = 500}, all[1]},
      {1, {}, {.start_id = start, .max_length = 0}, all[0]}});
  std::map<std::int32_t, bool> failed;
  while (!open.empty()) {
    open.step();
    for (const ContinuousBatch::Ended& e : open.take_ended()) failed[e.sentence] = static_cast<bool>(e.error);
  }
  EXPECT_EQ(failed, (std::map<std::int32_t, bool>{{0, true}, {1, true}}));
  EXPECT_EQ(open.used_slots(), 0);
  open.join(std::vector<ContinuousSession::Arrival>{{0, {}, {.start_id = start, .max_length = 5}, all[0]}});
  while (!open.empty()) open.step();
  EXPECT_FALSE(open.take_ended().at(0).error);
}

}  // namespace
}  // namespace tril::search::testing

// Sentences of all kinds that join and leave a session at random get the same results as alone, with adapters and from a prefix cache too.
#include "decode/batches/continuous_session.h"

#include <gtest/gtest.h>

#include <set>

#include "decode/batches/session.h"
#include "support/batch_jobs.h"
#include "support/random_adapters.h"

namespace tril::search::testing {
namespace {

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

// Models whose rotary positions depend on the length of the text (dynamic, longrope): the result does not depend on how
// a prompt is read: in portions, with or without a cache, in a batch, after a cached prefix, with proposals.
#include <gtest/gtest.h>

#include "decode/batches/continuous_session.h"
#include "decode/batches/prompt_session.h"
#include "decode/batches/session.h"
#include "model_io/source/registry.h"
#include "support/small_decoders.h"

namespace tril::search::length_dependence_test {
namespace {

using Ids = std::vector<std::int32_t>;
constexpr std::int32_t bound = 40;

std::unique_ptr<model::Model> model_of(const nlohmann::json& config) {
  auto m = model::make(JsonObject(config, "test"));
  m->parameters().allocate();
  m->parameters().initialise(3);
  m->parameters().refresh(kern::best());
  return m;
}

std::unique_ptr<model::Model> dynamic() {
  return model_of(
      tril::testing::llama_variant("llama", {{"vocab_size", 30},
                                             {"max_position_embeddings", bound},
                                             {"rope_scaling", {{"rope_type", "dynamic"}, {"factor", 16.0}}}}));
}

std::unique_ptr<model::Model> longrope() {
  return model_of(tril::testing::llama_variant(
      "phi3", {{"vocab_size", 30},
               {"max_position_embeddings", 128},
               {"original_max_position_embeddings", bound},
               {"rope_scaling", {{"type", "longrope"}, {"short_factor", {1.0, 1.1}}, {"long_factor", {3.0, 5.0}}}}}));
}

// Does not read prompts again: in this family, and all but phi3, cached keys keep their angles.
std::unique_ptr<model::Model> longrope_of_llama() {
  return model_of(tril::testing::llama_variant("llama", {{"vocab_size", 30},
                                                         {"max_position_embeddings", 128},
                                                         {"rope_scaling",
                                                          {{"rope_type", "longrope"},
                                                           {"original_max_position_embeddings", bound},
                                                           {"short_factor", {1.0, 1.1}},
                                                           {"long_factor", {3.0, 5.0}}}}}));
}

struct Kind {
  const char* name;
  std::unique_ptr<model::Model> (*make)();
};
const std::vector<Kind> kinds{{"dynamic", dynamic}, {"longrope", longrope}, {"longrope of llama", longrope_of_llama}};

Ids some_ids(std::uint64_t seed, int count) {
  RandomSequence random(seed, 5);
  Ids ids;
  for (int i = 0; i < count; ++i) ids.push_back(static_cast<std::int32_t>(3 + random.below(27)));
  return ids;
}

Request request_of(const Ids& ids, std::int32_t most) {
  return {.start_id = ids[0], .max_length = most, .prefix = {ids.begin() + 1, ids.end()}};
}

// Within the bound, exactly at it, crossing it during generation, beyond it.
std::vector<Request> requests() {
  std::vector<Request> list;
  for (const int length : {3, bound - 10, bound - 1, bound, bound + 1, bound + 20, 2 * bound + 10})
    list.push_back(request_of(some_ids(static_cast<std::uint64_t>(length), length), 20));
  return list;
}

SearchPlan options(std::int32_t beam = 1) {
  SearchPlan o;
  o.beam_size = o.n_best = beam;
  o.scores = true;
  return o;
}

void expect_same(const std::vector<Hypothesis>& got, const std::vector<Hypothesis>& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t n = 0; n < got.size(); ++n) {
    EXPECT_EQ(got[n].tokens, expected[n].tokens) << what;
    EXPECT_NEAR(got[n].log_prob, expected[n].log_prob, 2e-3) << what;
  }
}

// Everything in one step, without a cache.
std::vector<std::vector<Hypothesis>> plain(const model::Model& m, std::span<const Request> list, const SearchPlan& o) {
  Arena arena;
  Context c(arena);
  SessionOptions without;
  without.cache.use = false;
  return Session(c, m, without).decode({}, list, o);
}

TEST(LengthDependence, PortionsOfAPromptDoNotMatter) {
  for (const Kind& kind : kinds) {
    const auto m = kind.make();
    ASSERT_EQ(m->length_dependence().beyond, bound);
    for (const std::int32_t beam : {1, 3}) {
      const std::vector<Request> list = requests();
      const auto expected = plain(*m, list, options(beam));
      for (const std::int32_t chunk : {1, 7, bound, bound + 10, 1000})
        for (const std::int64_t live : {1, 7}) {
          Arena arena;
          Context c(arena);
          SessionOptions o;
          o.cache.prompt_chunk = chunk;
          const auto got = Session(c, *m, o).decode({}, list, options(beam), live);
          for (std::size_t i = 0; i < list.size(); ++i)
            expect_same(got[i], expected[i], fmt::format("{} {} {} {} {}", kind.name, beam, chunk, live, i));
        }
    }
  }
}

// A prompt beyond the bound has other angles than its prefix would have: so these tests can detect mistakes.
TEST(LengthDependence, BeginningsOfLongTextsAreOthers) {
  for (const Kind& kind : kinds) {
    const auto m = kind.make();
    const Ids text = some_ids(1, bound + 9);
    const Rows rows = Rows::rectangle(1, bound);
    const std::span<const std::int32_t> ids = std::span(text).first(bound);
    const std::vector<std::int32_t> given{bound + 9};
    Arena arena;
    Context c(arena);
    const auto alone = host_copy<float>(m->decode(c, {.ids = ids, .rows = rows, .memory_rows = {}})),
               begun = host_copy<float>(
                   m->decode(c, {.ids = ids, .rows = rows, .memory_rows = {}, .prompt_lengths = given}));
    float most = 0;
    for (std::size_t i = 0; i < alone.size(); ++i) most = std::max(most, std::abs(alone[i] - begun[i]));
    EXPECT_GT(most, 0.01f) << kind.name;
  }
}

std::vector<Hypothesis> answer(ContinuousSession& session, const Request& request, std::int32_t number) {
  session.join(std::vector<ContinuousSession::Arrival>{
      {.sentence = number, .request = request, .options = std::make_shared<const SearchPlan>(options())}});
  for (;;) {
    session.step();
    for (ContinuousBatch::Ended& e : session.take_ended()) {
      if (e.error) std::rethrow_exception(e.error);
      return std::move(e.hypotheses);
    }
  }
}

TEST(LengthDependence, WhatOthersAskedBeforeDoesNotMatter) {
  for (const Kind& kind : kinds) {
    const auto m = kind.make();
    Arena arena;
    Context c(arena);
    ContinuousSessionOptions o;
    o.prompt_tokens = 6, o.prefix_tokens = 1000;
    ContinuousSession session(c, *m, o);
    const Ids text = some_ids(9, 120);
    std::int32_t number = 0;
    for (const std::size_t length : {36u, 100u, 38u, 60u, 61u, 20u, 110u, 41u, 33u}) {
      const Request request = request_of({text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length)}, 8);
      const auto got = answer(session, request, number++);
      expect_same(got, plain(*m, {&request, 1}, options())[0], fmt::format("{} {}", kind.name, length));
    }
    EXPECT_GT(session.prefix_tokens(), 0) << "beginnings within the bound are kept";
  }
}

TEST(LengthDependence, TextsThatStayReadAreReadAsTheyWouldBeAnew) {
  for (const Kind& kind : kinds) {
    const auto m = kind.make();
    Arena arena;
    Context c(arena);
    PromptSession kept(c, *m, {});
    Ids text = some_ids(2, 5);
    for (int turn = 0; turn < 12; ++turn) {
      const Request request = request_of(text, 5);
      if (turn % 2 == 1) kept.read(text);
      const auto got = kept.decode(request, options());
      expect_same(got, plain(*m, {&request, 1}, options())[0], fmt::format("{} {}", kind.name, turn));
      if (turn == 1) {
        EXPECT_GT(kept.reused(), 0) << "within the bound what was read serves";
      }
      text.insert(text.end(), got[0].tokens.begin(), got[0].tokens.end());
      text.push_back(4);
    }
  }
}

TEST(LengthDependence, ProposalsDoNotMatter) {
  Arena arena;
  Context c(arena);
  SessionOptions o;
  o.speculative.lookup = 2;
  const auto m = dynamic();
  // A repetitive text gives many proposals.
  std::vector<Request> list = requests();
  for (const int times : {3, 6}) {
    Ids text;
    for (int i = 0; i < times; ++i)
      for (const std::int32_t id : some_ids(8, 6)) text.push_back(id);
    list.push_back(request_of(text, 30));
  }
  Session session(c, *m, o);
  const auto got = session.decode({}, list, options()), expected = plain(*m, list, options());
  for (std::size_t i = 0; i < list.size(); ++i) expect_same(got[i], expected[i], fmt::format("{}", i));
  EXPECT_GT(session.speculation().accepted, 0);
  EXPECT_THROW(Session(c, *longrope(), o), Error);
  EXPECT_NO_THROW(Session(c, *longrope_of_llama(), o));
}

}  // namespace
}  // namespace tril::search::length_dependence_test

// A search of real models, watched: the same results as without an observer in every precision, and what proposals came to.
#include "trace/watched_search.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "decode/batches/parallel.h"
#include "model/families/gpt2.h"
#include "support/error_of.h"
#include "tokenizer/files/gpt2_tokenizer.h"
#include "trace/traced.h"

namespace tril::trace::watched_search_test {
namespace {

void expect_identical(const std::vector<search::Hypothesis>& a, const std::vector<search::Hypothesis>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].tokens, b[i].tokens);
    EXPECT_EQ(a[i].log_prob, b[i].log_prob);
    EXPECT_EQ(a[i].score, b[i].score);
  }
}

// Without an observer, in a session of the same kind.
std::vector<search::Hypothesis> unwatched(const model::Model& m, const SearchQuestion& q) {
  search::WorkerPool pool(1);
  search::Session session(pool.context(0), m, {.cache = q.cache, .ensemble = {}, .speculative = q.speculative});
  std::vector<std::vector<std::int32_t>> sources;
  if (m.has_encoder()) sources.push_back(q.source);
  search::SearchPlan plan = q.plan;
  plan.scores = true;
  return session.decode(sources, {&q.request, 1}, plan)[0];
}

SearchAnswer watched(const model::Model& m, const SearchQuestion& q) {
  search::WorkerPool pool(1);
  return watch_search(pool.context(0), m, q);
}

std::vector<search::SearchPlan> plans(const model::Model& m) {
  search::SearchPlan greedy;
  greedy.eos_ids = {m.special_ids().eos};
  greedy.suppress_ids = {7, 8, 9};
  greedy.no_repeat_ngram = 2;
  search::SearchPlan beam = greedy, samples = greedy;
  beam.beam_size = beam.n_best = 4;
  samples.sampling.on = true, samples.n_best = 3;
  return {greedy, beam, samples};
}

// Models that are quantised give candidates without logits: the likeliest tokens are seen on that way too.
TEST(WatchedSearch, ChangesNoBitInAnyPrecision) {
  for (const char* name : {"marian", "gpt2", "t5"})
    for (const nn::Precision precision : {nn::Precision::fp32, nn::Precision::bf16, nn::Precision::int8}) {
      const auto m =
          model::load(model::ModelSource::open((test::golden_directory() / "hf" / name).string()), precision);
      SearchQuestion q;
      if (m->has_encoder()) q.source = {11, 42, 5, 33, 27, 9, 12};
      q.request = {.start_id = m->has_encoder() ? m->special_ids().decoder_start : 11, .max_length = 12};
      if (!m->has_encoder()) q.request.prefix = {42, 5, 33};
      int forbidden = 0;
      for (const search::SearchPlan& plan : plans(*m)) {
        SCOPED_TRACE(fmt::format("{} {} beam {} samples {}", name, static_cast<int>(precision), plan.beam_size,
                                 plan.sampling.on));
        q.plan = plan;
        const SearchAnswer a = watched(*m, q);
        expect_identical(a.hypotheses, unwatched(*m, q));
        for (const std::int32_t node : a.tree.nodes_of(a.hypotheses)) EXPECT_GE(node, 0);
        for (const search::SearchNode& n : a.tree.nodes()) {
          EXPECT_FALSE(n.log_prob > 1e-5) << n.log_prob;
          forbidden += n.fate == search::Fate::forbidden ? 1 : 0;
        }
      }
      EXPECT_GT(forbidden, 0) << name << static_cast<int>(precision);
    }
}

// The model as its own draft: all is accepted. A lookup in a text that repeats itself: some of it is.
TEST(WatchedSearch, TellsWhichProposalsWereAccepted) {
  const auto m = golden("gpt2");
  SearchQuestion q;
  q.plan = plans(*m)[0];
  q.plan.no_repeat_ngram = 0;
  q.request = {.start_id = 11, .max_length = 20, .prefix = {42, 5, 33, 11, 42, 5, 33, 11, 42, 5}};
  const auto plain = watched(*m, q);
  const auto counted = [](const SearchAnswer& a) {
    std::int64_t accepted = 0, rejected = 0;
    for (const search::SearchNode& n : a.tree.nodes()) {
      rejected += n.fate == search::Fate::rejected ? 1 : 0;
      accepted += n.proposed && n.fate != search::Fate::rejected ? 1 : 0;
    }
    EXPECT_EQ(accepted, a.speculation.accepted);
    EXPECT_EQ(accepted + rejected, a.speculation.proposed);
    return std::pair(accepted, rejected);
  };
  q.speculative = {.draft = m.get(), .tokens = 3};
  const SearchAnswer drafted = watched(*m, q);
  EXPECT_EQ(drafted.hypotheses[0].tokens, plain.hypotheses[0].tokens);
  const auto [all, none] = counted(drafted);
  EXPECT_GE(all, 5);
  EXPECT_EQ(none, 0);

  q.speculative = {.lookup = 2, .tokens = 3};
  std::int64_t rejected = 0, with_probability = 0;
  for (std::int32_t word = 40; word < 60; ++word) {
    q.request.prefix = {word, 5, 33, 11, word, 5, 33, 11, word, 5};
    const SearchAnswer looked = watched(*m, q);
    expect_identical(looked.hypotheses, unwatched(*m, q));
    rejected += counted(looked).second;
    for (const search::SearchNode& n : looked.tree.nodes())
      with_probability += n.fate == search::Fate::rejected && n.log_prob < 0 ? 1 : 0;
    for (std::size_t i = 0; i < looked.hypotheses.size(); ++i) EXPECT_GE(looked.tree.nodes_of(looked.hypotheses)[i], 0);
  }
  EXPECT_GT(rejected, 20);
  EXPECT_GT(with_probability, 0) << "a rejected proposal among the likeliest tokens";
  EXPECT_LT(with_probability, rejected);
}

TEST(WatchedSearch, IsWrittenAsJson) {
  const std::shared_ptr<const Tokenizer> tokenizer = make_character_tokenizer("abcdefgh ", 200);
  model::Gpt2Config k;
  k.vocab_size = tokenizer->size(Side::target);
  k.n_positions = 64, k.n_embd = 32, k.n_layer = 2, k.n_head = 4;
  k.initializer_range = 0.5;
  k.bos_token_id = k.eos_token_id = tokenizer->special(Side::target).eos;
  model::Gpt2 m(k);
  m.parameters().allocate();
  m.parameters().initialise(3);
  m.parameters().refresh(kern::best());
  SearchQuestion q;
  q.plan.beam_size = q.plan.n_best = 3;
  q.plan.eos_ids = {k.eos_token_id};
  q.request = {.start_id = k.bos_token_id, .max_length = 4, .prefix = tokenizer->encode("ab", Side::target)};
  const SearchAnswer a = watched(m, q);
  const auto json = search_json(TextReader(m, tokenizer), q, a, {"one", "two", "three"});
  EXPECT_EQ(json["given"]["ids"].size(), 3u);
  EXPECT_EQ(json["plan"]["beam_size"], 3);
  EXPECT_EQ(json["nodes"].size(), a.tree.nodes().size());
  EXPECT_EQ(json["nodes"][0]["parent"], nullptr);
  ASSERT_EQ(json["results"].size(), 3u);
  EXPECT_EQ(json["results"][1]["text"], "two");
  for (const auto& result : json["results"]) {
    const auto& end = json["nodes"][result["node"].get<std::size_t>()];
    EXPECT_EQ(end["fate"], "finished");
    EXPECT_EQ(end["sum"], result["log_prob"]);
    EXPECT_EQ(end["score"], result["score"]);
  }
}

}  // namespace
}  // namespace tril::trace::watched_search_test

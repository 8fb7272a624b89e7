// Draft heads: what they propose does not change greedy search, and is what the heads find likeliest.
#include "decode/batches/draft_heads.h"

#include <gtest/gtest.h>

#include <functional>

#include "decode/batches/speculative.h"
#include "support/random_heads.h"
#include "support/small_translators.h"

namespace tril::search::draft_heads_test {
namespace {

using namespace small;

using tril::testing::RandomHeads;

// For the small translators.
RandomHeads heads_of(std::int64_t own_vocab, double deviation = 0.3, std::int64_t layers = 1) {
  return RandomHeads({.heads = 4, .layers = layers, .d_model = 48, .own_vocab = own_vocab}, deviation);
}

TEST(DraftHeads, GiveWhatGreedySearchGives) {
  const auto m = marian(1);
  const std::vector<Ids> sources = sources_of(23);
  const std::vector<Request> requests = requests_of(23);
  const RandomHeads shared = heads_of(0), own = heads_of(vocab), repeating = heads_of(0, 0);
  for (const RandomHeads* heads : {&shared, &own, &repeating})
    for (const bool cache : {true, false})
      for (const int window : {0, 6})
        for (const std::int32_t batch : {1, 2, 4}) {
          SCOPED_TRACE(fmt::format("own {}, cache {}, window {}, batch {}", heads == &own, cache, window, batch));
          ParallelOptions o = greedy();
          o.batch_size = batch;
          o.session.cache = {.use = cache, .kept = {.window = window, .sinks = window / 3}};
          const Found plain = ParallelDecoder(*m, o).decode(sources, requests);
          o.session.speculative = {.heads = &heads->heads, .tokens = batch == 2 ? 4 : 3, .measured = batch == 4};
          o.threads = 2;
          ParallelDecoder decoder(*m, o);
          expect_tokens(decoder.decode(sources, requests), plain);
          const Speculation s = decoder.speculation();
          EXPECT_GT(s.proposed, 0);
          if (heads == &repeating) {
            EXPECT_EQ(s.accepted, s.proposed) << "this model writes each token again and again";
          } else {
            EXPECT_LT(s.accepted, s.proposed);
          }
        }
}

TEST(DraftHeads, ObeyTheRulesOfTheSearch) {
  const auto m = marian(1);
  const std::vector<Ids> sources = sources_of(23);
  const std::vector<Request> requests = requests_of(23);
  const RandomHeads heads = heads_of(0, 0);
  const std::vector<std::function<void(SearchPlan&)>> rules{
      [](SearchPlan& p) {
        p.suppress_ids = {5, 9, 22};
      },
      [](SearchPlan& p) { p.no_repeat_ngram = 1; },
      [](SearchPlan& p) { p.repetition_penalty = 1.4, p.presence_penalty = 0.3; },
      [](SearchPlan& p) {
        p.bad_words = {{7}, {8, 8}};
      }};
  for (std::size_t i = 0; i < rules.size(); ++i) {
    SCOPED_TRACE(i);
    ParallelOptions o = greedy();
    rules[i](o.search);
    const Found expected = ParallelDecoder(*m, o).decode(sources, requests);
    o.session.speculative = {.heads = &heads.heads, .tokens = 3};
    ParallelDecoder decoder(*m, o);
    expect_tokens(decoder.decode(sources, requests), expected);
    EXPECT_GT(decoder.speculation().proposed, 0);
  }
}

// The likeliest token of each head, computed by itself, until one would end the text.
TEST(DraftHeads, ProposeTheLikeliestTokens) {
  const auto m = marian(1);
  Arena arena;
  Context c(arena);
  RandomSequence random(4, 2);
  std::vector<float> values(5 * 48);
  for (float& v : values) v = static_cast<float>(random.normal());
  const Tensor states = c.upload<float>(values, {5, 48});
  const Request request{.start_id = vocab - 1, .max_length = 20};
  const Ids one{vocab - 1, 3}, two{vocab - 1, 3, 4, 5};
  const auto rows_of = [&](const Ids& ends) {
    const auto plan = std::make_shared<SearchPlan>();
    plan->eos_ids = ends;
    return std::vector<DraftRow>{{one, 0, 4, &request, plan, 3},
                                 {two, 1, 2, &request, plan, 0},
                                 {one, 2, 4, &request, plan, -1},
                                 {two, 3, 0, &request, plan, 1}};
  };
  for (const std::int64_t own : {std::int64_t{0}, std::int64_t{vocab}}) {
    const RandomHeads heads = heads_of(own, 0.3, 2);
    const auto likeliest = [&](std::int64_t row, std::int64_t k) {
      const Tensor state = heads.heads.state(c, states.rows(row, row + 1), k);
      const model::OutputProjection out = m->output();
      const std::vector<float> x = host_copy<float>(own > 0 ? ops::linear(c, state, *heads.heads.output(k), Tensor())
                                                            : ops::linear(c, state, out.weight, out.bias));
      return static_cast<std::int32_t>(std::max_element(x.begin(), x.end()) - x.begin());
    };
    Ids first, second;
    for (std::int64_t k = 0; k < 4; ++k) first.push_back(likeliest(3, k)), second.push_back(likeliest(0, k));
    second.resize(2);
    DraftHeads proposer(heads.heads, *m);
    std::vector<Ids> got;
    proposer.propose(c, {rows_of({eos}), states}, got);
    EXPECT_EQ(got, (std::vector<Ids>{first, second, {}, {}})) << "no state, no room";
    proposer.propose(c, {rows_of({first[2]}), states}, got);
    EXPECT_EQ(got[0], Ids(first.begin(), std::find(first.begin(), first.end(), first[2]))) << "nothing behind an end";
  }
}

TEST(DraftHeads, OfAnotherModelAreRefused) {
  const auto m = marian(1), narrow = marian(1, 32);
  const RandomHeads heads = heads_of(0), own = heads_of(vocab);
  Arena arena;
  Context c(arena);
  const auto refused = [&](const model::Model& model, const SessionOptions& o) {
    EXPECT_THROW(Session(c, model, o), Error);
  };
  refused(*narrow, {.speculative = {.heads = &heads.heads}});
  refused(*m, {.speculative = {.heads = &heads.heads, .tokens = 5}});
  refused(*m, {.speculative = {.heads = &heads.heads, .lookup = 2}});
  refused(*m, {.speculative = {.draft = m.get(), .heads = &heads.heads}});
  refused(*m, {.ensemble = {.others = {m.get()}}, .speculative = {.heads = &heads.heads}});
  EXPECT_NO_THROW(Session(c, *m, {.speculative = {.heads = &own.heads}}));
}

}  // namespace
}  // namespace tril::search::draft_heads_test

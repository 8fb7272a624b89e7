// A shortlist of the whole vocabulary does not change the search; with a smaller one, the result equals that of a model
// whose other logits are -inf, whatever the batch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "decode/batches/continuous_session.h"
#include "decode/batches/parallel.h"
#include "decode/steps/shortlist.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/small_encoder_decoders.h"
#include "support/small_marian.h"
#include "support/temporary.h"

namespace tril::search::shortlist_test {
namespace {

using Ids = std::vector<std::int32_t>;
constexpr std::int32_t vocab = 40;

LexicalTable random_table(std::size_t translations) {
  RandomSequence random(5, 1);
  LexicalTable table;
  table.of_source.resize(vocab);
  for (auto& list : table.of_source)
    for (std::size_t i = 0; i < translations; ++i)
      list.push_back({static_cast<std::int32_t>(random.below(vocab)), 1.0f / static_cast<float>(i + 2)});
  for (std::int32_t id = 0; id < vocab; ++id) table.share.push_back(static_cast<float>(id % 7));
  return table;
}

std::vector<Ids> sources(int count) {
  RandomSequence random(3, 1);
  std::vector<Ids> list;
  for (int i = 0; i < count; ++i) {
    list.emplace_back();
    for (std::uint64_t n = 1 + random.below(6); n > 0; --n)
      list.back().push_back(static_cast<std::int32_t>(2 + random.below(36)));
    list.back().push_back(0);
  }
  return list;
}

SearchPlan options(std::int32_t beam) {
  SearchPlan o;
  o.beam_size = o.n_best = beam;
  o.eos_ids = {0};
  o.scores = true;
  return o;
}

std::vector<std::vector<Hypothesis>> decoded(const model::Model& m, const SearchPlan& o, const std::vector<Ids>& from,
                                             std::int32_t batch) {
  ParallelDecoder decoder(m, {.search = o, .batch_size = batch, .threads = 2});
  return decoder.decode(from, std::vector<Request>(from.size(), {.start_id = 39, .max_length = 10}));
}

void expect_same(const std::vector<std::vector<Hypothesis>>& a, const std::vector<std::vector<Hypothesis>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].size(), b[i].size()) << i;
    for (std::size_t n = 0; n < a[i].size(); ++n) {
      EXPECT_EQ(a[i][n].tokens, b[i][n].tokens) << i;
      EXPECT_NEAR(a[i][n].score, b[i][n].score, 1e-4) << i;
    }
  }
}

TEST(Shortlist, OfASource) {
  LexicalTable table;
  table.of_source = {{}, {{5, 0.6f}, {3, 0.3f}, {8, 0.1f}}, {{3, 0.9f}}};
  table.share = {0.1f, 0, 0, 0.2f, 0.4f, 0, 0, 0, 0, 0};
  SearchPlan s;
  s.eos_ids = {9}, s.forced_bos_id = 7;
  EXPECT_EQ(*Shortlist(table, {.first = 2, .best = 2}, s).of(Ids{1, 2, 0}), (Ids{3, 4, 5, 7, 9}));
  EXPECT_EQ(*Shortlist(table, {.first = 0, .best = 0}, s).of(Ids{2}, {.phrases = {{6, 1}}}), (Ids{1, 6, 7, 9}));
  EXPECT_EQ(*Shortlist(table, {.first = 0, .best = 0}, s).of(Ids{2}, {.forced_first = 4}), (Ids{4, 7, 9}));
  EXPECT_EQ(*Shortlist(table, {.first = 0, .best = 9, .threshold = 0.2}, s).of(Ids{1}), (Ids{3, 5, 7, 9}));
  EXPECT_EQ(*Shortlist(table, {.first = 0, .best = 0}, s).of(Ids{2}), (Ids{7, 9}));
  s.logit_bias = {{2, 5.0f}, {4, -5.0f}};
  EXPECT_EQ(*Shortlist(table, {.first = 0, .best = 0}, s).of(Ids{2}), (Ids{2, 7, 9})) << "what a bias is to bring";
  s.logit_bias.clear();
  table.share.assign(10, 0.0f);
  EXPECT_EQ(*Shortlist(table, {.first = 3, .best = 0}, s).of(Ids{2}), (Ids{0, 1, 2, 7, 9}))
      << "no shares: the first ids";
}

TEST(Shortlist, OfTheWholeVocabularyChangesNothing) {
  const auto m = tril::testing::small_marian();
  const std::vector<Ids> from = sources(12);
  for (const std::int32_t beam : {1, 4}) {
    SearchPlan o = options(beam);
    o.no_repeat_ngram = 2, o.repetition_penalty = 1.3, o.bad_words = {{7}, {3, 4}}, o.suppress_ids = {12};
    const auto without = decoded(*m, o, from, 5);
    o.shortlist = std::make_shared<Shortlist>(random_table(1), ShortlistOptions{.first = vocab}, o);
    expect_same(decoded(*m, o, from, 5), without);
  }
}

// As if all tokens not on a sentence's list were suppressed for that sentence, and the rest renormalised.
TEST(Shortlist, IsTheVocabularyOfItsSentence) {
  const auto m = tril::testing::small_marian();
  const std::vector<Ids> from = sources(12);
  for (const std::int32_t beam : {1, 4}) {
    SearchPlan o = options(beam);
    const auto list = std::make_shared<Shortlist>(random_table(3), ShortlistOptions{.first = 4, .best = 3}, o);
    o.shortlist = list;
    const auto found = decoded(*m, o, from, 5);
    int shorter = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
      SearchPlan alone = options(beam);
      const Ids ids = *list->of(from[i]);
      for (std::int32_t id = 0; id < vocab; ++id)
        if (!std::binary_search(ids.begin(), ids.end(), id)) alone.suppress_ids.push_back(id);
      alone.renormalize = true;
      expect_same({found[i]}, decoded(*m, alone, {from[i]}, 1));
      shorter += ids.size() < 25 ? 1 : 0;
    }
    EXPECT_GT(shorter, 6) << "or the lists restrict nothing";
    expect_same(decoded(*m, o, from, 1), found);
    expect_same(decoded(*m, o, from, 12), found);
  }
}

// For an output matrix separate from the embedding, in every form: plain, transposed, packed or quantised.
TEST(Shortlist, TakesColumnsOfWhateverTheOutputIs) {
  const TemporaryDirectory directory;
  const auto trained = model::make(JsonObject(tril::testing::t5_variant("t5", {{"vocab_size", vocab},
                                                                               {"feed_forward_proj", "gated-gelu"},
                                                                               {"tie_word_embeddings", false},
                                                                               {"initializer_factor", 2.0}}),
                                              "test"));
  trained->parameters().allocate();
  trained->parameters().initialise(3);
  trained->parameters().refresh(kern::best());
  model::save(*trained, directory.path());
  const std::vector<Ids> from = sources(12);
  for (const nn::Precision precision : {nn::Precision::fp32, nn::Precision::bf16, nn::Precision::int8}) {
    const auto m = model::load(model::ModelSource::open(directory.path()), precision);
    for (const std::int32_t beam : {1, 3}) {
      SearchPlan o = options(beam);
      const auto without = decoded(*m, o, from, 5);
      o.shortlist = std::make_shared<Shortlist>(random_table(1), ShortlistOptions{.first = vocab}, o);
      const auto with = decoded(*m, o, from, 5);
      if (precision == nn::Precision::int8) {  // sums of integers
        expect_same(with, without);
      } else {
        const double bound = precision == nn::Precision::fp32 ? 1e-4 : 0.15;  // because x is rounded
        for (std::size_t i = 0; i < from.size(); ++i) EXPECT_NEAR(with[i][0].score, without[i][0].score, bound) << i;
      }
    }
  }
}

// Sentences that come and go, some with a list and some without, and numbers that are used again.
TEST(Shortlist, OfAContinuousSession) {
  const auto m = tril::testing::small_marian();
  const std::vector<Ids> from = sources(9);
  SearchPlan o = options(2);
  const auto whole = decoded(*m, o, from, 1);
  const auto plain = std::make_shared<SearchPlan>(o);
  o.shortlist = std::make_shared<Shortlist>(random_table(3), ShortlistOptions{.first = 4, .best = 3}, o);
  const auto limited = std::make_shared<SearchPlan>(o);
  const auto few = decoded(*m, o, from, 1);
  Arena arena;
  Context c(arena);
  ContinuousSession session(c, *m, {});
  std::vector<std::size_t> text_of(3);  // by number
  std::vector<std::int32_t> numbers{0, 1, 2};
  int different = 0;
  for (std::size_t next = 0; next < from.size() || !session.empty();) {
    for (; next < from.size() && !numbers.empty(); ++next) {
      const std::int32_t number = numbers.back();
      numbers.pop_back();
      text_of[static_cast<std::size_t>(number)] = next;
      session.join({{{.sentence = number,
                      .source = from[next],
                      .request = {.start_id = 39, .max_length = 10},
                      .options = next % 3 == 0 ? plain : limited}}});
    }
    session.step();
    for (const auto& e : session.take_ended()) {
      ASSERT_FALSE(e.error);
      const std::size_t i = text_of[static_cast<std::size_t>(e.sentence)];
      expect_same({e.hypotheses}, {i % 3 == 0 ? whole[i] : few[i]});
      different += whole[i][0].tokens != few[i][0].tokens ? 1 : 0;
      numbers.push_back(e.sentence);
    }
  }
  EXPECT_GT(different, 2) << "or the lists restrict nothing";
}

// The models of an ensemble share the lists, and the first one's attention is reported.
TEST(Shortlist, OfAnEnsemble) {
  const auto a = tril::testing::small_marian(), b = tril::testing::small_marian();
  b->parameters().initialise(77);
  b->parameters().refresh(kern::best());
  const std::vector<Ids> from = sources(8);
  const std::vector<Request> requests(from.size(), {.start_id = 39, .max_length = 8});
  for (const auto mean : {EnsembleOptions::Mean::log_probabilities, EnsembleOptions::Mean::probabilities}) {
    SearchPlan o = options(4);
    o.attention.emplace();
    const auto list = std::make_shared<Shortlist>(random_table(3), ShortlistOptions{.first = 4, .best = 3}, o);
    o.shortlist = list;
    ParallelOptions p{.search = o, .batch_size = 3};
    p.session.ensemble = {.others = {b.get()}, .mean = mean};
    ParallelDecoder decoder(*a, p);
    const auto found = decoder.decode(from, requests);
    for (std::size_t i = 0; i < from.size(); ++i) {
      const Ids ids = *list->of(from[i]);
      ASSERT_FALSE(found[i].empty());
      for (const Hypothesis& h : found[i]) {
        EXPECT_TRUE(std::isfinite(h.score));
        EXPECT_EQ(h.attention.size(), h.tokens.size() * from[i].size());
        for (const std::int32_t id : h.tokens) EXPECT_TRUE(std::binary_search(ids.begin(), ids.end(), id)) << id;
      }
    }
  }
}

TEST(Shortlist, WhatItDoesNotGoWith) {
  const auto m = tril::testing::small_marian();
  SearchPlan o = options(1);
  o.shortlist = std::make_shared<Shortlist>(random_table(3), ShortlistOptions{}, o);
  ParallelOptions p{.search = o};
  p.deterministic = true;
  EXPECT_THROW(ParallelDecoder(*m, p), Error);
  p.deterministic = false;
  p.session.speculative.lookup = 2;
  EXPECT_THROW(ParallelDecoder(*m, p), Error);
  p.search.shortlist.reset();
  p.search.attention.emplace();
  EXPECT_THROW(ParallelDecoder(*m, p), Error);
}

// Lists shorter than the beam's candidates.
TEST(Shortlist, OfLessThanABeam) {
  const auto m = tril::testing::small_marian();
  SearchPlan o = options(6);
  o.shortlist = std::make_shared<Shortlist>(random_table(1), ShortlistOptions{.first = 1, .best = 1}, o);
  for (const auto& list : decoded(*m, o, sources(8), 4)) {
    EXPECT_FALSE(list.empty());
    for (const Hypothesis& h : list) EXPECT_TRUE(std::isfinite(h.score));
  }
}

}  // namespace
}  // namespace tril::search::shortlist_test

// Forced phrases in beam search, against exhaustive search and under hostile conditions.
#include "search/phrases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/rng.h"
#include "decode/batches/decode.h"
#include "support/tree_model.h"

namespace tril::search::testing::phrases_test {
namespace {

constexpr std::int32_t eos = 1, start = 0;

struct PhrasesInABeam : ::testing::Test {
  Arena arena{std::size_t{1} << 30};
  Context c{arena};

  std::vector<Hypothesis> search(const TreeModel& model, const Request& request, const SearchPlan& o) {
    TreeStep step(model);
    return decode(c, step, {std::vector{request}, o})[0];
  }
};

SearchPlan options(std::int32_t beam_size) {
  SearchPlan o;
  o.beam_size = beam_size;
  o.n_best = beam_size;
  o.eos_ids = {eos};
  return o;
}

// Positions of the phrase where the next token does not continue its last word, found one by one.
std::int32_t places(const Ids& phrase, const Ids& text, const SearchPlan& o) {
  std::int32_t n = 0;
  for (std::size_t i = 0; i + phrase.size() <= text.size(); ++i) {
    const std::size_t end = i + phrase.size();
    const bool same_word =
        end < text.size() && !o.continues_word.empty() && o.continues_word[static_cast<std::size_t>(text[end])];
    n +=
        Ids(text.begin() + static_cast<std::ptrdiff_t>(i), text.begin() + static_cast<std::ptrdiff_t>(end)) == phrase &&
                !same_word
            ? 1
            : 0;
  }
  return n;
}

// Whether every phrase occurs as often as it is listed, plus once for each listed phrase that contains it.
bool holds_all(const Ids& text, const std::vector<Ids>& phrases, const SearchPlan& o) {
  for (const Ids& phrase : phrases) {
    std::int32_t wanted = 0;
    for (const Ids& other : phrases) wanted += places(phrase, other, o);
    if (places(phrase, text, o) < wanted) return false;
  }
  return true;
}

Ids random_phrase(RandomSequence& random, std::int32_t vocab, std::size_t most) {
  Ids phrase;
  for (std::size_t n = 1 + random.below(most); n > 0; --n)
    phrase.push_back(2 + static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(vocab - 2))));
  return phrase;
}

TEST(Phrases, AStateIsWhatTheWholeTextSays) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    RandomSequence random(seed, 1);
    SearchPlan o = options(4);
    for (int i = 0; i < 5 && seed % 2; ++i) o.continues_word.push_back(random.below(3) == 0);
    Request request{start, 0, 60};
    for (std::uint64_t n = 1 + random.below(4); n > 0; --n) request.phrases.push_back(random_phrase(random, 5, 4));
    const Phrases phrases(request, o);
    Ids text;
    std::vector<std::int32_t> state(phrases.state_size(), 0), next(state.size());
    for (int t = 0; t < 30; ++t) {
      std::vector<std::int32_t> wanted;
      phrases.next_tokens(state, wanted);
      EXPECT_EQ(std::set<std::int32_t>(wanted.begin(), wanted.end()).size(), wanted.size());
      EXPECT_EQ(phrases.missing(state) == 0, wanted == Ids{eos});
      EXPECT_EQ(phrases.missing(state) == 0, holds_all(text, request.phrases, o)) << "seed " << seed << ", token " << t;
      EXPECT_EQ(phrases.missing(state) == 0, phrases.unsatisfied(state).empty());
      // One of them advances the phrase, unless each would continue the last word of a phrase just completed.
      std::int32_t best = 0;
      for (std::int32_t id : wanted) {
        phrases.advance(state, id, next);
        best = std::max(best, phrases.progress(next));
      }
      if (o.continues_word.empty() && wanted != Ids{eos}) {
        EXPECT_GT(best, phrases.progress(state)) << "seed " << seed;
      }
      const std::int32_t token =
          random.below(2) ? wanted[random.below(wanted.size())] : 2 + static_cast<std::int32_t>(random.below(3));
      if (token == eos) break;
      phrases.advance(state, token, next);
      state.swap(next);
      text.push_back(token);
    }
  }
}

TEST_F(PhrasesInABeam, ABeamAsWideAsTheSpaceFindsTheBestThatHoldsThem) {
  int constrained = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    RandomSequence random(seed, 2);
    const TreeModel model(seed, 4, eos, 2, 0);
    SearchPlan o = options(243);
    o.n_best = 3;
    o.early_stopping = EarlyStopping::never;
    if (seed % 3 == 0) o.continues_word = {false, false, false, true};
    Request request{start, 0, 5};
    for (std::uint64_t n = 1 + random.below(2); n > 0; --n) request.phrases.push_back(random_phrase(random, 4, 2));
    auto all = exhaustive(model, 0, request, o);
    const Hypothesis free = all[0];
    std::erase_if(all, [&](const Hypothesis& h) { return !holds_all(h.tokens, request.phrases, o); });
    // Two phrases with room for both separately; less room is not tested.
    const auto got = search(model, request, o);
    ASSERT_FALSE(all.empty());
    ASSERT_EQ(got.size(), 3u);
    for (std::size_t i = 0; i < std::min<std::size_t>(3, all.size()); ++i) {
      EXPECT_EQ(got[i].tokens, all[i].tokens) << "seed " << seed << ", hypothesis " << i;
      EXPECT_NEAR(got[i].score, all[i].score, 1e-4);
      EXPECT_TRUE(got[i].unsatisfied.empty());
    }
    constrained += got[0].tokens != free.tokens ? 1 : 0;
  }
  EXPECT_GT(constrained, 20);
}

// However small the beam, and however improbable the phrases, they occur.
TEST_F(PhrasesInABeam, TheyAlwaysComeWhereThereIsRoom) {
  int alone = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    RandomSequence random(seed, 3);
    const TreeModel model(seed, 30, eos, 3, 4 * random.uniform());
    SearchPlan o = options(static_cast<std::int32_t>(2 + random.below(5)));
    o.n_best = 1;
    if (seed % 5 == 0) o.beam_groups = o.beam_size, o.diversity_penalty = 0.5;
    if (seed % 2) {
      o.continues_word.assign(30, false);
      for (std::size_t id = 15; id < 30; ++id) o.continues_word[id] = true;
    }
    o.early_stopping = std::array{EarlyStopping::no, EarlyStopping::yes, EarlyStopping::never}[random.below(3)];
    Request request{start, 0, 0};
    for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
      request.phrases.push_back(random_phrase(random, 30, 4));
      if (seed % 2) request.phrases.back()[0] = 2 + static_cast<std::int32_t>(random.below(13));  // begins a word
      if (random.below(4) == 0) request.phrases.push_back(request.phrases.back());
    }
    for (const Ids& phrase : request.phrases)  // with room even for phrases within others
      for (const Ids& other : request.phrases)
        request.max_length +=
            (phrase == other ? 0 : places(phrase, other, o)) * static_cast<std::int32_t>(phrase.size());
    for (const Ids& phrase : request.phrases) request.max_length += static_cast<std::int32_t>(phrase.size());
    request.max_length += 1 + static_cast<std::int32_t>(random.below(6));
    if (random.below(3) == 0) request.min_length = request.max_length / 2;
    const auto got = search(model, request, o)[0];
    EXPECT_TRUE(holds_all(got.tokens, request.phrases, o)) << "seed " << seed;
    EXPECT_TRUE(got.unsatisfied.empty()) << "seed " << seed;
    EXPECT_LE(static_cast<std::int32_t>(got.tokens.size()), request.max_length);
    Request free = request;
    free.phrases.clear();
    alone += holds_all(search(model, free, o)[0].tokens, request.phrases, o) ? 1 : 0;
  }
  EXPECT_LT(alone, 40) << "the phrases come by themselves";
}

TEST_F(PhrasesInABeam, WhatCannotBeSaidIsNamed) {
  const TreeModel model(1, 20, eos, 2, 1);
  SearchPlan o = options(4);
  o.n_best = 1;
  o.suppress_ids = {9};
  o.bad_words = {{5, 6}};
  Request request{start, 0, 8};
  request.phrases = {{4, 9}, {3, 4}, {2, 5, 6}, {7}, {3, 3, 3, 3, 3, 3}, {eos}};
  const auto got = search(model, request, o)[0];
  EXPECT_EQ(got.unsatisfied, (Ids{0, 2, 4, 5}));
  EXPECT_GT(places({3, 4}, got.tokens, o), 0);
  EXPECT_GT(places({7}, got.tokens, o), 0);

  // An obstacle that appears only during the search: a pair of tokens that may not repeat. The search still ends, with
  // one phrase.
  o = options(4);
  o.n_best = 2;
  o.no_repeat_ngram = 2;
  request.phrases = {{3, 4}, {3, 4}};
  request.max_length = 12;
  for (const Hypothesis& h : search(model, request, o)) {
    EXPECT_EQ(h.unsatisfied, Ids{1});
    EXPECT_EQ(places({3, 4}, h.tokens, o), 1);
  }
}

TEST_F(PhrasesInABeam, ThoseOfThePrefixCount) {
  const TreeModel model(1, 20, eos, 2, 1);
  const SearchPlan o = options(4);
  Request request{.start_id = start, .max_length = 8, .prefix = {6, 3, 4}};
  const auto free = search(model, request, o);
  request.phrases = {{3, 4}};
  const auto bound = search(model, request, o);
  ASSERT_EQ(bound.size(), free.size());
  EXPECT_EQ(bound[0].tokens, free[0].tokens);
  request.phrases = {{4, 7}};  // begun by the prefix
  EXPECT_TRUE(search(model, request, o)[0].unsatisfied.empty());
}

TEST_F(PhrasesInABeam, TheNBestAreSortedAndDistinctAndHoldThem) {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const TreeModel model(seed, 30, eos, 1.5, 2);
    SearchPlan o = options(8);
    o.n_best = 4;
    Request request{start, 0, 12};
    request.phrases = {{4, 5}, {6}};
    const auto got = search(model, request, o);
    ASSERT_GE(got.size(), 1u);
    found += got.size();
    std::set<Ids> texts;
    for (std::size_t i = 0; i < got.size(); ++i) {
      texts.insert(got[i].tokens);
      EXPECT_TRUE(holds_all(got[i].tokens, request.phrases, o));
      if (i > 0) {
        EXPECT_GE(got[i - 1].score, got[i].score);
      }
    }
    EXPECT_EQ(texts.size(), got.size());
  }
  EXPECT_GT(found, 100u);
}

TEST_F(PhrasesInABeam, SentencesWithAndWithoutGoTogether) {
  const TreeModel model(3, 25, eos, 1.5, 1);
  const SearchPlan o = options(4);
  std::vector<Request> requests;
  for (std::int32_t i = 0; i < 20; ++i) {
    requests.push_back({start, 0, 6 + i % 5});
    for (std::int32_t p = 0; p < i % 3; ++p) requests.back().phrases.push_back({2 + i, 3 + p});
  }
  std::vector<std::vector<Hypothesis>> whole;
  for (std::int64_t max_live : {0, 1, 3}) {
    TreeStep step(model);
    const auto got = decode(c, step, {requests, o, max_live});
    if (whole.empty()) whole = got;
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i][0].tokens, whole[i][0].tokens);
      if (requests[i].phrases.empty()) {
        EXPECT_EQ(got[i][0].tokens,
                  reference_beam_search(model, static_cast<std::int32_t>(i), requests[i], o)[0].tokens);
      }
    }
  }
}

TEST_F(PhrasesInABeam, GreedySearchCannot) {
  const TreeModel model(1, 20, eos, 2, 1);
  Request request{start, 0, 8};
  request.phrases = {{3}};
  EXPECT_THROW(search(model, request, options(1)), Error);
  request.phrases = {{20}};
  EXPECT_THROW(search(model, request, options(2)), Error);
}

}  // namespace
}  // namespace tril::search::testing::phrases_test

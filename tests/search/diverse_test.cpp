// Diverse searches: beam groups, and alternatives at a position.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/rng.h"
#include "decode/batches/decode.h"
#include "support/tree_model.h"

namespace tril::search::testing::diverse_test {
namespace {

constexpr std::int32_t eos = 1, start = 0;

struct Diverse : ::testing::Test {
  Arena arena{std::size_t{1} << 30};
  Context c{arena};

  std::vector<Hypothesis> search(const TreeModel& model, const Request& request, const SearchPlan& o) {
    TreeStep step(model);
    return decode(c, step, {std::vector{request}, o})[0];
  }
};

SearchPlan options(std::int32_t beam_size, std::int32_t groups, double penalty) {
  SearchPlan o;
  o.beam_size = beam_size;
  o.n_best = beam_size;
  o.beam_groups = groups;
  o.diversity_penalty = penalty;
  o.eos_ids = {eos};
  return o;
}

// The best of each group, then the second best of each, without duplicates; of these `n`, by score.
std::vector<Hypothesis> in_rounds(const std::vector<std::vector<Hypothesis>>& groups, std::size_t n) {
  std::vector<Hypothesis> list;
  std::set<Ids> seen;
  for (std::size_t place = 0; place < 100; ++place)
    for (const auto& group : groups)
      if (place < group.size() && list.size() < n && seen.insert(group[place].tokens).second)
        list.push_back(group[place]);
  std::stable_sort(list.begin(), list.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  return list;
}

TEST_F(Diverse, GroupsAreThoseOfTheReference) {
  int penalised = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomSequence random(seed, 1);
    const TreeModel model(seed, static_cast<std::int32_t>(20 + random.below(20)), eos, 2 * random.uniform(),
                          2 * random.uniform());
    const auto groups = static_cast<std::int32_t>(2 + random.below(3));
    SearchPlan o = options(groups * static_cast<std::int32_t>(1 + random.below(3)), groups, 2 * random.uniform());
    if (seed % 7 == 0) o.diversity_penalty = 0;
    o.n_best = 1 + static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(o.beam_size)));
    o.length_penalty = std::array{0.0, 0.6, 1.0}[random.below(3)];
    o.early_stopping = random.below(2) ? EarlyStopping::yes : EarlyStopping::no;
    if (random.below(3) == 0) o.no_repeat_ngram = 2;
    const Request request{start, static_cast<std::int32_t>(random.below(3)),
                          static_cast<std::int32_t>(3 + random.below(7))};
    const auto got = search(model, request, o);
    const auto expected = in_rounds(reference_diverse(model, 0, request, o), static_cast<std::size_t>(o.n_best));
    ASSERT_EQ(got.size(), expected.size()) << "seed " << seed;
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].tokens, expected[i].tokens) << "seed " << seed << ", hypothesis " << i;
      EXPECT_NEAR(got[i].log_prob, expected[i].log_prob, 1e-4);
      EXPECT_NEAR(got[i].score, expected[i].score, 1e-4);
    }
    o.diversity_penalty = 0;
    const auto plain = search(model, request, o);
    penalised += !std::equal(plain.begin(), plain.end(), got.begin(), got.end(),
                             [](const auto& a, const auto& b) { return a.tokens == b.tokens; });
  }
  EXPECT_GT(penalised, 100) << "the penalty changes nothing";
}

TEST_F(Diverse, OneGroupIsABeam) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const TreeModel model(seed, 25, eos, 1, 1);
    const SearchPlan o = options(4, 1, 0);
    const auto got = search(model, {start, 0, 8}, o), expected = reference_beam_search(model, 0, {start, 0, 8}, o);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i].tokens, expected[i].tokens);
  }
}

// With a penalty above any difference of log-probabilities, no two groups have the same token at the same position.
TEST_F(Diverse, AHighPenaltyKeepsGroupsApart) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const TreeModel model(seed, 30, eos, 1, -3);
    SearchPlan o = options(4, 4, 1000);
    const auto got = search(model, {start, 3, 6}, o);
    ASSERT_EQ(got.size(), 4u);
    for (std::size_t at = 0; at < 3; ++at) {
      std::set<std::int32_t> tokens;
      for (const Hypothesis& h : got) tokens.insert(h.tokens[at]);
      EXPECT_EQ(tokens.size(), 4u) << "seed " << seed << ", token " << at;
    }
  }
}

TEST_F(Diverse, AlternativesAreTheBestBehindEachOfTheLikeliestTokens) {
  int ended = 0, cut = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomSequence random(seed, 2);
    const auto vocab = static_cast<std::int32_t>(12 + random.below(20));
    const TreeModel model(seed, vocab, eos, 0.5 + 2 * random.uniform(), 2 * random.uniform());
    SearchPlan o = options(static_cast<std::int32_t>(1 + random.below(4)), 1, 0);
    o.alternatives = true;
    o.n_best = static_cast<std::int32_t>(1 + random.below(8));
    if (random.below(2)) o.min_alternative_prob = 0.2 * random.uniform();
    Request request{start, 0, static_cast<std::int32_t>(1 + random.below(8))};
    for (std::uint64_t i = random.below(4); i > 0; --i)
      request.prefix.push_back(2 + static_cast<std::int32_t>(random.below(8)));
    const auto got = search(model, request, o);

    Ids history{start};
    history.insert(history.end(), request.prefix.begin(), request.prefix.end());
    const std::vector<double> p = constrained(model, 0, history, request, o);
    Ids tokens(p.size());
    std::iota(tokens.begin(), tokens.end(), 0);
    std::stable_sort(tokens.begin(), tokens.end(), [&](std::int32_t a, std::int32_t b) {
      return p[static_cast<std::size_t>(a)] > p[static_cast<std::size_t>(b)];
    });
    std::vector<Hypothesis> expected;
    SearchPlan one = o;
    one.n_best = 1;
    for (std::int32_t id : tokens) {
      const double first = p[static_cast<std::size_t>(id)];
      if (expected.size() == static_cast<std::size_t>(o.n_best)) break;
      if (!expected.empty() && std::exp(first) < o.min_alternative_prob) {
        ++cut;
        break;
      }
      if (id == eos || request.max_length == 1) {
        ++ended;
        expected.push_back({{id}, first, first});
      } else {
        expected.push_back(reference_beam_search(model, 0, request, one, {id})[0]);
      }
    }
    ASSERT_EQ(got.size(), expected.size()) << "seed " << seed;
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].tokens, expected[i].tokens) << "seed " << seed << ", alternative " << i;
      EXPECT_NEAR(got[i].log_prob, expected[i].log_prob, 1e-4);
    }
  }
  EXPECT_GT(ended, 20);
  EXPECT_GT(cut, 20);
}

TEST_F(Diverse, BehindAPrefixThatEndsAWordAnotherBegins) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const TreeModel model(seed, 20, eos, 2, -1);
    for (std::int32_t beam_size : {1, 3}) {
      SearchPlan o = options(beam_size, 1, 0);
      o.begins_word.assign(20, false);
      for (std::int32_t id : {5, 6, 7}) o.begins_word[static_cast<std::size_t>(id)] = true;
      Request request{.start_id = start, .max_length = 6, .prefix = {4, 9}};
      const auto free = search(model, request, o);
      request.new_word = true;
      const auto bound = search(model, request, o);
      for (const Hypothesis& h : bound)
        EXPECT_TRUE((h.tokens[0] >= 5 && h.tokens[0] <= 7) || h.tokens == Ids{eos}) << "seed " << seed;
      SearchPlan same = o;  // a search that knows of no words
      same.begins_word.clear();
      request.new_word = false;
      for (std::int32_t id = 0; id < 20; ++id)
        if (id != eos && (id < 5 || id > 7)) same.begin_suppress_ids.push_back(id);
      const auto expected = search(model, request, same);
      ASSERT_EQ(bound.size(), expected.size());
      for (std::size_t i = 0; i < bound.size(); ++i) EXPECT_EQ(bound[i].tokens, expected[i].tokens);
      if (beam_size > 1) {
        const auto reference = reference_beam_search(model, 0, request, o);
        ASSERT_EQ(free.size(), reference.size());
        for (std::size_t i = 0; i < free.size(); ++i) EXPECT_EQ(free[i].tokens, reference[i].tokens);
      }
    }
  }
}

TEST_F(Diverse, ManySentencesAreSearchedAsEachAlone) {
  const TreeModel model(7, 30, eos, 1.5, 1);
  std::vector<Request> requests;
  for (std::int32_t i = 0; i < 20; ++i) requests.push_back({start, i % 3, 4 + i % 7});
  for (bool alternatives : {false, true}) {
    SearchPlan o = options(4, alternatives ? 1 : 2, alternatives ? 0 : 0.7);
    o.alternatives = alternatives;
    o.n_best = 3;
    std::vector<std::vector<Hypothesis>> whole;
    for (std::int64_t max_live : {0, 1, 3, 20}) {
      TreeStep step(model);
      const auto got = decode(c, step, {requests, o, max_live});
      if (whole.empty()) whole = got;
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].size(), whole[i].size());
        for (std::size_t j = 0; j < got[i].size(); ++j) EXPECT_EQ(got[i][j].tokens, whole[i][j].tokens);
      }
    }
  }
}

TEST_F(Diverse, WrongOptionsAreNamed) {
  const auto message = [&](SearchPlan o) {
    try {
      check_options(o, 20);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::usage);
      return std::string(e.what());
    }
    return std::string("no error");
  };
  const auto expect = [&](const SearchPlan& o, const char* words) {
    EXPECT_NE(message(o).find(words), std::string::npos) << message(o);
  };
  expect(options(5, 2, 1), "divisor of the beam size of 5");
  expect(options(4, 2, -1), "from 0 to 1000");
  expect(options(4, 1, 0.5), "without beam groups");
  SearchPlan o = options(4, 1, 0);
  o.patience = 0;
  expect(o, "patience");
  o.patience = 0.5;
  expect(o, "stops after 2 finished hypotheses cannot give the 4 best");
  o = options(4, 2, 0.5);
  o.alternatives = true;
  expect(o, "each alternative has its own beam");
  o = options(4, 1, 0);
  o.alternatives = true;
  o.min_alternative_prob = 1.5;
  expect(o, "from 0 to 1");
}

}  // namespace
}  // namespace tril::search::testing::diverse_test

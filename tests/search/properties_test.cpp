// Invariants of every search: options are random, and each result is checked against them by independent code. Also a soak:
// endless sentences take no more memory than the first ones. TRIL_SOAK_SENTENCES sets their number (make soak: 200,000).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/rng.h"
#include "decode/batches/parallel.h"
#include "model/families/marian.h"
#include "support/process.h"
#include "support/tree_model.h"

namespace tril::search::testing::properties_test {
namespace {

constexpr std::int32_t eos = 1, start = 0, vocab = 14;

// A search of any kind, with any constraints.
struct Asked {
  SearchPlan options;
  Request request;
};

Asked draw(RandomSequence& random) {
  const auto one_in = [&](std::uint64_t n) { return random.below(n) == 0; };
  const auto token = [&] { return 2 + static_cast<std::int32_t>(random.below(vocab - 2)); };
  Asked a;
  SearchPlan& o = a.options;
  o.eos_ids = {eos};
  o.scores = true;
  o.length_penalty = std::array{0.0, 0.6, 1.0, 2.0}[random.below(4)];
  switch (random.below(5)) {
    case 0:
      break;
    case 1:
      o.beam_size = 2 + static_cast<std::int32_t>(random.below(5));
      o.n_best = 1 + static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(o.beam_size)));
      o.early_stopping = std::array{EarlyStopping::no, EarlyStopping::yes, EarlyStopping::never}[random.below(3)];
      break;
    case 2:
      o.beam_size = 4, o.n_best = 4, o.beam_groups = 2, o.diversity_penalty = 0.5;
      break;
    case 3:
      o.sampling.on = true, o.sampling.seed = random.below(1000), o.n_best = 3;
      if (one_in(2)) o.sampling.top_k = 3;
      break;
    default:
      o.alternatives = true, o.n_best = 3, o.beam_size = 1 + static_cast<std::int32_t>(random.below(3));
  }
  a.request = {start, 0, 2 + static_cast<std::int32_t>(random.below(9))};
  if (one_in(2)) a.request.min_length = static_cast<std::int32_t>(random.below(3));
  if (one_in(3)) a.request.prefix = {token(), token()};
  if (one_in(2)) o.no_repeat_ngram = 2 + static_cast<std::int32_t>(random.below(2));
  if (one_in(2)) o.suppress_ids = {token()};
  if (one_in(3)) o.begin_suppress_ids = {token(), token()};
  if (one_in(2)) o.bad_words = {{token(), token()}, {token()}};
  if (one_in(3)) o.forced_eos_id = eos;
  if (one_in(3)) o.repetition_penalty = 1.5;
  return a;
}

// The positions where `word` ends in `text`, counted after the first `given` tokens.
std::size_t ends_in(const Ids& text, std::size_t given, const Ids& word) {
  std::size_t n = 0;
  for (auto at = text.begin();; ++at) {
    at = std::search(at, text.end(), word.begin(), word.end());
    if (at == text.end()) return n;
    n += static_cast<std::size_t>(at - text.begin()) + word.size() > given ? 1 : 0;
  }
}

void expect_constraints(const Asked& a, const Hypothesis& h) {
  const SearchPlan& o = a.options;
  const Ids& t = h.tokens;
  const auto length = static_cast<std::int32_t>(t.size());
  ASSERT_GE(length, 1);
  EXPECT_LE(length, a.request.max_length);
  const auto end = std::find(t.begin(), t.end(), eos);
  if (end != t.end()) {
    EXPECT_EQ(end + 1, t.end()) << "nothing comes behind an end";
    const bool forced = o.forced_eos_id == eos && length == a.request.max_length;
    EXPECT_TRUE(forced || length - 1 >= a.request.min_length) << length;
  }
  if (o.forced_eos_id == eos && length == a.request.max_length) {
    EXPECT_EQ(t.back(), eos);
  }
  Ids text = a.request.prefix;
  text.insert(text.end(), t.begin(), t.end());
  for (const Ids& word : o.bad_words) EXPECT_EQ(ends_in(text, a.request.prefix.size(), word), 0u);
  for (const std::int32_t id : o.suppress_ids) EXPECT_EQ(std::count(t.begin(), t.end(), id), 0);
  for (const std::int32_t id : o.begin_suppress_ids) EXPECT_NE(t.front(), id);
  const auto n = static_cast<std::size_t>(o.no_repeat_ngram);
  for (std::size_t i = 0; n > 0 && i + n <= t.size(); ++i) {
    const Ids ngram(t.begin() + static_cast<std::ptrdiff_t>(i), t.begin() + static_cast<std::ptrdiff_t>(i + n));
    EXPECT_TRUE(ngram.back() == eos || ends_in(t, 0, ngram) == 1) << "n-grams of " << n;
  }
  EXPECT_NEAR(h.score, normalized(h.log_prob, length, o.length_penalty), 1e-5);
  EXPECT_LE(h.log_prob, 1e-5);
}

void expect_list(const SearchPlan& o, const std::vector<Hypothesis>& list) {
  EXPECT_LE(list.size(), static_cast<std::size_t>(o.n_best));
  if (!o.has_beam()) return;  // samples are unordered, and may be equal
  std::set<Ids> texts, firsts;
  for (std::size_t i = 0; i < list.size(); ++i) {
    EXPECT_TRUE(texts.insert(list[i].tokens).second) << "each but once";
    EXPECT_TRUE(!o.alternatives || firsts.insert({list[i].tokens[0]}).second) << "each begins otherwise";
    EXPECT_TRUE(i == 0 || o.alternatives || list[i - 1].score >= list[i].score);
  }
}

TEST(Properties, WhateverIsAskedForHolds) {
  Arena arena;
  Context c(arena);
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    RandomSequence random(seed, 11);
    const TreeModel model(seed, vocab, eos, 1.5, 0.5);
    const Asked a = draw(random);
    TreeStep step(model);
    const std::vector<Request> requests(3, a.request);
    for (const auto& list : decode(c, step, {requests, a.options, 2})) {
      expect_list(a.options, list);
      for (const Hypothesis& h : list) expect_constraints(a, h), ++found;
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(found, 2500u) << "or the test shows less than it should";
  EXPECT_EQ(arena.stats().live_bytes, 0u);
}

std::unique_ptr<model::Marian> small_translator() {
  model::BartConfig k;
  k.vocab_size = k.decoder_vocab_size = 60;
  k.d_model = 16, k.encoder_layers = k.decoder_layers = 1;
  k.encoder_attention_heads = k.decoder_attention_heads = 2;
  k.encoder_ffn_dim = k.decoder_ffn_dim = 32;
  k.pad_token_id = 0, k.eos_token_id = eos, k.decoder_start_token_id = 0;
  auto m = std::make_unique<model::Marian>(k);
  m->parameters().allocate();
  m->parameters().initialise(4);
  m->parameters().refresh(kern::best());
  return m;
}

// Greedy search, beams and samples, with two workers, over sentences whose number and length differ from call to call.
TEST(Soak, DecodingTakesNoMoreMemory) {
  const char* const wanted = std::getenv("TRIL_SOAK_SENTENCES");
  const std::int64_t sentences = wanted ? std::atoll(wanted) : 4000;
  const auto m = small_translator();
  std::vector<std::unique_ptr<ParallelDecoder>> decoders;
  for (const int kind : {0, 1, 2}) {
    ParallelOptions o;
    o.search.eos_ids = {eos};
    o.search.suppress_ids = {0};
    if (kind == 1) o.search.beam_size = 4, o.search.scores = true;
    if (kind == 2) o.search.sampling.on = true, o.search.n_best = 2;
    o.threads = 2, o.batch_size = 16;
    decoders.push_back(std::make_unique<ParallelDecoder>(*m, o));
  }
  RandomSequence random(7, 1);
  std::int64_t settled = 0;
  std::int64_t done = 0;
  for (std::int64_t call = 0; done < sentences; ++call) {
    std::vector<Ids> sources(20 + random.below(180));
    std::vector<Request> requests(sources.size(), Request{0, 0, 2 + static_cast<std::int32_t>(random.below(14))});
    for (Ids& s : sources) {
      for (std::uint64_t n = random.below(20); n > 0; --n) s.push_back(2 + static_cast<std::int32_t>(random.below(58)));
      s.push_back(eos);
    }
    const auto found = decoders[static_cast<std::size_t>(call % 3)]->decode(sources, requests);
    ASSERT_EQ(found.size(), sources.size());
    for (const auto& list : found) ASSERT_FALSE(list.empty());
    done += static_cast<std::int64_t>(sources.size());
    if (settled == 0 && done > sentences / 2) settled = test::resident_bytes();
  }
  if (test::sanitized) return;
  EXPECT_LT(test::resident_bytes(), settled + (4 << 20)) << "bytes after " << done << " sentences";
}

}  // namespace
}  // namespace tril::search::testing::properties_test

// Drafts and prompt lookup: proposed tokens do not change what is decoded. prompt_lookup_test.cpp has what lookup proposes.
#include "decode/batches/speculator.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <utility>

#include "decode/batches/parallel.h"
#include "decode/batches/score.h"
#include "support/small_translators.h"
#include "support/tree_model.h"

namespace tril::search::speculative_test {
namespace {

using namespace small;

// Proposes the search's result, with random mistakes.
class HalfRight : public Proposer {
 public:
  HalfRight(const Found& truth, std::vector<std::size_t> given) : truth_(truth), given_(std::move(given)) {}
  void propose(Context&, const Drafts& drafts, std::vector<Ids>& proposals) override {
    proposals.assign(drafts.rows.size(), {});
    for (std::size_t r = 0; r < drafts.rows.size(); ++r) {
      const auto s = static_cast<std::size_t>(drafts.rows[r].sentence);
      const Ids& tokens = truth_[s][0].tokens;
      const std::size_t made = drafts.rows[r].tokens.size() - given_[s];
      const std::uint64_t n = random_.below(static_cast<std::uint64_t>(drafts.rows[r].most) + 1);
      for (std::size_t i = 0; i < n; ++i) {
        const bool right = made + i < tokens.size() && random_.below(4) != 0;
        proposals[r].push_back(right ? tokens[made + i] : static_cast<std::int32_t>(random_.below(7)));
      }
    }
  }

 private:
  const Found& truth_;
  std::vector<std::size_t> given_;  // tokens before those of the search
  RandomSequence random_{5, 5};
};

// A step that verifies every token, for a model whose logits depend on everything before.
class TreeVerifier : public Step {
 public:
  explicit TreeVerifier(const testing::TreeModel& model) : model_(&model) {}
  std::int64_t vocab_size() const override { return model_->vocab_size(); }
  StepOutput step(Context& c, const StepInput& input) override {
    std::vector<Ids> now;
    std::vector<float> out;
    std::int64_t answers = 0;
    std::size_t at = 0;
    for (std::size_t r = 0; r < input.counts.size(); ++r) {
      Ids row = input.parents[r] >= 0 ? histories_[static_cast<std::size_t>(input.parents[r])] : Ids{};
      row.resize(row.size() - static_cast<std::size_t>(input.cuts.empty() ? 0 : input.cuts[r]));
      const std::int32_t wanted = input.answers.empty() ? 1 : input.answers[r];
      for (std::int32_t i = 0; i < input.counts[r]; ++i) {
        row.push_back(input.ids[at++]);
        if (i < input.counts[r] - wanted) continue;
        const std::vector<float> x = model_->logits(input.sentences[r], row);
        out.insert(out.end(), x.begin(), x.end());
        ++answers;
      }
      now.push_back(std::move(row));
    }
    histories_ = std::move(now);
    return {.logits = c.upload<float>(out, {answers, vocab_size()})};
  }

 private:
  const testing::TreeModel* model_;
  std::vector<Ids> histories_;
};

// decode() with these proposals.
Found decode_with(Context& c, Step& step, const Proposals& proposals, const RequestList& list) {
  Speculator speculator(proposals);
  return decode(c, step, list, &speculator);
}

// Long prefixes are read in portions, together with other rows; deadlines are checked in between.
TEST(Speculative, LongPrefixesComeInPortions) {
  Arena arena;
  Context c(arena);
  const testing::TreeModel model(4, 12, eos, 2.0, -30);
  std::vector<Request> requests;
  std::vector<std::size_t> given;
  for (const std::size_t length : {3u, 9'000u, 1u, 5'000u, 4'096u}) {
    requests.push_back({.start_id = 11, .max_length = 8, .prefix = Ids(length, 3)});
    given.push_back(1 + length);
  }
  SearchPlan o;
  o.eos_ids = {eos}, o.scores = true;
  TreeVerifier plain(model);
  const Found expected = decode(c, plain, {requests, o});
  for (const std::int64_t live : {0, 1, 2}) {
    TreeVerifier step(model);
    HalfRight proposer(expected, given);
    Speculation counts;
    const auto found = decode_with(c, step, {proposer, 4, counts}, {requests, o, live, {}});
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i][0].tokens, expected[i][0].tokens) << live << i;
  }
  o.time_limit = 1e-9;
  TreeVerifier step(model);
  HalfRight proposer(expected, given);
  Speculation counts;
  for (const auto& list : decode_with(c, step, {proposer, 4, counts}, {requests, o, 0, {}})) {
    EXPECT_EQ(list[0].stop_reason, StopReason::time_limit);
    EXPECT_LE(list[0].tokens.size(), 1u) << "that of a prompt that one step reads";
  }
  EXPECT_EQ(counts.proposed, 0) << "none was read to its end";
}

TEST(Speculative, AnyProposalsLeaveGreedySearchAsItIs) {
  Arena arena;
  Context c(arena);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const testing::TreeModel model(seed, 12, eos, 2.0, 0.5);
    std::vector<Request> requests;
    std::vector<std::size_t> given;
    for (std::int32_t i = 0; i < 9; ++i) {
      requests.push_back({.start_id = 11, .min_length = i % 3, .max_length = 1 + 3 * i, .prefix = Ids(i % 4u, 3)});
      given.push_back(1 + requests.back().prefix.size());
    }
    SearchPlan o;
    o.eos_ids = {eos}, o.scores = true;
    if (seed % 2) o.repetition_penalty = 1.3, o.no_repeat_ngram = 3, o.presence_penalty = 0.3;
    if (seed % 3 == 0)
      o.ends = [](std::span<const std::int32_t>, std::span<const std::int32_t> t) {
        return t.size() > 4 && t.back() == 5;
      };
    testing::TreeStep plain(model);
    const Found expected = decode(c, plain, {requests, o});
    for (const std::int32_t longest : {1, 4, 30})
      for (const std::int64_t live : {0, 1, 4}) {
        TreeVerifier step(model);
        HalfRight proposer(expected, given);
        Speculation counts;
        std::vector<Ids> told(requests.size());
        const auto found =
            decode_with(c, step, {proposer, longest, counts}, {requests, o, live, {.on_token = [&](const NewToken& t) {
                                                                 if (t.token >= 0) told[t.request].push_back(t.token);
                                                               }}});
        ASSERT_EQ(found.size(), expected.size());
        std::int64_t tokens = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
          ASSERT_EQ(found[i][0].tokens, expected[i][0].tokens) << seed << " " << i;
          ASSERT_NEAR(found[i][0].log_prob, expected[i][0].log_prob, 1e-5);
          EXPECT_EQ(told[i], found[i][0].tokens);
          tokens += static_cast<std::int64_t>(found[i][0].tokens.size());
        }
        EXPECT_EQ(counts.tokens, tokens);
        EXPECT_GT(counts.accepted, 0);
        EXPECT_LT(counts.accepted, counts.proposed);
        EXPECT_LT(counts.rows, counts.tokens);
      }
  }
}

// The length may change from step to step, and there may be none.
TEST(Speculative, MeasuredLengthsLeaveGreedySearchAsItIs) {
  Arena arena;
  Context c(arena);
  const testing::TreeModel model(3, 12, eos, 2.0, -30);
  std::vector<Request> requests;
  std::vector<std::size_t> given;
  for (std::int32_t i = 0; i < 9; ++i) {
    requests.push_back({.start_id = 11, .max_length = 1 + 40 * i, .prefix = Ids(i % 4u, 3)});
    given.push_back(1 + requests.back().prefix.size());
  }
  SearchPlan o;
  o.eos_ids = {eos};
  testing::TreeStep plain(model);
  const Found expected = decode(c, plain, {requests, o});
  for (const std::int64_t live : {0, 1, 4}) {
    TreeVerifier step(model);
    HalfRight proposer(expected, given);
    Speculation counts;
    ProposalLength length(8);
    expect_tokens(decode_with(c, step, {proposer, 8, counts, &length}, {requests, o, live, {}}), expected);
    EXPECT_GT(counts.proposed, 0) << live;
  }
}

// A draft that takes long to read its prompt, in portions.
class SlowAtFirst : public HalfRight {
 public:
  SlowAtFirst(const Found& expected, std::vector<std::size_t> given, int portions, double& seconds)
      : HalfRight(expected, std::move(given)), portions_(portions), seconds_(&seconds) {}
  bool has_model() const override { return true; }
  bool is_reading() const override { return is_reading_; }
  void propose(Context& c, const Drafts& drafts, std::vector<Ids>& proposals) override {
    is_reading_ = portions_ > 0;
    if (is_reading_) *seconds_ += 300, --portions_;
    HalfRight::propose(c, drafts, proposals);
    if (portions_ > 0) proposals.assign(drafts.rows.size(), {});
  }

 private:
  int portions_;
  bool is_reading_ = false;
  double* seconds_;
};
// A model whose steps take as long for several tokens as for one.
class SlowVerifier : public TreeVerifier {
 public:
  SlowVerifier(const testing::TreeModel& model, double& seconds) : TreeVerifier(model), seconds_(&seconds) {}
  StepOutput step(Context& c, const StepInput& input) override {
    *seconds_ += 1;
    return TreeVerifier::step(c, input);
  }

 private:
  double* seconds_;
};
TEST(Speculative, ReadingThePromptIsNoMeasure) {
  Arena arena;
  Context c(arena);
  const testing::TreeModel model(3, 12, eos, 2.0, -30);
  const std::vector<Request> requests{{.start_id = 11, .max_length = 300, .prefix = Ids(3, 3)}};
  SearchPlan o;
  o.eos_ids = {eos};
  testing::TreeStep plain(model);
  const Found expected = decode(c, plain, {requests, o});
  for (const int portions : {1, 15}) {
    double now = 0;  // passes only where the model and the draft say so
    SlowVerifier step(model, now);
    SlowAtFirst proposer(expected, {4}, portions, now);
    Speculation counts;
    ProposalLength length(8);
    expect_tokens(decode_with(c, step, {proposer, 8, counts, &length, [&] { return now; }}, {requests, o, 0, {}}),
                  expected);
    EXPECT_GT(counts.proposed, 100) << "no more is proposed after the first times, " << portions;
  }
}

TEST(Speculative, DraftsAndLookupGiveWhatGreedySearchGives) {
  const auto m = marian(1), small = marian(2, 16, 1);
  const std::vector<Ids> sources = sources_of(23);
  const std::vector<Request> requests = requests_of(23);
  ParallelOptions o = greedy();
  const Found expected = ParallelDecoder(*m, o).decode(sources, requests);
  for (const bool cache : {true, false})
    for (const int window : {0, 6})
      for (const int way : {0, 1, 2, 3}) {
        SCOPED_TRACE(fmt::format("cache {}, window {}, way {}", cache, window, way));
        o = greedy();
        o.session.cache = {.use = cache, .kept = {.window = window, .sinks = window / 3}};
        const Found plain = window == 0 ? expected : ParallelDecoder(*m, o).decode(sources, requests);
        if (way == 0) o.session.speculative.draft = small.get();
        if (way == 1) o.session.speculative.draft = m.get();
        if (way == 0) o.session.speculative.min_prob = window == 0 ? 0.2f : 0;
        if (way >= 2) o.session.speculative.lookup = way;
        o.session.speculative.tokens = 3;
        o.session.speculative.measured = way == 3 || (way == 0 && window == 6);
        o.threads = 2;
        ParallelDecoder decoder(*m, o);
        expect_tokens(decoder.decode(sources, requests), plain);
        const Speculation s = decoder.speculation();
        EXPECT_GT(s.tokens, 0);
        EXPECT_LE(s.rows, s.tokens);
        if (way == 1) {
          EXPECT_GT(s.accepted, s.proposed * 9 / 10) << "a model agrees with itself";
        } else {
          EXPECT_LE(s.accepted, s.proposed);
          EXPECT_TRUE(o.session.speculative.measured || s.accepted < s.proposed);
        }
      }
}

// After a token that the draft finds less probable than min_prob it proposes no more, so fewer proposals are rejected.
TEST(Speculative, ADraftEndsBehindAnImprobableToken) {
  const auto m = marian(1), small = marian(2, 16, 1);
  const std::vector<Ids> sources = sources_of(23);
  std::vector<std::int64_t> proposed;
  for (const float min_prob : {0.0f, 0.1f, 0.5f, 1.0f}) {
    ParallelOptions o = greedy();
    o.batch_size = 1;
    o.session.speculative = {.draft = small.get(), .tokens = 6, .min_prob = min_prob};
    ParallelDecoder decoder(*m, o);
    decoder.decode(sources, requests_of(23));
    const Speculation s = decoder.speculation();
    EXPECT_TRUE(min_prob < 1 || s.proposed <= s.rows) << "one each";
    proposed.push_back(s.proposed);
  }
  EXPECT_TRUE(std::is_sorted(proposed.rbegin(), proposed.rend()));
  EXPECT_LT(proposed.back(), proposed.front() / 2);
}

// A model that drafts for itself agrees with itself only if its drafts follow the rules of the search.
TEST(Speculative, ADraftProposesNoForbiddenToken) {
  const auto m = marian(1), small = marian(2, 16, 1);
  const std::vector<Ids> sources = sources_of(23);
  const std::vector<Request> requests = requests_of(23);
  const Found free = ParallelDecoder(*m, greedy()).decode(sources, requests);
  // The favourite of the model, its favourite without that one, and so on.
  Ids favourites;
  for (int i = 0; i < 3; ++i) {
    ParallelOptions o = greedy();
    o.search.suppress_ids = favourites;
    std::map<std::int32_t, int> often;
    for (const auto& list : ParallelDecoder(*m, o).decode(sources, requests))
      for (const std::int32_t token : list[0].tokens)
        if (token != eos) ++often[token];
    ASSERT_FALSE(often.empty());
    favourites.push_back(std::max_element(often.begin(), often.end(), [](const auto& x, const auto& y) {
                           return x.second < y.second;
                         })->first);
  }
  struct Rule {
    const char* name;
    std::function<void(SearchPlan&)> set;
  };
  const std::vector<Rule> rules{{"suppressed", [&](SearchPlan& p) { p.suppress_ids = favourites; }},
                                {"suppressed first", [&](SearchPlan& p) { p.begin_suppress_ids = favourites; }},
                                {"bad words",
                                 [&](SearchPlan& p) {
                                   p.bad_words = {{favourites[0]}, {favourites[1], favourites[1]}};
                                 }},
                                {"penalty", [&](SearchPlan& p) { p.repetition_penalty = 1.4, p.no_repeat_ngram = 2; }}};
  for (const Rule& rule : rules)
    for (const float min_prob : {0.0f, 0.01f}) {
      SCOPED_TRACE(fmt::format("{}, {}", rule.name, min_prob));
      ParallelOptions o = greedy();
      rule.set(o.search);
      const Found expected = ParallelDecoder(*m, o).decode(sources, requests);
      bool changed = false;
      for (std::size_t i = 0; i < free.size(); ++i) changed |= expected[i][0].tokens != free[i][0].tokens;
      EXPECT_TRUE(changed) << "the rule forbids nothing";
      o.session.speculative = {.draft = small.get(), .tokens = 4, .min_prob = min_prob};
      expect_tokens(ParallelDecoder(*m, o).decode(sources, requests), expected);
      o.session.speculative.draft = m.get();
      ParallelDecoder own(*m, o);
      expect_tokens(own.decode(sources, requests), expected);
      EXPECT_GT(own.speculation().proposed, 0);
      EXPECT_GT(own.speculation().accepted, own.speculation().proposed * 9 / 10);
    }
}

// A drawn token depends on the distribution and the seed, not on what was proposed.
TEST(Speculative, SamplesAreThoseWithoutProposals) {
  Arena arena;
  Context c(arena);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const testing::TreeModel model(seed, 12, eos, 2.0, -3);
    std::vector<Request> requests;
    std::vector<std::size_t> given;
    for (std::int32_t i = 0; i < 9; ++i) {
      requests.push_back({.start_id = 11, .max_length = 1 + 3 * i, .prefix = Ids(i % 4u, 3)});
      requests.back().number = static_cast<std::uint64_t>(i);
      given.push_back(1 + requests.back().prefix.size());
    }
    SearchPlan o;
    o.eos_ids = {eos}, o.scores = true;
    o.sampling = {.on = true, .temperature = 1.3, .top_k = seed % 2 ? 5 : 0, .top_p = seed % 3 ? 0.9 : 1, .seed = seed};
    testing::TreeStep plain(model);
    const Found expected = decode(c, plain, {requests, o});
    for (const std::int64_t live : {0, 1, 4}) {
      TreeVerifier step(model);
      HalfRight proposer(expected, given);
      Speculation counts;
      const auto found = decode_with(c, step, {proposer, 4, counts}, {requests, o, live, {}});
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i][0].tokens, expected[i][0].tokens) << seed << " " << i;
        ASSERT_NEAR(found[i][0].log_prob, expected[i][0].log_prob, 1e-4);
      }
      EXPECT_GT(counts.accepted, 0);
      EXPECT_LT(counts.rows, counts.tokens);
    }
  }
}

// A draft that samples draws with the same random numbers: a model that drafts for itself agrees with itself.
TEST(Speculative, ADraftDrawsAsTheModelDoes) {
  const auto m = marian(1), small = marian(2, 16, 1);
  const std::vector<Ids> sources = sources_of(23);
  const std::vector<Request> requests = requests_of(23);
  ParallelOptions o = greedy();
  o.search.sampling = {.on = true, .temperature = 1.5, .top_k = 20, .seed = 7};
  const Found expected = ParallelDecoder(*m, o).decode(sources, requests);
  std::set<std::int32_t> drawn;
  for (const auto& list : expected) drawn.insert(list[0].tokens.begin(), list[0].tokens.end());
  EXPECT_GT(drawn.size(), 20u);
  for (const bool own : {true, false}) {
    o.session.speculative = {.draft = own ? m.get() : small.get(), .tokens = 4};
    ParallelDecoder decoder(*m, o);
    expect_tokens(decoder.decode(sources, requests), expected);
    const Speculation s = decoder.speculation();
    EXPECT_GT(s.proposed, 0);
    EXPECT_TRUE(!own || s.accepted > s.proposed * 9 / 10) << s.accepted << " of " << s.proposed;
  }
}

TEST(Speculative, Errors) {
  const auto m = marian(1);
  const std::vector<Ids> sources = sources_of(2);
  ParallelOptions o = greedy();
  o.session.speculative.lookup = 2, o.search.beam_size = 2;
  const auto refused = [&](const SearchPlan& s, const std::string& what) {
    ParallelOptions p = o;
    p.search = s;
    EXPECT_THROW(ParallelDecoder(*m, p), Error) << what;
    Arena arena;
    Context c(arena);
    EXPECT_THROW(Session(c, *m, {.speculative = o.session.speculative}).decode(sources, requests_of(2), s), Error)
        << what;
  };
  refused(o.search, "a beam");
  SearchPlan s = greedy().search;
  s.alternatives = true;
  refused(s, "alternatives");
  s = greedy().search, s.sampling.on = true, s.n_best = 2;
  refused(s, "several samples");
  s = greedy().search, s.attention.emplace();
  refused(s, "attention");
  Arena arena;
  Context c(arena);
  std::vector<Request> wanting = requests_of(2);
  wanting[1].phrases = {{3}};
  EXPECT_THROW(Session(c, *m, {.speculative = o.session.speculative}).decode(sources, wanting, greedy().search), Error);
  o.search.beam_size = 1, o.session.speculative.draft = m.get();
  EXPECT_THROW(ParallelDecoder(*m, o), Error) << "two who propose";
}

}  // namespace
}  // namespace tril::search::speculative_test

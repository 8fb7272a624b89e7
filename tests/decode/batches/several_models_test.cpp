// Several models, or several drafts of one: proposed tokens do not change greedy search, an ensemble equals the mean
// computed in double, the least risky sample equals that of plain chrF, and in deterministic mode a sentence's bits do
// not depend on its batch.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "decode/batches/ensemble.h"
#include "decode/batches/parallel.h"
#include "decode/batches/prompt_lookup.h"
#include "decode/batches/score.h"
#include "decode/batches/speculative.h"
#include "kern/batch_invariant.h"
#include "kern/gemm.h"
#include "metrics/chrf.h"
#include "model/families/marian.h"
#include "search/mbr.h"
#include "support/tree_model.h"

namespace tril::search {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr std::int32_t vocab = 60, eos = 0;

std::unique_ptr<model::Marian> marian(std::uint64_t seed, std::int64_t d_model = 48, std::int64_t layers = 2) {
  model::MarianConfig k;
  k.vocab_size = k.decoder_vocab_size = vocab;
  k.d_model = d_model;
  k.encoder_layers = k.decoder_layers = layers;
  k.encoder_attention_heads = k.decoder_attention_heads = 4;
  k.encoder_ffn_dim = k.decoder_ffn_dim = 2 * d_model;
  k.max_position_embeddings = 64;
  k.pad_token_id = k.decoder_start_token_id = vocab - 1;
  k.eos_token_id = eos;
  k.init_std = 0.25;
  auto m = std::make_unique<model::Marian>(k);
  m->parameters().allocate();
  m->parameters().initialise(seed);
  m->parameters().refresh(kern::best());
  return m;
}

std::vector<Ids> sources_of(std::size_t n, std::uint64_t seed = 1) {
  RandomSequence random(seed, 7);
  std::vector<Ids> list(n);
  for (Ids& ids : list) {
    for (std::uint64_t i = 1 + random.below(25); i > 0; --i)
      ids.push_back(1 + static_cast<std::int32_t>(random.below(vocab - 2)));
    ids.push_back(eos);
  }
  return list;
}

std::vector<Request> requests_of(std::size_t n, std::int32_t longest = 30) {
  std::vector<Request> list;
  for (std::size_t i = 0; i < n; ++i)
    list.push_back({.start_id = vocab - 1,
                    .min_length = static_cast<std::int32_t>(i % 4),
                    .max_length = 4 + static_cast<std::int32_t>(i * 7) % longest,
                    .prefix = {},
                    .number = i});
  return list;
}

ParallelOptions greedy() {
  ParallelOptions o;
  o.search.eos_ids = {eos};
  o.search.scores = true;
  o.batch_size = 5;
  return o;
}

using Found = std::vector<std::vector<Hypothesis>>;

void expect_tokens(const Found& got, const Found& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].size(), expected[i].size()) << i;
    for (std::size_t n = 0; n < got[i].size(); ++n) {
      EXPECT_EQ(got[i][n].tokens, expected[i][n].tokens) << i << " " << n;
      EXPECT_NEAR(got[i][n].log_prob, expected[i][n].log_prob, 1e-3) << i << " " << n;
    }
  }
}

// --- speculative decoding ---

// Proposes the search's result, with random mistakes.
class HalfRight : public Proposer {
 public:
  HalfRight(const Found& truth, std::vector<std::size_t> given) : truth_(truth), given_(std::move(given)) {}
  void propose(Context&, const Drafts& rows, std::vector<Ids>& proposals) override {
    proposals.assign(rows.tokens.size(), {});
    for (std::size_t r = 0; r < rows.tokens.size(); ++r) {
      const auto s = static_cast<std::size_t>(rows.sentences[r]);
      const Ids& tokens = truth_[s][0].tokens;
      const std::size_t made = rows.tokens[r].size() - given_[s];
      const std::uint64_t n = random_.below(static_cast<std::uint64_t>(rows.most[r]) + 1);
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
  const Found expected = decode(c, plain, requests, o);
  for (const std::int64_t live : {0, 1, 2}) {
    TreeVerifier step(model);
    HalfRight proposer(expected, given);
    Speculation counts;
    const auto found = decode_speculatively(c, step, proposer, 4, requests, o, live, {}, counts);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i][0].tokens, expected[i][0].tokens) << live << i;
  }
  o.time_limit = 1e-9;
  TreeVerifier step(model);
  HalfRight proposer(expected, given);
  Speculation counts;
  for (const auto& list : decode_speculatively(c, step, proposer, 4, requests, o, 0, {}, counts)) {
    EXPECT_EQ(list[0].cut, Cut::time_limit);
    EXPECT_TRUE(list[0].tokens.empty());
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
    const Found expected = decode(c, plain, requests, o);
    for (const std::int32_t longest : {1, 4, 30})
      for (const std::int64_t live : {0, 1, 4}) {
        TreeVerifier step(model);
        HalfRight proposer(expected, given);
        Speculation counts;
        std::vector<Ids> told(requests.size());
        const auto found = decode_speculatively(c, step, proposer, longest, requests, o, live,
                                                {.on_token =
                                                     [&](const NewToken& t) {
                                                       if (t.token >= 0) told[t.request].push_back(t.token);
                                                     }},
                                                counts);
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
        o.cache = {.use = cache, .kept = {.window = window, .sinks = window / 3}};
        const Found plain = window == 0 ? expected : ParallelDecoder(*m, o).decode(sources, requests);
        if (way == 0) o.speculative.draft = small.get();
        if (way == 1) o.speculative.draft = m.get();
        if (way == 0) o.speculative.min_prob = window == 0 ? 0.2f : 0;
        if (way >= 2) o.speculative.lookup = way;
        o.speculative.tokens = 3;
        o.threads = 2;
        ParallelDecoder decoder(*m, o);
        expect_tokens(decoder.decode(sources, requests), plain);
        const Speculation s = decoder.speculation();
        EXPECT_GT(s.tokens, 0);
        EXPECT_LE(s.rows, s.tokens);
        if (way == 1) {
          EXPECT_GT(s.accepted, s.proposed * 9 / 10) << "a model agrees with itself";
        } else {
          EXPECT_LT(s.accepted, s.proposed);
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
    o.speculative = {.draft = small.get(), .tokens = 6, .min_prob = min_prob};
    ParallelDecoder decoder(*m, o);
    decoder.decode(sources, requests_of(23));
    const Speculation s = decoder.speculation();
    EXPECT_TRUE(min_prob < 1 || s.proposed <= s.rows) << "one each";
    proposed.push_back(s.proposed);
  }
  EXPECT_TRUE(std::is_sorted(proposed.rbegin(), proposed.rend()));
  EXPECT_LT(proposed.back(), proposed.front() / 2);
}

TEST(Speculative, LookupProposesWhatFollowed) {
  const std::vector<Ids> sources{{7, 8, 9, 10, 0}, {5}};
  Lookup lookup(sources, 2);
  Arena arena;
  Context c(arena);
  const auto proposed = [&](const Ids& text, std::int32_t sentence, std::int32_t most) {
    std::vector<Ids> out;
    const std::span<const std::int32_t> tokens(text);
    const std::int32_t end = 11;
    lookup.propose(c, {.tokens = {&tokens, 1}, .sentences = {&sentence, 1}, .most = {&most, 1}, .ends = {&end, 1}},
                   out);
    return out[0];
  };
  EXPECT_EQ(proposed({1, 2, 3, 4, 1, 2}, 0, 2), (Ids{3, 4}));
  EXPECT_EQ(proposed({1, 2, 3, 4, 1, 2}, 0, 9), (Ids{3, 4, 1, 2})) << "the text's own end may be what follows";
  EXPECT_EQ(proposed({59, 8, 9}, 0, 5), (Ids{10, 0})) << "of the source";
  EXPECT_EQ(proposed({2, 3, 2, 4, 6, 2}, 0, 1), (Ids{4})) << "the last time that it came";
  EXPECT_EQ(proposed({1, 2, 3}, 1, 4), Ids{}) << "nothing came twice";
  EXPECT_EQ(proposed({1, 2, 11, 1, 2}, 1, 4), Ids{}) << "an end is the model's own to say";
  EXPECT_EQ(proposed({1, 2, 3, 11, 1, 2}, 1, 4), (Ids{3})) << "nor is anything proposed behind it";
  EXPECT_EQ(proposed({59, 8, 9}, 0, 0), Ids{}) << "no room";
}

TEST(Speculative, Errors) {
  const auto m = marian(1);
  const std::vector<Ids> sources = sources_of(2);
  ParallelOptions o = greedy();
  o.speculative.lookup = 2, o.search.beam_size = 2;
  const auto refused = [&](const SearchPlan& s, const std::string& what) {
    ParallelOptions p = o;
    p.search = s;
    EXPECT_THROW(ParallelDecoder(*m, p), Error) << what;
    Arena arena;
    Context c(arena);
    EXPECT_THROW(Session(c, *m, {.speculative = o.speculative}).decode(sources, requests_of(2), s), Error) << what;
  };
  refused(o.search, "a beam");
  SearchPlan s = greedy().search;
  s.alternatives = true;
  refused(s, "alternatives");
  s = greedy().search, s.sampling.on = true;
  refused(s, "samples");
  s = greedy().search, s.attention.on = true;
  refused(s, "attention");
  Arena arena;
  Context c(arena);
  std::vector<Request> wanting = requests_of(2);
  wanting[1].phrases = {{3}};
  EXPECT_THROW(Session(c, *m, {.speculative = o.speculative}).decode(sources, wanting, greedy().search), Error);
  o.search.beam_size = 1, o.speculative.draft = m.get();
  EXPECT_THROW(ParallelDecoder(*m, o), Error) << "two who propose";
}

// Models used beside the main one must support the same lengths.
TEST(SeveralModels, OfFewerPositionsAreRefused) {
  const auto a = marian(1);
  model::MarianConfig k;
  k.vocab_size = k.decoder_vocab_size = static_cast<std::int64_t>(a->vocab_size());
  k.d_model = 16, k.encoder_layers = k.decoder_layers = 1, k.encoder_attention_heads = k.decoder_attention_heads = 2;
  k.encoder_ffn_dim = k.decoder_ffn_dim = 8, k.max_position_embeddings = a->max_positions() - 1;
  k.pad_token_id = k.decoder_start_token_id = vocab - 1;
  const model::Marian shorter(k);
  ParallelOptions o = greedy();
  o.ensemble.others = {&shorter};
  EXPECT_THROW(ParallelDecoder(*a, o), Error);
  o.ensemble.others.clear(), o.speculative.draft = &shorter;
  EXPECT_THROW(ParallelDecoder(*a, o), Error);
}

// --- ensembles ---

std::vector<std::vector<double>> softmax_rows(const std::vector<float>& x, std::size_t cols) {
  std::vector<std::vector<double>> p;
  for (std::size_t i = 0; i < x.size(); i += cols) {
    std::vector<double> row(x.begin() + static_cast<long>(i), x.begin() + static_cast<long>(i + cols));
    const double most = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (double& v : row) sum += v = std::exp(v - most);
    for (double& v : row) v /= sum;
    p.push_back(std::move(row));
  }
  return p;
}

TEST(Ensemble, MeansAreThoseOfALoopInDouble) {
  for (const kern::Kernels* kernels : kern::tables())
    for (const std::size_t cols : {1u, 5u, 16u, 33u, 100u})
      for (const auto mean : {EnsembleOptions::Mean::log_probabilities, EnsembleOptions::Mean::probabilities}) {
        Arena arena;
        Context c(arena, *kernels);
        RandomSequence random(cols, 1);
        const std::size_t rows = 3, models = 3;
        const std::vector<double> weights = settled_weights(std::vector<double>{1, 3, 0.5}, models);
        std::vector<Tensor> logits;
        std::vector<std::vector<std::vector<double>>> p;
        for (std::size_t m = 0; m < models; ++m) {
          std::vector<float> x(rows * cols);
          for (float& v : x) v = static_cast<float>(8 * random.normal());
          p.push_back(softmax_rows(x, cols));
          logits.push_back(c.upload<float>(x, {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(cols)}));
        }
        const auto got = host_copy<float>(mean_log_probs(c, logits, weights, mean));
        for (std::size_t r = 0; r < rows; ++r) {
          std::vector<double> expected(cols, 0.0);
          double sum = 0;
          for (std::size_t v = 0; v < cols; ++v) {
            for (std::size_t m = 0; m < models; ++m)
              expected[v] +=
                  weights[m] * (mean == EnsembleOptions::Mean::probabilities ? p[m][r][v] : std::log(p[m][r][v]));
            if (mean == EnsembleOptions::Mean::log_probabilities) expected[v] = std::exp(expected[v]);
            sum += expected[v];
          }
          for (std::size_t v = 0; v < cols; ++v)
            EXPECT_NEAR(got[r * cols + v], std::log(expected[v] / sum), 1e-4) << kernels->name << " " << cols;
        }
      }
}

TEST(Ensemble, OfOneModelIsThatModelAndScoringAgreesWithSearching) {
  const auto a = marian(1), b = marian(5), d = marian(9, 32, 1);
  const std::vector<Ids> sources = sources_of(13);
  std::vector<Request> requests = requests_of(13);
  for (Request& r : requests) r.min_length = 0;
  for (const std::int32_t beam : {1, 3})
    for (const auto mean : {EnsembleOptions::Mean::log_probabilities, EnsembleOptions::Mean::probabilities}) {
      ParallelOptions o = greedy();
      o.search.beam_size = o.search.n_best = beam;
      const Found alone = ParallelDecoder(*a, o).decode(sources, requests);
      o.ensemble = {.others = {a.get(), a.get()}, .weights = {0.2, 3, 1}, .mean = mean};
      expect_tokens(ParallelDecoder(*a, o).decode(sources, requests), alone);

      o.ensemble = {.others = {b.get(), d.get()}, .weights = {1, 3, 2}, .mean = mean};
      const Found found = ParallelDecoder(*a, o).decode(sources, requests);
      o.cache.use = false, o.batch_size = 2;
      expect_tokens(ParallelDecoder(*a, o).decode(sources, requests), found);
      WorkerPool workers(1);
      std::size_t other = 0;
      for (std::size_t i = 0; i < sources.size(); ++i) {
        other += found[i][0].tokens != alone[i][0].tokens;
        for (const Hypothesis& h : found[i]) {
          const std::vector<Ids> source{sources[i]}, target{h.tokens};
          EXPECT_NEAR(score_all(workers, *a, source, target, 4, {.ensemble = o.ensemble})[0].log_prob, h.log_prob,
                      1e-3);
        }
      }
      EXPECT_GT(other, 0u) << "the others have a say";
    }
}

TEST(Ensemble, Errors) {
  const auto a = marian(1);
  ParallelOptions o = greedy();
  o.ensemble.weights = {1, 2};
  EXPECT_THROW(ParallelDecoder(*a, o), Error) << "two weights for a model";
  o.ensemble.weights = {-1};
  EXPECT_THROW(ParallelDecoder(*a, o), Error);
  model::MarianConfig k;
  k.vocab_size = k.decoder_vocab_size = vocab + 1;
  k.d_model = 16, k.encoder_layers = k.decoder_layers = 1, k.encoder_attention_heads = k.decoder_attention_heads = 2;
  k.encoder_ffn_dim = k.decoder_ffn_dim = 8, k.max_position_embeddings = 8;
  k.pad_token_id = k.decoder_start_token_id = vocab;
  const model::Marian larger(k);
  o.ensemble = {.others = {&larger}, .weights = {}};
  EXPECT_THROW(ParallelDecoder(*a, o), Error) << "another vocabulary";
}

// --- minimum Bayes risk ---

TEST(Mbr, UtilitiesAreMeansOfPlainChrf) {
  const std::vector<std::string> texts{"ein Hund läuft", "der Hund läuft.", "ein Hund läuft", "", "Katzen", "ein"};
  const std::vector<double> pairs = chrf_of_each_pair(texts), got = expected_utilities(texts);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < texts.size(); ++j) {
      const std::vector<std::vector<std::string>> reference{{texts[j]}};
      const double plain = chrf({texts[i]}, reference);
      EXPECT_NEAR(pairs[i * texts.size() + j], plain, 1e-9) << texts[i] << " | " << texts[j];
      if (i != j) sum += plain;
    }
    EXPECT_NEAR(got[i], sum / 5, 1e-9);
  }
  const std::vector<std::size_t> order = by_utility(texts, got);
  EXPECT_EQ(order[0], 0u) << "the text that came twice, where it came first";
  EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), 5u) << "equal texts once";
  EXPECT_EQ(expected_utilities({"alone"}), std::vector<double>{100.0});
}

// --- the deterministic mode ---

TEST(Deterministic, ARowOfAProductIsItsOwn) {
  for (const auto& [n, k] :
       {std::pair<std::size_t, std::size_t>{1, 1}, {7, 3}, {33, 16}, {128, 512}, {1000, 64}, {512, 2048}})
    for (const bool transposed : {false, true})
      for (const bool accumulate : {false, true}) {
        constexpr std::size_t rows = 53;
        RandomSequence random(n, k);
        std::vector<float> a(rows * k), b(n * k), start(rows * n);
        for (auto* x : {&a, &b, &start})
          for (float& v : *x) v = static_cast<float>(random.normal());
        const auto product = [&, n = n, k = k](std::size_t first, std::size_t m) {
          std::vector<float> c(start.begin() + static_cast<long>(first * n),
                               start.begin() + static_cast<long>((first + m) * n));
          kern::Gemm g{.m = m, .n = n, .k = k};
          g.a = a.data() + first * k, g.a_stride = k;
          g.b = b.data(), g.b_stride = transposed ? k : n;
          g.c = c.data(), g.c_stride = n;
          g.transpose_b = transposed, g.accumulate = accumulate;
          kern::batch_invariant(kern::best()).gemm(g);
          return c;
        };
        const std::vector<float> all = product(0, rows);
        for (const std::size_t m : {1u, 2u, 5u, 15u, 16u, 17u, 31u, 40u})
          for (std::size_t first = 0; first + m <= rows; first += 9) {
            const std::vector<float> part = product(first, m);
            for (std::size_t i = 0; i < m * n; ++i)
              ASSERT_EQ(part[i], all[first * n + i]) << "m " << m << " n " << n << " k " << k << " row " << i / n;
          }
      }
}

TEST(Deterministic, NothingBesideASentenceChangesABit) {
  const auto m = marian(1, 64);
  const std::vector<Ids> sources = sources_of(70, 3);
  std::vector<Request> requests = requests_of(70);
  for (const int way : {0, 1, 2}) {
    ParallelOptions o = greedy();
    o.deterministic = true;
    if (way == 1) o.search.beam_size = o.search.n_best = 4;
    if (way == 2) o.search.sampling.on = true, o.search.n_best = 3;
    o.batch_size = 1;
    const Found alone = ParallelDecoder(*m, o).decode(sources, requests);
    std::vector<std::size_t> shuffled(sources.size());
    for (std::size_t i = 0; i < shuffled.size(); ++i) shuffled[i] = (i * 37 + 11) % shuffled.size();
    for (const auto& [batch, threads, refill] : {std::tuple{7, 1, 1}, {32, 1, 4}, {500, 1, 1}, {7, 3, 4}, {32, 2, 1}}) {
      o.batch_size = batch, o.threads = threads, o.refill = refill;
      std::vector<Ids> mixed;
      std::vector<Request> mixed_requests;
      for (std::size_t i : shuffled) mixed.push_back(sources[i]), mixed_requests.push_back(requests[i]);
      const Found together = ParallelDecoder(*m, o).decode(sources, requests);
      const Found in_disorder = ParallelDecoder(*m, o).decode(mixed, mixed_requests);
      for (std::size_t i = 0; i < sources.size(); ++i)
        for (std::size_t n = 0; n < alone[i].size(); ++n) {
          EXPECT_EQ(together[i][n].tokens, alone[i][n].tokens);
          EXPECT_EQ(together[i][n].log_prob, alone[i][n].log_prob) << "batch " << batch << " sentence " << i;
        }
      for (std::size_t i = 0; i < shuffled.size(); ++i)
        for (std::size_t n = 0; n < alone[shuffled[i]].size(); ++n)
          EXPECT_EQ(in_disorder[i][n].log_prob, alone[shuffled[i]][n].log_prob) << "shuffled, batch " << batch;
    }
  }
}

}  // namespace
}  // namespace tril::search

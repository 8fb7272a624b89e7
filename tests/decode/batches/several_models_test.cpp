// Several models: an ensemble equals the mean computed in double, the least risky sample equals that of plain chrF, and in
// deterministic mode a sentence's bits do not depend on its batch.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "decode/batches/parallel.h"
#include "decode/batches/score.h"
#include "decode/texts/mbr.h"
#include "kern/batch_invariant.h"
#include "kern/gemm.h"
#include "metrics/chrf.h"
#include "model/families/marian.h"
#include "support/small_translators.h"
#include "support/tree_model.h"

namespace tril::search::several_models_test {
namespace {

using namespace small;

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
  o.session.ensemble.others = {&shorter};
  EXPECT_THROW(ParallelDecoder(*a, o), Error);
  o.session.ensemble.others.clear(), o.session.speculative.draft = &shorter;
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
      o.session.ensemble = {.others = {a.get(), a.get()}, .weights = {0.2, 3, 1}, .mean = mean};
      expect_tokens(ParallelDecoder(*a, o).decode(sources, requests), alone);

      o.session.ensemble = {.others = {b.get(), d.get()}, .weights = {1, 3, 2}, .mean = mean};
      const Found found = ParallelDecoder(*a, o).decode(sources, requests);
      o.session.cache.use = false, o.batch_size = 2;
      expect_tokens(ParallelDecoder(*a, o).decode(sources, requests), found);
      WorkerPool workers(1);
      std::size_t other = 0;
      for (std::size_t i = 0; i < sources.size(); ++i) {
        other += found[i][0].tokens != alone[i][0].tokens;
        for (const Hypothesis& h : found[i]) {
          const std::vector<Ids> source{sources[i]}, target{h.tokens};
          EXPECT_NEAR(score_all(workers, *a, {source, target}, 4, {.ensemble = o.session.ensemble})[0].log_prob,
                      h.log_prob, 1e-3);
        }
      }
      EXPECT_GT(other, 0u) << "the others have a say";
    }
}

TEST(Ensemble, Errors) {
  const auto a = marian(1);
  ParallelOptions o = greedy();
  o.session.ensemble.weights = {1, 2};
  EXPECT_THROW(ParallelDecoder(*a, o), Error) << "two weights for a model";
  o.session.ensemble.weights = {-1};
  EXPECT_THROW(ParallelDecoder(*a, o), Error);
  model::MarianConfig k;
  k.vocab_size = k.decoder_vocab_size = vocab + 1;
  k.d_model = 16, k.encoder_layers = k.decoder_layers = 1, k.encoder_attention_heads = k.decoder_attention_heads = 2;
  k.encoder_ffn_dim = k.decoder_ffn_dim = 8, k.max_position_embeddings = 8;
  k.pad_token_id = k.decoder_start_token_id = vocab;
  const model::Marian larger(k);
  o.session.ensemble = {.others = {&larger}, .weights = {}};
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
}  // namespace tril::search::several_models_test

// The attention of generated tokens equals what an observer sees when the decoder is fed the same tokens, whatever the
// search and its batches; and the coverage penalty computed from it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "decode/batches/parallel.h"
#include "decode/batches/score.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "search/attention_trail.h"
#include "support/random_adapters.h"
#include "support/small_encoder_decoders.h"
#include "support/small_marian.h"
#include "support/watcher.h"

namespace tril::search {
namespace {

using Ids = std::vector<std::int32_t>;

std::vector<Ids> sources(int count) {
  RandomSequence random(3, 1);
  std::vector<Ids> list;
  for (int i = 0; i < count; ++i) {
    list.emplace_back();
    for (std::uint64_t n = 1 + random.below(9); n > 0; --n)
      list.back().push_back(static_cast<std::int32_t>(2 + random.below(36)));
    list.back().push_back(0);
  }
  return list;
}

// [tokens, source] as observed: the mean over `heads` (none: all) of decoder layer `layer`.
std::vector<float> watched(const model::Model& m, const Ids& source, const Ids& tokens, std::int64_t layer,
                           std::vector<std::int32_t> heads) {
  Arena arena;
  Context c(arena);
  std::vector<float> weights;
  const std::string name = "layers." + std::to_string(layer) + ".encoder_attn";
  const Watcher watcher(c, "weights", [&](const std::string& where, const Tensor& w) {
    if (where.ends_with(name)) weights = host_copy<float>(w);
  });
  const std::vector<Ids> one{source};
  const model::Memory memory = encode(c, m, one);
  Ids input = tokens;
  std::rotate(input.begin(), input.end() - 1, input.end());
  input[0] = m.special_ids().decoder_start;
  Rows rows;
  rows.append(static_cast<std::int32_t>(input.size()));
  m.decode(c, {.ids = input, .rows = rows, .memory = &memory, .memory_rows = {}});
  const std::size_t size = tokens.size() * source.size();
  if (heads.empty())
    for (std::int32_t h = 0; h < 4; ++h) heads.push_back(h);
  std::vector<float> mean(size);
  for (const std::int32_t h : heads)
    for (std::size_t i = 0; i < size; ++i)
      mean[i] += weights.at(static_cast<std::size_t>(h) * size + i) / static_cast<float>(heads.size());
  return mean;
}

void expect_close(const std::vector<float>& got, const std::vector<float>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 2e-5) << i;
}

SearchPlan options(std::int32_t beam) {
  SearchPlan o;
  o.beam_size = o.n_best = beam;
  o.eos_ids = {0};
  o.scores = true;
  o.attention.emplace();
  return o;
}

TEST(TokenAttention, IsThatOfTheObserver) {
  const auto m = testing::small_marian();
  const std::vector<Ids> from = sources(9);
  const std::vector<Request> requests(from.size(), {.start_id = 39, .max_length = 12});
  for (const std::int32_t beam : {1, 4})
    for (const auto& [layer, heads] : {std::pair{std::int64_t{-1}, std::vector<std::int32_t>{}}, {0, {2}}, {1, {3, 1}}})
      for (const bool cache : {true, false}) {
        SearchPlan o = options(beam);
        o.attention = nn::AttentionHeads{layer, heads};
        ParallelDecoder decoder(*m, {.search = o, .batch_size = 4, .threads = 2, .session = {.cache = {.use = cache}}});
        const auto found = decoder.decode(from, requests);
        for (std::size_t i = 0; i < from.size(); ++i) {
          ASSERT_EQ(found[i].size(), static_cast<std::size_t>(beam));
          for (const Hypothesis& h : found[i])
            expect_close(h.attention, watched(*m, from[i], h.tokens, layer < 0 ? 1 : layer, heads));
        }
      }
}

// If the memory is packed for products of fewer bits, the layer's keys are computed once more on request.
TEST(TokenAttention, OfModelsServedWithFewerBits) {
  const auto m = testing::small_marian();
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tril_attention_" + std::to_string(::getpid()));
  model::save(*m, folder);
  const std::vector<Ids> from = sources(6);
  const std::vector<Request> requests(from.size(), {.start_id = 39, .max_length = 8});
  for (const nn::Precision precision : {nn::Precision::bf16, nn::Precision::int8}) {
    const auto served = model::load(model::ModelSource::open(folder), precision);
    ParallelDecoder decoder(*served, {.search = options(3), .batch_size = 4, .threads = 2});
    const auto found = decoder.decode(from, requests);
    for (std::size_t i = 0; i < from.size(); ++i)
      for (const Hypothesis& h : found[i]) {
        const std::vector<float> exact = watched(*m, from[i], h.tokens, 1, {});
        ASSERT_EQ(h.attention.size(), exact.size());
        for (std::size_t k = 0; k < exact.size(); ++k) EXPECT_NEAR(h.attention[k], exact[k], 0.1) << k;
      }
  }
  std::filesystem::remove_all(folder);
}

// Those keys are of the adapter that a source was read with.
TEST(TokenAttention, OfSourcesWithDifferentAdapters) {
  const auto m = testing::small_marian();
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tril_attention_adapters_" + std::to_string(::getpid()));
  model::save(*m, folder);
  const auto served = model::load(model::ModelSource::open(folder), nn::Precision::bf16);
  testing::give_adapters(*served);
  const std::vector<Ids> from = sources(8);
  std::vector<Request> requests(from.size(), {.start_id = 39, .max_length = 8});
  for (std::size_t i = 0; i < requests.size(); ++i) requests[i].adapter = static_cast<std::int32_t>(i % 4) - 1;
  ParallelDecoder together(*served, {.search = options(1), .batch_size = 8, .threads = 1}),
      alone(*served, {.search = options(1), .batch_size = 1, .threads = 1});
  const auto found = together.decode(from, requests), expected = alone.decode(from, requests);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Hypothesis &got = found[i].at(0), &one = expected[i].at(0);
    ASSERT_EQ(got.attention.size(), got.tokens.size() * from[i].size());
    for (std::size_t k = 0; k < from[i].size(); ++k)  // of the first token, on which roundings have little effect
      EXPECT_NEAR(got.attention[k], one.attention.at(k), 0.03) << i;
  }
  std::filesystem::remove_all(folder);
}

TEST(TokenAttention, OfSamplesAndOfGivenBeginnings) {
  const auto m = testing::small_marian();
  const std::vector<Ids> from = sources(3);
  SearchPlan o = options(1);
  o.sampling.on = true;
  o.n_best = 3;
  const std::vector<Request> requests(from.size(), {.start_id = 39, .max_length = 8, .prefix = {5, 9}});
  ParallelDecoder decoder(*m, {.search = o});
  const auto found = decoder.decode(from, requests);
  for (std::size_t i = 0; i < from.size(); ++i)
    for (const Hypothesis& h : found[i]) {
      Ids all{5, 9};
      all.insert(all.end(), h.tokens.begin(), h.tokens.end());
      const std::vector<float> expected = watched(*m, from[i], all, 1, {});
      expect_close(h.attention, {expected.begin() + static_cast<std::ptrdiff_t>(2 * from[i].size()), expected.end()});
    }
}

TEST(TokenAttention, ChangesNothingElse) {
  const auto m = testing::small_marian();
  const std::vector<Ids> from = sources(9);
  const std::vector<Request> requests(from.size(), {.start_id = 39, .max_length = 12});
  SearchPlan with = options(4), without = with;
  without.attention.reset();
  ParallelDecoder a(*m, {.search = with}), b(*m, {.search = without});
  const auto looked = a.decode(from, requests), not_looked = b.decode(from, requests);
  for (std::size_t i = 0; i < from.size(); ++i)
    for (std::size_t n = 0; n < 4; ++n) {
      EXPECT_EQ(looked[i][n].tokens, not_looked[i][n].tokens);
      EXPECT_EQ(looked[i][n].score, not_looked[i][n].score);
      EXPECT_TRUE(not_looked[i][n].attention.empty());
    }
}

TEST(TokenAttention, OfScoredPairs) {
  const auto m = testing::small_marian();
  const std::vector<Ids> from = sources(7);
  std::vector<Ids> to(from.rbegin(), from.rend());
  WorkerPool workers(2);
  const std::vector<Score> scores =
      score_all(workers, *m, {from, to}, 3, {.attention = nn::AttentionHeads{.layer = 0}});
  const std::vector<Score> plain = score_all(workers, *m, {from, to}, 3);
  for (std::size_t i = 0; i < from.size(); ++i) {
    expect_close(scores[i].attention, watched(*m, from[i], to[i], 0, {}));
    EXPECT_EQ(scores[i].log_prob, plain[i].log_prob);
    EXPECT_TRUE(plain[i].attention.empty());
  }
}

TEST(TokenAttention, LayersAndHeadsThatAreNotThere) {
  const auto m = testing::small_marian();
  EXPECT_THROW(model::tap_of(*m, nn::AttentionHeads{2, {}}), Error);
  EXPECT_THROW(model::tap_of(*m, nn::AttentionHeads{0, {4}}), Error);
  EXPECT_EQ(model::tap_of(*m, std::nullopt).of.layer, 1);
  const nlohmann::json capped = testing::small_encoder_decoders()[0];
  EXPECT_THROW(model::tap_of(*model::make(JsonObject(capped, "config.json")), std::nullopt), Error);
}

// [Wu et al. 2016, eq. 14] by hand: the first token has 0.8, the second 1.2, the third 0.5, the fourth nothing.
TEST(CoveragePenalty, IsTheFormula) {
  const std::vector<float> attention{0.6f, 0.3f, 0.1f, 0, 0.2f, 0.9f, 0.4f, 0};
  EXPECT_NEAR(coverage_penalty(attention, 2, 0.5), 0.5 * (std::log(0.8) + std::log(0.5)), 1e-6);
  EXPECT_EQ(coverage_penalty(attention, 2, 0), 0);
  EXPECT_EQ(coverage_penalty({}, 0, 1), 0);
}

TEST(CoveragePenalty, IsPartOfTheScoreAndOfTheRank) {
  const auto m = testing::small_marian();
  const std::vector<Ids> from = sources(200);
  const std::vector<Request> requests(from.size(), {.start_id = 39, .max_length = 12});
  SearchPlan o = options(4);
  ParallelDecoder plain(*m, {.search = o});
  o.coverage_penalty = 2;
  ParallelDecoder covering(*m, {.search = o});
  const auto before = plain.decode(from, requests), after = covering.decode(from, requests);
  int changed = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (const Hypothesis& h : after[i])
      EXPECT_NEAR(h.score,
                  normalized(h.log_prob, static_cast<std::int32_t>(h.tokens.size()), o.length_penalty) +
                      coverage_penalty(h.attention, h.tokens.size(), 2),
                  1e-9);
    EXPECT_TRUE(std::is_sorted(after[i].begin(), after[i].end(),
                               [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; }));
    // The plain search's best, scored with the penalty, is not better than the result of the covering search.
    const Hypothesis& best = before[i][0];
    EXPECT_LE(best.score + coverage_penalty(best.attention, best.tokens.size(), 2), after[i][0].score + 1e-9);
    changed += best.tokens != after[i][0].tokens ? 1 : 0;
  }
  EXPECT_GT(changed, 3) << "the cases do not test ranking";
  o.attention.reset();
  EXPECT_THROW(check_options(o, 40), Error);
}

}  // namespace
}  // namespace tril::search

#include "train/distributed/workers.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <mutex>
#include <set>

#include "decode/batches/score.h"
#include "support/training.h"
#include "train/loop/data.h"

namespace tril::train {
namespace {

using test::LetterTokenizer;

struct Scene {
  explicit Scene(int threads, int parts, double dropout = 0, double clip = 0, double r_drop = 0,
                 std::int64_t pass_values = WorkersOptions().pass_values, std::int64_t r_drop_start = 0) {
    test::write_reversals(dir, "train", 200, 1);
    TrainOptions o = test::small_options(dir);
    o.model.dropout = dropout;
    o.data.max_tokens = 300;
    model = build_model(o.model, *tokenizer);
    model->parameters().initialise(1);
    optimizer = std::make_unique<Optimizer>(model->parameters(), OptimizerOptions{});
    WorkersOptions w;
    w.threads = threads, w.parts = parts,
    w.loss = {.label_smoothing = 0.1, .r_drop = r_drop, .r_drop_start = r_drop_start}, w.clip_norm = clip, w.seed = 5;
    w.pass_values = pass_values;
    workers = std::make_unique<Workers>(*model, *optimizer, w);
    batches = read_batches(training_corpus(o), tokenizer);
  }
  std::vector<float> weights() const { return host_copy<float>(model->parameters().flat()); }

  TemporaryDirectory dir;
  std::shared_ptr<LetterTokenizer> tokenizer = std::make_shared<LetterTokenizer>();
  std::unique_ptr<model::Model> model;
  std::unique_ptr<Optimizer> optimizer;
  std::unique_ptr<Workers> workers;
  std::vector<Batch> batches;
};

Batch joined(const Batch& a, const Batch& b) {
  Batch all = a;
  for (std::int64_t i = 0; i < b.sentences(); ++i)
    all.append(b.source_row(i), b.target_row(i), b.lines[static_cast<std::size_t>(i)]);
  return all;
}

TEST(Workers, SeveralEqualOneUpToRounding) {
  for (int threads : {2, 3}) {
    Scene one(1, 1), many(threads, threads);
    for (std::int64_t u = 1; u <= 3; ++u) {
      const auto i = static_cast<std::size_t>(u);
      const UpdateResult a = one.workers->update({&one.batches[i], 1}, u, 1e-3);
      const UpdateResult b = many.workers->update({&many.batches[i], 1}, u, 1e-3);
      EXPECT_EQ(a.tokens, b.tokens);
      EXPECT_NEAR(a.loss, b.loss, 1e-5 * a.loss);
      EXPECT_NEAR(a.gradient_norm, b.gradient_norm, 1e-4 * a.gradient_norm);
    }
  }
}

TEST(Workers, RunOnTheirCores) {
  const std::vector<int> allowed = processors_of_thread();
  const int threads = std::min(2, static_cast<int>(allowed.size()));
  Scene scene(threads, threads), free(threads, threads);
  WorkersOptions w;
  w.threads = w.parts = threads;
  w.loss = {.label_smoothing = 0.1}, w.seed = 5;
  w.placement = placement_of({.pin = "spread"}, threads);
  std::mutex mutex;
  std::set<std::vector<int>> bound;
  w.stop = [&] {
    const std::lock_guard lock(mutex);
    bound.insert(processors_of_thread());
    return false;
  };
  Workers pinned(*scene.model, *scene.optimizer, w);
  const std::vector<Batch> two{scene.batches[0], scene.batches[1]};
  const UpdateResult a = pinned.update(two, 1, 1e-3), b = free.workers->update(two, 1, 1e-3);
  std::set<std::vector<int>> expected;
  for (const int core : w.placement.cores) expected.insert({core});
  EXPECT_EQ(bound, expected);
  EXPECT_EQ(processors_of_thread(), allowed) << "the caller is free again";
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(scene.weights(), free.weights()) << "the same bits wherever threads run";
}

TEST(Workers, AccumulatedBatchesEqualTheLargeOne) {
  Scene small(2, 2), large(2, 2);
  const std::vector<Batch> two{small.batches[0], small.batches[1]};
  const Batch both = joined(two[0], two[1]);
  const UpdateResult a = small.workers->update(two, 1, 1e-3);
  const UpdateResult b = large.workers->update({&both, 1}, 1, 1e-3);
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_NEAR(a.loss, b.loss, 1e-5 * a.loss);
  EXPECT_NEAR(a.gradient_norm, b.gradient_norm, 1e-4 * a.gradient_norm);
}

TEST(Workers, APartInPassesIsTheWhole) {
  for (double r_drop : {0.0, 2.0}) {
    Scene whole(2, 2, 0, 0, r_drop), cut(2, 2, 0, 0, r_drop, 400);
    const UpdateResult a = whole.workers->update({&whole.batches[0], 1}, 1, 1e-3);
    const UpdateResult b = cut.workers->update({&cut.batches[0], 1}, 1, 1e-3);
    EXPECT_EQ(a.tokens, b.tokens);
    EXPECT_NEAR(a.loss, b.loss, 1e-5 * a.loss);
    EXPECT_NEAR(a.gradient_norm, b.gradient_norm, 1e-4 * a.gradient_norm);
    EXPECT_LT(cut.workers->arena_bytes(), whole.workers->arena_bytes());
  }
}

TEST(Workers, PassesDrawTheirOwnDropout) {
  Scene a(2, 2, 0.3, 0, 0, 400), b(2, 2, 0.3, 0, 0, 400), other(1, 2, 0.3, 0, 0, 400);
  const double loss = a.workers->update({&a.batches[0], 1}, 1, 1e-3).loss;
  EXPECT_EQ(loss, b.workers->update({&b.batches[0], 1}, 1, 1e-3).loss);
  EXPECT_EQ(loss, other.workers->update({&other.batches[0], 1}, 1, 1e-3).loss) << "threads do not decide";
  // The same pair twice, one pass each: if both passes used the same stream, their losses would be equal.
  Batch twice;
  for (std::int64_t line = 0; line < 2; ++line)
    twice.append(a.batches[0].source_row(0), a.batches[0].target_row(0), line);
  Batch once;
  once.append(a.batches[0].source_row(0), a.batches[0].target_row(0), 0);
  Scene one(1, 1, 0.3, 0, 0, 1), two(1, 1, 0.3, 0, 0, 1);
  EXPECT_NE(one.workers->update({&once, 1}, 1, 0).loss, two.workers->update({&twice, 1}, 1, 0).loss);
}

// A pair of weight 2 counts twice, one of weight 0 has no effect, and a common factor scales loss and gradient.
TEST(Workers, WeightsMultiplyThePairsLosses) {
  const auto update = [](const std::function<void(Batch&)>& change, int parts = 2) {
    Scene s(parts, parts);
    Batch batch = s.batches[0];
    change(batch);
    const UpdateResult r = s.workers->update({&batch, 1}, 1, 1e-3);
    return std::array{r.loss * static_cast<double>(r.tokens), r.gradient_norm * static_cast<double>(r.tokens)};
  };
  const auto expect_near = [](const std::array<double, 2>& a, const std::array<double, 2>& b, double factor) {
    EXPECT_NEAR(a[0], factor * b[0], 1e-5 * factor * b[0]);
    EXPECT_NEAR(a[1], factor * b[1], 1e-4 * factor * b[1]);
  };
  const auto weights = [](std::size_t i) { return static_cast<float>(i % 3); };
  const auto weighted = update([&](Batch& b) {
    for (std::size_t i = 0; i < b.lines.size(); ++i) b.weights.push_back(weights(i));
  });
  const auto copied = update([&](Batch& b) {
    Batch copies;
    for (std::size_t i = 0; i < b.lines.size(); ++i)
      for (float n = 0; n < weights(i); ++n)
        copies.append(b.source_row(static_cast<std::int64_t>(i)), b.target_row(static_cast<std::int64_t>(i)), 0);
    b = copies;
  });
  expect_near(weighted, copied, 1);
  const auto plain = update([](Batch&) {});
  expect_near(update([](Batch& b) { b.weights.assign(b.lines.size(), 1.0f); }), plain, 1);
  expect_near(update([](Batch& b) { b.weights.assign(b.lines.size(), 2.5f); }, 3), plain, 2.5);
}

TEST(Workers, SameThreadsSameBitsAndPartsDecideNotThreads) {
  const auto run = [](int threads, int parts) {
    Scene s(threads, parts, 0.2, 1.0);
    for (std::int64_t u = 1; u <= 4; ++u) s.workers->update({&s.batches[static_cast<std::size_t>(u)], 1}, u, 1e-2);
    return s.weights();
  };
  EXPECT_EQ(run(2, 2), run(2, 2));
  const std::vector<float> four = run(4, 4);
  EXPECT_EQ(run(1, 4), four);
  EXPECT_EQ(run(3, 4), four);
}

TEST(Workers, DropoutDependsOnTheUpdatesNumber) {
  Scene a(1, 1, 0.5), b(1, 1, 0.5), again(1, 1, 0.5);
  const UpdateResult first = a.workers->update({&a.batches[0], 1}, 1, 0),
                     other = b.workers->update({&b.batches[0], 1}, 2, 0);
  EXPECT_NE(first.loss, other.loss);
  EXPECT_EQ(first.loss, again.workers->update({&again.batches[0], 1}, 1, 0).loss);
}

TEST(Workers, RDropWithoutDropoutIsThePlainLossTwice) {
  Scene plain(2, 2), twice(2, 2, 0, 0, 5);
  const UpdateResult a = plain.workers->update({&plain.batches[0], 1}, 1, 1e-3),
                     b = twice.workers->update({&twice.batches[0], 1}, 1, 1e-3);
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_NEAR(a.loss, b.loss, 1e-5 * a.loss);
  EXPECT_NEAR(a.gradient_norm, b.gradient_norm, 1e-4 * a.gradient_norm);
}

TEST(Workers, RDropsTwoPassesDiffer) {
  const auto loss = [](double alpha) {
    Scene s(1, 1, 0.3, 0, alpha);
    return s.workers->update({&s.batches[0], 1}, 1, 0).loss;
  };
  // The same masks whatever alpha is: the loss grows by alpha times the divergence of the passes.
  const double at_1 = loss(1), at_2 = loss(2), at_5 = loss(5);
  EXPECT_GT(at_2 - at_1, 1e-4);
  EXPECT_NEAR(at_5 - at_1, 4 * (at_2 - at_1), 1e-4);
}

TEST(Workers, RDropBeginsWhereItIsTold) {
  const auto losses = [](double alpha, std::int64_t start) {
    Scene s(1, 1, 0.3, 0, alpha, WorkersOptions().pass_values, start);
    std::vector<double> list;
    for (std::int64_t u = 1; u <= 4; ++u) list.push_back(s.workers->update({&s.batches[0], 1}, u, 1e-2).loss);
    return list;
  };
  const std::vector<double> never = losses(0, 0), late = losses(5, 2), always = losses(5, 0);
  for (std::size_t u : {0u, 1u}) EXPECT_EQ(late[u], never[u]) << u;
  EXPECT_NE(always[0], never[0]);
  for (std::size_t u : {2u, 3u}) EXPECT_GT(late[u], never[u] + 0.01) << u;
}

TEST(Workers, RDropDoesNotDependOnThreads) {
  const auto run = [](int threads) {
    Scene s(threads, 4, 0.2, 1.0, 3);
    for (std::int64_t u = 1; u <= 3; ++u) s.workers->update({&s.batches[static_cast<std::size_t>(u)], 1}, u, 1e-2);
    return s.weights();
  };
  EXPECT_EQ(run(1), run(3));
}

TEST(Workers, FewerSentencesThanWorkers) {
  Scene s(3, 3);
  Batch single;
  single.append(s.batches[0].source_row(0), s.batches[0].target_row(0), 0);
  const UpdateResult r = s.workers->update({&single, 1}, 1, 1e-3);
  EXPECT_TRUE(r.finite);
  EXPECT_GT(r.gradient_norm, 0);
}

TEST(Workers, NothingIsSteppedWhereTheLossIsNotFinite) {
  Scene s(2, 2);
  std::vector<float> spoilt = s.weights();
  spoilt[3] = std::nanf("");
  host_write<float>(s.model->parameters().flat(), spoilt);
  s.workers->refresh();
  const UpdateResult r = s.workers->update({&s.batches[0], 1}, 1, 1e-3);
  EXPECT_FALSE(r.finite);
  EXPECT_EQ(s.optimizer->steps(), 0);
  const std::vector<float> now = s.weights();
  for (std::size_t i = 0; i < now.size(); ++i)
    if (i != 3) {
      ASSERT_EQ(now[i], spoilt[i]);
    }
}

TEST(Workers, AWorkersErrorReachesTheCallerAndLeavesTheWeights) {
  Scene s(3, 3);
  const std::vector<float> before = s.weights();
  Batch bad = s.batches[0];
  bad.source_ids[bad.source_ids.size() / 2] = 4000;  // no such id
  for (int i = 0; i < 3; ++i) EXPECT_THROW(s.workers->update({&bad, 1}, 1, 1e-3), Error);
  EXPECT_EQ(s.weights(), before);
  EXPECT_TRUE(s.workers->update({&s.batches[0], 1}, 1, 1e-3).finite) << "the workers can go on";
}

TEST(Workers, EvaluationIsTheUnsmoothedMeanForAnyNumberOfThreads) {
  Scene one(1, 1), three(3, 3);
  const Evaluation a = one.workers->evaluate(one.batches), b = three.workers->evaluate(three.batches);
  EXPECT_EQ(a.cross_entropy, b.cross_entropy);
  std::int64_t tokens = 0;
  for (const Batch& batch : one.batches) tokens += batch.target_tokens();
  EXPECT_EQ(a.tokens, tokens);
  EXPECT_NEAR(a.perplexity(), std::exp(a.cross_entropy), 1e-9);
}

// The model must be trained first: while it guesses, the smoothed loss and the plain one are nearly equal.
TEST(Workers, EvaluationOfATrainedModelIsTheMeanOfItsScores) {
  Scene s(2, 2);
  for (std::int64_t u = 1; u <= 60; ++u)
    s.workers->update({&s.batches[static_cast<std::size_t>(u) % s.batches.size()], 1}, u, 1e-2);
  const double smoothed = s.workers->update(s.batches, 61, 0).loss;
  const Evaluation e = s.workers->evaluate(s.batches);
  EXPECT_GT(smoothed, e.cross_entropy + 0.05) << "or the test shows nothing";

  const auto rows_of = [](const std::vector<std::int32_t>& ids, const Rows& rows) {
    std::vector<std::vector<std::int32_t>> lists;
    for (std::int64_t r = 0; r < rows.count(); ++r)
      lists.emplace_back(ids.begin() + rows.begin(r), ids.begin() + rows.end(r));
    return lists;
  };
  search::WorkerPool pool(2);
  double sum = 0;
  for (const Batch& b : s.batches)
    for (const search::Score& score :
         search::score_all(pool, *s.model, {rows_of(b.source_ids, b.source), rows_of(b.target_ids, b.target)}, 8))
      sum -= score.log_prob;
  EXPECT_NEAR(e.cross_entropy, sum / static_cast<double>(e.tokens), 1e-5);
}

TEST(Workers, GradientCheckpointingChangesMemoryAndNotTheResult) {
  Scene kept(2, 2, 0.3), again(2, 2, 0.3);
  again.model->set_gradient_checkpointing(true);
  for (std::int64_t u = 1; u <= 3; ++u) {
    const UpdateResult a = kept.workers->update({&kept.batches[0], 1}, u, 1e-3);
    const UpdateResult b = again.workers->update({&again.batches[0], 1}, u, 1e-3);
    EXPECT_NEAR(a.loss, b.loss, 1e-6 * a.loss) << u;
    EXPECT_NEAR(a.gradient_norm, b.gradient_norm, 1e-5 * a.gradient_norm) << u;
  }
  EXPECT_LT(again.workers->arena_bytes(), kept.workers->arena_bytes());
}

TEST(Workers, SteadyUpdatesAskTheSystemForNothing) {
  Scene s(2, 2, 0.1);
  for (std::int64_t u = 1; u <= 5; ++u) s.workers->update({&s.batches[0], 1}, u, 1e-3);
  const std::uint64_t growths = s.workers->arena_growths();
  for (std::int64_t u = 6; u <= 20; ++u) s.workers->update({&s.batches[0], 1}, u, 1e-3);
  EXPECT_EQ(s.workers->arena_growths(), growths);
}

}  // namespace
}  // namespace tril::train

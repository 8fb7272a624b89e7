// The profile of a training step: its rows against the model's formulas, and their completeness.
#include "perf/step_profile.h"

#include <gtest/gtest.h>

#include <map>

#include "base/clock.h"
#include "support/training.h"
#include "train/distributed/workers.h"
#include "train/loop/data.h"

namespace tril::train {
namespace {

using test::LetterTokenizer;

/// Updates of a small model of known sizes.
struct Scene {
  Scene(int threads, nn::Precision precision, bool profile = true) {
    test::write_reversals(dir, "train", 100, 1);
    TrainOptions o = test::small_options(dir);
    o.data.max_tokens = 300;
    model = build_model(o.model, *tokenizer);
    model->parameters().initialise(1);
    optimizer = std::make_unique<Optimizer>(model->parameters(), OptimizerOptions{});
    workers = std::make_unique<Workers>(
        *model, *optimizer,
        WorkersOptions{.threads = threads, .parts = 2, .loss = {}, .precision = precision, .profile = profile});
    batches = read_batches(training_corpus(o), tokenizer);
    D = o.model.d_model, F = o.model.ffn_dim, V = tokenizer->size(Side::target);
  }
  /// An update from each of the first two batches.
  void run() {
    for (std::int64_t u = 1; u <= 2; ++u) workers->update({&batches[static_cast<std::size_t>(u)], 1}, u, 1e-3);
  }
  double sum(const std::function<double(double source, double target)>& f) const {
    double total = 0;
    for (std::size_t b = 1; b <= 2; ++b)
      for (std::int64_t i = 0; i < batches[b].sentences(); ++i)
        total += f(static_cast<double>(batches[b].source_row(i).size()),
                   static_cast<double>(batches[b].target_row(i).size()));
    return total;
  }

  TemporaryDirectory dir;
  std::shared_ptr<LetterTokenizer> tokenizer = std::make_shared<LetterTokenizer>();
  std::unique_ptr<model::Model> model;
  std::unique_ptr<Optimizer> optimizer;
  std::unique_ptr<Workers> workers;
  std::vector<Batch> batches;
  double D = 0, F = 0, V = 0;
};

std::map<std::string, ProfileRow> by_name(const Profile& p) {
  std::map<std::string, ProfileRow> rows;
  for (const ProfileRow& r : p.rows()) rows[std::string(r.op) + ": " + std::string(r.part)] = r;
  return rows;
}

// One layer on each side [Vaswani et al. 2017]: q, k, v and o of each attention, two maps of each feed-forward.
// Cross-attention computes k and v of the source, and q and o of the target.
TEST(StepProfile, ProductsAreThoseOfTheFormulas) {
  for (const nn::Precision precision : {nn::Precision::fp32, nn::Precision::bf16})
    for (const int threads : {1, 2}) {
      SCOPED_TRACE(::testing::Message() << threads << " threads, bf16 " << (precision == nn::Precision::bf16));
      Scene s(threads, precision);
      s.run();
      auto rows = by_name(s.workers->profile());
      const bool mixed = precision == nn::Precision::bf16;
      const auto flops = [&](const std::string& name) {
        EXPECT_TRUE(rows.contains(name)) << name;
        EXPECT_EQ(mixed ? rows[name].work.flops : rows[name].work.mixed_flops, 0) << name;
        return mixed ? rows[name].work.mixed_flops : rows[name].work.flops;
      };
      const double maps = s.sum([&](double source, double target) {
        return 2 * (source * (6 * s.D * s.D + 2 * s.D * s.F) + target * (6 * s.D * s.D + 2 * s.D * s.F));
      });
      EXPECT_DOUBLE_EQ(flops("linear: forward"), maps);
      if (mixed) {
        EXPECT_DOUBLE_EQ(flops("linear: gradients"), 2 * maps);
      } else {
        EXPECT_DOUBLE_EQ(flops("linear: input gradient"), maps);
        EXPECT_DOUBLE_EQ(flops("linear: weight gradient"), maps);
      }

      const double logits = s.sum([&](double, double target) { return 2 * target * s.D * s.V; });
      if (mixed) {
        EXPECT_DOUBLE_EQ(flops("projected_cross_entropy: forward"), logits);
        EXPECT_DOUBLE_EQ(flops("projected_cross_entropy: backward"), 3 * logits);
      } else {
        for (const char* part : {"logits", "input gradient", "weight gradient"})
          EXPECT_DOUBLE_EQ(flops(std::string("projected_cross_entropy: ") + part), logits) << part;
      }

      const double pairs = s.sum([](double m, double n) { return m * m + n * (n + 1) / 2 + n * m; });
      EXPECT_DOUBLE_EQ(flops("attention: forward"), 4 * pairs * s.D);
      EXPECT_DOUBLE_EQ(flops("attention: backward"), 10 * pairs * s.D);
    }
}

TEST(StepProfile, CallsAndBytesAreCounted) {
  Scene s(2, nn::Precision::fp32);
  s.run();
  auto rows = by_name(s.workers->profile());
  const std::int64_t passes = 2 * 2;  // updates, parts
  EXPECT_EQ(rows["attention: forward"].calls, 3 * passes);
  EXPECT_EQ(rows["attention: backward"].calls, 3 * passes);
  EXPECT_EQ(rows["layer_norm: forward"].calls, 5 * passes);
  EXPECT_EQ(rows["layer_norm: backward"].calls, 5 * passes);
  EXPECT_EQ(rows["linear: weight gradient"].calls, rows["linear: forward"].calls);
  EXPECT_EQ(rows["update: rest"].calls, 2 * 2 * 2);

  const double tokens = s.sum([](double source, double target) { return 2 * source + 3 * target; }), D = s.D;
  EXPECT_DOUBLE_EQ(rows["layer_norm: forward"].work.bytes,
                   4 * (2 * tokens * D + 2 * D * static_cast<double>(5 * passes)));
  const double weights = 4 * static_cast<double>(s.model->parameters().trained_window().count);
  EXPECT_DOUBLE_EQ(rows["gradients: sum and norms"].work.bytes, 2 * 3 * weights) << "two read, one written";
  EXPECT_DOUBLE_EQ(rows["optimiser: step"].work.bytes, 2 * 7 * weights) << "w, m, v read and written, g read";

  s.workers->restart_profile();
  EXPECT_TRUE(s.workers->profile().rows().empty());
}

TEST(StepProfile, RowsAreTheWholeOfTheUpdate) {
  for (const int threads : {1, 2}) {
    Scene s(threads, nn::Precision::fp32);
    const double start = seconds_now();
    s.run();
    const double seconds = seconds_now() - start;
    const Roofline roof{.flops = 2e9, .mixed_flops = 8e9, .bytes = 1e9};
    const StepProfile p = step_profile({.profile = s.workers->profile(),
                                        .threads = threads,
                                        .updates = 2,
                                        .seconds = seconds,
                                        .data_seconds = 0,
                                        .roof = roof});
    double milliseconds = 0, share = 0, at_roof = 0;
    for (std::size_t i = 0; i < p.rows.size(); ++i) {
      const StepRow& r = p.rows[i];
      EXPECT_GE(r.milliseconds, 0) << r.name << ": no more time in the parts than in the whole";
      EXPECT_LE(r.milliseconds, p.rows[i > 0 ? i - 1 : 0].milliseconds) << "the longest first";
      EXPECT_DOUBLE_EQ(r.roof_milliseconds, 1000 * std::max(r.work.flops / 2e9, r.work.bytes / 1e9)) << r.name;
      milliseconds += r.milliseconds, share += r.share, at_roof += r.roof_milliseconds;
    }
    EXPECT_NEAR(milliseconds, p.total.milliseconds, 1e-6);
    EXPECT_NEAR(p.total.milliseconds, 500 * seconds, 1e-6);
    EXPECT_NEAR(share, 1, 1e-9);
    EXPECT_NEAR(at_roof, p.total.roof_milliseconds, 1e-6);
  }
}

TEST(StepProfile, LookingChangesNothing) {
  Scene with(2, nn::Precision::fp32), without(2, nn::Precision::fp32, false);
  with.run(), without.run();
  EXPECT_FALSE(with.workers->profile().rows().empty());
  EXPECT_TRUE(without.workers->profile().rows().empty());
  EXPECT_EQ(host_copy<float>(with.model->parameters().flat()), host_copy<float>(without.model->parameters().flat()));
}

TEST(Roofline, IsMeasuredAndBinds) {
  const Roofline measured = measure_roofline(kern::best(), 1, nn::Precision::bf16);
  EXPECT_GT(measured.flops, 1e8);
  EXPECT_GT(measured.mixed_flops, 1e8);
  EXPECT_GT(measured.bytes, 1e8);
  EXPECT_EQ(measure_roofline(kern::best(), 1, nn::Precision::fp32).mixed_flops, 0);

  const Roofline roof{.flops = 100, .mixed_flops = 400, .bytes = 10};
  EXPECT_EQ(roof.bound({}), Roofline::Bound::nothing);
  EXPECT_EQ(roof.seconds({}), 0);
  EXPECT_EQ(roof.bound({.flops = 100, .bytes = 5}), Roofline::Bound::products);
  EXPECT_EQ(roof.bound({.mixed_flops = 100, .bytes = 5}), Roofline::Bound::memory);
  EXPECT_DOUBLE_EQ(roof.seconds({.flops = 100, .mixed_flops = 400, .bytes = 5}), 2);
  EXPECT_DOUBLE_EQ(roof.seconds({.bytes = 5}), 0.5);
}

}  // namespace
}  // namespace tril::train

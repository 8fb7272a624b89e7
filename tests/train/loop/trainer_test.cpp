#include "train/loop/trainer.h"
#include "train/loop/settle.h"

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <stdexcept>

#include "support/training.h"
#include "support/training_files.h"

namespace tril::train::trainer_test {
namespace {

using test::run_trainer;
using test::small_options;
using test::Trained;
using Files = test::TrainingFiles;

TEST(Trainer, LearnsAndReports) {
  const Files files;
  TrainOptions o = files.validating();
  o.learning.after = {{60, Unit::updates}};
  const Trained run = run_trainer(o);
  EXPECT_EQ(run.summary.ending, Ending::completed);
  EXPECT_EQ(run.summary.position.updates, 60);
  EXPECT_EQ(run.updates.size(), 60u);
  EXPECT_LT(run.updates.back().loss, run.updates.front().loss - 0.3);
  ASSERT_EQ(run.validations.size(), 15u);
  EXPECT_LT(run.validations.back().scores.cross_entropy, run.validations.front().scores.cross_entropy);
  EXPECT_NEAR(run.validations[0].scores.perplexity, std::exp(run.validations[0].scores.cross_entropy), 1e-6);
  EXPECT_GT(run.models_written, 0);
}

// The central property: a run stopped anywhere resumes exactly, with every stateful feature on.
TEST(Trainer, ResumedRunsEqualUndisturbedOnesBitForBit) {
  const Files files;
  for (const std::string variant :
       {"plain", "ema", "average", "accumulate", "deterministic", "mixture", "lion", "adafactor", "muon", "8-bit"}) {
    const auto options = [&](const std::string& model) {
      TrainOptions o = files.validating(variant + model);
      o.run.save_freq = {{3, Unit::updates}};
      if (variant == "ema") o.learning.ema = 0.9;
      if (variant == "average") o.learning.average_checkpoints = 3;
      if (variant == "accumulate")
        o.learning.accumulate = 3, o.learning.optimizer = OptimizerKind::adamw, o.learning.weight_decay = 0.01;
      if (variant == "deterministic") o.run.deterministic = true;
      if (variant == "mixture") {
        o.data.train_sets.insert(o.data.train_sets.end(), {files.dir.path("valid.src"), files.dir.path("valid.tgt")});
        o.data.corpus_temperature = 5;
        o.data.data_weighting = {files.weights("train", 120), files.weights("valid", 20)};
      }
      if (variant == "lion") o.learning.optimizer = OptimizerKind::lion, o.learning.learn_rate = 0.001;
      if (variant == "adafactor")
        o.learning.optimizer = OptimizerKind::adafactor, o.learning.ema = 0.9, o.learning.gradient_noise = 1e-4;
      if (variant == "8-bit") {  // matrices of 64 x 64 and 64 x 80 values
        o.learning.optimizer_bits = StateBits::eight;
        o.model.d_model = 64, o.model.ffn_dim = 80;
        o.run.deterministic = true;
      }
      if (variant == "muon") o.learning.optimizer = OptimizerKind::muon, o.learning.weight_decay = 0.01;
      return o;
    };
    const Trained whole = run_trainer(options("whole"));
    RandomSequence random(9, 9);
    TrainOptions o = options("pieces");
    Trained last;
    std::size_t validations = 0;
    for (int piece = 0; piece < 50; ++piece) {
      if (o.run.deterministic) o.run.threads = 1 + piece % 4;
      last = run_trainer(o, {.stop_after = 1 + static_cast<std::int64_t>(random.below(5)), .before_update = {}});
      validations += last.validations.size();
      if (last.summary.ending == Ending::completed) break;
    }
    EXPECT_EQ(last.summary.position.updates, 20) << variant;
    EXPECT_EQ(last.weights, whole.weights) << variant;
    EXPECT_EQ(last.summary.best, whole.summary.best) << variant;
    EXPECT_EQ(last.summary.best_update, whole.summary.best_update) << variant;
    EXPECT_EQ(last.summary.position.tokens, whole.summary.position.tokens) << variant;
    EXPECT_EQ(validations, whole.validations.size()) << variant;
  }
}

// A report without anything that depends on the clock.
std::string figures_of(const TrainingReport& r) {
  std::string text = fmt::format("{} {} {} {} {} {}", r.loss, r.rate, r.gradient_norm, r.noise_scale.value_or(-1),
                                 r.skipped, r.since.value_or(-1));
  for (const GroupNorm& g : r.group_norms) text += fmt::format(" {} {}", g.group, g.norm);
  return text;
}

// Means are over all updates since the last report, whichever process made them.
TEST(Trainer, ResumedRunsReportTheSameMeans) {
  const Files files;
  for (const bool guarded : {false, true}) {
    const auto options = [&](const std::string& model) {
      TrainOptions o = files.validating(model + (guarded ? "-guarded" : ""));
      o.run.save_freq = {{3, Unit::updates}};
      o.run.disp_freq = {{7, Unit::updates}};
      o.learning.after = {{40, Unit::updates}};
      if (guarded) o.learning.nan_guard = NanGuard::skip;
      return o;
    };
    // A skipped update counts in no mean; it occurs once, however often the run is restarted.
    const auto poison = [&](model::Model& m, std::int64_t update) {
      if (!guarded) return;
      nn::Parameter& bias = *m.parameters().find("final_logits_bias");
      std::vector<float> values = host_copy<float>(bias.value);
      values[5] = update == 12 ? std::numeric_limits<float>::quiet_NaN() : 0.0f;
      host_write<float>(bias.value, values);
    };
    const Trained whole = run_trainer(options("whole"), {.stop_after = 0, .before_update = poison});
    std::map<std::int64_t, std::string> expected;
    for (const TrainingReport& r : whole.reports) expected[r.position.updates] = figures_of(r);
    ASSERT_EQ(expected.size(), 6u) << "5 that were due and the last one";
    EXPECT_TRUE(whole.reports.back().unfinished);
    EXPECT_EQ(whole.summary.skipped, guarded ? 1 : 0);

    std::map<std::int64_t, std::string> got;
    RandomSequence random(4, 9);
    for (bool done = false; !done;) {
      const Trained run = run_trainer(
          options("stopped"), {.stop_after = 1 + static_cast<std::int64_t>(random.below(6)), .before_update = poison});
      done = run.summary.ending == Ending::completed;
      for (const TrainingReport& r : run.reports) {
        EXPECT_TRUE(r.unfinished || r.position.updates % 7 == 0);
        if (!r.unfinished || done) got[r.position.updates] = figures_of(r);
      }
    }
    EXPECT_EQ(got, expected);

    // What a killed process had reported is reported again from its last checkpoint.
    for (const std::int64_t at : {5, 9, 17, 22, 33}) {
      const TrainOptions o = options("killed" + std::to_string(at));
      const auto kill = [&](model::Model& m, std::int64_t update) {
        poison(m, update);
        if (update == at) throw std::runtime_error("killed");
      };
      EXPECT_THROW(run_trainer(o, {.stop_after = 0, .before_update = kill}), std::runtime_error);
      std::map<std::int64_t, std::string> rest;
      for (const TrainingReport& r : run_trainer(o, {.stop_after = 0, .before_update = poison}).reports)
        rest[r.position.updates] = figures_of(r);
      EXPECT_EQ(rest.rbegin()->first, 40);
      for (const auto& [update, figures] : rest) EXPECT_EQ(figures, expected[update]) << update << " killed at " << at;
    }
  }
}

// A validation may take long; after a stop request during it, no further update is made.
TEST(Trainer, AStopDuringAValidationIsNotPrecededByAnotherUpdate) {
  const Files files;
  TrainOptions o = files.validating();
  settle(o);
  const auto tokenizer = std::make_shared<test::LetterTokenizer>();
  const std::unique_ptr<model::Model> m = build_model(o.model, *tokenizer);
  CheckpointStore store(o.run.model, 1);
  bool stop = false;
  TrainerHooks hooks;
  hooks.stop = [&] { return stop; };
  hooks.save_model = [] {};
  hooks.on_validation = [&](const ValidationReport&) { stop = true; };
  const TrainingSummary summary = Trainer(o, {*m, tokenizer}, store, hooks).run();
  EXPECT_EQ(summary.ending, Ending::stopped);
  EXPECT_EQ(summary.position.updates, 4);
}

// At any point within an update of several batches: it is discarded, and the resumed run repeats it exactly.
TEST(Trainer, AStopBreaksOffAnUpdateOfSeveralBatches) {
  const Files files;
  for (const bool in_order : {false, true}) {
    const auto options = [&](const std::string& model) {
      TrainOptions o = files.options(model + (in_order ? "ordered" : "any"));
      o.learning.accumulate = 4, o.learning.after = {{3, Unit::updates}}, o.run.deterministic = in_order;
      settle(o);
      return o;
    };
    const Trained whole = run_trainer(options("whole"));
    for (const int asked : {3, 6, 9, 14, 20}) {
      SCOPED_TRACE(asked);
      const TrainOptions o = options("stopped" + std::to_string(asked));
      {
        const auto tokenizer = std::make_shared<test::LetterTokenizer>();
        const std::unique_ptr<model::Model> m = build_model(o.model, *tokenizer);
        CheckpointStore store(o.run.model, 1);
        std::atomic<int> times = 0;
        std::int64_t told = 0;
        TrainerHooks hooks;
        hooks.stop = [&] { return ++times > asked; };
        hooks.save_model = [] {};
        hooks.on_update = [&](const TrainingReport&) { ++told; };
        const TrainingSummary summary = Trainer(o, {*m, tokenizer}, store, hooks).run();
        EXPECT_EQ(summary.ending, Ending::stopped);
        EXPECT_EQ(summary.position.updates, told);
        EXPECT_EQ(summary.updates_here, told);
        EXPECT_TRUE(asked > 6 || told == 0) << "within the first update";
      }
      const Trained rest = run_trainer(options("stopped" + std::to_string(asked)));
      EXPECT_EQ(rest.summary.position.updates, 3);
      EXPECT_EQ(rest.weights, whole.weights);
    }
  }
}

// A run that is stopped while it translates for a validation, and then resumed.
TEST(Trainer, AValidationThatAStopBreaksOffComesAgain) {
  const Files files;
  for (const std::string variant : {"plain", "average", "early"}) {
    const auto options = [&](const std::string& model) {
      TrainOptions o = files.validating(variant + model);
      o.validation.valid_metrics = {Metric::loss, Metric::chrf};
      o.validation.valid_freq = {{6, Unit::updates}};  // at 6, 12, 18, and at the end
      o.run.save_freq = {{6, Unit::updates}};
      if (variant == "average") o.learning.average_checkpoints = 3;
      if (variant == "early") o.validation.early_stopping = 2, o.learning.learn_rate = 1e-30;
      settle(o);
      return o;
    };
    const Trained whole = run_trainer(options("whole"));
    const TrainOptions o = options("stopped");
    std::vector<ValidationReport> validations;
    Trained last;
    int stops = 0;
    for (bool again = true; again;) {
      const auto tokenizer = std::make_shared<test::LetterTokenizer>();
      const std::unique_ptr<model::Model> m = build_model(o.model, *tokenizer);
      CheckpointStore store(o.run.model, 1);
      std::atomic<bool> stop = false;
      std::int64_t validated = 0;
      TrainerHooks hooks;
      hooks.stop = [&] { return stop.load(); };
      hooks.save_model = [&] { ++last.models_written; };
      hooks.on_validation = [&](const ValidationReport& r) { validations.push_back(r), ++validated; };
      // Each process's second validation is broken off: by the polls of the loss, the texts or the samples.
      hooks.translate = [&](std::span<const std::string> sources) {
        if (validated == 1) stop = true;
        return std::vector<std::string>(sources.begin(), sources.end());
      };
      last.summary = Trainer(o, {*m, tokenizer}, store, hooks).run();
      last.weights = host_copy<float>(m->parameters().flat());
      again = last.summary.ending == Ending::stopped;
      if (again) {
        ++stops;
        EXPECT_TRUE(store.read_state().validation_due);
        EXPECT_EQ(last.summary.position.updates, std::min<std::int64_t>(20, 6 * (stops + 1)));
      }
    }
    EXPECT_EQ(stops, std::ssize(whole.validations) - 1) << variant;
    EXPECT_EQ(last.weights, whole.weights) << variant;
    EXPECT_EQ(last.models_written, whole.models_written) << variant;
    EXPECT_EQ(last.summary.ending, whole.summary.ending) << variant;
    ASSERT_EQ(validations.size(), whole.validations.size()) << variant;
    for (std::size_t i = 0; i < validations.size(); ++i) {
      EXPECT_EQ(validations[i].position.updates, whole.validations[i].position.updates);
      EXPECT_EQ(validations[i].scores.cross_entropy, whole.validations[i].scores.cross_entropy) << variant;
      EXPECT_EQ(validations[i].best, whole.validations[i].best);
      EXPECT_EQ(validations[i].stalled, whole.validations[i].stalled);
    }
  }
}

// The end coincides with a save but not a validation: the final validation's results are stored in the existing checkpoint.
TEST(Trainer, AFinishedRunRemembersItsLastValidation) {
  const Files files;
  for (const std::int64_t average : {1, 3}) {
    TrainOptions o = files.validating("finished" + std::to_string(average));
    o.run.save_freq = {{4, Unit::updates}};
    o.validation.valid_freq = {{3, Unit::updates}};
    o.learning.average_checkpoints = average;
    const Trained first = run_trainer(o), second = run_trainer(o);
    ASSERT_EQ(first.validations.size(), 7u);
    EXPECT_EQ(first.validations.back().position.updates, 20);
    EXPECT_EQ(first.summary.best_update, 20) << "or the test shows nothing";
    EXPECT_EQ(second.validations.size(), 0u);
    EXPECT_EQ(second.models_written, 0);
    EXPECT_EQ(second.updates.size(), 0u);
    EXPECT_EQ(second.summary.best, first.summary.best);
    EXPECT_EQ(second.summary.best_update, 20);
    EXPECT_EQ(second.weights, first.weights);
    o.learning.after = {{21, Unit::updates}};
    EXPECT_EQ(run_trainer(o).summary.position.updates, 21) << "all that the state names is there";
  }
}

TEST(Trainer, MoreUpdatesContinueAFinishedRun) {
  const Files files;
  TrainOptions o = files.options("longer");
  const Trained first = run_trainer(o);
  EXPECT_EQ(run_trainer(o).weights, first.weights) << "a finished run is left alone";
  o.learning.after = {{30, Unit::updates}};
  const Trained longer = run_trainer(o);
  TrainOptions whole = files.options("whole");
  whole.learning.after = {{30, Unit::updates}};
  EXPECT_EQ(longer.weights, run_trainer(whole).weights);
}

TEST(Trainer, OtherOptionsAreRefusedByName) {
  const Files files;
  TrainOptions o = files.options();
  run_trainer(o, {.stop_after = 2, .before_update = {}});
  o.learning.learn_rate *= 2;
  o.model.dropout = 0.2;
  const std::string text = error_of([&] { run_trainer(o); });
  EXPECT_TRUE(contains(text, "learn-rate was 0.01, now 0.02")) << text;
  EXPECT_TRUE(contains(text, "dropout was 0.1, now 0.2")) << text;
  o = files.options();
  o.model.d_model = 64;  // with matrices large enough for 8 bits
  o.learning.optimizer_bits = StateBits::eight;
  EXPECT_TRUE(contains(error_of([&] { run_trainer(o); }), "optimizer-bits was 32, now 8"));
  o = files.options();
  o.run.disp_freq = {{1, Unit::updates}};
  EXPECT_NO_THROW(run_trainer(o));
}

TEST(Trainer, TwoProcessesDoNotShareADirectory) {
  const Files files;
  const CheckpointStore first(files.dir.path("model"), 1);
  EXPECT_TRUE(contains(error_of([&] { CheckpointStore(files.dir.path("model"), 1); }), "another process"));
}

TEST(Trainer, EarlyStoppingCountsValidationsWithoutABetterOne) {
  const Files files;
  TrainOptions o = files.validating();
  o.validation.valid_freq = {{1, Unit::updates}};
  o.validation.early_stopping = 3;
  o.learning.learn_rate = 1e-30;  // nothing gets better
  o.learning.lr_schedule = ScheduleKind::constant;
  const Trained run = run_trainer(o);
  EXPECT_EQ(run.summary.ending, Ending::early_stopping);
  EXPECT_EQ(run.summary.position.updates, 4);
  EXPECT_EQ(run.summary.best_update, 1);
  EXPECT_EQ(run.models_written, 1);
}

TEST(Trainer, BleuAndChrfOfWhatIsTranslated) {
  const Files files;
  TrainOptions o = files.validating();
  o.learning.after = {{2, Unit::updates}};
  o.validation.valid_freq = {{1, Unit::updates}};
  o.validation.valid_metrics = {Metric::chrf, Metric::bleu};
  const Trained run = run_trainer(o);
  ASSERT_EQ(run.validations.size(), 2u);
  EXPECT_TRUE(run.validations[0].scores.bleu.has_value());
  EXPECT_GT(run.validations[0].scores.chrf.value_or(0), 1) << "reversed words share letters";
  EXPECT_TRUE(run.validations[0].best);
  EXPECT_FALSE(run.validations[1].best) << "the same translations again are not better";
  EXPECT_EQ(run.summary.best, run.validations[0].scores.chrf);
}

// A checkpoint from before the first update may have other sizes.
TEST(Trainer, AStateWithoutUpdatesIsNotGoneOnFrom) {
  const Files files;
  TrainOptions o = files.options("anew"), whole = files.options("whole");
  o.learning.after = whole.learning.after = {{3, Unit::updates}};
  whole.model.ffn_dim = 32;
  o.learning.learn_rate = 1e300;
  o.learning.warmup = 0;
  EXPECT_NE(error_of([&] { run_trainer(o); }), "");
  EXPECT_EQ(CheckpointStore(o.run.model, 1).read_state().position.updates, 0);
  o = whole;
  o.run.model = files.dir.path("anew");
  EXPECT_EQ(run_trainer(o).weights, run_trainer(whole).weights);
}

TEST(Trainer, KeepsAsManyStatesAsWanted) {
  const Files files;
  TrainOptions o = files.options();
  o.run.save_freq = {{2, Unit::updates}};
  o.run.keep_checkpoints = 3;
  run_trainer(o);
  std::vector<std::string> states;
  for (const auto& entry : std::filesystem::directory_iterator(files.dir.path("model/checkpoint")))
    if (entry.is_directory()) states.push_back(entry.path().filename().string());
  std::sort(states.begin(), states.end());
  EXPECT_EQ(states, (std::vector<std::string>{"state-00000016", "state-00000018", "state-00000020"}));
}

TEST(Trainer, AFullDiskLosesNothing) {
  const Files files;
  const std::string small = files.dir.path("small");
  std::filesystem::create_directory(small);
  if (mount("tmpfs", small.c_str(), "tmpfs", 0, "size=256k") != 0) GTEST_SKIP() << "mounting a small disk needs root";
  std::string text;
  std::int64_t kept = -1;
  {
    TrainOptions o = files.options("small/model");
    o.run.save_freq = {{1, Unit::updates}};
    o.run.keep_checkpoints = 100;  // never removes old ones
    text = error_of([&] { run_trainer(o); });
    const CheckpointStore store(o.run.model, 1);
    const std::unique_ptr<model::Model> m = build_model(o.model, test::LetterTokenizer());
    Optimizer optimizer(m->parameters(), {});
    store.load_weights(m->parameters(), optimizer);
    kept = store.read_state().position.updates;
  }
  umount(small.c_str());
  EXPECT_TRUE(contains(text, "o space left")) << text;
  EXPECT_GT(kept, 0);
}

}  // namespace
}  // namespace tril::train::trainer_test

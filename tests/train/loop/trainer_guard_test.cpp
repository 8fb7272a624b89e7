// The trainer's guard: what is not a number, or a spike, stops the run, is skipped, or sends it back.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "support/training.h"
#include "support/training_files.h"
#include "train/loop/trainer.h"

namespace tril::train::trainer_guard_test {
namespace {

using test::run_trainer;
using test::small_options;
using test::Trained;
using Files = test::TrainingFiles;

std::function<void(model::Model&, std::int64_t)> poison_at(std::int64_t wanted) {
  return [wanted](model::Model& m, std::int64_t update) {
    nn::Parameter& bias = *m.parameters().find("final_logits_bias");
    std::vector<float> values = host_copy<float>(bias.value);
    values[5] = update == wanted ? std::numeric_limits<float>::quiet_NaN() : 0.0f;
    if (update == wanted || update == wanted + 1) host_write<float>(bias.value, values);
  };
}

TEST(Trainer, NanGuardStopsAndNamesTheUpdate) {
  const Files files;
  TrainOptions o = files.options();
  const std::string text = error_of([&] { run_trainer(o, {.stop_after = 0, .before_update = poison_at(7)}); });
  EXPECT_TRUE(contains(text, "update 7")) << text;
  EXPECT_TRUE(contains(text, "nan")) << text;
  EXPECT_TRUE(contains(text, "`nan_guard` skip")) << text;
  const CheckpointStore store(o.run.model, 1);
  EXPECT_EQ(store.read_state().position.updates, 6);
}

TEST(Trainer, NanGuardSkipsAndCounts) {
  const Files files;
  TrainOptions o = files.options();
  o.learning.nan_guard = NanGuard::skip;
  const Trained run = run_trainer(o, {.stop_after = 0, .before_update = poison_at(7)});
  EXPECT_EQ(run.summary.skipped, 1);
  EXPECT_EQ(run.summary.position.updates, 20);
  for (float w : run.weights) ASSERT_TRUE(std::isfinite(w));
}

std::function<void(model::Model&, std::int64_t)> poison_once(std::int64_t wanted, float value) {
  auto done = std::make_shared<bool>(false);
  return [=](model::Model& m, std::int64_t update) {
    nn::Parameter& bias = *m.parameters().find("final_logits_bias");
    std::vector<float> values = host_copy<float>(bias.value);
    values[5] = update == wanted && !*done ? value : 0.0f;
    if (values[5] != 0) *done = true;
    host_write<float>(bias.value, values);
  };
}

TEST(Trainer, GoesBackToTheLastStateAndOnWithOtherData) {
  const Files files;
  TrainOptions o = files.validating("rolled");
  o.run.save_freq = {{5, Unit::updates}};
  o.learning.nan_guard = NanGuard::rollback;
  o.learning.rollback_rate = 0.5;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Trained run = run_trainer(o, {.stop_after = 0, .before_update = poison_once(8, nan)});
  EXPECT_EQ(run.summary.rollbacks, 1);
  EXPECT_EQ(run.summary.position.updates, 20);
  ASSERT_EQ(run.updates.size(), 22u) << "6 and 7 twice";
  EXPECT_EQ(run.updates[7].position.updates, 6);
  EXPECT_DOUBLE_EQ(run.updates[7].rate, run.updates[5].rate / 2);
  EXPECT_NE(run.updates[7].loss, run.updates[5].loss) << "other data";
  for (float w : run.weights) ASSERT_TRUE(std::isfinite(w));

  // Stopped after the rollback and resumed: bit-identical.
  o.run.model = files.dir.path("again");
  run_trainer(o, {.stop_after = 8, .before_update = poison_once(8, nan)});
  const Trained rest = run_trainer(o);
  EXPECT_EQ(rest.summary.rollbacks, 1);
  EXPECT_EQ(rest.weights, run.weights);
}

TEST(Trainer, RollbacksAreCountedAndEnd) {
  const Files files;
  TrainOptions o = files.options();
  o.learning.nan_guard = NanGuard::rollback;
  o.learning.max_rollbacks = 2;
  o.learning.learn_rate = 1e30;
  o.learning.warmup = 0;
  const std::string text = error_of([&] { run_trainer(o); });
  EXPECT_TRUE(contains(text, "max_rollbacks")) << text;
  EXPECT_EQ(CheckpointStore(o.run.model, 1).read_state().rollbacks, 2);
}

TEST(Trainer, SpikesAreGuardedLikeWhatIsNotANumber) {
  const Files files;
  for (const NanGuard policy : {NanGuard::skip, NanGuard::rollback}) {
    TrainOptions o = files.options(policy == NanGuard::skip ? "skip" : "rollback");
    o.learning.after = {{80, Unit::updates}};
    o.run.save_freq = {{20, Unit::updates}};
    o.learning.spike_guard = 10;
    o.learning.nan_guard = policy;
    const Trained run = run_trainer(o, {.stop_after = 0, .before_update = poison_once(70, 60.0f)});
    EXPECT_EQ(run.summary.skipped, policy == NanGuard::skip ? 1 : 0);
    EXPECT_EQ(run.summary.rollbacks, policy == NanGuard::skip ? 0 : 1);
    EXPECT_EQ(run.summary.position.updates, 80);
    o.run.model = files.dir.path("off" + std::to_string(static_cast<int>(policy)));
    o.learning.spike_guard = 0;
    EXPECT_EQ(run_trainer(o, {.stop_after = 0, .before_update = poison_once(70, 60.0f)}).summary.rollbacks, 0);
  }
}

// The overflow would only show in the loss of an update that never comes.
TEST(Trainer, WeightsThatTheLastUpdateBrokeAreNotSaved) {
  const Files files;
  for (const bool validates : {false, true}) {
    TrainOptions o = validates ? files.validating("broken-validating") : files.options("broken");
    o.learning.lr_schedule = ScheduleKind::constant;
    o.learning.learn_rate = 1e300;
    o.learning.warmup = 0;
    o.learning.after = {{1, Unit::updates}};
    const std::string text = error_of([&] { run_trainer(o); });
    EXPECT_TRUE(contains(text, "update 1") && contains(text, "not finite") && contains(text, "learn_rate")) << text;
    EXPECT_EQ(CheckpointStore(o.run.model, 1).read_state().position.updates, 0);
    o.learning.learn_rate = 0.01;
    EXPECT_EQ(run_trainer(o).summary.position.updates, 1) << "nothing was saved that binds";
  }
}

}  // namespace
}  // namespace tril::train::trainer_guard_test

// Regularisation end to end: teachers, layer drop, dropout warm-up, initialisation scaled by depth; and accumulated
// batches equal the large batch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "model/spec/stack.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/training.h"
#include "train/loop/data.h"
#include "train/loss/teachers.h"

namespace tril::train::regularisation_test {
namespace {

using test::LetterTokenizer;

struct Scene {
  using Adjust = std::function<void(TrainOptions&, WorkersOptions&)>;

  explicit Scene(const Adjust& adjust, std::uint64_t seed = 1) {
    test::write_reversals(dir, "train", 200, 1);
    TrainOptions o = test::small_options(dir);
    o.model.dropout = 0;
    o.model.enc_depth = o.model.dec_depth = 3;
    o.data.max_tokens = 300;
    WorkersOptions w;
    w.seed = 5;
    adjust(o, w);
    model = build_model(o.model, *tokenizer);
    model->parameters().initialise(seed);
    optimizer = std::make_unique<Optimizer>(model->parameters(), OptimizerOptions{});
    workers = std::make_unique<Workers>(*model, *optimizer, w);
    batches = read_batches(training_corpus(o), tokenizer);
  }
  UpdateResult update(std::int64_t number, double rate = 0, std::size_t batch = 0) {
    return workers->update({&batches[batch], 1}, number, rate);
  }

  TemporaryDirectory dir;
  std::shared_ptr<LetterTokenizer> tokenizer = std::make_shared<LetterTokenizer>();
  std::unique_ptr<model::Model> model;
  std::unique_ptr<Optimizer> optimizer;
  std::unique_ptr<Workers> workers;
  std::vector<Batch> batches;
};

void plain(TrainOptions&, WorkersOptions&) {}

// Models of the scene's sizes, initialised by `seeds`, with a dropout that must be off when they teach.
std::shared_ptr<const Teachers> teachers(const std::vector<std::uint64_t>& seeds) {
  std::vector<std::unique_ptr<model::Model>> models;
  for (std::uint64_t seed : seeds) {
    const TemporaryDirectory nowhere;
    TrainOptions o = test::small_options(nowhere);
    o.model.dropout = 0.5;
    o.model.enc_depth = o.model.dec_depth = 3;
    models.push_back(build_model(o.model, LetterTokenizer()));
    models.back()->parameters().initialise(seed);
    models.back()->parameters().refresh(kern::best());
  }
  return std::make_shared<const Teachers>(std::move(models));
}

Scene::Adjust taught_by(const std::vector<std::uint64_t>& seeds, float mix) {
  return [=](TrainOptions&, WorkersOptions& w) {
    w.loss.teachers = teachers(seeds);
    w.loss.distillation = {.temperature = 2, .mix = mix};
  };
}

TEST(Teachers, WhoKnowsWhatTheTeacherKnowsHasNothingToLearn) {
  Scene alone(plain), half(taught_by({1, 1}, 0.5f)), all(taught_by({1}, 1));
  const UpdateResult a = alone.update(1), h = half.update(1), nothing = all.update(1);
  EXPECT_NEAR(h.loss, a.loss / 2, 1e-5 * a.loss);
  EXPECT_NEAR(h.gradient_norm, a.gradient_norm / 2, 1e-4 * a.gradient_norm);
  EXPECT_NEAR(nothing.loss, 0, 1e-5);
  EXPECT_NEAR(nothing.gradient_norm, 0, 1e-5);
}

TEST(Teachers, AreRepeatedByWhoLearnsFromThem) {
  Scene s(taught_by({7, 8}, 1));
  const double before = s.update(1, 0).loss;
  for (std::int64_t u = 1; u <= 60; ++u) s.update(u, 3e-3, static_cast<std::size_t>(u) % s.batches.size());
  EXPECT_LT(s.update(61, 0).loss, before / 2);
}

TEST(Teachers, MustShareTheVocabulary) {
  const TemporaryDirectory dir;
  EXPECT_TRUE(
      contains(error_of([&] { check_teacher(model::ModelSource::open(dir.path("none")), LetterTokenizer(), 10); }),
               "no such file or directory"));
}

// A student would learn only NaN from it, and seem to be at fault.
TEST(Teachers, OfWeightsThatAreNotFiniteAreRefused) {
  const TemporaryDirectory dir;
  test::write_reversals(dir, "train", 60, 1);
  TrainOptions o = test::small_options(dir);
  o.data.vocab_size = 40;
  const auto tokenizer = train_marian_tokenizer(vocabulary_request(o), vocabulary_options(o));
  const std::unique_ptr<model::Model> m = build_model(o.model, *tokenizer);
  m->parameters().initialise(1);
  save_tokenizer(*tokenizer, dir.path("teacher"));
  model::save(*m, dir.path("teacher"));
  EXPECT_NO_THROW(load_teacher(dir.path("teacher"), *tokenizer, 32));
  std::vector<float> values = host_copy<float>(m->parameters().flat());
  values[values.size() / 2] = -std::numeric_limits<float>::infinity();
  host_write<float>(m->parameters().flat(), values);
  model::save(*m, dir.path("teacher"));
  const std::string error = error_of([&] { load_teacher(dir.path("teacher"), *tokenizer, 32); });
  EXPECT_TRUE(contains(error, "teacher: the teacher has non-finite weights")) << error;
}

TEST(LayerDrop, IsTheSameInAllPartsAndChangesWithTheUpdate) {
  const auto loss = [](int parts, std::int64_t update, double p) {
    Scene s([=](TrainOptions& o, WorkersOptions& w) { o.model.layer_drop = p, w.parts = parts; });
    return s.update(update).loss;
  };
  const double whole = loss(1, 1, 0);
  std::vector<double> losses;
  for (std::int64_t u = 1; u <= 6; ++u) {
    losses.push_back(loss(1, u, 0.5));
    EXPECT_NEAR(losses.back(), loss(4, u, 0.5), 1e-5 * whole) << "update " << u;
  }
  EXPECT_GT(std::count_if(losses.begin(), losses.end(), [&](double l) { return std::abs(l - whole) > 1e-3; }), 2);
  EXPECT_GT(*std::max_element(losses.begin(), losses.end()) - *std::min_element(losses.begin(), losses.end()), 1e-3);
}

TEST(LayerDrop, LeavesOutTheShareThatIsAskedFor) {
  Arena arena;
  Context c(arena);
  c.set_training(true);
  int out = 0;
  for (std::uint64_t u = 0; u < 4000; ++u) {
    c.set_shared_key(random_key(1, u));
    out += model::left_out(c, "model.encoder.layers.2", 0.3);
  }
  EXPECT_NEAR(out / 4000.0, 0.3, 0.03);
  c.set_training(false);
  EXPECT_FALSE(model::left_out(c, "model.encoder.layers.2", 0.999));
}

TEST(LayerDrop, HasNoPartInValidationAndIsWrittenWhereHuggingFaceReadsIt) {
  Scene s([](TrainOptions&o, WorkersOptions&) { o.model.layer_drop = 0.75; }), all(plain);
  s.update(1), all.update(1);
  EXPECT_EQ(s.workers->evaluate(s.batches).cross_entropy, all.workers->evaluate(all.batches).cross_entropy);
  EXPECT_TRUE(contains(s.model->config_json(), "\"encoder_layerdrop\": 0.75"));
  EXPECT_TRUE(contains(s.model->config_json(), "\"decoder_layerdrop\": 0.75"));
}

TEST(LayerDrop, CheckpointedLayersAreLeftOutTheSameWay) {
  const auto run = [](bool checkpointing) {
    Scene s([=](TrainOptions& o, WorkersOptions&) {
      o.model.layer_drop = 0.4, o.model.dropout = 0.2, o.model.gradient_checkpointing = checkpointing;
    });
    for (std::int64_t u = 1; u <= 4; ++u) s.update(u, 1e-2);
    return host_copy<float>(s.model->parameters().flat());
  };
  EXPECT_EQ(run(false), run(true));
}

TEST(DropoutWarmup, FollowsTheCurriculum) {
  EXPECT_EQ(dropout_factor(0, 1), 1);
  EXPECT_NEAR(dropout_factor(1000, 100), 1 - std::exp(-1.0), 1e-12);
  EXPECT_NEAR(dropout_factor(1000, 1000), 1, 5e-5);
  const auto loss = [](double p, std::int64_t warmup, std::int64_t update) {
    Scene s([=](TrainOptions& o, WorkersOptions& w) { o.model.dropout = p, w.dropout_warmup = warmup; });
    return s.update(update).loss;
  };
  EXPECT_NEAR(loss(0.5, 1'000'000'000, 1), loss(0, 0, 1), 1e-4);   // none yet
  EXPECT_EQ(loss(0.5, 10, 100), loss(0.5, 0, 100));                // all of it
  EXPECT_GT(std::abs(loss(0.5, 100, 7) - loss(0.5, 0, 7)), 1e-4);  // partly
}

TEST(DepthScaledInit, DividesByTheRootOfTheDepth) {
  Scene usual(plain), scaled([](TrainOptions&o, WorkersOptions&) { o.model.depth_scaled_init = true; });
  int matrices = 0;
  for (const nn::Parameter& p : usual.model->parameters().all()) {
    const std::vector<float> a = host_copy<float>(p.value),
                             b = host_copy<float>(scaled.model->parameters().find(p.name)->value);
    const std::size_t at = p.name.find(".layers.");
    double factor = 1;
    if (at != std::string::npos && p.shape.rank() == 2) {
      factor = 1 / std::sqrt(p.name[at + 8] - '0' + 1.0);
      ++matrices;
    }
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(static_cast<double>(a[i]) * factor, static_cast<double>(b[i]), 1e-7) << p.name;
  }
  EXPECT_EQ(matrices, 3 * (4 + 2) + 3 * (8 + 2));
}

// The gradient of an update, from the first moment of a fresh Adam, which is its first state: m = (1 - beta1) g.
std::vector<float> gradient_of(Scene& s, std::span<const Batch> batches) {
  s.workers->update(batches, 1, 1e-3);
  return host_copy<float>(s.optimizer->state().front().value);
}

TEST(Accumulation, OfFourBatchesIsTheLargeBatch) {
  for (int parts : {1, 2}) {
    const auto scene = [&](TrainOptions&, WorkersOptions& w) {
      w.threads = w.parts = parts;
      w.loss.label_smoothing = 0.1;
    };
    Scene small(scene), large(scene);
    const std::vector<Batch> four(small.batches.begin(), small.batches.begin() + 4);
    Batch all = four[0];
    for (std::size_t b = 1; b < 4; ++b)
      for (std::int64_t i = 0; i < four[b].sentences(); ++i)
        all.append(four[b].source_row(i), four[b].target_row(i), four[b].lines[static_cast<std::size_t>(i)]);
    const std::vector<float> a = gradient_of(small, four), b = gradient_of(large, {&all, 1});
    float largest = 0;
    for (float g : b) largest = std::max(largest, std::abs(g));
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-6f * largest) << i << " of " << parts;
  }
}

TEST(Regularisation, ResumedRunsEqualUndisturbedOnesBitForBit) {
  TemporaryDirectory dir;
  test::write_reversals(dir, "train", 120, 1);
  const auto options = [&](const std::string& model) {
    TrainOptions o = test::small_options(dir, model);
    o.run.save_freq = {{3, Unit::updates}};
    o.model.enc_depth = o.model.dec_depth = 2;
    o.model.layer_drop = 0.3, o.model.dropout_warmup = 15, o.model.depth_scaled_init = true;
    o.learning.r_drop = 3, o.learning.accumulate = 2;
    return o;
  };
  const test::Trained whole = test::run_trainer(options("whole"));
  for (std::int64_t at : {2, 4, 5}) test::run_trainer(options("parts"), {.stop_after = at});
  EXPECT_EQ(test::run_trainer(options("parts")).weights, whole.weights);
}

}  // namespace
}  // namespace tril::train::regularisation_test

// Guided alignment end to end: its loss, its gradient through the model, its effect on attention, and independence of
// passes, threads, checkpointing and stops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "corpus/alignment.h"
#include "corpus/reader.h"
#include "decode/batches/score.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/training.h"
#include "train/loop/data.h"
#include "train/loop/derived_settings.h"
#include "train/loop/settle.h"

namespace tril::train::guided_alignment_test {
namespace {

using test::LetterTokenizer;

// Words in reverse: token j of n aligns to source token n - 1 - j, the end to the end.
std::string write_alignments(const TemporaryDirectory& dir, const std::string& prefix) {
  std::string text;
  for (const std::string& word : read_lines(dir.path(prefix + ".src"))) {
    const std::size_t n = word.size();
    for (std::size_t j = 0; j < n; ++j) text += fmt::format("{}-{} ", n - 1 - j, j);
    text += fmt::format("{}-{}\n", n, n);
  }
  return dir.write(prefix + ".align", text);
}

TrainOptions guided(const TemporaryDirectory& dir, const std::string& model = "model") {
  TrainOptions o = test::small_options(dir, model);
  o.data.guided_alignment.files = {write_alignments(dir, "train")};
  o.data.guided_alignment_units = AlignmentUnits::tokens;
  o.model.dec_depth = 2;
  return o;
}

struct Scene {
  explicit Scene(const std::function<void(TrainOptions&, WorkersOptions&)>& adjust = {}) {
    test::write_reversals(dir, "train", 200, 1);
    TrainOptions o = guided(dir);
    o.model.dropout = 0;
    o.data.max_tokens = 300;
    WorkersOptions w = workers_options(o, *build_model(o.model, *tokenizer));
    w.threads = w.parts = 1;
    w.clip_norm = 0;
    w.loss.label_smoothing = 0;
    if (adjust) adjust(o, w);
    options = o;
    settings = w.loss;
    model = build_model(o.model, *tokenizer);
    model->parameters().initialise(1);
    optimizer = std::make_unique<Optimizer>(model->parameters(), OptimizerOptions{});
    batches = read_batches(training_corpus(o), tokenizer);
    workers = std::make_unique<Workers>(*model, *optimizer, w);
  }
  UpdateResult update(std::int64_t number, double rate = 0, std::size_t batch = 0) {
    return workers->update({&batches[batch], 1}, number, rate);
  }
  double loss(const Batch& batch, const LossSettings& how) {
    Arena arena;
    Context c(arena);
    return host_copy<float>(batch_loss(c, *model, batch, how, static_cast<double>(batch.target_tokens())))[0];
  }

  TemporaryDirectory dir;
  std::shared_ptr<LetterTokenizer> tokenizer = std::make_shared<LetterTokenizer>();
  TrainOptions options;
  LossSettings settings;
  std::unique_ptr<model::Model> model;
  std::unique_ptr<Optimizer> optimizer;
  std::unique_ptr<Workers> workers;
  std::vector<Batch> batches;
};

TEST(GuidedAlignment, AddsToTheLossWhatAttentionSays) {
  for (const auto cost : {kern::AlignmentCost::ce, kern::AlignmentCost::mse, kern::AlignmentCost::mult}) {
    Scene s([&](TrainOptions&, WorkersOptions& w) { w.loss.guided->cost = cost, w.loss.guided->weight = 0.3; });
    LossSettings without = s.settings;
    without.guided.reset();
    const Batch& batch = s.batches[0];
    // Computed by hand from the attention of the decoder's last layer, first head, pair by pair.
    const nn::AttentionHeads wanted{.heads = {0}};
    std::vector<std::vector<std::int32_t>> sources, targets;
    for (std::int64_t i = 0; i < batch.sentences(); ++i) {
      sources.emplace_back(batch.source_row(i).begin(), batch.source_row(i).end());
      targets.emplace_back(batch.target_row(i).begin(), batch.target_row(i).end());
    }
    Arena arena;
    Context c(arena);
    const auto scores = search::score(c, *s.model, {sources, targets}, {.attention = wanted});
    double sum = 0;
    for (std::size_t i = 0; i < scores.size(); ++i)
      for (std::size_t t = 0, n = sources[i].size(); t < n; ++t) {
        const std::size_t right = t + 1 == n ? t : n - 2 - t;
        const auto* w = &scores[i].attention[t * n];
        if (cost == kern::AlignmentCost::mse)
          for (std::size_t j = 0; j < n; ++j) sum += std::pow(static_cast<double>(w[j]) - (j == right), 2) / 2;
        else
          sum -= std::log(static_cast<double>(w[right]) + 1e-6);
      }
    const double alignment = sum / static_cast<double>(batch.target_tokens());
    EXPECT_NEAR(s.loss(batch, s.settings), s.loss(batch, without) + 0.3 * alignment, 1e-4);
    EXPECT_NEAR(s.update(1).loss, s.loss(batch, s.settings), 1e-4) << "what workers report";
  }
}

// Along the gradient, the loss rises by the gradient's squared norm: (L(w + e g) - L(w - e g)) / 2e = |g|^2.
TEST(GuidedAlignment, GradientAgainstFiniteDifferences) {
  Scene s([](TrainOptions&, WorkersOptions& w) { w.loss.guided->weight = 5; });
  const Batch batch = split(s.batches[0], 8)[0];
  model::Model& m = *s.model;
  const std::vector<float> start = host_copy<float>(m.parameters().flat());
  std::vector<float> gradient;
  {
    Arena arena;
    Context c(arena);
    Tape tape;
    c.set_tape(&tape);
    m.parameters().watch(tape);
    Grads grads;
    const Tensor memory = c.zeros({m.parameters().trained_window().count});
    m.parameters().bind_gradients(grads, memory);
    grads.restart();
    const Tensor loss = batch_loss(c, m, batch, s.settings, static_cast<double>(batch.target_tokens()));
    tape.backward(c, loss, c.upload(std::vector<float>{1}), grads);
    grads.finish(c);
    gradient = host_copy<float>(memory);
  }
  ASSERT_EQ(gradient.size(), start.size());
  double norm = 0;
  for (const float g : gradient) norm += static_cast<double>(g) * static_cast<double>(g);
  const double e = 2e-3 / std::sqrt(norm);
  const auto loss_at = [&](double step) {
    std::vector<float> moved = start;
    for (std::size_t i = 0; i < moved.size(); ++i)
      moved[i] += static_cast<float>(step * static_cast<double>(gradient[i]));
    host_write<float>(m.parameters().flat(), moved);
    m.parameters().refresh(kern::best());
    return s.loss(batch, s.settings);
  };
  EXPECT_NEAR((loss_at(e) - loss_at(-e)) / (2 * e), norm, 0.01 * norm);
}

TEST(GuidedAlignment, PassesPartsAndCheckpointingDoNotMatter) {
  const auto result = [](const std::function<void(TrainOptions&, WorkersOptions&)>& adjust) {
    Scene s(adjust);
    return s.update(1);
  };
  const UpdateResult whole = result({});
  for (const auto& other :
       {result([](TrainOptions&, WorkersOptions&w) { w.pass_values = 600; }),
        result([](TrainOptions&, WorkersOptions&w) { w.threads = w.parts = 3; }),
        result([](TrainOptions&o, WorkersOptions&) { o.model.gradient_checkpointing = true; }),
        result([](TrainOptions&, WorkersOptions&w) { w.loss.r_drop = 1; })}) {  // without dropout: twice the same loss
    EXPECT_NEAR(other.loss, whole.loss, 1e-5 * whole.loss);
    EXPECT_NEAR(other.gradient_norm, whole.gradient_norm, 1e-4 * whole.gradient_norm);
  }
  const UpdateResult without = result([](TrainOptions&, WorkersOptions& w) { w.loss.guided.reset(); });
  EXPECT_GT(whole.loss, without.loss + 0.01);
}

// The layer that learns alignments is never skipped; its loss is part of every update.
TEST(GuidedAlignment, LayerDropSparesItsLayer) {
  Scene s([](TrainOptions& o, WorkersOptions&) { o.model.layer_drop = 0.9; });
  for (std::int64_t u = 1; u <= 5; ++u) EXPECT_TRUE(s.update(u).finite);
}

TEST(GuidedAlignment, TeachesAttentionAndItsLayerIsWritten) {
  Scene s([](TrainOptions& o, WorkersOptions& w) {
    o.learning.guided_alignment_layer = 1;
    w.loss.guided->heads = guided_heads(o.learning, o.model);
    w.loss.guided->weight = 1;
  });
  const auto share_right = [&] {
    Arena arena;
    Context c(arena);
    const Batch& batch = s.batches[1];
    const nn::AttentionHeads wanted{.layer = 0, .heads = {0}};
    std::int64_t right = 0, all = 0;
    for (std::int64_t i = 0; i < batch.sentences(); ++i) {
      const std::vector<std::vector<std::int32_t>> source{{batch.source_row(i).begin(), batch.source_row(i).end()}},
          target{{batch.target_row(i).begin(), batch.target_row(i).end()}};
      const auto score = search::score(c, *s.model, {source, target}, {.attention = wanted});
      Alignment found = hard_alignment(score[0].attention, target[0].size()),
                expected = batch.alignments[static_cast<std::size_t>(i)];
      std::sort(expected.begin(), expected.end());
      for (const AlignmentPoint& p : found) right += std::binary_search(expected.begin(), expected.end(), p) ? 1 : 0;
      all += static_cast<std::int64_t>(found.size());
    }
    return static_cast<double>(right) / static_cast<double>(all);
  };
  EXPECT_LT(share_right(), 0.5);
  // The speed of learning depends on the last bits of sums, and so on the processor: usually 600 updates suffice.
  double share = 0;
  for (std::int64_t u = 1; u <= 6000 && share <= 0.8; ++u) {
    s.update(u, 4e-3, static_cast<std::size_t>(u) % s.batches.size());
    if (u % 300 == 0) share = share_right();
  }
  EXPECT_GT(share, 0.8);

  s.model->set_alignment_heads(s.settings.guided->heads);
  model::save(*s.model, s.dir.path("saved"));
  EXPECT_TRUE(contains(file_text(s.dir.path("saved/generation_config.json")), "\"alignment_heads\""));
  const auto loaded = model::load(model::ModelSource::open(s.dir.path("saved")));
  ASSERT_TRUE(loaded->alignment_heads().has_value());
  EXPECT_EQ(loaded->alignment_heads()->layer, 0);
  EXPECT_EQ(loaded->alignment_heads()->heads, std::vector<std::int32_t>{0});
}

TEST(GuidedAlignment, ResumedRunsEqualUndisturbedOnesBitForBit) {
  const TemporaryDirectory dir;
  test::write_reversals(dir, "train", 120, 1);
  const auto options = [&](const std::string& model) {
    TrainOptions o = guided(dir, model);
    o.run.save_freq = {{3, Unit::updates}};
    return o;
  };
  const test::Trained whole = test::run_trainer(options("whole"));
  test::Trained last;
  for (int piece = 0; piece < 50; ++piece) {
    last = test::run_trainer(options("pieces"), {.stop_after = 1 + piece % 4, .before_update = {}});
    if (last.summary.ending == Ending::completed) break;
  }
  EXPECT_EQ(last.summary.position.updates, whole.summary.position.updates);
  EXPECT_EQ(last.weights, whole.weights);
  TrainOptions without = options("without");
  without.data.guided_alignment = {};
  EXPECT_NE(test::run_trainer(without).weights, whole.weights);
  TrainOptions other = options("pieces");
  other.learning.guided_alignment_weight = 0.2;
  EXPECT_TRUE(contains(error_of([&] { test::run_trainer(other); }), "guided-alignment-weight"));
}

TEST(GuidedAlignment, MistakesAreTold) {
  const TemporaryDirectory dir;
  test::write_reversals(dir, "train", 20, 1);
  const auto says = [&](const std::string& lines, const std::string& expected) {
    TrainOptions o = guided(dir);
    o.data.guided_alignment.files = {dir.write("wrong", lines)};
    const std::string text = error_of([&] { read_batches(training_corpus(o), std::make_shared<LetterTokenizer>()); });
    EXPECT_TRUE(contains(text, expected)) << text;
  };
  std::string lines;
  for (int i = 0; i < 20; ++i) lines += i == 4 ? "0-40\n" : "0-0\n";
  says(lines, "pair 5");
  says("0-0\n0-0\n", "has 2 alignments");
  says("0-0\n1:1\n", "wrong: line 2");
  TrainOptions o = guided(dir);
  o.data.guided_alignment.files = {"a", "b"};
  EXPECT_TRUE(contains(error_of([&] { settle(o); }), "guided_alignment"));
  o = guided(dir);
  o.learning.guided_alignment_layer = 3;
  EXPECT_TRUE(contains(error_of([&] { settle(o); }), "guided_alignment_layer"));
  o.learning.guided_alignment_layer = last_layer, o.learning.guided_alignment_heads = 99;
  EXPECT_TRUE(contains(error_of([&] { settle(o); }), "guided_alignment_heads"));
}

}  // namespace
}  // namespace tril::train::guided_alignment_test

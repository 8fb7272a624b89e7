// Medusa heads in training: their loss, its gradients, what stays frozen, and what a run writes.
#include "train/loss/heads_loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "model_io/adapters/medusa_files.h"
#include "model_io/source/registry.h"
#include "support/training.h"
#include "tensor/lasting.h"
#include "train/loop/fine_tune.h"
#include "train/loop/settle.h"
#include "train/loss/hidden_states.h"

namespace tril::train::heads_test {
namespace {

// A small translation model in a directory, and options that train heads on it.
struct Base {
  TemporaryDirectory dir;

  Base() {
    test::write_reversals(dir, "train", 60, 1);
    test::write_reversals(dir, "valid", 12, 2);
    const TrainOptions o = test::small_options(dir);
    const std::unique_ptr<model::Model> m = build_model(o.model, test::LetterTokenizer());
    m->parameters().initialise(7);
    m->parameters().refresh(kern::best());
    model::save(*m, dir.path("base"));
  }
  TrainOptions options(bool own_output = false, const std::string& model = "heads") const {
    TrainOptions o = test::small_options(dir, model);
    o.tune.init_from = dir.path("base");
    o.tune.medusa_heads = 3, o.tune.medusa_layers = 2, o.tune.medusa_own_output = own_output;
    return o;
  }
};

std::unique_ptr<model::Model> with_heads(const TrainOptions& o) {
  const InitialModel initial = open_initial_model(o.tune);
  std::unique_ptr<model::Model> m = build_tuned_model(o, *initial);
  m->parameters().initialise(3);
  load_initial_weights(*m, *initial);
  return m;
}

TrainedHeads heads_of(const model::Model& m, double decay = 0.8) {
  return {nn::MedusaHeads::find(m.parameters()).value(), decay};
}

void set_random(model::Model& m) {
  std::uint64_t stream = 0;
  for (nn::Parameter& p : m.parameters().all()) {
    if (!p.is_adapter) continue;
    RandomSequence random(5, ++stream);
    std::vector<float> values(static_cast<std::size_t>(p.shape.count()));
    for (float& v : values) v = static_cast<float>(0.2 * random.normal());
    host_write<float>(p.value, values);
  }
  m.parameters().refresh(kern::best());
}

// Rows of 5, 4 and 2 tokens: the last has no target for any head but the first.
Batch some_batch() {
  Batch b;
  const std::vector<std::int32_t> x{5, 9, 3, 0}, y{3, 9, 5, 7, 0}, z{4, 0};
  b.append(x, y, 0);
  b.append(y, x, 1);
  b.append(x, z, 2);
  return b;
}

// By log-softmax in double, from the hidden states and the heads' states.
double expected_loss(const model::Model& m, const Batch& b, double decay, double normalizer) {
  Arena arena;
  Context c(arena);
  const nn::MedusaHeads heads = nn::MedusaHeads::find(m.parameters()).value();
  const Tensor hidden = hidden_states(c, m, b);
  double sum = 0, weights = 0;
  for (std::int64_t k = 0; k < heads.count(); ++k) {
    weights += std::pow(decay, k);
    const model::OutputProjection out = m.output();
    const nn::Parameter* const own = heads.output(k);
    const Tensor state = heads.state(c, hidden, k);
    const std::vector<float> logits =
        host_copy<float>(own ? ops::linear(c, state, *own, Tensor()) : ops::linear(c, state, out.weight, out.bias));
    const auto V = static_cast<std::size_t>(m.vocab_size());
    for (std::int64_t r = 0; r < b.target.count(); ++r)
      for (std::int64_t t = b.target.begin(r); t + k + 1 < b.target.end(r); ++t) {
        const float* const row = logits.data() + static_cast<std::size_t>(t) * V;
        double all = 0;
        for (std::size_t v = 0; v < V; ++v) all += std::exp(static_cast<double>(row[v]));
        sum += std::pow(decay, k) * (std::log(all) - row[b.target_ids[static_cast<std::size_t>(t + k + 1)]]);
      }
  }
  return sum / weights / normalizer;
}

TEST(HeadsLoss, IsTheWeighedCrossEntropyOfLaterTokens) {
  const Base base;
  for (const bool own : {false, true}) {
    const auto m = with_heads(base.options(own));
    const Batch b = some_batch();
    Arena arena;
    Context c(arena);
    const auto loss = [&](double decay) {
      return static_cast<double>(host_copy<float>(heads_loss(c, *m, heads_of(*m, decay), b, 7))[0]);
    };
    EXPECT_NEAR(loss(0.8), expected_loss(*m, b, 0.8, 7), 1e-4) << "heads that begin as the model";
    set_random(*m);
    for (const double decay : {1.0, 0.8, 0.1}) EXPECT_NEAR(loss(decay), expected_loss(*m, b, decay, 7), 1e-3) << decay;
    c.set_training(true);
    EXPECT_NEAR(loss(0.8), expected_loss(*m, b, 0.8, 7), 1e-3) << "the frozen model drops nothing out";
    EXPECT_TRUE(c.training());
  }
}

TEST(HeadsLoss, GradientsByFiniteDifferences) {
  const Base base;
  for (const bool own : {false, true}) {
    const auto m = with_heads(base.options(own));
    set_random(*m);
    nn::Parameters& p = m->parameters();
    const nn::Parameters::Window window = p.trained_window();
    Arena arena;
    Context c(arena);
    Tape tape;
    Grads grads;
    const Tensor gradient = lasting_zeros(window.count);
    p.bind_gradients(grads, gradient);
    const Batch batch = some_batch();
    const LossSettings settings{.label_smoothing = 0.1, .heads = heads_of(*m)};
    const auto loss = [&] { return static_cast<double>(host_copy<float>(batch_loss(c, *m, batch, settings, 1))[0]); };
    grads.restart();
    c.set_tape(&tape);
    p.watch(tape);
    const Tensor y = batch_loss(c, *m, batch, settings, 1);
    tape.backward(c, y, c.upload(std::vector<float>{1}), grads);
    grads.finish(c);
    c.set_tape(nullptr);
    const std::vector<float> g = host_copy<float>(gradient);
    int checked = 0;
    for (nn::Parameter& w : p.all()) {
      EXPECT_EQ(w.trainable, w.is_adapter) << w.name;
      if (!w.is_adapter) continue;
      std::vector<float> values = host_copy<float>(w.value);
      for (const std::size_t i : {std::size_t{0}, values.size() / 3, values.size() / 2, values.size() - 1}) {
        const float kept = values[i], step = 5e-3f;
        const auto at = [&](float x) {
          values[i] = x;
          host_write<float>(w.value, values);
          p.refresh(kern::best());
          return loss();
        };
        const double expected = (at(kept + step) - at(kept - step)) / (2 * static_cast<double>(step));
        at(kept);
        // Float32 losses of about 20 differ by 1e-5 of themselves, over a step of 1e-2.
        EXPECT_NEAR(g[static_cast<std::size_t>(p.offset_of(w) - window.begin) + i], expected,
                    2e-2 * std::abs(expected) + 5e-3)
            << w.name << " " << i;
        ++checked;
      }
    }
    EXPECT_EQ(checked, 3 * 4 * (own ? 5 : 4));
  }
}

TEST(HeadsLoss, UpdatesChangeTheHeadsAlone) {
  const Base base;
  for (const bool own : {false, true}) {
    const TrainOptions o = base.options(own);
    const auto m = with_heads(o);
    const std::vector<float> before = host_copy<float>(m->parameters().flat());
    Optimizer optimizer(m->parameters(), {.weight_decay = 0.1});
    WorkersOptions w;
    w.threads = w.parts = 2;
    w.loss.heads = heads_of(*m);
    Workers workers(*m, optimizer, w);
    const Batch batch = some_batch();
    const double first = workers.evaluate({&batch, 1}).cross_entropy;
    EXPECT_NEAR(first, expected_loss(*m, batch, 0.8, static_cast<double>(batch.target_tokens())), 1e-4)
        << "validation measures the heads too";
    for (std::int64_t u = 1; u <= 40; ++u) EXPECT_TRUE(workers.update({&batch, 1}, u, 0.01).finite);
    EXPECT_LT(workers.evaluate({&batch, 1}).cross_entropy, 0.5 * first);
    const std::vector<float> after = host_copy<float>(m->parameters().flat());
    for (const nn::Parameter& p : m->parameters().all()) {
      const auto at = static_cast<std::ptrdiff_t>(m->parameters().offset_of(p)), n = p.shape.count();
      EXPECT_EQ(std::equal(before.begin() + at, before.begin() + at + n, after.begin() + at), !p.is_adapter) << p.name;
    }
  }
}

TEST(HeadsLoss, OnlyHeadsAreWritten) {
  const Base base;
  for (const bool own : {false, true}) {
    const TrainOptions o = base.options(own);
    const auto m = with_heads(o);
    const std::string dir = base.dir.path(own ? "own" : "shared");
    EXPECT_EQ(lost_files(dir, o.tune).weights, std::vector<std::string>{"medusa_lm_head.safetensors"});
    save_tuned(*m, dir, o.tune, open_initial_model(o.tune));
    EXPECT_TRUE(lost_files(dir, o.tune).weights.empty());
    EXPECT_TRUE(lost_files(dir, o.tune).configs.empty());
    EXPECT_FALSE(std::filesystem::exists(dir + "/model.safetensors"));
    const model::MedusaFiles files = model::MedusaFiles::open(dir);
    EXPECT_EQ(files.sizes().heads, 3);
    EXPECT_EQ(files.sizes().layers, 2);
    EXPECT_EQ(files.base_model(), base.dir.path("base"));
    EXPECT_EQ(files.sizes().own_vocab, own ? 29 : 0);
    if (!own) continue;
    EXPECT_EQ(to_f32(files.at("2.2.weight")), host_copy<float>(m->output().weight.value))
        << "a head's own matrix begins as the model's";
  }
}

TEST(HeadsLoss, RefusesWhatHeadsDoNotChange) {
  const Base base;
  TrainOptions o = base.options();
  EXPECT_NO_THROW(settle(o));
  EXPECT_EQ(o.validation.valid_samples, 0);
  o.data.valid_sets = {"valid.src", "valid.tgt"};
  o.validation.valid_metrics = {Metric::bleu};
  EXPECT_TRUE(contains(error_of([&] { settle(o); }), "valid_metrics", "medusa_heads"));
}

}  // namespace
}  // namespace tril::train::heads_test

#include "train/loop/fine_tune.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "format/safetensors.h"
#include "model_io/adapters/adapter.h"
#include "model_io/contents/generation_config.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "nn/lora.h"
#include "support/small_decoders.h"
#include "support/training.h"
#include "train/loop/settle.h"

namespace tril::train {
namespace {

using test::small_options;

// A small model in a directory, and the options that fine-tune it.
struct Base {
  TemporaryDirectory dir;
  std::vector<float> weights;

  Base() {
    test::write_reversals(dir, "train", 60, 1);
    TrainOptions o = small_options(dir);
    o.model.activation = model::HiddenAct::gelu;  // smooth, for finite differences
    const std::unique_ptr<model::Model> m = build_model(o.model, test::LetterTokenizer());
    m->parameters().initialise(7);
    m->parameters().refresh(kern::best());
    weights = host_copy<float>(m->parameters().flat());
    model::save(*m, dir.path("base"));
  }
  TrainOptions options() const {
    TrainOptions o = small_options(dir);
    o.tune.init_from = dir.path("base");
    o.model.dropout = 0;
    return o;
  }
};

std::unique_ptr<model::Model> tuned(const TrainOptions& o) {
  std::unique_ptr<model::Model> m = build_tuned_model(o, *open_initial_model(o.tune));
  m->parameters().initialise(3);
  model::load_weights(*m, model::ModelSource::open(o.tune.init_from));
  return m;
}

Batch some_batch() {
  Batch b;
  const std::vector<std::int32_t> x{5, 9, 3, 0}, y{3, 9, 5, 7, 0};
  b.append(x, y, 0);
  b.append(y, x, 1);
  return b;
}

std::vector<float> logits_of(const model::Model& m) {
  Arena arena;
  Context c(arena);
  const Batch b = some_batch();
  const model::Memory memory = m.encode(c, b.source_ids, b.source);
  model::DecoderInput input;
  input.memory = &memory;
  input.ids = b.target_ids;
  input.rows = b.target;
  return host_copy<float>(model::logits(c, m, m.decode(c, input)));
}

void set_random(nn::Parameter& p, std::uint64_t stream) {
  RandomSequence random(5, stream);
  std::vector<float> values(static_cast<std::size_t>(p.shape.count()));
  for (float& v : values) v = static_cast<float>(0.2 * random.normal());
  host_write<float>(p.value, values);
}

TEST(FineTune, BeginsAtTheModelAsItIs) {
  const Base base;
  const auto original = model::load(model::ModelSource::open(base.dir.path("base")));
  TrainOptions o = base.options();
  EXPECT_EQ(logits_of(*tuned(o)), logits_of(*original));
  o.tune.lora_rank = 3;
  const std::vector<float> got = logits_of(*tuned(o)), expected = logits_of(*original);
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-5) << "B is zero";
}

TEST(FineTune, WeightsThatAreNotFiniteAreTheFilesFault) {
  const Base base;
  const auto broken = model::load(model::ModelSource::open(base.dir.path("base")));
  const Tensor& all = broken->parameters().flat();
  std::vector<float> values = host_copy<float>(all);
  values[values.size() / 2] = std::numeric_limits<float>::quiet_NaN();
  host_write<float>(all, values);
  model::save(*broken, base.dir.path("broken"));
  TrainOptions o = base.options();
  o.tune.init_from = base.dir.path("broken");
  settle(o);
  const std::unique_ptr<model::Model> m = build_tuned_model(o, *open_initial_model(o.tune));
  CheckpointStore store(o.run.model, 1);
  TrainerHooks hooks;
  hooks.stop = [] { return false; };
  hooks.save_model = [] {};
  hooks.load_start = [&] { model::load_weights(*m, model::ModelSource::open(o.tune.init_from)); };
  const auto begin = [&] { Trainer(o, {*m, std::make_shared<test::LetterTokenizer>()}, store, hooks); };
  EXPECT_TRUE(contains(error_of(begin), "broken: has weights that are not finite"));
}

TEST(FineTune, MergedAdaptersGiveTheSameLogitsInAPlainDirectory) {
  const Base base;
  TrainOptions o = base.options();
  o.tune.lora_rank = 3;
  o.tune.lora_alpha = 12;
  o.tune.lora_targets = {"q_proj", "v_proj", "fc*", "decoder.*.out_proj"};
  const auto m = tuned(o);
  std::uint64_t stream = 0;
  std::size_t adapters = 0;
  for (nn::Parameter& p : m->parameters().all())
    if (p.is_adapter) set_random(p, ++stream), ++adapters;
  EXPECT_EQ(adapters, 2u * (3 * 2 + 2 + 2 + 2)) << "q, v of three attentions, two fc twice, out_proj twice";
  m->parameters().refresh(kern::best());
  save_tuned(*m, base.dir.path("merged"), o.tune, open_initial_model(o.tune));
  const auto plain = model::load(model::ModelSource::open(base.dir.path("merged")));
  EXPECT_EQ(plain->parameters().names().size(), m->parameters().names().size() - adapters);
  const std::vector<float> got = logits_of(*plain), expected = logits_of(*m),
                           before = logits_of(*tuned(base.options()));
  double moved = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i], 2e-5 * (1 + std::abs(expected[i])));
    moved = std::max(moved, static_cast<double>(std::abs(got[i] - before[i])));
  }
  EXPECT_GT(moved, 0.05) << "or the test shows nothing";

  // PEFT's files hold only the adapters, under PEFT's names.
  const SafetensorsFile file = SafetensorsFile::open(base.dir.path("merged/adapter/adapter_model.safetensors"));
  EXPECT_EQ(file.names().size(), adapters);
  const WeightView& a = file.at("base_model.model.model.encoder.layers.0.self_attn.q_proj.lora_A.weight");
  EXPECT_EQ(a.shape, (std::vector<std::int64_t>{3, 16}));
  EXPECT_TRUE(contains(file_text(base.dir.path("merged/adapter/adapter_config.json")), "\"lora_alpha\": 12"));
}

// Queries beside their gates, head by head, are in another order in the model than in its files.
TEST(FineTune, AnAdapterHasItsRowsInTheOrderOfFiles) {
  const TemporaryDirectory dir;
  const nlohmann::json json = tril::testing::delta_variant("qwen3_5_text");
  const auto make = [&] { return model::make(JsonObject(json, "config.json")); };
  const auto base = make();
  base->parameters().allocate();
  base->parameters().initialise(7);
  model::save(*base, dir.path("base"));
  FineTuneOptions tune;
  tune.init_from = dir.path("base"), tune.lora_rank = 2;
  const auto m = make();
  add_adapters(m->parameters(), tune);
  m->parameters().allocate();
  const auto source = model::ModelSource::open(dir.path("base"));
  model::load_weights(*m, source);
  std::uint64_t stream = 0;
  for (nn::Parameter& p : m->parameters().all())
    if (p.is_adapter) set_random(p, ++stream);
  save_tuned(*m, dir.path("tuned"), tune, source);

  const auto served = model::load(source), merged = model::load(model::ModelSource::open(dir.path("tuned")));
  const model::Adapter adapter = model::Adapter::open(dir.path("tuned/adapter"));
  model::attach(*served, source, {&adapter, 1}, 0);
  const auto logits = [](const model::Model& of) {
    Arena arena;
    Context c(arena);
    const std::vector<std::int32_t> ids{5, 9, 3, 7};
    return host_copy<float>(model::logits(c, of, of.decode(c, {.ids = ids, .rows = Rows::rectangle(1, 4)})));
  };
  const std::vector<float> got = logits(*served), expected = logits(*merged);
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-4 * (1 + std::abs(expected[i])));
}

TEST(FineTune, WhatThePublisherSaysOfGeneratingStays) {
  const Base base;
  const std::string path = base.dir.path("base/generation_config.json");
  nlohmann::json published = nlohmann::json::parse(file_text(path));
  published["forced_bos_token_id"] = 3, published["num_beams"] = 7, published["eos_token_id"] = 9;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  std::ofstream(path) << published;
  const TrainOptions o = base.options();
  const auto m = tuned(o);
  save_tuned(*m, base.dir.path("after"), o.tune, open_initial_model(o.tune));
  const model::GenerationConfig g = model::ModelSource::open(base.dir.path("after")).generation();
  EXPECT_EQ(g.forced_bos_token_id, 3);
  EXPECT_EQ(g.search.beam_size, 7);
  EXPECT_EQ(g.eos_token_ids, std::vector{9}) << "the publisher's goes before the model's own";
}

// A directory without beams is decoded greedily, as in transformers; one trained by tril names its beams.
TEST(FineTune, AModelOfOursNamesItsBeams) {
  const Base base;
  const TrainOptions o = base.options();
  const auto m = tuned(o);
  save_tuned(*m, base.dir.path("ours"), FineTuneOptions{}, std::nullopt);
  EXPECT_EQ(model::ModelSource::open(base.dir.path("ours")).generation().search.beam_size, 4);
  save_tuned(*m, base.dir.path("theirs"), o.tune, open_initial_model(o.tune));
  EXPECT_EQ(model::ModelSource::open(base.dir.path("theirs")).generation().search.beam_size,
            model::ModelSource::open(base.dir.path("base")).generation().search.beam_size)
      << "what a publisher leaves out stays out";
}

TEST(FineTune, GradientsOfAdaptersByFiniteDifferences) {
  const Base base;
  TrainOptions o = base.options();
  o.tune.lora_rank = 2;
  o.tune.lora_targets = {"*_proj", "fc1", "fc2"};
  const auto m = tuned(o);
  nn::Parameters& p = m->parameters();
  std::uint64_t stream = 0;
  for (nn::Parameter& w : p.all())
    if (w.is_adapter) set_random(w, ++stream);
  p.refresh(kern::best());
  const nn::Parameters::Window window = p.trained_window();
  EXPECT_LT(window.count, p.flat().count() / 2) << "gradients only of what trains";

  Arena arena;
  Context c(arena);
  Tape tape;
  Grads grads;
  const Tensor gradient = lasting_zeros(window.count);
  p.bind_gradients(grads, gradient);
  const Batch batch = some_batch();
  const auto loss = [&] {
    return static_cast<double>(host_copy<float>(batch_loss(c, *m, batch, {.label_smoothing = 0.1}, 1))[0]);
  };
  grads.restart();
  c.set_tape(&tape);
  p.watch(tape);
  const Tensor y = batch_loss(c, *m, batch, {.label_smoothing = 0.1}, 1);
  tape.backward(c, y, c.upload(std::vector<float>{1}), grads);
  grads.finish(c);
  c.set_tape(nullptr);
  const std::vector<float> g = host_copy<float>(gradient);
  int checked = 0;
  for (nn::Parameter& w : p.all()) {
    if (!w.is_adapter) {
      EXPECT_FALSE(w.trainable) << w.name;
      continue;
    }
    std::vector<float> values = host_copy<float>(w.value);
    for (const std::size_t i : {std::size_t{0}, values.size() / 2, values.size() - 1}) {
      const float kept = values[i], step = 5e-3f;
      const auto at = [&](float x) {
        values[i] = x;
        host_write<float>(w.value, values);
        p.refresh(kern::best());
        return loss();
      };
      const double expected = (at(kept + step) - at(kept - step)) / (2 * static_cast<double>(step));
      at(kept);
      const double got = g[static_cast<std::size_t>(p.offset_of(w) - window.begin) + i];
      EXPECT_NEAR(got, expected, 2e-2 * std::abs(expected) + 5e-3) << w.name << " " << i;
      ++checked;
    }
  }
  EXPECT_GT(checked, 60);
}

TEST(FineTune, FrozenWeightsStayBitIdentical) {
  const Base base;
  struct Case {
    std::vector<std::string> train_only, freeze;
    std::int64_t rank;
  };
  for (const Case& k : {Case{{"decoder.*"}, {"*norm*"}, 0}, {{}, {"shared.weight", "*.bias"}, 0}, {{}, {}, 2}}) {
    TrainOptions o = base.options();
    o.tune.train_only = k.train_only, o.tune.freeze = k.freeze, o.tune.lora_rank = k.rank;
    const auto m = tuned(o);
    const std::vector<float> before = host_copy<float>(m->parameters().flat());
    Optimizer optimizer(m->parameters(), {.weight_decay = 0.1, .gradient_noise = 1e-4});
    Workers workers(*m, optimizer, {.threads = 2, .parts = 2});
    const Batch batch = some_batch();
    for (std::int64_t u = 1; u <= 3; ++u) EXPECT_TRUE(workers.update({&batch, 1}, u, 0.01).finite);
    const std::vector<float> after = host_copy<float>(m->parameters().flat());
    for (const nn::Parameter& p : m->parameters().all()) {
      const auto at = static_cast<std::ptrdiff_t>(m->parameters().offset_of(p)), n = p.shape.count();
      const bool same = std::equal(before.begin() + at, before.begin() + at + n, after.begin() + at);
      const bool decoder = contains(p.name, "decoder.");
      const bool trains = k.rank > 0             ? p.is_adapter
                          : k.train_only.empty() ? !contains(p.name, "bias") && !contains(p.name, "shared")
                                                 : decoder && !contains(p.name, "norm");
      EXPECT_EQ(p.trainable, trains) << p.name;
      EXPECT_EQ(same, !trains) << p.name;
    }
  }
}

// R-Drop needs two passes that differ: by the model's own dropout, or by that of adapters.
TEST(FineTune, RDropKnowsWhatDropsOut) {
  const TemporaryDirectory dir;
  nlohmann::json config{{"model_type", "llama"},   {"vocab_size", 40},       {"hidden_size", 16},
                        {"intermediate_size", 12}, {"num_hidden_layers", 1}, {"num_attention_heads", 2}};
  const auto refused = [&] {
    dir.write("config.json", config.dump());
    TrainOptions o = small_options(dir);
    o.tune.init_from = dir.path(""), o.data.max_length = o.model.max_positions;
    o.data.vocab = dir.path(""), o.data.train_sets = {"text"}, o.data.valid_sets.clear();
    o.learning.r_drop = 1, o.tune.lora_rank = 2;
    take_form(o, fields_of(o), open_initial_model(o.tune));
    const std::string without = error_of([&] { settle(o); });
    o.tune.lora_dropout = 0.1;
    settle(o);
    return contains(without, "r_drop");
  };
  EXPECT_TRUE(refused());
  config["attention_dropout"] = 0.1;
  EXPECT_FALSE(refused());
}

// Decided by the family that is tuned, not by the one whose options are used.
TEST(FineTune, RDropKnowsThatTheModelHasNoDropout) {
  const TemporaryDirectory dir;
  dir.write("config.json",
            R"({"model_type": "llama", "vocab_size": 40, "hidden_size": 16, "intermediate_size": 12,
                "num_hidden_layers": 1, "num_attention_heads": 2})");
  TrainOptions o = small_options(dir);
  o.model.arch = "gpt2", o.model.attention_dropout = 0.1, o.model.dropout = 0;  // as set by --arch gpt2
  o.tune.init_from = dir.path(""), o.data.max_length = 32;
  o.learning.r_drop = 1;
  EXPECT_TRUE(contains(error_of([&] { build_tuned_model(o, *open_initial_model(o.tune)); }), "r_drop"));
  o.learning.r_drop = 0;
  EXPECT_NO_THROW(build_tuned_model(o, *open_initial_model(o.tune)));
}

TEST(FineTune, PatternsThatMatchNothingNameWhatIsNear) {
  const Base base;
  TrainOptions o = base.options();
  o.tune.freeze = {"model.decoder.layers.0.fc3.weight"};
  const std::string text = error_of([&] { build_tuned_model(o, *open_initial_model(o.tune)); });
  EXPECT_TRUE(contains(text, "freeze") && contains(text, "fc3") && contains(text, "fc1.weight")) << text;
  o.tune.freeze = {"*"};
  EXPECT_TRUE(
      contains(error_of([&] { build_tuned_model(o, *open_initial_model(o.tune)); }), "nothing is left to train"));
  o = base.options();
  o.tune.lora_rank = 4;
  o.tune.lora_targets = {"query"};
  EXPECT_TRUE(contains(error_of([&] { build_tuned_model(o, *open_initial_model(o.tune)); }), "lora_targets"));
  o.tune.lora_targets = {"q_proj"};
  o.tune.lora_rank = 1000;
  EXPECT_TRUE(
      contains(error_of([&] { build_tuned_model(o, *open_initial_model(o.tune)); }), "above the largest rank of any"));
}

}  // namespace
}  // namespace tril::train

// A new model of every family: it can be built from sizes alone, learns, and is the same model when its directory is read again.
// With TRIL_EXPORT_DIR, the directories stay there, for tests/model_io/check_export.py.
#include "train/families/new_family.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <set>

#include "format/safetensors.h"
#include "format/safetensors_write.h"
#include "model_io/families/family_list.h"
#include "model_io/source/registry.h"
#include "support/training.h"
#include "train/loop/data.h"
#include "train/loop/presets.h"
#include "train/loop/settle.h"
#include "train/loss/batch_loss.h"
#include "train/loss/hidden_states.h"

namespace tril::train::new_family_test {
namespace {

// These lessons take masks, memories or padded rectangles as inputs, which training's batches do not have.
const std::set<std::string_view> lessons{"padded_decoder", "learned_position_decoder", "tied_decoder"};

TEST(NewFamily, IsEveryFamilyThatLoads) {
  std::set<std::string_view> loads, begins;
  for (const model::Family& family : model::family_list())
    if (!lessons.contains(family.name)) loads.insert(family.name);
  for (const NewFamily& family : new_families()) {
    EXPECT_TRUE(begins.insert(family.arch).second) << family.arch << " is there twice";
    EXPECT_EQ(&new_family(family.arch), &family);
  }
  EXPECT_EQ(begins.erase("marian_ssru"), 1u);
  EXPECT_EQ(begins, loads);
}

struct Files {
  Files() {
    test::write_reversals(dir, "train", 60, 5);
    std::string text;
    RandomSequence random(3, 3);
    for (int i = 0; i < 300; ++i) text += std::array{"abc", "bcd", "xyzz", "no"}[random.below(4)];
    dir.write("text", text);
  }
  TrainOptions options(std::string_view arch) const {
    TrainOptions o = test::small_options(dir);
    o.model.arch = arch;
    const std::int64_t positions = o.model.max_positions;
    apply_preset(o);
    o.learning.learn_rate = 0.01, o.learning.warmup = 10, o.learning.after = {{30, Unit::updates}};
    o.model.max_positions = positions;
    o.model.d_model = 32, o.model.num_heads = 4, o.model.ffn_dim = 24, o.model.enc_depth = o.model.dec_depth = 2;
    if (is_language_model(o.model)) {
      o.data.train_sets = {dir.path("text")};
      o.data.max_length = 12;
      o.model.max_positions = ModelOptions{}.max_positions;
    }
    return o;
  }
  TemporaryDirectory dir;
};

// The same rows for every family: letters, which no special token is among.
Batch some_rows() {
  Batch b;
  const std::vector<std::int32_t> first{5, 9, 3, 7, 11, 4}, second{8, 12, 6};
  for (const auto& row : {first, second}) b.append(row, row, std::ssize(b.lines));
  return b;
}

std::vector<float> logits_of(const model::Model& m) {
  Arena arena;
  Context c(arena);
  return host_copy<float>(model::logits(c, m, hidden_states(c, m, some_rows(), nullptr, nullptr)));
}

// One text, and what tril says of it, beside the model.
void leave_expected(const model::Model& m, const std::string& directory) {
  const std::vector<std::int32_t> source{5, 9, 3, 7, 11, 4}, target{6, 8, 13};
  Batch b;
  b.append(source, m.has_encoder() ? target : source, 0);
  Arena arena;
  Context c(arena);
  const std::vector<float> logits = host_copy<float>(model::logits(c, m, hidden_states(c, m, b, nullptr, nullptr)));
  const std::vector<std::int32_t> shifted{m.special_ids().decoder_start, 6, 8};
  std::vector<WeightView> tensors{{"input_ids", StoredType::i32, {1, 6}, std::as_bytes(std::span(source))}};
  if (m.has_encoder())
    tensors.push_back({"decoder_input_ids", StoredType::i32, {1, 3}, std::as_bytes(std::span(shifted))});
  tensors.push_back(
      {"logits", StoredType::f32, {m.has_encoder() ? 3 : 6, m.vocab_size()}, std::as_bytes(std::span(logits))});
  write_safetensors(directory + "/expected.safetensors", tensors, {});
}

class EachNewFamily : public ::testing::TestWithParam<std::string> {};

TEST_P(EachNewFamily, LearnsAndIsReadAgain) {
  const Files files;
  TrainOptions o = files.options(GetParam());
  const test::Trained run = test::run_trainer(o);
  ASSERT_EQ(run.updates.size(), 30u);
  double first = 0, last = 0;
  for (std::size_t i = 0; i < 5; ++i) first += run.updates[i].loss, last += run.updates[25 + i].loss;
  EXPECT_LT(last, 0.95 * first);

  settle(o);
  const auto m = build_model(o.model, test::LetterTokenizer());
  ASSERT_EQ(m->parameters().flat().count(), std::ssize(run.weights));
  host_write<float>(m->parameters().flat(), run.weights);
  m->parameters().refresh(kern::best());
  const char* const root = std::getenv("TRIL_EXPORT_DIR");
  const std::string directory = root ? std::string(root) + "/" + GetParam() : files.dir.path("saved");
  model::save(*m, directory);
  if (root && nlohmann::json::parse(m->config_json()).at("model_type") != "tril") leave_expected(*m, directory);
  const auto again = model::load(model::ModelSource::open(directory));
  EXPECT_EQ(again->config_json(), m->config_json());
  const std::vector<float> before = logits_of(*m), after = logits_of(*again);
  ASSERT_EQ(before.size(), after.size());
  // Norms that are stored less one may differ in their last bit.
  for (std::size_t i = 0; i < before.size(); ++i) ASSERT_NEAR(after[i], before[i], 1e-5 * (1 + std::abs(before[i])));
}

INSTANTIATE_TEST_SUITE_P(NewFamily, EachNewFamily, ::testing::ValuesIn(architectures()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

std::vector<std::string> language_models() {
  std::vector<std::string> names;
  for (const NewFamily& family : new_families())
    if (!family.encoder_decoder) names.emplace_back(family.arch);
  return names;
}

class EachLanguageModel : public ::testing::TestWithParam<std::string> {};

// Windows, positions of every kind, recurrent states, convolutions, experts: nothing of a document reaches another one.
TEST_P(EachLanguageModel, ABatchOfDocumentsIsTheDocumentsOneByOne) {
  const Files files;
  TrainOptions o = files.options(GetParam());
  o.data.documents = Documents::lines;
  o.data.train_sets = {files.dir.write("documents", "abcdefghijk\nhello\n\na\nzyxwvutsrq\nbb\n")};
  settle(o);
  const auto m = build_model(o.model, test::LetterTokenizer());
  nn::Parameters& p = m->parameters();
  p.initialise(5);
  const kern::Kernels& k = kern::best();
  p.refresh(k);

  const std::vector<Batch> batches = [&] {
    TrainOptions as_validation = o;
    as_validation.data.valid_sets = o.data.train_sets;
    return validation_batches(as_validation, std::make_shared<test::LetterTokenizer>());
  }();
  ASSERT_EQ(batches.size(), 1u);
  const Batch& all = batches[0];
  ASSERT_EQ(all.sentences(), 5);
  ASSERT_EQ(all.source_tokens(), 12 + 6 + 2 + 11 + 3) << "no padding";

  // The loss and the gradient of some documents, as their part of the batch.
  const auto run = [&](const Batch& batch) {
    Arena arena;
    Tape tape;
    Context c(arena, k);  // not training: dropout would depend on the place in the batch
    std::vector<Tensor> gradients{lasting_zeros(p.trained_window().count)};
    Grads grads;
    p.bind_gradients(grads, gradients[0]);
    grads.restart();
    c.set_tape(&tape);
    p.watch(tape);
    const Tensor loss = batch_loss(c, *m, batch, {}, static_cast<double>(all.target_tokens()));
    tape.backward(c, loss, c.upload(std::vector<float>{1}), grads);
    c.set_tape(nullptr);
    grads.finish(c);
    return std::pair{static_cast<double>(host_copy<float>(loss)[0]), host_copy<float>(gradients[0])};
  };
  const auto [loss, gradient] = run(all);
  double sum = 0;
  std::vector<double> gradients(gradient.size());
  for (std::int64_t r = 0; r < all.sentences(); ++r) {
    Batch alone;
    alone.append(all.source_row(r), all.target_row(r), r);
    const auto [own_loss, own_gradient] = run(alone);
    sum += own_loss;
    for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i] += static_cast<double>(own_gradient[i]);
  }
  EXPECT_NEAR(loss, sum, 1e-5 * sum);
  double norm = 0, off = 0;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    norm += gradients[i] * gradients[i];
    off += std::pow(static_cast<double>(gradient[i]) - gradients[i], 2);
  }
  EXPECT_GT(norm, 0);
  EXPECT_LT(std::sqrt(off), 1e-4 * std::sqrt(norm)) << "sums of float32 in another order";
}

INSTANTIATE_TEST_SUITE_P(NewFamily, EachLanguageModel, ::testing::ValuesIn(language_models()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// Each preset makes a model of each family, of sizes that its own checks take.
TEST(NewFamily, PresetsFitEveryFamily) {
  NewModel m{.source_vocab = 29, .target_vocab = 29};
  m.special = test::LetterTokenizer().special(Side::target);
  for (const NewFamily& family : new_families())
    for (const Preset preset : {Preset::tiny, Preset::base, Preset::big}) {
      TrainOptions o;
      o.model.arch = family.arch, o.model.preset = preset;
      apply_preset(o);
      m.d_model = o.model.d_model, m.num_heads = o.model.num_heads, m.ffn_dim = o.model.ffn_dim;
      m.enc_depth = o.model.enc_depth, m.dec_depth = o.model.dec_depth,
      m.activation = model::name_of(o.model.activation);
      const nlohmann::json config = new_config(family, m, {});
      const auto made = model::make(JsonObject(config, "config.json"));
      EXPECT_EQ(made->d_model(), m.d_model) << family.arch;
      EXPECT_EQ(made->has_encoder(), family.encoder_decoder) << family.arch;
      EXPECT_EQ(made->experts_per_token() > 0, family.experts) << family.arch;
    }
}

TEST(NewFamily, KeysOfItsOwnMayBeChosen) {
  const Files files;
  const auto built = [&](const std::string& arch, const std::vector<std::string>& keys) {
    TrainOptions o = files.options(arch);
    o.model.model_keys = keys;
    return nlohmann::json::parse(build_model(o.model, test::LetterTokenizer())->config_json());
  };
  EXPECT_EQ(built("mistral", {"sliding_window=7"}).at("sliding_window"), 7);
  EXPECT_EQ(built("qwen3_moe", {"num_experts=4", "num_experts_per_tok=1"}).at("num_experts"), 4);
  EXPECT_EQ(built("t5gemma", {"encoder.sliding_window=5"}).at("encoder").at("sliding_window"), 5);
  EXPECT_EQ(built("gemma3_text", {"sliding_window_pattern=1"}).at("layer_types").at(0), "full_attention");
  EXPECT_EQ(built("llama", {"num_key_value_heads=2"}).at("num_key_value_heads"), 2);
}

TEST(NewFamily, WhatAFamilyDoesNotHaveIsRefusedByName) {
  const Files files;
  const auto says = [&](const std::string& arch, const std::function<void(TrainOptions&)>& change,
                        const std::string& part) {
    TrainOptions o = files.options(arch);
    change(o);
    const std::string e = error_of([&] {
      settle(o);
      build_model(o.model, test::LetterTokenizer());
    });
    EXPECT_TRUE(contains(e, part)) << "\"" << e << "\" lacks " << part;
  };
  const auto key = [](const std::string& text) { return [text](TrainOptions& o) { o.model.model_keys = {text}; }; };
  says(
      "llama", [](TrainOptions& o) { o.model.dropout = 0.1; }, "dropout: a llama model has no dropout of sublayers");
  says(
      "llama", [](TrainOptions& o) { o.model.embedding_dropout = 0.1; }, "embedding_dropout");
  says(
      "llama", [](TrainOptions& o) { o.model.layer_drop = 0.1; }, "layer_drop");
  says(
      "t5", [](TrainOptions& o) { o.model.layer_drop = 0.1; }, "layer_drop");
  says(
      "llama", [](TrainOptions& o) { o.learning.router_aux_loss = 0.1; }, "router_aux_loss: a llama model");
  says(
      "mixtral", [](TrainOptions& o) { o.model.gradient_checkpointing = true; }, "router_aux_loss");
  says(
      "mbart", [](TrainOptions& o) { o.model.depth_scaled_init = true; }, "depth_scaled_init");
  says(
      "bart", [](TrainOptions& o) { o.data.separate_vocabs = true; }, "separate_vocabs");
  says("llama", key("sliding_window=4"), "sliding_window");
  says("llama", key("hidden_size=64"), "pass `d_model` instead");
  says("llama", key("vocab_size=64"), "pass `vocab` instead");
  says("llama", key("rms_norm_epsilon=1e-5"), "rms_norm_epsilon");
  says("llama", key("rms_norm=false"), "rms_norm has no effect on a llama model");
  says("llama", key("num_key_value_heads=3"), "num_key_value_heads");
  says("llama", key("rope_parameters=5"), "rope_parameters");
  says("llama", key("rope_parameters.rope_type.x=5"), "leads into a value that is not an object");
  says("llama", key("=5"), "expected KEY=VALUE");
  says("gpt_neo", key("attention_types=[]"), "attention_types");
  says("qwen3_moe", key("num_experts_per_tok=9"), "num_experts_per_tok");
  const std::string unknown = error_of([] { new_family("lama"); });
  EXPECT_TRUE(contains(unknown, "did you mean llama?")) << unknown;
}

// A vocabulary may take long to learn.
TEST(NewFamily, KeysAreCheckedBeforeThereIsAVocabulary) {
  const Files files;
  for (const auto& [text, part] : {std::pair{"experts=3", "experts: is not a known key of llama"},
                                   {"num_key_value_heads=3", "num_key_value_heads"},
                                   {"rms_norm_eps=1e-4", ""}}) {
    TrainOptions o = files.options("llama");
    o.model.model_keys = {text};
    const std::string e = error_of([&] { settle(o); });
    EXPECT_TRUE(*part ? contains(e, part) : e.empty()) << text << ": " << e;
  }
}

// Of options, as of the preset: nothing is dropped that was not asked for.
TEST(NewFamily, PresetsDropWhatTheFamilyDrops) {
  const auto preset = [](const std::string& arch) {
    TrainOptions o;
    o.model.arch = arch;
    apply_preset(o);
    return o;
  };
  EXPECT_EQ(preset("llama").model.dropout, 0);
  EXPECT_EQ(preset("llama").model.attention_dropout, 0);
  EXPECT_EQ(preset("llama").data.vocab_type, SubwordKind::byte_bpe);
  EXPECT_EQ(preset("gpt2").model.attention_dropout, 0.1);
  EXPECT_EQ(preset("umt5").model.activation_dropout, 0.1);
  EXPECT_EQ(preset("bart").model.attention_dropout, 0);
  EXPECT_EQ(preset("olmoe").learning.router_aux_loss, 0.01);
  EXPECT_EQ(preset("deepseek_v3").learning.router_aux_loss, 0);
}

}  // namespace
}  // namespace tril::train::new_family_test

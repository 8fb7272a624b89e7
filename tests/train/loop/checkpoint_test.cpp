// Checkpoints that are written during the following updates: they have the values from the start of the save, and the
// previous checkpoint stays current until they are complete.
#include "train/loop/checkpoint.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.h"
#include "model/families/marian.h"
#include "support/temporary.h"

namespace tril::train {
namespace {

struct Trained {
  std::unique_ptr<model::Marian> model;
  std::unique_ptr<Optimizer> optimizer;

  explicit Trained(std::uint64_t seed) {
    model::MarianConfig k;  // large enough to take a while
    k.vocab_size = k.decoder_vocab_size = 3000;
    k.d_model = 256;
    k.encoder_layers = k.decoder_layers = 2;
    k.encoder_attention_heads = k.decoder_attention_heads = 4;
    k.encoder_ffn_dim = k.decoder_ffn_dim = 1024;
    k.max_position_embeddings = 32;
    model = std::make_unique<model::Marian>(k);
    model->parameters().allocate();
    model->parameters().initialise(seed);
    optimizer = std::make_unique<Optimizer>(model->parameters(), OptimizerOptions{});
    std::uint64_t next = seed;
    for (const NamedTensor& t : optimizer->state()) {
      std::vector<float> values(static_cast<std::size_t>(t.value.count()));
      for (float& v : values) v = static_cast<float>((next = next * 6364136223846793005u + 1442695040888963407u) >> 40);
      host_write<float>(t.value, values);
    }
  }
  // The values that are saved: moments of untrained values, such as a padding id's row, belong to no rank.
  std::vector<std::vector<float>> values() const {
    std::vector<std::vector<float>> all{host_copy<float>(model->parameters().flat())};
    for (const StateSlice& s : optimizer->own_state())
      for (const NamedTensor& t : optimizer->state())
        if (t.name == s.tensor)
          all.push_back(host_copy<float>(
              t.value.rows(static_cast<std::int64_t>(s.begin), static_cast<std::int64_t>(s.begin + s.count))));
    return all;
  }
  void overwrite() const {
    std::vector<Tensor> all{model->parameters().flat()};
    for (const NamedTensor& t : optimizer->state()) all.push_back(t.value);
    for (const Tensor& t : all) host_write<float>(t, std::vector<float>(static_cast<std::size_t>(t.count()), 7.0f));
  }
};

TrainingState state_at(std::int64_t update) {
  TrainingState s;
  s.position.updates = update;
  s.options = "{}";
  return s;
}

void finish(CheckpointStore& store) {
  while (store.saving()) store.advance();
}

TEST(Checkpoint, HasWhatWasThereWhenItWasBegun) {
  const TemporaryDirectory dir;
  CheckpointStore store(dir.path("model"), 1);
  const Trained trained(1);
  const auto before = trained.values();
  store.save(state_at(5), trained.model->parameters(), *trained.optimizer);
  EXPECT_TRUE(store.saving());
  store.wait_until_read();
  trained.overwrite();
  finish(store);
  const Trained read(2);
  store.load_weights(read.model->parameters(), *read.optimizer);
  EXPECT_EQ(read.values(), before);
  EXPECT_EQ(store.read_state().position.updates, 5);
}

TEST(Checkpoint, TheOneBeforeCountsUntilTheNextIsWhole) {
  const TemporaryDirectory dir;
  const Trained first(1), second(2);
  {
    CheckpointStore store(dir.path("model"), 1);
    EXPECT_FALSE(store.has_state());
    store.save(state_at(5), first.model->parameters(), *first.optimizer);
    EXPECT_FALSE(store.has_state());
    finish(store);
    store.save(state_at(9), second.model->parameters(), *second.optimizer);
    while (!store.is_ready()) std::this_thread::yield();
    EXPECT_EQ(store.read_state().position.updates, 5) << "all is written, and nothing counts yet";
    // Abandoned in the middle, as if killed here.
  }
  CheckpointStore store(dir.path("model"), 1);
  EXPECT_EQ(store.read_state().position.updates, 5);
  const Trained read(3);
  store.load_weights(read.model->parameters(), *read.optimizer);
  EXPECT_EQ(read.values(), first.values());
  store.save(state_at(9), second.model->parameters(), *second.optimizer);
  finish(store);
  EXPECT_EQ(store.read_state().position.updates, 9);
  for (const auto& entry : std::filesystem::directory_iterator(store.path()))
    EXPECT_FALSE(entry.path().string().ends_with(".new")) << entry.path();
}

TEST(Checkpoint, ADamagedOneNamesTheOneBefore) {
  const TemporaryDirectory dir;
  const Trained first(1), second(2), read(3);
  CheckpointStore store(dir.path("model"), 2);
  const auto error = [&] { return error_of([&] { store.load_weights(read.model->parameters(), *read.optimizer); }); };
  const auto cut = [&](const char* state) {
    std::filesystem::resize_file(store.path() + "/" + state + "/weights.safetensors", 100);
  };
  store.save(state_at(5), first.model->parameters(), *first.optimizer);
  finish(store);
  store.save(state_at(9), second.model->parameters(), *second.optimizer);
  finish(store);
  cut("state-00000009");
  const std::string command = "echo state-00000005 > " + store.path() + "/last";
  EXPECT_TRUE(contains(error(), command)) << error();
  ASSERT_EQ(std::system(command.c_str()), 0);
  store.load_weights(read.model->parameters(), *read.optimizer);
  EXPECT_EQ(read.values(), first.values());
  cut("state-00000005");
  EXPECT_FALSE(contains(error(), "echo")) << error();
}

std::string with_byte_changed(std::string bytes, std::size_t at) {
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  return bytes;
}

// If any byte changes, the checkpoint is unaffected or the change is reported.
TEST(Checkpoint, AChangedByteIsTold) {
  const TemporaryDirectory dir;
  const Trained first(1), read(2);
  CheckpointStore store(dir.path("model"), 1);
  TrainingState state = state_at(5);
  state.best = 2.5;
  state.options = R"({"seed": 18446744073709551615, "learn-rate": 0.1})";
  store.save(state, first.model->parameters(), *first.optimizer);
  finish(store);
  EXPECT_EQ(store.read_state().best, 2.5);
  const std::string weights = store.path() + "/state-00000005/weights.safetensors",
                    json = store.path() + "/state-00000005/state.json";
  const std::string bytes = read_text(weights, 1 << 30), text = read_text(json, 1 << 20);
  for (const std::size_t from_end : {1u, 4'000'000u, 12'000'000u}) {
    ASSERT_GT(bytes.size(), from_end);
    write_file_atomic(weights, with_byte_changed(bytes, bytes.size() - from_end));
    const std::string error = error_of([&] { store.load_weights(read.model->parameters(), *read.optimizer); });
    EXPECT_TRUE(contains(error, "weights.safetensors: is damaged") && contains(error, "`overwrite`")) << error;
  }
  write_file_atomic(weights, bytes);
  EXPECT_NO_THROW(store.load_weights(read.model->parameters(), *read.optimizer));

  write_file_atomic(json, with_byte_changed(text, text.find("2.5")));  // 3.5
  const std::string error = error_of([&] { store.read_state(); });
  EXPECT_TRUE(contains(error, "state.json: is damaged")) << error;
  nlohmann::json old = nlohmann::json::parse(text);  // as in older versions
  old.erase("checksum"), old.erase("report_sums");
  write_file_atomic(json, old.dump());
  EXPECT_EQ(store.read_state().sums.since, 5);
}

TEST(Checkpoint, HasTheSumsOfTheNextReport) {
  const TemporaryDirectory dir;
  const Trained trained(1);
  CheckpointStore store(dir.path("model"), 1);
  TrainingState state = state_at(7);
  state.sums = {.loss = 1.0 / 3,
                .norm = 2.25,
                .seconds = 0.5,
                .groups = {{"encoder", 0.1}, {"decoder", 1e-30}},
                .noise = {.trace = -1.5, .signal = 2, .updates = 3},
                .tokens = 90,
                .counted = 80,
                .updates = 4};
  store.save(state, trained.model->parameters(), *trained.optimizer);
  finish(store);
  const ReportSums sums = store.read_state().sums;
  EXPECT_EQ(sums.loss, 1.0 / 3);
  EXPECT_EQ(sums.norm, 2.25);
  EXPECT_EQ(sums.seconds, 0.5);
  ASSERT_EQ(sums.groups.size(), 2u);
  EXPECT_EQ(sums.groups[1].group, "decoder");
  EXPECT_EQ(sums.groups[1].norm, 1e-30);
  EXPECT_EQ(sums.noise.trace, -1.5);
  EXPECT_EQ(sums.noise.updates, 3);
  EXPECT_EQ(sums.tokens + sums.counted + sums.updates, 174);
  EXPECT_FALSE(sums.since);
}

// A run that is refused before it does anything leaves nothing behind; existing files stay.
TEST(Checkpoint, OneThatSavesNothingLeavesNothing) {
  const TemporaryDirectory dir;
  { const CheckpointStore store(dir.path("model"), 1); }
  EXPECT_FALSE(std::filesystem::exists(dir.path("model")));
  std::filesystem::create_directories(dir.path("made"));
  { const CheckpointStore store(dir.path("made"), 1); }
  EXPECT_TRUE(std::filesystem::exists(dir.path("made")));
  EXPECT_FALSE(std::filesystem::exists(dir.path("made/checkpoint")));
  std::filesystem::create_directories(dir.path("old/checkpoint"));
  { const CheckpointStore store(dir.path("old"), 1); }
  EXPECT_TRUE(std::filesystem::exists(dir.path("old/checkpoint")));
  const Trained trained(1);
  {
    CheckpointStore store(dir.path("model"), 1);
    store.save(state_at(5), trained.model->parameters(), *trained.optimizer);
    finish(store);
  }
  EXPECT_TRUE(std::filesystem::exists(dir.path("model/checkpoint/state-00000005")));
}

// A nearly full disk has room for one more checkpoint, not for two.
TEST(Checkpoint, WhatAKilledProcessHadNotFinishedGivesItsRoom) {
  const TemporaryDirectory dir;
  const Trained trained(1);
  {
    CheckpointStore store(dir.path("model"), 1);
    store.save(state_at(5), trained.model->parameters(), *trained.optimizer);
    finish(store);
  }
  const std::string path = dir.path("model") + "/checkpoint/";
  for (const char* left : {"state-00000009.new", "state-00000010"}) {
    std::filesystem::create_directory(path + left);
    write_file_atomic(path + left + "/weights.safetensors", "x");
  }
  CheckpointStore store(dir.path("model"), 1);
  store.remove_unfinished();
  EXPECT_FALSE(std::filesystem::exists(path + "state-00000009.new"));
  EXPECT_FALSE(std::filesystem::exists(path + "state-00000010"));
  store.load_weights(trained.model->parameters(), *trained.optimizer);
}

TEST(Checkpoint, ARunThatIsGivenUpIsBegunAnew) {
  const TemporaryDirectory dir;
  const Trained trained(1);
  CheckpointStore store(dir.path("model"), 1);
  store.abandon();
  EXPECT_FALSE(store.has_state()) << "there was none";
  store.save(state_at(5), trained.model->parameters(), *trained.optimizer);
  finish(store);
  EXPECT_TRUE(store.has_progress());
  for (int i = 0; i < 2; ++i) {
    store.abandon();
    EXPECT_TRUE(store.has_state());
    EXPECT_FALSE(store.has_progress());
  }
  store.clear();
  EXPECT_FALSE(store.has_state());
}

TEST(Checkpoint, WhatCannotBeWrittenIsToldAndTheOneBeforeCounts) {
  const TemporaryDirectory dir;
  CheckpointStore store(dir.path("model"), 1);
  const Trained trained(1);
  store.save(state_at(5), trained.model->parameters(), *trained.optimizer);
  finish(store);
  store.save(state_at(9), trained.model->parameters(), *trained.optimizer);
  // Whatever exists by now, and whatever is created during the removal.
  std::error_code again;
  do std::filesystem::remove_all(store.path() + "/state-00000009.new", again);
  while (again);
  store.wait_until_read();  // and does not wait forever
  EXPECT_THROW(finish(store), Error);
  EXPECT_FALSE(store.saving());
  EXPECT_EQ(store.read_state().position.updates, 5);
  store.save(state_at(10), trained.model->parameters(), *trained.optimizer);
  finish(store);
  EXPECT_EQ(store.read_state().position.updates, 10);
}

}  // namespace
}  // namespace tril::train

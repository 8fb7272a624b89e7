#include "model_io/source/model_source.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "model_io/source/packed_image.h"
#include "model_io/source/registry.h"
#include "support/paths.h"
#include "support/temporary.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

fs::path gguf_model() {
  return test::test_dir() + "/golden/gguf/model_q4_k.gguf";
}

TEST(ModelSource, IsOpenedOnce) {
  const tril::TemporaryDirectory directory;
  const fs::path path = directory.path("m.gguf");
  fs::copy_file(gguf_model(), path);
  const auto source = ModelSource::open(path);
  fs::remove(path);
  EXPECT_EQ(source.config().get<std::string>("model_type"), "llama");
  EXPECT_FALSE(source.generation().eos_token_ids.empty());
  EXPECT_TRUE(source.has_tokenizer());
  EXPECT_EQ(source.tokenizer()->size(Side::target), load(source)->vocab_size());
}

TEST(ModelSource, CopiesShareWhatWasRead) {
  const auto source = ModelSource::open(gguf_model());
  const ModelSource copy = source;
  EXPECT_EQ(&source.weights(), &copy.weights());
  EXPECT_EQ(&source.generation(), &copy.generation());
  EXPECT_EQ(source.tokenizer(), copy.tokenizer());
  EXPECT_EQ(&source.config().json(), &copy.config().json());
}

TEST(ModelSource, ThreadsThatAskAtOnceGetOneAnswer) {
  const auto source = ModelSource::open(gguf_model());
  std::vector<const WeightFiles*> seen(8);
  {
    std::vector<std::jthread> threads;
    for (const WeightFiles*& one : seen) threads.emplace_back([&] { one = &source.weights(); });
  }
  for (const WeightFiles* one : seen) EXPECT_EQ(one, &source.weights());
}

// An unreadable part does not prevent reading others, and can be read once it is repaired.
TEST(ModelSource, PartsAreReadWhenTheyAreAskedFor) {
  const tril::TemporaryDirectory directory;
  const auto source = ModelSource::open(directory.path());
  EXPECT_TRUE(contains(error_of([&] { source.config(); }), "config.json"));
  EXPECT_TRUE(contains(error_of([&] { source.weights(); }), "model.safetensors"));
  EXPECT_TRUE(contains(error_of([&] { source.tokenizer(); }), "has no supported tokenizer"));
  EXPECT_FALSE(source.has_weights());
  directory.write("config.json", R"({"model_type": "gpt2", "n_positions": 7})");
  EXPECT_EQ(source.config().size("n_positions"), 7);
}

TEST(ModelSource, SaysWhatIsNeitherADirectoryNorAGgufFile) {
  const tril::TemporaryDirectory directory;
  directory.write("notes.txt", "no model");
  EXPECT_TRUE(contains(error_of([&] { ModelSource::open(directory.path("notes.txt")); }), "neither a directory nor"));
  EXPECT_TRUE(contains(error_of([&] { ModelSource::open(directory.path("nowhere")); }), "no such file or directory"));
}

TEST(ModelSource, KeepsItsOwnFilesBesideTheModel) {
  const tril::TemporaryDirectory directory;
  EXPECT_EQ(packed_image_path(ModelSource::open(directory.path()), nn::Precision::int8),
            fs::path(directory.path()) / "packed-int8.tril");
  const fs::path path = directory.path("m.gguf");
  fs::copy_file(gguf_model(), path);
  EXPECT_EQ(packed_image_path(ModelSource::open(path), nn::Precision::int8),
            directory.path("m.gguf") + ".packed-int8.tril");
}

// Errors use the file's names for keys and tensors.
TEST(ModelSource, NamesAreThoseOfTheFile) {
  const auto gguf = ModelSource::open(gguf_model());
  EXPECT_EQ(gguf.config().name_of("hidden_size"), "llama.embedding_length");
  EXPECT_EQ(gguf.config().place_of("num_hidden_layers"), gguf_model().string() + ": llama.block_count");
  EXPECT_EQ(gguf.weights().place_of("model.embed_tokens.weight"), gguf_model().string() + ": token_embd.weight");
  EXPECT_EQ(gguf.weights().name_in_file("model.layers.0.mlp.up_proj.weight"), "blk.0.ffn_up.weight");
  EXPECT_TRUE(contains(error_of([&] { gguf.weights().at("model.layers.0.mlp.up_proj.weights"); }),
                       "did you mean blk.0.ffn_up"));
  const tril::TemporaryDirectory directory;
  directory.write("config.json", R"({"model_type": "gpt2"})");
  const auto plain = ModelSource::open(directory.path());
  EXPECT_EQ(plain.config().place_of("n_embd"), directory.path("config.json") + ": n_embd");
}

}  // namespace
}  // namespace tril::model

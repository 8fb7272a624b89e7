// The weights of a directory: one file or shards, and nothing outside of the directory.
#include <gtest/gtest.h>

#include "model_io/contents/weight_files.h"
#include "model_io/source/model_source.h"
#include "support/raw_safetensors.h"
#include "support/temporary.h"

namespace tril {
namespace {

using testing::raw_safetensors;

std::string one_byte(const std::string& name, char value) {
  return raw_safetensors("{\"" + name + R"(":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})", {&value, 1});
}

int value(const WeightFiles& weights, const std::string& name) {
  return to_i32(weights.at(name)).at(0);
}

TEST(DirectoryReader, OneFile) {
  const TemporaryDirectory directory;
  directory.write("model.safetensors", one_byte("norm", 7));
  const WeightFiles weights = model::ModelSource::open(directory.path()).weights();
  EXPECT_EQ(weights.names(), std::vector<std::string>{"norm"});
  EXPECT_EQ(value(weights, "norm"), 7);
  EXPECT_EQ(weights.find("b"), nullptr);
  EXPECT_EQ(weights.file_of("norm"), directory.path("model.safetensors"));
  EXPECT_TRUE(contains(error_of([&] { weights.at("nrom"); }), directory.path("model.safetensors") + ": ",
                       "no tensor nrom", "did you mean norm?"));
}

TEST(DirectoryReader, ShardsOfAnIndex) {
  const TemporaryDirectory directory;
  directory.write("model-1.safetensors", one_byte("b", 1));
  directory.write("model-2.safetensors", one_byte("a", 2));
  directory.write(
      "model.safetensors.index.json",
      R"({"metadata":{"total_size":2},"weight_map":{"a":"model-2.safetensors","b":"model-1.safetensors"}})");
  WeightFiles weights = model::ModelSource::open(directory.path()).weights();
  EXPECT_EQ(weights.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(value(weights, "a"), 2);
  EXPECT_EQ(value(weights, "b"), 1);
  EXPECT_EQ(weights.file_count(), 2u);
  EXPECT_EQ(weights.file_of("b"), directory.path("model-1.safetensors"));
  const WeightFiles moved = std::move(weights);
  EXPECT_EQ(value(moved, "a"), 2);
  // A single file takes precedence over an index, as in the library that writes both.
  directory.write("model.safetensors", one_byte("c", 3));
  EXPECT_EQ(model::ModelSource::open(directory.path()).weights().names(), std::vector<std::string>{"c"});
}

// All tensors in the shards count, whichever shard they are in and whether the index lists them or not.
TEST(DirectoryReader, TensorsThatTheIndexDoesNotList) {
  const TemporaryDirectory directory;
  const std::string both = raw_safetensors(
      R"({"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"c":{"dtype":"U8","shape":[],"data_offsets":[1,2]}})",
      "\x01\x03");
  directory.write("x.safetensors", both);
  directory.write("y.safetensors", one_byte("b", 2));
  directory.write("z.safetensors", one_byte("d", 4));
  directory.write("model.safetensors.index.json", R"({"weight_map":{"a":"y.safetensors","b":"x.safetensors"}})");
  const WeightFiles weights = model::ModelSource::open(directory.path()).weights();
  EXPECT_EQ(weights.names(), (std::vector<std::string>{"a", "b", "c"})) << "not what is in other files";
  EXPECT_EQ(value(weights, "a"), 1);
  EXPECT_EQ(value(weights, "b"), 2);
  EXPECT_EQ(value(weights, "c"), 3);
  EXPECT_EQ(weights.file_of("c"), directory.path("x.safetensors"));
  // Equal copies count once, different copies are an error.
  directory.write(
      "y.safetensors",
      raw_safetensors(
          R"({"b":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"c":{"dtype":"U8","shape":[],"data_offsets":[1,2]}})",
          "\x02\x03"));
  EXPECT_EQ(value(model::ModelSource::open(directory.path()).weights(), "c"), 3);
  directory.write(
      "y.safetensors",
      raw_safetensors(
          R"({"b":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"c":{"dtype":"U8","shape":[],"data_offsets":[1,2]}})",
          "\x02\x05"));
  EXPECT_TRUE(
      contains(error_of([&] { model::ModelSource::open(directory.path()).weights(); }), "c: differs from the one in "));
}

TEST(DirectoryReader, WrongIndices) {
  const TemporaryDirectory directory;
  directory.write("x.safetensors", one_byte("a", 1));
  const auto error = [&](const std::string& index) {
    directory.write("model.safetensors.index.json", index);
    return error_of([&] { model::ModelSource::open(directory.path()).weights(); });
  };
  const auto says = [&](const std::string& index, const std::string& part) {
    const std::string text = error(index);
    EXPECT_TRUE(contains(text, part));
  };
  says(R"({"weight_map":{"a":"y.safetensors"}})", "y.safetensors: is missing, but ");
  says(R"({"weight_map":{"a":"x.safetensors","b":"x.safetensors"}})", "has no tensor b, which ");
  says(R"({"weight_map":{"a":1}})", "weight_map: a: is 1, expected a string");
  says(R"({"weight_map":[]})", "weight_map: is an array of 0, expected an object");
  says(R"({"weight_mp":{}})", "weight_map: is missing; did you mean weight_mp?");
  says(R"({"weight_map":)", "line 1, column 15");
  for (const std::string name : {"../x.safetensors", "/etc/x.safetensors", "d/x.safetensors", "..", "", "passwd",
                                 "\\\\x.safetensors", "x\\u0000.safetensors"})
    says(R"({"weight_map":{"a":")" + name + "\"}}", "expected the name of a .safetensors file in the same directory");
}

TEST(DirectoryReader, AShardMayBeALinkToAFileAndToNothingElse) {
  const TemporaryDirectory blobs, directory;
  const auto link = [&](const std::string& to) {
    std::filesystem::remove(directory.path("x.safetensors"));
    std::filesystem::create_symlink(to, directory.path("x.safetensors"));
  };
  directory.write("model.safetensors.index.json", R"({"weight_map":{"a":"x.safetensors"}})");
  // Download caches use such links. A user who can create links in a directory could put files there as well.
  link(blobs.write("blob", one_byte("a", 1)));
  EXPECT_EQ(value(model::ModelSource::open(directory.path()).weights(), "a"), 1);
  const auto says = [&](const std::string& to, const std::string& part) {
    link(to);
    const std::string text = error_of([&] { model::ModelSource::open(directory.path()).weights(); });
    EXPECT_TRUE(contains(text, part));
  };
  says("/dev/zero", "expected a regular file");
  says(blobs.path(), "expected a regular file");
  says(blobs.path("none"), "is a dangling link to " + blobs.path("none"));
  const std::string secret = "root:secret:0:0:somebody:/home:/bin/sh";
  link(blobs.write("text", secret));
  const std::string text = error_of([&] { model::ModelSource::open(directory.path()).weights(); });
  EXPECT_TRUE(contains(text, "x.safetensors: "));
  EXPECT_FALSE(contains(text, "secret")) << "an error shows nothing of a file that is none of ours";
}

TEST(DirectoryReader, NothingThere) {
  const TemporaryDirectory directory;
  EXPECT_TRUE(contains(error_of([&] { model::ModelSource::open(directory.path("none")).weights(); }),
                       "no such file or directory"));
  EXPECT_TRUE(contains(error_of([&] { model::ModelSource::open(directory.path()).weights(); }),
                       "model.safetensors: cannot open it"));
  directory.write("pytorch_model.bin", "");
  EXPECT_TRUE(
      contains(error_of([&] { model::ModelSource::open(directory.path()).weights(); }), "for the pickle at byte"));
}

}  // namespace
}  // namespace tril

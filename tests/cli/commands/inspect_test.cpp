// tril inspect: its output for every family, and for directories that are no model.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "format/gguf.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/run_program.h"
#include "support/small_quantized.h"
#include "support/tiny_marian.h"

namespace tril {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

fs::path golden() {
  return fs::path(test::test_dir()) / "golden/hf";
}

// The value of a line "layers         2 + 2"; "" where there is none.
std::string value_of(const std::string& text, const std::string& name) {
  for (const std::string& line : lines_of(text))
    if (line.starts_with(name + " "))
      return line.substr(std::min(line.size(), std::max<std::size_t>(15, name.size() + 1)));
  return "";
}

TEST(Inspect, EveryPublishedFamilyHasItsSizes) {
  int seen = 0;
  for (const auto& entry : fs::directory_iterator(golden())) {
    if (!fs::exists(entry.path() / "config.json")) continue;
    ++seen;
    SCOPED_TRACE(entry.path());
    const Ran ran = run_tril({"inspect", entry.path().string()});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const bool two = value_of(ran.out, "family").find("encoder-decoder") != std::string::npos;
    EXPECT_EQ(value_of(ran.out, "layers").find(" + ") != std::string::npos, two) << ran.out;
    for (const char* name : {"layers", "heads", "feed-forward", "positions", "state"})
      EXPECT_NE(value_of(ran.out, name), "") << name << "\n" << ran.out;
  }
  EXPECT_GE(seen, 20);
}

TEST(Inspect, SoHaveTheHousesOwn) {
  const ScratchFolder folder;
  const Json sizes{{"model_type", "tril"}, {"vocab_size", 11}, {"d_model", 8}, {"num_heads", 2}, {"num_layers", 3}};
  const std::vector<std::pair<std::string, Json>> families{
      {"padded_decoder", {{"d_ff", 16}}},
      {"full_transformer", {{"d_ff", 16}}},
      {"learned_position_decoder", {{"forward_expansion", 2}, {"max_length", 7}}},
      {"tied_decoder", {{"d_ff", 16}, {"max_length", 7}}},
      {"linear_decoder", {{"d_ff", 16}}}};
  for (const auto& [name, more] : families) {
    const std::string directory = folder.at(name);
    fs::create_directory(directory);
    Json config = sizes;
    config["architecture"] = name;
    config.update(more);
    folder.write(name + "/config.json", config.dump());
    const auto m = model::make(model::ModelSource::open(directory));
    m->parameters().allocate();
    m->parameters().initialise(1);
    model::save(*m, directory);
    const Ran ran = run_tril({"inspect", directory});
    ASSERT_EQ(ran.code, 0) << name << ran.err;
    EXPECT_EQ(value_of(ran.out, "layers"), "3") << ran.out;
    EXPECT_EQ(value_of(ran.out, "heads"), "2") << ran.out;
    EXPECT_EQ(value_of(ran.out, "feed-forward"), "16") << ran.out;
  }
}

// The embeddings of source, target and output are one storage in PyTorch's file, and one tensor in safetensors. PyTorch's
// file has the sinusoids of both sides, [16, 8] each, besides.
TEST(Inspect, SharedStoragesCountOnce) {
  const ScratchFolder folder;
  const fs::path both = fs::path(test::test_dir()) / "golden/pytorch/marian";
  std::vector<Json> found;
  for (const std::string weights : {"pytorch_model.bin", "model.safetensors"}) {
    const fs::path directory = folder.at(weights + ".directory");
    fs::create_directory(directory);
    for (const std::string& file : {std::string("config.json"), weights}) fs::copy(both / file, directory / file);
    const Ran ran = run_tril({"inspect", directory.string(), "--json"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    found.push_back(Json::parse(ran.out));
  }
  constexpr int sinusoids = 2 * 16 * 8;
  EXPECT_EQ(found[0].at("stored_parameters"), found[1].at("stored_parameters").get<int>() + sinusoids);
  EXPECT_EQ(found[0].at("stored_bytes"), found[1].at("stored_bytes").get<int>() + 4 * sinusoids);
}

// Tables that are extended by rows of padding, and what is made of other numbers: what is counted is what the file holds.
TEST(Inspect, StoredIsWhatTheFileHolds) {
  const fs::path all = fs::path(test::test_dir()) / "golden/ctranslate2";
  for (const char* name : {"marian.float32", "gpt2.float32", "m2m100.float32", "opt.int8"}) {
    const Ran ran = run_tril({"inspect", (all / name).string(), "--json"});
    const auto stored = Json::parse(ran.out).at("stored_bytes").get<std::uintmax_t>();
    const std::uintmax_t file = fs::file_size(all / name / "model.bin");
    EXPECT_LE(stored, file) << name;
    EXPECT_GE(stored + stored / 4, file) << name;  // beside the names and numbers of its variables
  }
}

// A weight that is made of two tensors: the gates and the up matrices of experts, the keys and values of latent attention, the
// inputs and gates of the delta rule.
TEST(Inspect, StoredIsEveryTensorOfAGgufFile) {
  const ScratchFolder folder;
  for (const char* name : {"gpt_oss", "granitemoeshared", "deepseek_v3", "qwen3_next"}) {
    const std::string path = folder.at(fmt::format("{}.gguf", name));
    ASSERT_EQ(run_tril({"export", "-m", (golden() / name).string(), "--to", path}).code, 0) << name;
    const Ran ran = run_tril({"inspect", path, "--json"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const GgufFile file = GgufFile::open(path);
    std::size_t bytes = 0;
    for (const GgufTensor& t : file.tensors()) bytes += t.bytes.size();
    EXPECT_EQ(Json::parse(ran.out).at("stored_bytes"), bytes) << name;
  }
}

TEST(Inspect, StoredAreScalesAndZeroPointsToo) {
  for (const char* method : {"gptq", "awq"}) {
    const ScratchFolder folder;
    testing::write_small_quantized(folder.at("model"), method);
    const Ran ran = run_tril({"inspect", folder.at("model"), "--json"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const SafetensorsFile file = SafetensorsFile::open(folder.at("model/model.safetensors"));
    std::size_t bytes = 0;
    for (const WeightView& t : file.tensors()) bytes += t.bytes.size();
    const Json found = Json::parse(ran.out);
    EXPECT_EQ(found.at("stored_bytes"), bytes) << method;
    EXPECT_EQ(found.at("stored_parameters"), found.at("parameters")) << method;
  }
}

TEST(Inspect, ExpertsAndSpecialTokensThatThereAre) {
  const Ran experts = run_tril({"inspect", (golden() / "mixtral").string()});
  EXPECT_EQ(value_of(experts.out, "experts"), "4") << experts.out;
  EXPECT_EQ(value_of(experts.out, "experts/token"), "2") << experts.out;
  const ScratchFolder folder;
  const Ran marian = run_tril({"inspect", write_tiny_marian(folder)});
  EXPECT_EQ(marian.out.find("-1"), std::string::npos) << marian.out;
}

TEST(Inspect, NamesThatAreNotUtf8) {
  const ScratchFolder folder;
  const std::string model = write_tiny_marian(folder), other = folder.at("m\xff");
  fs::rename(model, other);
  fs::remove(other + "/vocab.json");  // so that the tokenizer's problem names the directory
  const Ran json = run_tril({"inspect", other, "--json", "--tensors"});
  EXPECT_EQ(json.code, 0) << json.err;
  const Json object = Json::parse(json.out);
  EXPECT_TRUE(object["directory"].get<std::string>().ends_with("m\ufffd"));
  const Ran text = run_tril({"inspect", other});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(value_of(text.out, "tokenizer").find("m\\xFF"), std::string::npos) << text.out;
  EXPECT_EQ(text.out.find('\xff'), std::string::npos);
  const Ran missing = run_tril({"inspect", folder.at("n\xff")});
  EXPECT_EQ(missing.code, 1);
  EXPECT_NE(missing.err.find("n\\xFF: no such file or directory"), std::string::npos) << missing.err;
}

TEST(Inspect, AnExportedFileNamesItsModelInUtf8) {
  const ScratchFolder folder;
  const std::string model = folder.at("m\xff"), file = folder.at("\xff.gguf");
  fs::copy(golden() / "llama", model);
  const Ran ran = run_tril({"export", "-m", model, "--to", file});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err.find('\xff'), std::string::npos) << ran.err;
  const GgufFile written = GgufFile::open(file);
  EXPECT_EQ(written.get<std::string_view>("general.name"), "m\ufffd");
}

TEST(Inspect, ATokenizerThatDoesNotFitIsNoCompleteModel) {
  const ScratchFolder folder;
  const std::string model = folder.at("model");
  fs::copy(golden() / "gpt2", model, fs::copy_options::recursive);
  std::string pieces = "{";
  for (int i = 0; i < 5000; ++i) pieces += fmt::format("{}\"p{}\": {}", i ? ", " : "", i, i);
  folder.write("model/vocab.json", pieces + "}");
  folder.write("model/merges.txt", "#version: 0.2\n");
  const Ran ran = run_tril({"inspect", model});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_NE(value_of(ran.out, "state").find("do not fit the model's vocabulary"), std::string::npos) << ran.out;
}

TEST(Inspect, WhatIsNoModelIsToldAsWhatItIs) {
  const ScratchFolder folder;
  fs::create_symlink("gone/blob", folder.at("link"));
  const Ran link = run_tril({"inspect", folder.at("link")});
  EXPECT_EQ(link.code, 1);
  EXPECT_NE(link.err.find("link: is a dangling link to gone/blob"), std::string::npos) << link.err;
  const Ran file = run_tril({"inspect", folder.write("spm.model", "text")});
  EXPECT_EQ(file.code, 1);
  EXPECT_NE(file.err.find("is neither a directory nor a GGUF file"), std::string::npos) << file.err;
}

}  // namespace
}  // namespace tril

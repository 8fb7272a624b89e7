// Models whose weights are PyTorch's files load with the bits that the same model has as safetensors.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/paths.h"
#include "support/temporary.h"

namespace tril::model::pytorch_weights_test {
namespace {

namespace fs = std::filesystem;

// A copy of a golden model's directory without the other form of its weights.
void copy_model(const std::string& name, bool pytorch, const TemporaryDirectory& to) {
  for (const auto& entry : fs::directory_iterator(fs::path(test::test_dir()) / "golden/pytorch" / name)) {
    const std::string file = entry.path().filename().string();
    const bool is_pytorch = file.starts_with("pytorch_model"), is_safetensors = file.ends_with(".safetensors");
    if (pytorch ? !is_safetensors : !is_pytorch) fs::copy_file(entry.path(), to.path(file));
  }
}

using Values = std::map<std::string, std::vector<float>>;

// The values of all weights by name.
Values values_of(const TemporaryDirectory& directory) {
  const std::unique_ptr<Model> m = load(ModelSource::open(directory.path()));
  const std::vector<float> flat = host_copy<float>(m->parameters().flat());
  Values values;
  for (const nn::Parameter& p : m->parameters().all()) {
    const auto begin = flat.begin() + m->parameters().offset_of(p);
    values[p.name].assign(begin, begin + p.shape.count());
  }
  return values;
}

class PytorchModels : public ::testing::TestWithParam<const char*> {};

TEST_P(PytorchModels, LoadTheBitsOfTheSameSafetensors) {
  const TemporaryDirectory pytorch, safetensors;
  copy_model(GetParam(), true, pytorch);
  copy_model(GetParam(), false, safetensors);
  Values values = values_of(pytorch);
  // A T5 with an output in its file has one of its own, also where it was a copy of the embedding.
  if (std::string(GetParam()) == "t5") {
    EXPECT_EQ(values.at("lm_head.weight"), values.at("shared.weight"));
    values.erase("lm_head.weight");
  }
  EXPECT_GT(values.size(), 10u);
  EXPECT_EQ(values, values_of(safetensors));
}

TEST_P(PytorchModels, LeaveTheChoiceToSafetensors) {
  const TemporaryDirectory both;
  copy_model(GetParam(), false, both);
  both.write("pytorch_model.bin", "this is not read");
  values_of(both);
}

// Gpt2 ties its output in one file, Marian has both embeddings and computed positions in it, T5 is in two shards.
INSTANTIATE_TEST_SUITE_P(All, PytorchModels, ::testing::Values("gpt2", "marian", "t5"),
                         [](const auto& test) { return std::string(test.param); });

TEST(PytorchWeights, AMissingShardIsNamed) {
  const TemporaryDirectory directory;
  copy_model("t5", true, directory);
  fs::remove(directory.path("pytorch_model-00002-of-00002.bin"));
  const std::string text = error_of([&] { load(ModelSource::open(directory.path())); });
  EXPECT_TRUE(contains(text, "pytorch_model-00002-of-00002.bin: is missing"));
}

}  // namespace
}  // namespace tril::model::pytorch_weights_test

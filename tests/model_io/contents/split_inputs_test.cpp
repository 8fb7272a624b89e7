// The inputs of the gated delta rule in one matrix, as Lara's publisher stores them, and separately, as tril writes them.
#include "model_io/contents/split_inputs.h"

#include <filesystem>

#include "format/safetensors_write.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/error_of.h"
#include "support/golden.h"
#include "support/temporary.h"

namespace tril::model::split_inputs_test {
namespace {

namespace fs = std::filesystem;

fs::path lara() {
  return fs::path(test::test_dir()) / "golden/hf/lara_mini";
}

TEST(SplitInputs, AreWrittenSeparatelyWithTheSameValues) {
  const TemporaryDirectory to;
  const auto m = load(ModelSource::open(lara()));
  save(*m, to.path("separate"));
  const auto file = SafetensorsFile::open(to.path("separate") + "/model.safetensors");
  EXPECT_TRUE(file.find("model.layers.0.linear_attn.in_proj_qkv.weight"));
  EXPECT_FALSE(file.find("model.layers.0.linear_attn.in_proj.weight"));
  EXPECT_EQ(host_copy<float>(load(ModelSource::open(to.path("separate")))->parameters().flat()),
            host_copy<float>(m->parameters().flat()));
}

TEST(SplitInputs, MustHaveTheRowsOfTheConfig) {
  const TemporaryDirectory to;
  fs::copy_file(lara() / "config.json", to.path("config.json"));
  const auto file = SafetensorsFile::open((lara() / "model.safetensors").string());
  std::vector<WeightView> views = file.tensors();
  for (WeightView& view : views)
    if (view.name == "model.layers.0.linear_attn.in_proj.weight") {
      const std::size_t row = view.bytes.size() / 104;
      view.shape[0] = 103, view.bytes = view.bytes.first(103 * row);
    }
  write_safetensors(to.path("model.safetensors"), views, {});
  EXPECT_TRUE(contains(error_of([&] { load(ModelSource::open(to.path())); }),
                       "model.safetensors: model.layers.0.linear_attn.in_proj.weight", "[103, 48]", "104 rows"));
}

}  // namespace
}  // namespace tril::model::split_inputs_test

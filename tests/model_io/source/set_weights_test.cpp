// Large matrices are read and packed in parts, with the result of reading them as a whole.
#include "model_io/source/set_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/half.h"
#include "format/safetensors.h"
#include "format/safetensors_write.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/small_decoders.h"
#include "support/temporary.h"

namespace tril::model {
namespace {

using nn::Precision;

// An embedding table of more than 2^20 values, whose last part is not a whole number of panels.
nlohmann::json large_config() {
  nlohmann::json config = testing::small_llama_variants().at(0);
  config["vocab_size"] = (1 << 20) / config["hidden_size"].get<int>() + 2345;
  return config;
}

// Writes the matrices of a model's file again in another type.
void store_as(StoredType type, const std::string& directory) {
  const std::string path = directory + "/model.safetensors";
  std::vector<std::pair<WeightView, std::vector<std::uint16_t>>> tensors;
  std::vector<std::vector<float>> floats;
  {
    const SafetensorsFile file = SafetensorsFile::open(path);
    for (const WeightView& t : file.tensors()) {
      WeightView& written = tensors.emplace_back(WeightView{.name = t.name, .dtype = type, .shape = t.shape}, 0).first;
      std::vector<std::uint16_t>& words = tensors.back().second;
      for (const float x : to_f32(t)) words.push_back(type == StoredType::bf16 ? f32_to_bf16(x) : f32_to_f16(x));
      written.bytes = std::as_bytes(std::span(words));
    }
  }
  std::vector<WeightView> views;
  for (const auto& [view, words] : tensors) views.push_back(view);
  write_safetensors(path, views, {{"format", "pt"}});
}

TEST(SetWeights, PartsOfAMatrixAreTheMatrix) {
  const TemporaryDirectory directory;
  save(*testing::random_model(large_config()), directory.path());
  for (const StoredType type : {StoredType::f32, StoredType::bf16, StoredType::f16}) {
    if (type != StoredType::f32) store_as(type, directory.path());
    const auto source = ModelSource::open(directory.path());
    const std::unique_ptr<Model> floats = load(source);
    for (const Precision precision : {Precision::bf16, Precision::int8, Precision::int4}) {
      SCOPED_TRACE(fmt::format("{} in {}", static_cast<int>(type), nn::name_of(precision)));
      const std::unique_ptr<Model> whole = make(source);
      nn::Parameters& expected = whole->parameters();
      expected.allocate_serving(precision);
      for (nn::Parameter& p : expected.all())
        expected.set(kern::best(), p, host_copy<float>(floats->parameters().find(p.name)->value));
      expected.refresh(kern::best());
      for (const int threads : {1, 3}) {
        const std::unique_ptr<Model> served = load(source, precision, threads);
        EXPECT_TRUE(std::ranges::equal(served->parameters().serving_image(), expected.serving_image()));
      }
    }
  }
}

TEST(SetWeights, ALaterPartIsExaminedToo) {
  const TemporaryDirectory directory;
  const std::unique_ptr<Model> m = testing::random_model(large_config());
  nn::Parameter* const table = m->parameters().find("model.embed_tokens.weight");
  ASSERT_NE(table, nullptr);
  table->value.data<float>()[table->shape.count() - 1] = std::nanf("");
  save(*m, directory.path());
  const std::string error = error_of([&] { load(ModelSource::open(directory.path()), Precision::int8); });
  EXPECT_NE(error.find("model.embed_tokens.weight"), std::string::npos) << error;
  EXPECT_NE(error.find("nan"), std::string::npos) << error;
}

}  // namespace
}  // namespace tril::model

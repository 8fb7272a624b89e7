// Quantised directories: reading them gives the same values as quantising the original on loading, and damage is
// reported.

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <fstream>

#include "format/safetensors_write.h"
#include "model/families/gpt2.h"
#include "model_io/exports/quantize.h"
#include "model_io/source/model_source.h"
#include "model_io/source/packed_image.h"
#include "model_io/source/registry.h"
#include "nn/serving.h"
#include "support/contains.h"
#include "support/small_marian.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;
using testing::logits_of;
using testing::small_marian;

class QuantizedFiles : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    fs::remove_all(root);
    fs::create_directories(root);
    MarianConfig k = testing::small_marian_config();
    k.d_model = 64, k.encoder_ffn_dim = 70;
    save(*small_marian(k), root / "floats");
  }
  void TearDown() override { fs::remove_all(root); }

  static nn::Precision precision() { return GetParam() == 8 ? nn::Precision::int8 : nn::Precision::int4; }

  template <class F>
  static std::string error_of(F f) {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }

  const fs::path root = fs::path(::testing::TempDir()) / fmt::format("tril-quantized-{}-{}", getpid(), GetParam());
};

TEST_P(QuantizedFiles, HoldWhatRoundingAtLoadGives) {
  quantize(ModelSource::open(root / "floats"), root / "q", GetParam());
  EXPECT_EQ(ModelSource::open(root / "q").stored_precision(), precision());
  EXPECT_EQ(ModelSource::open(root / "floats").stored_precision(), nn::Precision::fp32);
  const std::vector<float> from_files = logits_of(*load(ModelSource::open(root / "q"), precision())),
                           at_load = logits_of(*load(ModelSource::open(root / "floats"), precision())),
                           exact = logits_of(*load(ModelSource::open(root / "floats")));
  EXPECT_EQ(from_files, at_load);
  double error = 0, size = 0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    error += std::pow(at_load[i] - exact[i], 2), size += std::pow(exact[i], 2);
  EXPECT_LT(std::sqrt(error / size), GetParam() == 8 ? 0.03 : 0.3);
  EXPECT_GT(error, 0);
  EXPECT_LT(fs::file_size(root / "q/model.safetensors"), fs::file_size(root / "floats/model.safetensors") / 2);
}

TEST_P(QuantizedFiles, ServeInFloatsToo) {
  quantize(ModelSource::open(root / "floats"), root / "q", GetParam());
  const std::vector<float> served = logits_of(*load(ModelSource::open(root / "q"), nn::Precision::fp32)),
                           trained = logits_of(*load(ModelSource::open(root / "q")));
  EXPECT_EQ(served, trained);
  const auto m = load(ModelSource::open(root / "q"));
  const auto original = load(ModelSource::open(root / "floats"));
  for (const nn::Parameter& p : m->parameters().all()) {
    const auto* same = original->parameters().find(p.name);
    const std::vector<float> a = host_copy<float>(p.value), b = host_copy<float>(same->value);
    const float most =
        std::abs(*std::max_element(b.begin(), b.end(), [](float x, float y) { return std::abs(x) < std::abs(y); }));
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(a[i], b[i], (nn::quantized_bits(p, precision()) == 4 ? 0.15f : 0.005f) * most) << p.name;
  }
}

TEST_P(QuantizedFiles, MistakesAreNamed) {
  quantize(ModelSource::open(root / "floats"), root / "q", GetParam());
  EXPECT_TRUE(
      contains(error_of([&] { quantize(ModelSource::open(root / "q"), root / "again", GetParam()); }), "already"));

  // Scales of another shape, as in files of another model.
  const SafetensorsFile file = SafetensorsFile::open((root / "q/model.safetensors").string());
  std::vector<WeightView> tensors = file.tensors();
  for (WeightView& t : tensors)
    if (t.name.ends_with("q_proj.weight_scale")) t.shape = {1, t.shape[0]};
  fs::create_directories(root / "wrong");
  write_safetensors((root / "wrong/model.safetensors").string(), tensors, {});
  fs::copy(root / "q/config.json", root / "wrong/config.json");
  const std::string text = error_of([&] { load(ModelSource::open(root / "wrong"), precision()); });
  EXPECT_TRUE(contains(text, "q_proj.weight_scale"));
  EXPECT_TRUE(contains(text, "[1, 64]"));

  // A matrix without its scales is no matrix of floats.
  std::erase_if(tensors, [](const WeightView& t) { return t.name.ends_with("_scale"); });
  write_safetensors((root / "wrong/model.safetensors").string(), tensors, {});
  EXPECT_NE(error_of([&] { load(ModelSource::open(root / "wrong"), precision()); }), "");

  for (const auto& [bits, text_of_error] : {std::pair{"3", "neither 8 nor 4"}, {"\"8\"", "bits"}}) {
    std::ofstream(root / "wrong/config.json")
        << R"({"model_type": "marian", "quantization_config": {"quant_method": "tril", "bits": )" << bits << "}}";
    EXPECT_TRUE(contains(error_of([&] { load(ModelSource::open(root / "wrong")); }), text_of_error));
  }
}

// Rewrites model.safetensors of a directory: `change` is applied to each F32 tensor whose name has this suffix.
template <class Change>
void change_floats(const fs::path& directory, const std::string& end, Change change) {
  const fs::path path = directory / "model.safetensors";
  std::vector<WeightView> tensors;
  std::deque<std::vector<float>> changed;
  {
    const SafetensorsFile file = SafetensorsFile::open(path.string());
    tensors = file.tensors();
    for (WeightView& t : tensors)
      if (t.name.ends_with(end)) {
        changed.push_back(to_f32(t));
        change(changed.back());
        t.bytes = std::as_bytes(std::span(changed.back()));
      }
    write_safetensors(path.string() + ".new", tensors, {{"format", "pt"}});
  }
  fs::rename(path.string() + ".new", path);
}

TEST_P(QuantizedFiles, ScalesThatAreNoneAreRefused) {
  for (const float scale : {-0.5f, 0.0f, INFINITY, std::nanf("")}) {
    fs::remove_all(root / "q");
    quantize(ModelSource::open(root / "floats"), root / "q", GetParam());
    change_floats(root / "q", "decoder.layers.0.fc1.weight_scale", [&](std::vector<float>& v) { v[5] = scale; });
    const std::string text = error_of([&] { load(ModelSource::open(root / "q"), precision()); });
    EXPECT_TRUE(contains(text, fmt::format("decoder.layers.0.fc1.weight_scale: row 5 has the scale {}", scale)));
  }
  // Only a row of zeros may have that scale.
  change_floats(root / "floats", "decoder.layers.0.fc1.weight",
                [](std::vector<float>& v) { std::fill_n(v.begin() + 64, 64, 0.0f); });
  quantize(ModelSource::open(root / "floats"), root / "again", GetParam());
  EXPECT_EQ(error_of([&] { load(ModelSource::open(root / "again"), precision()); }), "");
}

// Quantisation would turn NaN into a number, and a packed image is never checked again.
TEST_P(QuantizedFiles, WeightsThatAreNoNumbersAreRefusedByName) {
  for (const float odd : {std::nanf(""), INFINITY, -INFINITY})
    for (const char* name : {"decoder.layers.0.fc1.weight", "encoder.layers.0.fc1.bias"}) {
      fs::remove_all(root / "odd");
      fs::copy(root / "floats", root / "odd");
      change_floats(root / "odd", name, [&](std::vector<float>& v) { v[7] = odd; });
      const bool matrix = std::string_view(name).ends_with("weight");
      const auto refused = [&](const std::string& text) {
        EXPECT_TRUE(contains(text, fmt::format("{}: contains {}", name, odd)));
      };
      refused(error_of([&] { quantize(ModelSource::open(root / "odd"), root / "q", GetParam()); }));
      EXPECT_FALSE(fs::exists(root / "q/model.safetensors"));
      for (const nn::Precision p : {precision(), nn::Precision::fp32, nn::Precision::bf16})
        refused(error_of([&] { write_packed_image(ModelSource::open(root / "odd"), p); }));
      EXPECT_FALSE(fs::exists(packed_image_path(ModelSource::open(root / "odd"), precision())));
      if (matrix) refused(error_of([&] { load(ModelSource::open(root / "odd"), precision()); }));
    }
}

// Names from files are escaped for a terminal.
TEST_P(QuantizedFiles, NamesAreShownWithoutTheirControlBytes) {
  const SafetensorsFile file = SafetensorsFile::open((root / "floats/model.safetensors").string());
  std::vector<WeightView> tensors = file.tensors();
  tensors.push_back(tensors.front());
  tensors.back().name = "a\x1b[31mb";
  fs::create_directories(root / "wrong");
  write_safetensors((root / "wrong/model.safetensors").string(), tensors, {});
  fs::copy(root / "floats/config.json", root / "wrong/config.json");
  const std::string text = error_of([&] { load(ModelSource::open(root / "wrong")); });
  EXPECT_TRUE(contains(text, "a\\x1B[31mb: a marian model has no such weight"));
  std::ofstream(root / "wrong/config.json") << R"({"model_type": "x\u001b[2Jy\u0007"})";
  const std::string family = error_of([&] { load(ModelSource::open(root / "wrong")); });
  EXPECT_TRUE(contains(family, "the family 'x\\x1B[2Jy\\x07' is not supported"));
}

INSTANTIATE_TEST_SUITE_P(Bits, QuantizedFiles, ::testing::Values(8, 4),
                         [](const auto& p) { return fmt::format("int{}", p.param); });

TEST(QuantizedGpt2, FilesThatHoldMatricesTheOtherWayRound) {
  const fs::path root = fs::path(::testing::TempDir()) / fmt::format("tril-quantized-gpt2-{}", getpid());
  fs::create_directories(root);
  std::ofstream(root / "config.json") << R"({"model_type": "gpt2", "vocab_size": 60, "n_positions": 32, "n_embd": 32,
    "n_layer": 2, "n_head": 2, "bos_token_id": 1, "eos_token_id": 1})";
  const auto m = make(ModelSource::open(root));
  m->parameters().allocate();
  m->parameters().initialise(3);
  m->parameters().refresh(kern::best());
  save(*m, root / "floats");
  quantize(ModelSource::open(root / "floats"), root / "q", 8);
  const auto logits_of = [](const Model& model) {
    Arena arena;
    Context c(arena);
    const std::vector<std::int32_t> ids{5, 9, 33, 59};
    return host_copy<float>(logits(c, model, model.decode(c, {.ids = ids, .rows = Rows::rectangle(1, 4)})));
  };
  EXPECT_EQ(logits_of(*load(ModelSource::open(root / "q"), nn::Precision::int8)),
            logits_of(*load(ModelSource::open(root / "floats"), nn::Precision::int8)));
  fs::remove_all(root);
}

}  // namespace
}  // namespace tril::model

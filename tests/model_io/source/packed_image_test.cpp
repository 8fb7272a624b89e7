// A model served from its image equals the model that made it; other images are not used.
#include "model_io/source/packed_image.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/file.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/small_marian.h"
#include "support/small_quantized.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;
using nn::Precision;
using testing::logits_of;

class PackedImage : public ::testing::TestWithParam<Precision> {
 protected:
  void SetUp() override {
    fs::remove_all(root);
    save(*testing::small_marian(testing::small_marian_config()), root);
    path = packed_image_path(ModelSource::open(root), GetParam());
  }
  void TearDown() override { fs::remove_all(root); }

  bool is_adopted() const {
    const std::unique_ptr<Model> m = make(ModelSource::open(root));
    return adopt_packed_image(*m, ModelSource::open(root), GetParam());
  }
  std::string image() const { return read_text(path.string(), 1 << 24); }

  const fs::path root =
      fs::path(::testing::TempDir()) / fmt::format("tril-packed-{}-{}", getpid(), static_cast<int>(GetParam()));
  fs::path path;
};

TEST_P(PackedImage, ServesTheSameNumbers) {
  const std::vector<float> made = logits_of(*load(ModelSource::open(root), GetParam()));
  EXPECT_FALSE(is_adopted()) << "there is none yet";
  const std::size_t bytes = write_packed_image(ModelSource::open(root), GetParam());
  EXPECT_EQ(bytes, fs::file_size(path));
  EXPECT_TRUE(is_adopted());
  const std::unique_ptr<Model> m = load(ModelSource::open(root), GetParam());
  EXPECT_EQ(logits_of(*m), made);
  // It keeps working after the file is removed or replaced.
  fs::remove(path);
  EXPECT_EQ(logits_of(*m), made);
  // A model to be trained or saved reads the files themselves.
  write_packed_image(ModelSource::open(root), GetParam());
  EXPECT_EQ(logits_of(*load(ModelSource::open(root))), logits_of(*load(ModelSource::open(root), Precision::fp32)));
}

TEST_P(PackedImage, OfOtherWeightsIsNotUsed) {
  write_packed_image(ModelSource::open(root), GetParam());
  // A change of one value in one matrix, like fine-tuning.
  const std::unique_ptr<Model> m = load(ModelSource::open(root));
  std::vector<float> flat = host_copy<float>(m->parameters().flat());
  flat[0] += 1;
  save(*m, root, flat);
  EXPECT_FALSE(is_adopted());
  EXPECT_NE(logits_of(*load(ModelSource::open(root), GetParam())), std::vector<float>());
  write_packed_image(ModelSource::open(root), GetParam());
  flat[flat.size() / 3] += 1;
  save(*m, root, flat);
  EXPECT_FALSE(is_adopted());
}

TEST_P(PackedImage, OfTheSameWeightsIsUsedWhateverTheirDate) {
  write_packed_image(ModelSource::open(root), GetParam());
  const fs::path weights = root / "model.safetensors";
  fs::last_write_time(weights, fs::last_write_time(weights) + std::chrono::hours(1));
  EXPECT_TRUE(is_adopted()) << "as in a directory that was copied";
}

TEST_P(PackedImage, WhatIsDamagedIsNotUsed) {
  write_packed_image(ModelSource::open(root), GetParam());
  const std::string whole = image();
  const auto with = [&](std::string bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    return is_adopted();
  };
  EXPECT_TRUE(with(whole));
  for (const std::size_t left :
       {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{4096}, whole.size() - 1})
    EXPECT_FALSE(with(whole.substr(0, left))) << left;
  EXPECT_FALSE(with(whole + std::string(64, '\0')));
  for (std::size_t at = 0; at < 130; at += 13) {
    std::string other = whole;
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_FALSE(with(other)) << at;
  }
}

// Every byte counts: before serving a sample of the image is checked (all of a small one), and all of it on request.
TEST_P(PackedImage, ADamagedBodyIsNotUsed) {
  EXPECT_FALSE(packed_image_state(ModelSource::open(root), GetParam()));
  write_packed_image(ModelSource::open(root), GetParam());
  const std::string whole = image();
  EXPECT_EQ(packed_image_state(ModelSource::open(root), GetParam()), PackedState::sound);
  for (const std::size_t at : {std::size_t{4096}, std::size_t{4096 + 77}, whole.size() / 2 + 2048, whole.size() - 1}) {
    std::string other = whole;
    other[at] = static_cast<char>(other[at] ^ 0x10);
    std::ofstream(path, std::ios::binary) << other;
    EXPECT_FALSE(is_adopted()) << at;
    EXPECT_EQ(packed_image_state(ModelSource::open(root), GetParam()), PackedState::damaged) << at;
  }
  const std::vector<float> made = logits_of(*load(ModelSource::open(root), GetParam()));  // of the weights themselves
  std::ofstream(path, std::ios::binary) << whole;
  EXPECT_EQ(logits_of(*load(ModelSource::open(root), GetParam())), made);
  std::ofstream(path, std::ios::binary) << whole.substr(0, 100);
  EXPECT_EQ(packed_image_state(ModelSource::open(root), GetParam()), PackedState::of_others);
}

// bf16 has two forms, and every processor reads both, with the same numbers.
TEST(PackedImageOfBf16, IsUsedWhicheverProcessorPackedIt) {
  const TemporaryDirectory directory;
  save(*testing::small_marian(testing::small_marian_config()), directory.path());
  const auto source = [&] { return ModelSource::open(directory.path()); };
  const std::vector<float> made = logits_of(*load(source(), Precision::bf16));
  nn::ServingForm form(Precision::bf16);
  std::vector<std::size_t> sizes;
  for (const bool compact : {false, true}) {
    form.compact = compact;
    sizes.push_back(write_packed_image(source(), form));
    const std::unique_ptr<Model> m = make(source());
    ASSERT_TRUE(adopt_packed_image(*m, source(), Precision::bf16)) << compact;
    EXPECT_EQ(logits_of(*m), made) << compact;
    EXPECT_EQ(packed_image_state(source(), Precision::bf16), PackedState::sound);
  }
  EXPECT_NE(sizes[0], sizes[1]);
}

// The scales and zero points of a quantised matrix are tensors of their own in the file, and none of the model.
TEST(PackedImageOfQuantizedFiles, OfOtherScalesIsNotUsed) {
  for (const char* method : {"gptq", "awq"})
    for (const char* part : {".scales", ".qzeros", ".qweight"}) {
      SCOPED_TRACE(fmt::format("{} {}", method, part));
      const TemporaryDirectory directory;
      testing::write_small_quantized(directory.path(), method);
      const auto is_adopted = [&] {
        const ModelSource source = ModelSource::open(directory.path());
        return adopt_packed_image(*make(source), source, Precision::int8);
      };
      write_packed_image(ModelSource::open(directory.path()), Precision::int8);
      EXPECT_TRUE(is_adopted());
      const std::string weights = directory.path("model.safetensors");
      std::string bytes = read_text(weights, 1 << 24);
      {
        const SafetensorsFile file = SafetensorsFile::open(weights);
        const auto changed =
            std::ranges::find_if(file.tensors(), [&](const WeightView& t) { return t.name.ends_with(part); });
        ASSERT_NE(changed, file.tensors().end());
        const std::string_view found(reinterpret_cast<const char*>(changed->bytes.data()), changed->bytes.size());
        const std::size_t at = bytes.find(found);
        ASSERT_NE(at, std::string::npos);
        bytes[at] = static_cast<char>(bytes[at] ^ 1);
      }
      write_file_atomic(weights, bytes);
      EXPECT_FALSE(is_adopted());
      EXPECT_EQ(packed_image_state(ModelSource::open(directory.path()), Precision::int8), PackedState::of_others);
    }
}

INSTANTIATE_TEST_SUITE_P(Precisions, PackedImage,
                         ::testing::Values(Precision::fp32, Precision::bf16, Precision::int8, Precision::int4),
                         [](const auto& p) { return fmt::format("precision{}", static_cast<int>(p.param)); });

}  // namespace
}  // namespace tril::model

// A golden case: one safetensors file with weights (w.*), inputs (in.*), expected outputs (out.*) and gradients (g.*).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "format/json_file.h"
#include "format/safetensors.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "nn/parameters.h"
#include "support/paths.h"

namespace tril::test {

/// Whether TRIL_GOLDEN_DIR names another directory of cases, which need not have every kind.
inline bool other_golden_directory() {
  const char* set = std::getenv("TRIL_GOLDEN_DIR");
  return set && *set;
}

/// The directory of golden cases: TRIL_GOLDEN_DIR, or the project's own.
inline std::filesystem::path golden_directory() {
  return other_golden_directory() ? std::filesystem::path(std::getenv("TRIL_GOLDEN_DIR"))
                                  : std::filesystem::path(test::test_dir()) / "golden";
}

/// All cases below golden_directory() whose metadata `kind` is this one (make_seed.py's layout: flat or under seed/).
inline std::vector<std::filesystem::path> golden_files(const std::string& kind) {
  std::vector<std::filesystem::path> found;
  for (const std::filesystem::path& dir : {golden_directory(), golden_directory() / "seed"}) {
    if (!std::filesystem::is_directory(dir)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(dir)) {
      if (entry.path().extension() != ".safetensors") continue;
      const SafetensorsFile file = SafetensorsFile::open(entry.path().string());
      if (const std::string* k = file.find_metadata("kind"); k && *k == kind) found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// The model_type of a directory's language model.
inline std::string family_of(const std::filesystem::path& directory) {
  const model::ModelSource source = model::ModelSource::open(directory.string());
  return source.config().get<std::string>("model_type", "");
}

/// All model directories of known families with expected results below golden_directory() (make_hf.py's layout: flat or
/// under hf/).
/// @param kind  "encoder-decoder" or "decoder-only"
inline std::vector<std::filesystem::path> golden_model_directories(const std::string& kind) {
  const std::vector<std::string> known = model::families();
  std::vector<std::filesystem::path> found;
  for (const std::filesystem::path& dir : {golden_directory(), golden_directory() / "hf"}) {
    if (!std::filesystem::is_directory(dir)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(dir)) {
      if (!std::filesystem::exists(entry.path() / "config.json") ||
          !std::filesystem::exists(entry.path() / "expected.safetensors"))
        continue;
      const SafetensorsFile expected = SafetensorsFile::open((entry.path() / "expected.safetensors").string());
      const std::string* const its_kind = expected.find_metadata("kind");
      if (its_kind && *its_kind == kind && std::ranges::find(known, family_of(entry.path())) != known.end())
        found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

class GoldenCase {
 public:
  explicit GoldenCase(const std::filesystem::path& path)
      : file_(SafetensorsFile::open(path.string())), config_(nlohmann::json::parse(*file_.find_metadata("config"))) {}

  const nlohmann::json& config() const { return config_; }
  std::int64_t size(const char* key) const { return config_.at(key).get<std::int64_t>(); }
  bool has(const std::string& name) const { return file_.find(name) != nullptr; }
  const SafetensorsFile& file() const { return file_; }
  const std::vector<std::int64_t>& shape(const std::string& name) const { return file_.at(name).shape; }
  std::vector<float> floats(const std::string& name) const { return to_f32(file_.at(name)); }
  std::vector<std::int32_t> ids(const std::string& name) const { return to_i32(file_.at(name)); }

  Tensor tensor(Context& c, const std::string& name, Shape shape) const { return c.upload<float>(floats(name), shape); }
  Tensor mask(Context& c, const std::string& name) const {
    std::vector<std::uint8_t> values;
    for (std::int32_t v : ids(name)) values.push_back(static_cast<std::uint8_t>(v));
    return c.upload<std::uint8_t>(values, Shape(shape(name)));
  }
  /// Sets every weight of a model from w.*; all must exist with the right shape, and none may be left over.
  void fill(nn::Parameters& p) const {
    p.allocate();
    std::size_t weights = 0;
    for (const WeightView& view : file_.tensors()) weights += view.name.starts_with("w.");
    EXPECT_EQ(weights, p.all().size()) << "weights in the case and in the model";
    for (nn::Parameter& w : p.all()) {
      ASSERT_TRUE(has("w." + w.name)) << w.name;
      ASSERT_EQ(Shape(shape("w." + w.name)), w.shape) << w.name;
      host_write<float>(w.value, floats("w." + w.name));
    }
    p.refresh(kern::best());
  }

 private:
  SafetensorsFile file_;
  nlohmann::json config_;
};

/// |got - expected| <= absolute + relative * |expected| + noise * max |expected| for every value; reports the worst.
/// The last term is for sums with cancellation, whose reference in float32 itself differs that much from float64.
inline void expect_close(const std::string& name, const std::vector<float>& got, const std::vector<float>& expected,
                         double absolute, double relative, double noise = 0) {
  ASSERT_EQ(got.size(), expected.size()) << name;
  double largest = 0;
  for (float e : expected) largest = std::max(largest, std::abs(double(e)));
  absolute += noise * largest;
  double worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double excess =
        std::abs(double(got[i]) - double(expected[i])) / (absolute + relative * std::abs(double(expected[i])));
    if (!(excess <= worst)) worst = excess, at = i;
  }
  EXPECT_LE(worst, 1.0) << name << ": at " << at << " got " << (got.empty() ? 0 : got[at]) << ", expected "
                        << (got.empty() ? 0 : expected[at]);
}

}  // namespace tril::test

// Randomly mutated configurations of every family: an error or a correct model. A short version, for any compiler, of
// tests/fuzz/fuzz_config.cpp. TRIL_FUZZ_RUNS sets the number of mutations, TRIL_FUZZ_SEED repeats a run.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/config_harness.h"
#include "support/golden.h"
#include "support/json_mutator.h"
#include "support/paths.h"
#include "support/small_configs.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

std::vector<std::string> seeds() {
  std::vector<std::string> texts = testing::small_configs();
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(test::test_dir()) / "golden"))
    if (entry.path().filename() == "config.json") {
      const nlohmann::json config = nlohmann::json::parse(std::ifstream(entry.path()));
      if (!config.contains("model_type") && !config.contains("text_config")) continue;  // CTranslate2's
      // Of a model of pictures and text what tril makes a model of.
      texts.push_back(config.value("text_config", config).dump(2));
    }
  return texts;
}

TEST(ConfigFuzz, MutatedConfigurationsAreErrorsOrRightModels) {
  const std::uint64_t runs = from_environment("TRIL_FUZZ_RUNS", 2000), seed = from_environment("TRIL_FUZZ_SEED", 1);
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const auto bytes = [&](std::uint8_t* data, std::size_t size, std::size_t most) {
    if (size == 0 || most == 0) return std::min<std::size_t>(size, most);
    for (std::size_t n = 1 + below(4); n > 0; --n) data[below(size)] = static_cast<std::uint8_t>(random());
    return below(8) == 0 ? below(size) : size;
  };
  const std::vector<std::string> whole = seeds();
  testing::ConfigHarness harness;
  for (const std::string& text : whole) EXPECT_EQ(harness.say(text), "") << text;
  EXPECT_EQ(harness.accepted(), static_cast<std::int64_t>(whole.size()));
  std::vector<std::string> texts = whole;
  for (std::uint64_t run = 0; run < runs; ++run) {
    const std::size_t which = below(texts.size());
    std::string text = texts[which];
    const std::size_t size = text.size(), most = size + 4096;
    text.resize(most);
    text.resize(test::JsonMutator(static_cast<unsigned>(random()), testing::ConfigHarness::words(), bytes)(
        reinterpret_cast<std::uint8_t*>(text.data()), size, most));
    const std::int64_t before = harness.accepted();
    ASSERT_EQ(harness.say(text), "") << "run " << run << " of seed " << seed << ": " << text;
    // Some accepted texts are mutated further, so that wrong values are combined. Each family keeps its place.
    if (harness.accepted() > before) texts[which] = below(8) == 0 ? whole[which] : text;
  }
  EXPECT_GT(harness.accepted(), static_cast<std::int64_t>(whole.size()));
}

}  // namespace
}  // namespace tril::model

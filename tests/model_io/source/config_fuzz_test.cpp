// Randomly mutated configurations of every family: an error or a correct model. A short version, for any compiler, of
// tests/fuzz/fuzz_config.cpp.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model_io/source/text_model.h"
#include "support/config_harness.h"
#include "support/golden.h"
#include "support/json_mutator.h"
#include "support/paths.h"
#include "support/rounds.h"
#include "support/small_configs.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> seeds() {
  std::vector<std::string> texts = testing::small_configs();
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(test::test_dir()) / "golden"))
    if (entry.path().filename() == "config.json") {
      const nlohmann::json config = nlohmann::json::parse(std::ifstream(entry.path()));
      if (!config.contains("model_type") && !config.contains("text_config")) continue;  // CTranslate2's
      // Of a model of pictures and text what tril makes a model of.
      const auto untied = [] { return std::vector<std::string>{"lm_head.weight"}; };
      const ConfigDocument whole{.json = config, .where = entry.path().string()};
      texts.push_back((holds_text_model(whole.object()) ? text_config(whole, untied).json : config).dump(2));
    }
  return texts;
}

TEST(ConfigFuzz, MutatedConfigurationsAreErrorsOrRightModels) {
  const std::vector<std::string> whole = seeds();
  testing::ConfigHarness harness;
  for (const std::string& text : whole) EXPECT_EQ(harness.say(text), "") << text;
  EXPECT_EQ(harness.accepted(), static_cast<std::int64_t>(whole.size()));
  std::vector<std::string> texts = whole;
  test::rounds(2000, [&](RandomSequence& random) {
    const auto bytes = [&](std::uint8_t* data, std::size_t size, std::size_t most) {
      if (size == 0 || most == 0) return std::min<std::size_t>(size, most);
      for (std::uint64_t n = 1 + random.below(4); n > 0; --n)
        data[random.below(size)] = static_cast<std::uint8_t>(random.bits());
      return random.below(8) == 0 ? static_cast<std::size_t>(random.below(size)) : size;
    };
    const std::size_t which = random.below(texts.size());
    std::string text = texts[which];
    const std::size_t size = text.size(), most = size + 4096;
    text.resize(most);
    text.resize(test::JsonMutator(random.bits(), testing::ConfigHarness::words(), bytes)(
        reinterpret_cast<std::uint8_t*>(text.data()), size, most));
    const std::int64_t before = harness.accepted();
    ASSERT_EQ(harness.say(text), "") << text;
    // Some accepted texts are mutated further, so that wrong values are combined. Each family keeps its place. So a round also
    // depends on earlier rounds: a failure is repeated by its text, not by its seed.
    if (harness.accepted() > before) texts[which] = random.below(8) == 0 ? whole[which] : text;
  });
  EXPECT_GT(harness.accepted(), static_cast<std::int64_t>(whole.size()));
}

}  // namespace
}  // namespace tril::model

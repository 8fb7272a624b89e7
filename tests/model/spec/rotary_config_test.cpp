// Rotary positions in config.json: frequencies equal to `transformers`, in both spellings, and what is refused.
#include "model/spec/rotary_config.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "model_io/source/registry.h"
#include "support/paths.h"
#include "support/temporary.h"

namespace tril::model {
namespace {

using Json = nlohmann::json;

nn::RotaryOptions read(const Json& j, std::int64_t original = 0, bool turns_part = true) {
  const JsonObject object(j, "config.json");
  ConfigReader reader(object, "llama");
  const nn::RotaryOptions o =
      read_rotary(reader, {.head_dim = 16, .max_positions = 256, .turns_part = turns_part, .original = original});
  reader.finish();
  return o;
}

TEST(RotaryConfig, FrequenciesAreThoseOfTransformers) {
  const Json cases = Json::parse(std::ifstream(test::test_dir() + "/model/spec/rotary_cases.json"));
  ASSERT_GE(cases.size(), 16u);
  for (const Json& k : cases) {
    SCOPED_TRACE(k.dump());
    const auto original = k.at("original").get<std::int64_t>();
    const nn::RotaryOptions fresh = read({{"rope_parameters", k.at("rope")}}, original);
    // As in version 4: rope_theta outside, "type" or "rope_type".
    Json scaling = k.at("rope");
    scaling.erase("rope_theta");
    const nn::RotaryOptions old =
        read({{"rope_scaling", scaling}, {"rope_theta", k.at("rope").at("rope_theta")}}, original);
    scaling["type"] = scaling.at("rope_type");
    scaling.erase("rope_type");
    const nn::RotaryOptions oldest =
        read({{"rope_scaling", scaling}, {"rope_theta", k.at("rope").at("rope_theta")}}, original);
    nlohmann::ordered_json written;
    write_rotary(written, fresh, 16);
    const nn::RotaryOptions again = read(written, original);
    for (const nn::RotaryOptions& o : {fresh, old, oldest, again}) {
      EXPECT_NEAR(o.attention_factor, k.at("attention_factor").get<double>(), 1e-12);
      const std::vector<float> got = nn::rotary_frequencies(o, k.at("length").get<std::int64_t>());
      const auto expected = k.at("frequencies").get<std::vector<double>>();
      ASSERT_EQ(got.size(), expected.size());
      for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-6 * expected[i]) << i;
    }
  }
}

TEST(RotaryConfig, PartOfAHead) {
  EXPECT_EQ(read({{"partial_rotary_factor", 0.5}}).dim, 8);
  EXPECT_EQ(read({{"rope_parameters", {{"rope_type", "default"}, {"partial_rotary_factor", 0.25}}}}).dim, 4);
  EXPECT_EQ(read(Json::object()).dim, 16);
  EXPECT_EQ(read({{"rope_scaling", nullptr}, {"rope_theta", 1e6}}).theta, 1e6);
  EXPECT_EQ(read({{"rope_scaling", Json::object()}, {"rope_parameters", {{"rope_theta", 1e5}}}}).theta, 1e5);
}

// What transformers ignores is ignored, and what it fails on is refused.
TEST(RotaryConfig, AFamilyThatTurnsWholeHeadsKnowsNoShare) {
  const auto whole = [](const Json& j) { return read(j, 0, /*turns_part=*/false); };
  EXPECT_EQ(whole({{"partial_rotary_factor", 0.5}, {"rotary_dim", 8}}).dim, 16);
  EXPECT_EQ(whole({{"rope_parameters", {{"rope_theta", 1e5}, {"partial_rotary_factor", 0.25}}}}).dim, 16);
  EXPECT_TRUE(
      contains(error_of([&] {
                 whole({{"rope_scaling", {{"type", "linear"}, {"factor", 2.0}}}, {"partial_rotary_factor", 0.5}});
               }),
               "partial_rotary_factor: 0.5 is not supported"));
}

TEST(RotaryConfig, KeysOfOtherKindsSayNothing) {
  EXPECT_EQ(read({{"rope_scaling", {{"rope_type", "default"}, {"factor", 4.0}, {"beta_fast", 32}}}}).factor, 1);
  EXPECT_EQ(
      read({{"rope_scaling", {{"type", "linear"}, {"factor", 4.0}, {"original_max_position_embeddings", 64}}}}).factor,
      4);
  const Json llama3{{"rope_type", "llama3"},
                    {"factor", 8.0},
                    {"low_freq_factor", 1.0},
                    {"high_freq_factor", 4.0},
                    {"original_max_position_embeddings", 64}};
  EXPECT_EQ(read({{"rope_scaling", llama3}}).original, 64);
  EXPECT_EQ(read({{"rope_scaling", llama3}, {"original_max_position_embeddings", 32}}).original, 32) << "goes before";
  EXPECT_EQ(read({{"original_max_position_embeddings", 32}}).original, 256);
  EXPECT_EQ(read({{"rope_scaling", {{"type", "dynamic"}, {"factor", 2.0}}}, {"original_max_position_embeddings", 32}})
                .original,
            256);
}

// transformers reads only GPT-NeoX's own names.
TEST(RotaryConfig, GptNeoxPassesOverOtherFamiliesNames) {
  Json j = Json::parse(std::ifstream(test::test_dir() + "/golden/hf/gpt_neox/config.json"));
  for (const char* key :
       {"rope_parameters", "rope_scaling", "rope_theta", "partial_rotary_factor", "rotary_pct", "rotary_emb_base"})
    j.erase(key);
  const auto written = [&](const Json& more) {
    Json config = j;
    config.update(more);
    return Json::parse(make(JsonObject(config, "config.json"))->config_json());
  };
  EXPECT_EQ(written({{"rope_theta", 5e5}, {"partial_rotary_factor", 1.0}}), written(Json::object()));
  EXPECT_EQ(written({{"rotary_emb_base", 5e5}, {"rotary_pct", 0.5}})["rotary_emb_base"], 5e5);
  EXPECT_NE(written({{"rotary_pct", 0.5}}), written(Json::object()));
}

TEST(RotaryConfig, WhatIsRefused) {
  const auto says = [](const Json& j, const std::string& part) {
    const std::string text = error_of([&] { read(j); });
    EXPECT_TRUE(contains(text, part)) << text;
  };
  says({{"rope_scaling", {{"rope_type", "axial"}, {"factor", 2.0}}}}, "'axial' is not supported");
  says({{"rope_scaling", {{"rope_type", "linear"}}}}, "factor");
  says({{"rope_scaling", {{"rope_type", "linear"}, {"factor", 0.0}}}}, "not a positive number");
  says({{"rope_scaling", {{"rope_type", "linear"}, {"factor", 2.0}, {"mrope_section", {1}}}}}, "mrope_section");
  says({{"rope_parameters", {{"full_attention", {{"rope_type", "default"}}}}}}, "full_attention");
  says({{"rope_scaling", {{"rope_type", "longrope"}, {"short_factor", {1.0}}, {"long_factor", {1.0}}}}},
       "got 1 factors for the 8 pairs");
  says({{"rope_theta", 0.5}}, "not above 1");
  says({{"partial_rotary_factor", 0.1}}, "cannot be rotated in pairs");
  says({{"partial_rotary_factor", 1.5}}, "cannot be rotated in pairs");
  says({{"partial_rotary_factor", 1e19}}, "1.6e+20 values, which cannot be rotated in pairs");
}

}  // namespace
}  // namespace tril::model

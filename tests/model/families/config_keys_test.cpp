// Keys of config.json that families read differently from the rest: null, head_dim, rotary positions by layer type.
#include <gtest/gtest.h>

#include <map>

#include "format/json_file.h"
#include "model_io/source/registry.h"
#include "support/contains.h"
#include "support/error_of.h"
#include "support/small_decoders.h"
#include "support/small_encoder_decoders.h"

namespace tril::model::config_keys_test {
namespace {

using Json = nlohmann::json;

// The first small model of a family, with changes.
Json small(const std::string& family, const Json& changes, const std::vector<std::string>& erased = {}) {
  Json config;
  for (const Json& j : testing::small_decoders())
    if (j.at("model_type") == family && config.is_null()) config = j;
  config.update(changes);
  for (const std::string& key : erased) config.erase(key);
  return config;
}

Json with(Json config, const Json& changes) {
  config.update(changes);
  return config;
}

Json written(const Json& config) {
  return Json::parse(make(JsonObject(config, "config.json"))->config_json());
}

std::string refusal(const Json& config) {
  return error_of([&] { make(JsonObject(config, "config.json")); });
}

// `transformers` tests these values for truth.
TEST(ConfigKeys, NullIsFalse) {
  for (const char* family : {"deepseek_v3", "sarvam_mla", "axk1"}) {
    const Json j = written(small(family, {{"rope_interleave", nullptr}, {"norm_topk_prob", nullptr}}));
    EXPECT_EQ(j.at("rope_interleave"), false) << family;
    EXPECT_EQ(j.at("norm_topk_prob"), false) << family;
    EXPECT_EQ(written(small(family, Json::object(), {"rope_interleave"})).at("rope_interleave"), true) << family;
  }
  EXPECT_TRUE(
      contains(refusal(small("sarvam_moe", {{"use_rmsnorm", nullptr}})), "use_rmsnorm: false is not supported"));
}

// Without a causal mask, a family would compute something else. transformers reads this key in every family.
TEST(ConfigKeys, TokensSeeNoLaterOnes) {
  std::vector<Json> configs = testing::small_encoder_decoders();
  for (const Json& config : testing::small_decoders()) configs.push_back(config);
  for (const Json& config : configs) {
    if (config.at("model_type") == "tril") continue;  // a family without a publisher
    SCOPED_TRACE(config.dump());
    EXPECT_EQ(refusal(with(config, {{"is_causal", true}})), "");
    for (const Json& value : {Json(false), Json()})
      EXPECT_TRUE(contains(refusal(with(config, {{"is_causal", value}})), "is_causal: false is not supported"));
  }
}

TEST(ConfigKeys, HeadDimFollowsFromOtherSizesOfLatentAttention) {
  for (const char* family : {"deepseek_v2", "deepseek_v3", "minicpm3", "youtu", "axk1", "sarvam_mla"}) {
    const Json j = written(small(family, {{"head_dim", 100}}));
    EXPECT_EQ(j.at("head_dim"), j.at("qk_rope_head_dim")) << family;
  }
  EXPECT_TRUE(contains(refusal(small("glm4_moe_lite", {{"head_dim", 100}})), "head_dim: 100 is not qk_rope_head_dim"))
      << "another name of qk_rope_head_dim there";
  for (const char* family : {"deepseek_v2", "minicpm3"})
    EXPECT_TRUE(contains(refusal(small(family, {{"hidden_size", 18}})), "18 is not divisible by 4 heads")) << family;
}

TEST(ConfigKeys, LayersThatPredictFurtherTokensAreIgnored) {
  for (const char* family : {"deepseek_v3", "axk1"}) {
    const Json config = small(family, {{"num_nextn_predict_layers", 1}});
    const auto m = make(JsonObject(config, "config.json"));
    EXPECT_EQ(m->redundant("model.layers.2.input_layernorm.weight"), Redundant::unused) << family;
    EXPECT_EQ(m->redundant("model.layers.3.input_layernorm.weight"), Redundant::no) << family;
  }
}

TEST(ConfigKeys, RotaryPositionsOfNewFamiliesAreNestedByLayerType) {
  const Json both{"sliding_attention", "full_attention"}, full{"full_attention", "full_attention"};
  const Json plain{{"rope_type", "default"}, {"rope_theta", 100.0}};
  for (const char* family : {"gemma4_text", "laguna", "mellum", "lfm3"}) {
    SCOPED_TRACE(family);
    const auto with = [&](const Json& changes) {
      Json config = small(family, {{"num_hidden_layers", 2}, {"layer_types", both}, {"sliding_window", 3}});
      if (config.contains("num_kv_shared_layers")) config["num_kv_shared_layers"] = 0;
      config.update(changes);
      return config;
    };
    EXPECT_TRUE(contains(refusal(with({{"rope_scaling", {{"type", "linear"}, {"factor", 2.0}}}})), "rope_scaling"));
    EXPECT_TRUE(contains(refusal(with({{"rope_parameters", {{"full_attention", plain}}}})), "rope_parameters",
                         "sliding_attention"));
    EXPECT_TRUE(contains(
        refusal(with(
            {{"rope_parameters", {{"full_attention", {{"rope_type", "default"}}}, {"sliding_attention", plain}}}})),
        "full_attention", "rope_theta"));
    EXPECT_EQ(refusal(with({{"layer_types", full}, {"rope_parameters", {{"full_attention", plain}}}})), "");
    Json yarn = plain;
    yarn.update({{"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 3}});
    const Json j = written(with({{"original_max_position_embeddings", 8},
                                 {"rope_theta", 7.0},
                                 {"rope_parameters", {{"full_attention", yarn}, {"sliding_attention", plain}}}}));
    const Json& rope = j.at("rope_parameters").at("full_attention");
    EXPECT_EQ(rope.at("original_max_position_embeddings"), 3) << "the key outside has no effect";
    EXPECT_EQ(rope.at("rope_theta"), 100.0);
  }
}

// Families with files of version 4: rope_scaling replaces single keys of full attention.
TEST(ConfigKeys, OlderScalingChangesFullAttention) {
  const Json plain{{"full_attention", {{"rope_type", "default"}, {"rope_theta", 100.0}}},
                   {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 10.0}}}};
  const Json linear{{"rope_type", "linear"}, {"factor", 2.0}};
  for (const char* family : {"gemma3_text", "olmo3"}) {
    SCOPED_TRACE(family);
    const Json both =
        written(small(family, {{"rope_parameters", plain}, {"rope_scaling", linear}})).at("rope_parameters");
    EXPECT_EQ(both.at("full_attention").at("rope_theta"), 100.0) << "as in rope_parameters";
    EXPECT_EQ(both.at("full_attention").at("rope_type"), "linear");
    EXPECT_EQ(both.at("full_attention").at("factor"), 2.0);
    EXPECT_EQ(both.at("sliding_attention").at("rope_type"), "default");
    EXPECT_EQ(both.at("sliding_attention").at("rope_theta"), 10.0);
    const double theta = family == std::string("olmo3") ? 5e5 : 77.0;
    const Json old = written(small(family, {{"rope_theta", theta}, {"rope_scaling", linear}}, {"rope_parameters"}));
    EXPECT_EQ(old.at("rope_parameters").at("full_attention").at("rope_theta"), theta);
    EXPECT_EQ(old.at("rope_parameters").at("full_attention").at("factor"), 2.0);
    EXPECT_TRUE(contains(refusal(small(family, {{"rope_scaling", {{"type", "linear"}, {"factor", 2.0}}}})),
                         "rope_scaling: type: ", "rope_type"));
  }
}

// Versions of transformers differ on the layers that it applies to.
TEST(ConfigKeys, AnOlmo3BaseIsSaidForEachTypeOfLayers) {
  const auto with = [](double theta, const Json& rope) {
    return refusal(small("olmo3", {{"rope_theta", theta}, {"rope_parameters", rope}}));
  };
  const Json full{{"full_attention", {{"rope_type", "default"}, {"rope_theta", 10.0}}}};
  Json both = full;
  both["sliding_attention"] = full.at("full_attention");
  EXPECT_TRUE(contains(with(77, nullptr), "rope_theta: 77 is not supported here"));
  EXPECT_TRUE(contains(with(77, full), "rope_theta: 77 is not supported here"));
  EXPECT_EQ(with(77, both), "");
  EXPECT_EQ(with(5e5, nullptr), "");
}

// transformers computes the angles of a part of each head, and fails when it turns heads by them.
TEST(ConfigKeys, APartOfAHeadIsRefusedWhereTransformersFails) {
  for (const char* family : {"solar_open", "glm4_moe_lite"}) {
    const auto with = [&](double share) {
      const Json rope{{"rope_type", "default"}, {"rope_theta", 100.0}, {"partial_rotary_factor", share}};
      return refusal(small(family, {{"rope_parameters", rope}}));
    };
    EXPECT_TRUE(contains(with(0.5), "partial_rotary_factor: 0.5 is not supported")) << family;
    EXPECT_EQ(with(1.0), "") << family;
  }
  Json by_type = small("mellum", Json::object()).at("rope_parameters");
  by_type["full_attention"]["partial_rotary_factor"] = 0.5;
  EXPECT_TRUE(contains(refusal(small("mellum", {{"rope_parameters", by_type}})), "partial_rotary_factor: 0.5"));
}

TEST(ConfigKeys, BambaReadsThePartOfAHeadInRopeParametersAlone) {
  const Json inside{{"rope_type", "default"}, {"rope_theta", 100.0}, {"partial_rotary_factor", 1.0}};
  EXPECT_TRUE(contains(refusal(small("bamba", {{"partial_rotary_factor", 1.0}}, {"rope_parameters"})),
                       "partial_rotary_factor: 1 has no effect"));
  EXPECT_EQ(refusal(small("bamba", {{"partial_rotary_factor", 0.5}}, {"rope_parameters"})), "");
  EXPECT_EQ(refusal(small("bamba", {{"partial_rotary_factor", 1.0}, {"rope_parameters", inside}})), "");
}

// The rope_parameters of config classes that scale positions unless a file says otherwise; numbers as written by those classes.
TEST(ConfigKeys, ScalingThatFilesLeaveOut) {
  const Json gpt_oss{{"rope_type", "yarn"},
                     {"rope_theta", 1.5e5},
                     {"factor", 32.0},
                     {"beta_fast", 32.0},
                     {"beta_slow", 1.0},
                     {"truncate", false},
                     {"original_max_position_embeddings", 4096}},
      llama3{{"rope_type", "llama3"},
             {"low_freq_factor", 1.0},
             {"high_freq_factor", 4.0},
             {"original_max_position_embeddings", 8192}},
      ministral3{{"rope_type", "yarn"},
                 {"rope_theta", 1e6},
                 {"factor", 16.0},
                 {"beta_fast", 32.0},
                 {"beta_slow", 1.0},
                 {"attention_factor", 1.0},
                 {"llama_4_scaling_beta", 0.1},
                 {"original_max_position_embeddings", 16384}};
  const std::map<std::string, Json> expected{{"gpt_oss", gpt_oss},
                                             {"apertus", with(llama3, {{"rope_theta", 1.2e7}, {"factor", 8.0}})},
                                             {"cwm", with(llama3, {{"rope_theta", 1e6}, {"factor", 16.0}})},
                                             {"ministral3", ministral3}};
  for (const auto& [family, rope] : expected)
    for (const Json& says_nothing : {Json::object(), Json{{"rope_scaling", Json::object()}},
                                     Json{{"rope_scaling", nullptr}, {"rope_parameters", nullptr}}}) {
      Json config = small(family, Json::object(), {"rope_parameters", "rope_theta", "rope_scaling"});
      config.update(says_nothing);
      const Json got = written(config).at("rope_parameters");
      for (const auto& [key, value] : rope.items()) EXPECT_EQ(got.value(key, Json()), value) << family << " " << key;
      config["rope_parameters"] = Json::object();
      EXPECT_EQ(written(config).at("rope_parameters").at("rope_type"), "default") << family << ": empty is not absent";
    }
  const auto theta = [](const char* family) {
    return written(small(family, {{"rope_theta", 77.0}}, {"rope_parameters"})).at("rope_theta");
  };
  EXPECT_EQ(theta("gpt_oss"), 77.0);
  EXPECT_EQ(theta("cwm"), 1e6) << "the class has a base of its own beside the scaling";
}

// ministral3 scales queries with every kind of rotary positions.
TEST(ConfigKeys, QueriesAreScaledWithEveryKindOfPositions) {
  const Json scale{{"rope_theta", 100.0}, {"llama_4_scaling_beta", 0.3}};
  const auto of = [&](const Json& kind) { return small("ministral3", {{"rope_parameters", with(scale, kind)}}); };
  const Json original{{"original_max_position_embeddings", 8}};
  for (const Json& kind :
       {Json{{"rope_type", "default"}}, Json{{"rope_type", "linear"}, {"factor", 2.0}},
        Json{{"rope_type", "yarn"}, {"factor", 2.0}},
        Json{{"rope_type", "llama3"}, {"factor", 4.0}, {"low_freq_factor", 1.0}, {"high_freq_factor", 4.0}}}) {
    const Json rope = written(of(with(kind, original))).at("rope_parameters");
    EXPECT_EQ(rope.at("llama_4_scaling_beta"), 0.3) << kind;
    EXPECT_EQ(rope.at("original_max_position_embeddings"), 8) << kind;
    EXPECT_EQ(rope.at("rope_type"), kind.at("rope_type"));
  }
  EXPECT_TRUE(contains(refusal(of({{"rope_type", "default"}})), "original_max_position_embeddings: is missing"));
  EXPECT_TRUE(
      contains(refusal(of(with(original, {{"rope_type", "dynamic"}, {"factor", 2.0}}))), "llama_4_scaling_beta"));
}

// The rope_parameters of the config classes of laguna, gemma4_text, lfm3 and mellum.
TEST(ConfigKeys, RotaryPositionsOfNewFamiliesHaveDefaults) {
  const auto defaults = [](const char* family) {
    const Json config = small(family, {{"head_dim", 8}}, {"rope_parameters"});
    return written(config).at("rope_parameters");
  };
  const Json laguna = defaults("laguna"), gemma = defaults("gemma4_text");
  EXPECT_EQ(laguna.at("full_attention").at("rope_theta"), 5e5);
  EXPECT_EQ(laguna.at("full_attention").at("partial_rotary_factor"), 0.5);
  EXPECT_EQ(laguna.at("sliding_attention").at("rope_theta"), 1e4);
  EXPECT_EQ(laguna.at("sliding_attention").value("partial_rotary_factor", 1.0), 1.0);
  EXPECT_EQ(gemma.at("full_attention").at("rope_type"), "proportional");
  EXPECT_EQ(gemma.at("full_attention").at("rope_theta"), 1e6);
  EXPECT_EQ(gemma.at("sliding_attention").at("rope_theta"), 1e4);
  const Json lfm3 = defaults("lfm3"), mellum = defaults("mellum");
  EXPECT_EQ(lfm3.at("full_attention").at("rope_type"), "proportional");
  EXPECT_EQ(lfm3.at("full_attention").at("rope_theta"), 1e6);
  EXPECT_EQ(lfm3.at("full_attention").at("partial_rotary_factor"), 0.5);
  EXPECT_EQ(lfm3.at("sliding_attention").at("rope_theta"), 1e4);
  EXPECT_EQ(mellum.at("full_attention").at("rope_theta"), 5e5);
  EXPECT_EQ(mellum.at("sliding_attention").at("rope_theta"), 1e4);
}

}  // namespace
}  // namespace tril::model::config_keys_test

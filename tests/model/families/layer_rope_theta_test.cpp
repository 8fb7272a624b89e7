// layer_rope_theta of granite_swa, and what Cohere's and Granite's mixtures refuse.
#include <gtest/gtest.h>

#include "format/json_file.h"
#include "model/spec/llama_like.h"
#include "model_io/source/registry.h"
#include "support/contains.h"
#include "support/error_of.h"
#include "support/small_decoders.h"

namespace tril::model::layer_rope_theta_test {
namespace {

using Json = nlohmann::json;

Json small(const std::string& family, const Json& changes) {
  Json config;
  for (const Json& j : testing::small_decoders())
    if (j.at("model_type") == family && config.is_null()) config = j;
  config.update(changes);
  return config;
}

std::unique_ptr<Model> made(const std::string& family, const Json& changes) {
  const Json config = small(family, changes);
  return make(JsonObject(config, "config.json"));
}

std::string refusal(const std::string& family, const Json& changes) {
  return error_of([&] { made(family, changes); });
}

// Equal bases share their angles; 0 is no rotation, and rope_theta needs no layer.
TEST(LayerRopeTheta, GivesEachLayerItsRotation) {
  const Json six{{"num_hidden_layers", 6},
                 {"layer_types", Json::array({"full_attention", "sliding_attention", "sliding_attention",
                                              "full_attention", "full_attention", "full_attention"})},
                 {"rope_theta", 10.0},
                 {"layer_rope_theta", {100.0, 0, 1000.0, 100.0, 10.0, 0.0}}};
  const auto model = made("granite_swa", six);
  const LlamaLikeConfig& k = dynamic_cast<const LlamaLike&>(*model).config();
  std::vector<std::int32_t> numbers;
  for (std::int64_t i = 0; i < 6; ++i) numbers.push_back(k.rotary(i));
  EXPECT_EQ(numbers, (std::vector<std::int32_t>{1, -1, 2, 1, 0, -1}));
  ASSERT_EQ(k.other_ropes.size(), 2u);
  EXPECT_EQ(k.other_ropes[0].theta, 100);
  EXPECT_EQ(k.other_ropes[1].theta, 1000);
  const auto all_alike = made("granite_swa", {{"layer_rope_theta", nullptr}});
  EXPECT_EQ(dynamic_cast<const LlamaLike&>(*all_alike).config().rotary(1), 0);
}

TEST(LayerRopeTheta, IsOnePositiveNumberOrZeroForEachLayer) {
  EXPECT_TRUE(contains(refusal("granite_swa", {{"layer_rope_theta", {1.0}}}), "layer_rope_theta", "1 numbers for 2"));
  EXPECT_TRUE(contains(refusal("granite_swa", {{"layer_rope_theta", {1.0, -2.0}}}), "layer_rope_theta", "-2"));
  EXPECT_TRUE(contains(refusal("granite_swa", {{"layer_rope_theta", "1"}}), "layer_rope_theta"));
  Json many = Json::array(), types = Json::array();
  for (int i = 0; i < 18; ++i) many.push_back(100 + i), types.push_back("full_attention");
  EXPECT_TRUE(
      contains(refusal("granite_swa", {{"num_hidden_layers", 18}, {"layer_types", types}, {"layer_rope_theta", many}}),
               "layer_rope_theta", "more than 16"));
}

TEST(Cohere2Moe, RefusesOtherRoutersAndCombinations) {
  EXPECT_TRUE(contains(refusal("cohere2_moe", {{"expert_selection_fn", "relu"}}), "expert_selection_fn", "softmax"));
  EXPECT_TRUE(contains(refusal("cohere2_moe", {{"shared_expert_combination_strategy", "product"}}),
                       "shared_expert_combination_strategy", "average"));
  EXPECT_TRUE(contains(refusal("cohere2_moe", {{"num_shared_experts", -1}}), "num_shared_experts"));
  EXPECT_TRUE(contains(refusal("cohere2_moe", {{"first_k_dense_replace", 3}}), "first_k_dense_replace", "3 of 2"));
  EXPECT_TRUE(contains(refusal("cohere2_moe", {{"mlp_layer_types", {"dense", "other"}}}), "mlp_layer_types"));
}

// Dense first layers without windows rotate queries and keys all the same, unless their pattern is another.
TEST(Cohere2Moe, RotatesDenseLayersOfPatternOne) {
  const auto first_rotary = [](std::int64_t pattern) {
    Json config = small("cohere2_moe", {{"prefix_dense_sliding_window_pattern", pattern}});
    config.erase("layer_types");
    const auto model = make(JsonObject(config, "config.json"));
    const LlamaLikeConfig& k = dynamic_cast<const LlamaLike&>(*model).config();
    return std::pair(k.window(0), k.rotary(0));
  };
  EXPECT_EQ(first_rotary(1), std::pair(0, 0));
  EXPECT_EQ(first_rotary(2), std::pair(3, 0));
}

TEST(GraniteMoeShared, MayHaveNoSharedExpert) {
  EXPECT_TRUE(contains(refusal("granitemoeshared", {{"shared_intermediate_size", -1}}), "shared_intermediate_size"));
  const auto model = made("granitemoeshared", {{"shared_intermediate_size", 0}});
  for (const nn::Parameter& p : model->parameters().all())
    EXPECT_EQ(p.name.find("shared"), std::string::npos) << p.name;
}

}  // namespace
}  // namespace tril::model::layer_rope_theta_test

// Keys of the families with Mamba-2: the forms of an open time_step_limit, sizes that do not fit, and what is refused by name.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model_io/source/registry.h"
#include "support/error_of.h"
#include "support/small_decoders.h"

namespace tril::model::mamba2_keys_test {
namespace {

using nlohmann::json;

std::string error_with(json config, const json& more) {
  config.update(more);
  return error_of([&] { make(JsonObject(config, "config.json")); });
}

const json bamba = testing::mamba_variant("bamba", {{"attn_layer_indices", {1}}});

TEST(Mamba2Keys, OnlyStepsWithoutBoundsAreSupported) {
  for (const json& open : {json(1e20), json("Infinity"), json{{"__float__", "Infinity"}}})
    EXPECT_EQ(error_with(bamba, {{"time_step_limit", {0.0, open}}}), "") << open;
  EXPECT_EQ(error_with(bamba, {{"time_step_limit", nullptr}}), "");
  for (const json& bounded :
       {json{0.0, 0.1}, json{0.001, 1e20}, json{0.0}, json(0.1), json{0.0, {{"__float__", "NaN"}}},
        json::array({0.0, json::object({{"__float__", json::array({1})}})})}) {
    const std::string error = error_with(bamba, {{"time_step_limit", bounded}});
    EXPECT_TRUE(contains(error, "config.json: time_step_limit: ", "bounds", "[0.0, Infinity]")) << bounded << error;
  }
}

TEST(Mamba2Keys, SizesMustFit) {
  EXPECT_TRUE(contains(error_with(bamba, {{"mamba_n_heads", 5}}), "mamba_n_heads", "5 heads", "32"));
  EXPECT_TRUE(contains(error_with(bamba, {{"mamba_d_head", 9}}), "mamba_d_head", "4 heads of 9"));
  EXPECT_EQ(error_with(bamba, {{"mamba_d_head", "auto"}}), "");
  EXPECT_TRUE(contains(error_with(bamba, {{"mamba_n_groups", 3}}), "mamba_n_groups", "3 groups", "4 heads"));
  const json falcon = testing::mamba_variant("falcon_h1", {{"mamba_d_ssm", 20}});
  EXPECT_TRUE(contains(error_with(falcon, {{"ssm_multipliers", {1.0, 2.0}}}), "ssm_multipliers", "2 factors", "5"));
  EXPECT_TRUE(contains(error_with(falcon, {{"attention_bias", true}, {"key_multiplier", 2.0}}), "attention_bias"));
  EXPECT_TRUE(
      contains(error_with(testing::llama_variant("mamba2", {{"num_heads", 3}, {"head_dim", 8}}), json::object()),
               "num_heads", "3 heads of 8"));
}

TEST(Mamba2Keys, LayersOfNemotronH) {
  const json two = testing::nemotron_h_variant({{"num_hidden_layers", 2}});
  EXPECT_EQ(error_with(two, {{"hybrid_override_pattern", "M*"}}), "");
  EXPECT_TRUE(contains(error_with(two, {{"hybrid_override_pattern", "MX"}}), "hybrid_override_pattern", "'X'"));
  EXPECT_TRUE(contains(error_with(two, {{"hybrid_override_pattern", "M*-"}}), "num_hidden_layers", "is 2", "3 layers"));
  EXPECT_TRUE(contains(error_with(two, json::object()), "layers_block_type", "is missing"));
  const json lists = {{"layers_block_type", {"linear_attention", "attention"}}};
  json both = lists;
  both["hybrid_override_pattern"] = "M*";
  EXPECT_EQ(error_with(two, both), "");
  both["hybrid_override_pattern"] = "MM";
  EXPECT_TRUE(contains(error_with(two, both), "hybrid_override_pattern", "does not name the layers"));
  both["hybrid_override_pattern"] = nullptr;
  EXPECT_EQ(error_with(two, both), "");
  EXPECT_TRUE(contains(error_with(two, {{"layers_block_type", {"mamba", "conv"}}}), "'conv'"));
  EXPECT_TRUE(
      contains(error_with(two, {{"layers_block_type", {"mamba", "moe"}}, {"moe_latent_size", 8}}), "moe_latent_size"));
  EXPECT_TRUE(contains(error_with(two, {{"layers_block_type", {"mamba", "moe"}}, {"mlp_bias", true}}), "mlp_bias"));
}

TEST(Mamba2Keys, PositionsOfGranite) {
  const json granite =
      testing::mamba_variant("granitemoehybrid", {{"num_local_experts", 0}, {"shared_intermediate_size", 8}});
  for (const json& positions : {json("rope"), json("nope"), json(nullptr)})
    EXPECT_EQ(error_with(granite, {{"position_embedding_type", positions}}), "") << positions;
  EXPECT_TRUE(
      contains(error_with(granite, {{"position_embedding_type", "alibi"}}), "position_embedding_type", "alibi"));
}

}  // namespace
}  // namespace tril::model::mamba2_keys_test

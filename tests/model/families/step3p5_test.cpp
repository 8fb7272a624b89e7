// Step 3.5 Flash: its publisher's keys say the same as those of transformers, and what its config.json may not say.
#include <gtest/gtest.h>

#include "format/json_file.h"
#include "model_io/source/registry.h"
#include "support/contains.h"
#include "support/error_of.h"
#include "support/small_decoders.h"

namespace tril::model::step3p5_test {
namespace {

using Json = nlohmann::json;

Json small(const Json& changes) {
  Json config;
  for (const Json& j : testing::small_decoders())
    if (j.at("model_type") == "step3p5" && config.is_null()) config = j;
  for (const auto& [key, value] : changes.items())
    if (value.is_null())
      config.erase(key);
    else
      config[key] = value;
  return config;
}

std::string written(const Json& changes) {
  const Json config = small(changes);
  return make(JsonObject(config, "config.json"))->config_json();
}

std::string refusal(const Json& changes) {
  return error_of([&] { written(changes); });
}

// Lists by layer are padded with one layer that predicts further tokens.
TEST(Step3p5, ReadsItsPublishersKeys) {
  const Json theirs{{"num_key_value_heads", nullptr},
                    {"num_attention_groups", 2},
                    {"n_routed_experts", nullptr},
                    {"moe_num_experts", 3},
                    {"num_experts_per_tok", nullptr},
                    {"moe_top_k", 3},
                    {"mlp_layer_types", nullptr},
                    {"moe_layers_enum", "1,2"},
                    {"num_nextn_predict_layers", 1},
                    {"layer_types", {"sliding_attention", "full_attention", "sliding_attention"}},
                    {"swiglu_limits", {0.0, 0.3, 0.0}},
                    {"swiglu_limits_shared", {0.25, 0.35, 0.0}},
                    {"num_sliding_attention_heads", nullptr},
                    {"attention_other_setting", {{"num_attention_heads", 2}, {"num_attention_groups", 2}}},
                    {"rope_parameters", nullptr},
                    {"rope_theta", {100.0, 1000.0, 100.0}},
                    {"partial_rotary_factors", {1.0, 1.0, 1.0}},
                    {"zero_centered", true}};
  const Json plain{{"num_key_value_heads", 2},
                   {"layer_types", {"sliding_attention", "full_attention"}},
                   {"rope_parameters",
                    {{"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 100.0}}},
                     {"full_attention", {{"rope_type", "default"}, {"rope_theta", 1000.0}}}}},
                   {"num_nextn_predict_layers", 1}};
  EXPECT_EQ(written(theirs), written(plain));
}

TEST(Step3p5, RefusesWhatItCannotCompute) {
  EXPECT_TRUE(contains(refusal({{"rope_parameters", nullptr}, {"rope_theta", {100.0}}}), "rope_theta", "1 numbers"));
  EXPECT_TRUE(contains(refusal({{"layer_types", {"full_attention", "full_attention"}},
                                {"rope_parameters", nullptr},
                                {"rope_theta", {100.0, 10.0}}}),
                       "rope_theta", "same type"));
  EXPECT_TRUE(contains(refusal({{"mlp_layer_types", nullptr}, {"moe_layers_enum", "1;2"}}), "moe_layers_enum", "1;2"));
  EXPECT_TRUE(contains(refusal({{"swiglu_limits", {0.1}}}), "swiglu_limits", "list of 2 numbers"));
  EXPECT_TRUE(contains(refusal({{"swiglu_limits", {0.1, -1}}}), "swiglu_limits", "at least 0"));
  EXPECT_TRUE(
      contains(refusal({{"num_sliding_attention_heads", 3}}), "num_sliding_attention_heads", "do not divide 3"));
  EXPECT_TRUE(contains(refusal({{"per_layer_config", {{"0", {{"num_attention_heads", 3}}}}}}), "per_layer_config"));
  EXPECT_TRUE(contains(refusal({{"moe_num_experts", 5}}), "moe_num_experts", "differs from n_routed_experts"));
  EXPECT_TRUE(contains(refusal({{"attention_other_setting", {{"head_dim", 7}}}}), "attention_other_setting"));
  EXPECT_TRUE(contains(refusal({{"sink", true}}), "sink"));
}

}  // namespace
}  // namespace tril::model::step3p5_test

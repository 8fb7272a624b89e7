// Gemma 4: what its config.json may not say, and what its cache keeps.
#include <gtest/gtest.h>

#include "format/json_file.h"
#include "model_io/source/registry.h"
#include "support/contains.h"
#include "support/error_of.h"
#include "support/small_decoders.h"

namespace tril::model::gemma4_test {
namespace {

using Json = nlohmann::json;

Json small(const Json& changes) {
  Json config;
  for (const Json& j : testing::small_decoders())
    if (j.at("model_type") == "gemma4_text" && config.is_null()) config = j;
  config.update(changes);
  return config;
}

std::string refusal(const Json& changes) {
  const Json config = small(changes);
  return error_of([&] { make(JsonObject(config, "config.json")); });
}

TEST(Gemma4, RefusesSizesThatDoNotFit) {
  EXPECT_TRUE(contains(refusal({{"num_kv_shared_layers", 4}}), "num_kv_shared_layers", "4 of 4"));
  EXPECT_TRUE(contains(refusal({{"num_kv_shared_layers", 3}}), "num_kv_shared_layers", "layer 1"));
  EXPECT_TRUE(contains(refusal({{"vocab_size_per_layer_input", 12}}), "vocab_size_per_layer_input", "12"));
  EXPECT_TRUE(
      contains(refusal({{"num_attention_heads", 4}, {"attention_k_eq_v", true}, {"num_global_key_value_heads", 3}}),
               "num_global_key_value_heads", "3"));
  EXPECT_TRUE(contains(refusal({{"layer_types", Json::array({"full_attention", "sliding_attention", "full_attention",
                                                             "sliding_attention"})}}),
                       "layer_types", "last layer"));
  EXPECT_TRUE(contains(refusal({{"use_bidirectional_attention", "all"}}), "use_bidirectional_attention"));
  EXPECT_EQ(refusal({{"use_bidirectional_attention", "vision"}}), "");
}

TEST(Gemma4, ReadsSizesOfSingleLayersIfLayersOfOneTypeAgree) {
  const Json wide{{"head_dim", 10}};
  EXPECT_EQ(refusal({{"global_head_dim", nullptr}, {"per_layer_config", {{"1", wide}, {"3", wide}}}}), "");
  EXPECT_TRUE(contains(refusal({{"per_layer_config", {{"1", wide}}}}), "per_layer_config", "layer 3"));
  EXPECT_TRUE(contains(refusal({{"per_layer_config", {{"0", wide}, {"1", wide}, {"3", wide}}}}), "layer 0"));
  EXPECT_TRUE(contains(refusal({{"per_layer_config", {{"1", {{"heads", 2}}}}}}), "heads"));
}

// `transformers` pads the numbers of layers with zeros, so that they are as long as the largest.
TEST(Gemma4, ReadsNumbersOfLayersThatArePaddedWithZeros) {
  const auto twelve = [](const Json& layers) {
    Json types = Json::array();
    for (int i = 0; i < 12; ++i) types.push_back(i % 6 == 5 ? "full_attention" : "sliding_attention");
    return small({{"num_hidden_layers", 12},
                  {"layer_types", types},
                  {"num_kv_shared_layers", 0},
                  {"global_head_dim", nullptr},
                  {"per_layer_config", layers}});
  };
  const Json wide{{"head_dim", 10}};
  const Json config = twelve({{"05", wide}, {"11", wide}});
  const auto m = make(JsonObject(config, "config.json"));
  const auto rows = [&](const char* layer) {
    return m->parameters().find(fmt::format("model.layers.{}.self_attn.q_proj.weight", layer))->shape[0];
  };
  EXPECT_EQ(rows("5"), rows("11"));
  EXPECT_EQ(rows("5") * 6, rows("4") * 10);
  const auto problem = [&](const Json& layers) {
    const Json wrong = twelve(layers);
    return error_of([&] { make(JsonObject(wrong, "config.json")); });
  };
  EXPECT_TRUE(contains(problem({{"05", wide}, {"5", wide}, {"11", wide}}), "per_layer_config", "layer 5 has two"));
  EXPECT_TRUE(contains(problem({{"05", wide}, {"12", wide}}), "12: is not the number of a layer", "0 to 11"));
  EXPECT_TRUE(contains(problem({{"five", wide}}), "five: is not the number of a layer"));
  EXPECT_TRUE(contains(problem({{"-1", wide}}), "-1: is not the number of a layer"));
}

TEST(Gemma4, KeepsNoKeysOfLayersThatReadOthers) {
  const auto m = make(JsonObject(small(Json::object()), "config.json"));
  Arena arena;
  Context c(arena);
  const auto cache = m->make_cache(c);
  cache->reserve(64);
  std::vector<std::int64_t> widths;
  for (std::int64_t i = 0; i < cache->num_layers(); ++i) widths.push_back(cache->keys(i).size(1));
  EXPECT_EQ(widths, (std::vector<std::int64_t>{12, 16, 0, 0}));
}

}  // namespace
}  // namespace tril::model::gemma4_test

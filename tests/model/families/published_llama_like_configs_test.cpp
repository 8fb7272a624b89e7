// Published config.json files of the families that llama_like.h builds, and files of any family that leave out all sizes:
// every key is known, and they make a model of as many values as that of `transformers` (make_published_llama_like.py).
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "format/json_file.h"
#include "model_io/source/registry.h"
#include "support/error_of.h"
#include "support/paths.h"

namespace tril::model {
namespace {

TEST(PublishedLlamaLike, SizesAreThoseOfTransformers) {
  const nlohmann::json cases = read_json(test::test_dir() + "/model/families/published_llama_like.json");
  EXPECT_GE(cases.size(), 154u);
  for (const nlohmann::json& c : cases) {
    SCOPED_TRACE(c.at("name"));
    std::unique_ptr<Model> m;
    EXPECT_EQ(error_of([&] { m = make(JsonObject(c.at("config"), "config.json")); }), "");
    if (!m) continue;
    EXPECT_EQ(m->parameters().count(), c.at("values").get<std::int64_t>());
    // What a model writes it can read again.
    const nlohmann::json written = nlohmann::json::parse(m->config_json());
    EXPECT_EQ(make(JsonObject(written, "config.json"))->config_json(), m->config_json());
  }
}

// What a family's config.json must say, because `transformers` has no default for it, or only a useless one.
TEST(LlamaLikeConfig, WhatIsMissing) {
  const auto says = [](const nlohmann::json& j, const std::string& part) {
    const std::string text = error_of([&] { make(JsonObject(j, "config.json")); });
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says({{"model_type", "lfm2_moe"}}, "layer_types: is missing");
  says({{"model_type", "dots1"}, {"n_routed_experts", 4}}, "num_experts_per_tok: is missing");
  says({{"model_type", "dots1"}, {"n_routed_experts", nullptr}}, "n_routed_experts: is missing");
  says({{"model_type", "glm4_moe_lite"}, {"mlp_layer_types", {"dense"}}}, "mlp_layer_types: 1 types for 47 layers");
  const nlohmann::json both{{"sliding_attention", {{"rope_type", "default"}}},
                            {"full_attention", {{"rope_type", "default"}}}};
  const nlohmann::json lfm3{{"model_type", "lfm3"}, {"num_hidden_layers", 1}, {"rope_parameters", both}};
  nlohmann::json slides = lfm3, odd = lfm3;
  slides.update({{"layer_types", {"sliding_attention"}}, {"sliding_window", nullptr}});
  says(slides, "layer_types: some layers are sliding_attention, but sliding_window is not set");
  odd.update({{"layer_types", {"linear_attention"}}});
  says(odd, "supported: full_attention, conv, sliding_attention");
}

}  // namespace
}  // namespace tril::model

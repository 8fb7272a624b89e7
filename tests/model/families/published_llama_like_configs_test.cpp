// Published config.json files of the families that llama_like.h builds: every key is known, and their sizes make a model
// of as many values as that of `transformers` (make_published_llama_like.py).
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "format/json_file.h"
#include "model_io/registry.h"
#include "support/error_of.h"
#include "support/paths.h"

namespace tril::model {
namespace {

TEST(PublishedLlamaLike, SizesAreThoseOfTransformers) {
  const nlohmann::json cases = read_json(test::test_dir() + "/model/families/published_llama_like.json");
  EXPECT_GE(cases.size(), 24u);
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

}  // namespace
}  // namespace tril::model

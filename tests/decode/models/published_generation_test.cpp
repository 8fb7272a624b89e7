// End tokens by generation_config.json and config.json: one id, several, null, absent.
#include <gtest/gtest.h>

#include "decode/models/decoding_options.h"
#include "support/temporary.h"

namespace tril {
namespace {

using Ids = std::vector<std::int32_t>;

// @param generation  generation_config.json; "": there is none
Ids end_tokens(const std::string& config, const std::string& generation = "") {
  const TemporaryDirectory directory;
  directory.write("config.json", R"({"model_type": "llama")" + (config.empty() ? "" : ", " + config) + "}");
  if (!generation.empty()) directory.write("generation_config.json", generation);
  return published_generation(model::ModelSource::open(directory.path())).eos_token_ids;
}

TEST(PublishedGeneration, EndTokensAreThoseOfGenerationConfigAlone) {
  EXPECT_EQ(end_tokens(R"("eos_token_id": 7)", R"({"eos_token_id": 3})"), Ids{3});
  EXPECT_EQ(end_tokens(R"("eos_token_id": 7)", R"({"eos_token_id": [3, 5]})"), (Ids{3, 5}));
  EXPECT_EQ(end_tokens(R"("eos_token_id": [7, 9])", R"({"eos_token_id": 3})"), Ids{3});
  EXPECT_EQ(end_tokens("", R"({"eos_token_id": [3]})"), Ids{3});
}

TEST(PublishedGeneration, EndTokensOfConfigServeIfThereAreNoOthers) {
  for (const char* generation : {"", "{}", R"({"eos_token_id": null})", R"({"eos_token_id": []})"}) {
    SCOPED_TRACE(generation);
    EXPECT_EQ(end_tokens(R"("eos_token_id": 7)", generation), Ids{7});
    EXPECT_EQ(end_tokens(R"("eos_token_id": [7, 9])", generation), (Ids{7, 9}));
    EXPECT_TRUE(end_tokens(R"("eos_token_id": null)", generation).empty());
    EXPECT_TRUE(end_tokens("", generation).empty());
  }
  EXPECT_TRUE(end_tokens(R"("eos_token_id": -1)", "{}").empty()) << "none";
}

}  // namespace
}  // namespace tril

#include "model_io/contents/generation_config.h"
#include "model_io/source/model_source.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "base/error.h"
#include "support/contains.h"
#include "support/paths.h"

namespace tril::model {
namespace {

class GenerationConfigFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "tril-generation-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  GenerationConfig read(const std::string& text, const std::string& name = "generation_config.json") const {
    std::ofstream(folder / name) << text;
    return ModelSource::open(folder.string()).generation();
  }
  std::string error(const std::string& text) const {
    try {
      read(text);
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }

  std::filesystem::path folder;
};

TEST_F(GenerationConfigFile, GoldenMarian) {
  const auto dir = std::filesystem::path(test::test_dir()) / "golden/hf/marian";
  ASSERT_TRUE(std::filesystem::exists(dir)) << dir;
  const GenerationConfig g = ModelSource::open(dir.string()).generation();
  EXPECT_EQ(g.eos_token_ids, std::vector<std::int32_t>{0});
  EXPECT_EQ(g.decoder_start_token_id, 130);
  EXPECT_EQ(g.forced_eos_token_id, 0);
  EXPECT_EQ(g.forced_bos_token_id, std::nullopt);
  ASSERT_EQ(g.bad_words_ids.size(), 21u);
  EXPECT_EQ(g.bad_words_ids[0], std::vector<std::int32_t>{110});
  EXPECT_EQ(g.search.beam_size, std::nullopt);
  EXPECT_TRUE(g.not_obeyed.empty());
}

TEST_F(GenerationConfigFile, EveryKey) {
  const GenerationConfig g = read(R"({"num_beams": 6, "length_penalty": 0.6, "early_stopping": "never",
    "max_length": 512, "max_new_tokens": 7, "min_length": 3, "min_new_tokens": 2, "eos_token_id": [2, 5],
    "pad_token_id": 1, "bos_token_id": 0, "decoder_start_token_id": 4, "forced_bos_token_id": 9,
    "forced_eos_token_id": [2], "bad_words_ids": [[1], [7, 8]], "suppress_tokens": [3], "begin_suppress_tokens": [6],
    "no_repeat_ngram_size": 3, "renormalize_logits": true, "something_else": {"a": [1]}})");
  EXPECT_EQ(g.search.beam_size, 6);
  EXPECT_EQ(g.search.length_penalty, 0.6);
  EXPECT_EQ(g.search.early_stopping, "never");
  EXPECT_EQ(g.max_length, 512);
  EXPECT_EQ(g.max_new_tokens, 7);
  EXPECT_EQ(g.min_length, 3);
  EXPECT_EQ(g.min_new_tokens, 2);
  EXPECT_EQ(g.eos_token_ids, (std::vector<std::int32_t>{2, 5}));
  EXPECT_EQ(g.pad_token_id, 1);
  EXPECT_EQ(g.bos_token_id, 0);
  EXPECT_EQ(g.decoder_start_token_id, 4);
  EXPECT_EQ(g.forced_bos_token_id, 9);
  EXPECT_EQ(g.forced_eos_token_id, 2);
  EXPECT_EQ(g.bad_words_ids, (std::vector<std::vector<std::int32_t>>{{1}, {7, 8}}));
  EXPECT_EQ(g.suppress_tokens, std::vector<std::int32_t>{3});
  EXPECT_EQ(g.begin_suppress_tokens, std::vector<std::int32_t>{6});
  EXPECT_EQ(g.search.no_repeat_ngram, 3);
  EXPECT_TRUE(g.renormalize_logits);
}

TEST_F(GenerationConfigFile, AbsentAndNullAreNothing) {
  const GenerationConfig g = read(R"({"num_beams": null, "eos_token_id": null, "early_stopping": null,
                                      "bad_words_ids": null, "max_length": null})");
  EXPECT_EQ(g.search.beam_size, std::nullopt);
  EXPECT_EQ(g.search.early_stopping, std::nullopt);
  EXPECT_TRUE(g.eos_token_ids.empty());
  EXPECT_TRUE(g.bad_words_ids.empty());
  EXPECT_EQ(g.max_length, std::nullopt);
}

TEST_F(GenerationConfigFile, ConfigJsonServesWhereItIsMissing) {
  EXPECT_EQ(read(R"({"num_beams": 3, "d_model": 8})", "config.json").search.beam_size, 3);
  EXPECT_EQ(read(R"({"num_beams": 5})").search.beam_size, 5);
}

// As transformers reads t5gemma's config.json.
TEST_F(GenerationConfigFile, TheDecodersKeysServeWhereTheOuterOnesAreUnset) {
  using Ids = std::vector<std::int32_t>;
  const std::string decoder = R"("decoder": {"eos_token_id": [1, 107], "bos_token_id": 2, "num_beams": 3})";
  const GenerationConfig inner = read("{\"eos_token_id\": null, " + decoder + "}", "config.json");
  EXPECT_EQ(inner.eos_token_ids, (Ids{1, 107}));
  EXPECT_EQ(inner.bos_token_id, 2);
  EXPECT_EQ(inner.search.beam_size, 3);
  const GenerationConfig outer = read("{\"eos_token_id\": 5, \"num_beams\": 4, " + decoder + "}", "config.json");
  EXPECT_EQ(outer.eos_token_ids, Ids{5});
  EXPECT_EQ(outer.bos_token_id, 2);
  EXPECT_EQ(outer.search.beam_size, 4);
}

TEST_F(GenerationConfigFile, WhatIsNotDoneIsNamed) {
  const GenerationConfig g = read(R"({"eta_cutoff": 0.1, "do_sample": true, "num_beams": 2, "num_beam_groups": 1,
                                      "diversity_penalty": 0.0, "force_words_ids": [[3]], "sequence_bias": null})");
  EXPECT_EQ(g.not_obeyed,
            (std::vector<std::string>{"eta_cutoff 0.1", "force_words_ids", "do_sample true with a beam"}));
  EXPECT_EQ(g.search.sampling, false);
}

TEST_F(GenerationConfigFile, GroupsOfBeamsAreRead) {
  const GenerationConfig g = read(R"({"num_beams": 4, "num_beam_groups": 2, "diversity_penalty": 0.3})");
  EXPECT_EQ(g.search.beam_groups, 2);
  EXPECT_EQ(g.search.diversity_penalty, 0.3);
  EXPECT_TRUE(g.not_obeyed.empty());
  EXPECT_EQ(read(R"({"num_beams": 4})").search.beam_groups, std::nullopt);
}

TEST_F(GenerationConfigFile, SamplingIsRead) {
  const GenerationConfig g = read(R"({"do_sample": true, "temperature": 1, "top_k": 0, "top_p": 0.9, "min_p": null,
                                      "typical_p": 1.0, "repetition_penalty": 1.2})");
  EXPECT_TRUE(g.not_obeyed.empty());
  EXPECT_EQ(g.search.sampling, true);
  EXPECT_EQ(g.search.temperature, 1);
  EXPECT_EQ(g.search.top_k, 0);
  EXPECT_EQ(g.search.top_p, 0.9);
  EXPECT_EQ(g.search.min_p, std::nullopt);
  EXPECT_EQ(g.search.typical_p, 1);
  EXPECT_EQ(g.search.repetition_penalty, 1.2);
}

TEST_F(GenerationConfigFile, WrongValuesAreErrorsWithFileAndKey) {
  for (const auto& [text, key] : std::vector<std::pair<std::string, std::string>>{
           {R"({"num_beams": 0})", "num_beams"},
           {R"({"num_beams": "four"})", "num_beams"},
           {R"({"max_length": -1})", "max_length"},
           {R"({"temperature": -1})", "temperature"},
           {R"({"top_p": 1.5})", "top_p"},
           {R"({"repetition_penalty": 0})", "repetition_penalty"},
           {R"({"max_length": 99999999999})", "max_length"},
           {R"({"eos_token_id": -2})", "eos_token_id"},
           {R"({"eos_token_id": [1, 4294967296]})", "eos_token_id"},
           {R"({"early_stopping": "sometimes"})", "early_stopping"},
           {R"({"bad_words_ids": [1, 2]})", "bad_words_ids"},
           {R"({"bad_words_ids": [[]]})", "bad_words_ids"},
           {R"({"bad_words_ids": [[1.5]]})", "bad_words_ids"},
           {R"({"bad_words_ids": [[18446744073709551615]]})", "bad_words_ids"}}) {
    const std::string message = error(text);
    EXPECT_TRUE(contains(message, key)) << text << ": " << message;
    EXPECT_TRUE(contains(message, "generation_config.json")) << text << ": " << message;
  }
}

}  // namespace
}  // namespace tril::model

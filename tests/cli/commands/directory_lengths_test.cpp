// A directory's settings for the length of translations and the size of the beam.
#include <gtest/gtest.h>

#include <fstream>

#include "decode/models/decoding_options.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/tiny_marian.h"

namespace tril::cli {
namespace {

class DirectoryLengths : public ::testing::Test {
 protected:
  void SetUp() override {
    directory = write_tiny_marian(folder);
    model = model::load(model::ModelSource::open(directory), std::nullopt);
    tokenizer = load_tokenizer(directory);
  }
  search::TranslatorOptions options(const char* generation, const DecodingOptions& o = {}) const {
    const std::string path = directory + "/generation_config.json";
    std::ofstream(path) << generation;
    DecodingOptions all = o;
    all.model = directory;
    return translator_options(all, model::ModelSource::open(directory).generation(), *model, *tokenizer);
  }

  ScratchFolder folder;
  std::string directory;
  std::unique_ptr<model::Model> model;
  std::shared_ptr<const Tokenizer> tokenizer;
};

TEST_F(DirectoryLengths, AreCountedAsTransformersCountsThem) {
  using search::Counted;
  const search::TranslatorOptions length = options(R"({"max_length": 13, "min_length": 4})");
  EXPECT_EQ(length.max_length, 12);
  EXPECT_EQ(length.min_length, 3);
  EXPECT_EQ(length.max_counts, Counted::all);
  EXPECT_EQ(length.min_counts, Counted::all);
  const search::TranslatorOptions fresh = options(R"({"max_new_tokens": 13, "min_new_tokens": 4, "max_length": 5})");
  EXPECT_EQ(fresh.max_length, 13);
  EXPECT_EQ(fresh.min_length, 4);
  EXPECT_EQ(fresh.max_counts, Counted::first);
  EXPECT_EQ(fresh.min_counts, Counted::first);
  DecodingOptions given;
  given.search.max_length = 11, given.search.min_length = 2;
  const search::TranslatorOptions asked = options(R"({"max_length": 13, "min_length": 4})", given);
  EXPECT_EQ(asked.max_length, 11);
  EXPECT_EQ(asked.min_length, 2);
  EXPECT_EQ(asked.max_counts, Counted::output);
  EXPECT_EQ(asked.min_counts, Counted::output);
  EXPECT_EQ(options("{}").max_counts, Counted::output);
}

// As in transformers: of a directory's contradictory lengths the greatest wins. The user's settings take precedence.
TEST_F(DirectoryLengths, TheGreatestOfADirectoryHoldsAgainstItsLeast) {
  const auto lengths = [&](const char* generation, const DecodingOptions& o = {}, const std::string& prefix = "") {
    const search::TranslatorOptions t = options(generation, o);
    const search::Request r = search::EncodedText(*model, tokenizer)
                                  .prepare({.text = "a dog", .prefix = prefix}, 0, t, t.decoding.search)
                                  .request;
    return std::pair(r.min_length, r.max_length);
  };
  using Pair = std::pair<std::int32_t, std::int32_t>;
  EXPECT_EQ(lengths(R"({"max_new_tokens": 6, "min_length": 9})"), Pair(6, 6));
  EXPECT_EQ(lengths(R"({"max_length": 7, "min_new_tokens": 9})"), Pair(6, 6));
  EXPECT_EQ(lengths(R"({"max_length": 7, "min_length": 7})"), Pair(6, 6));
  EXPECT_EQ(lengths(R"({"max_length": 7, "min_length": 4})"), Pair(3, 6));
  const auto begun = static_cast<std::int32_t>(tokenizer->encode("a ", Side::target).size());
  ASSERT_GT(begun, 0);
  EXPECT_EQ(lengths(R"({"max_length": 7, "min_new_tokens": 6})", {}, "a "), Pair(6 - begun, 6 - begun));
  EXPECT_EQ(lengths(R"({"min_new_tokens": 600})").second, std::min<std::int64_t>(600, model->max_positions()))
      << "512 is nobody's wish";
  DecodingOptions least;
  least.search.min_length = 9;
  EXPECT_EQ(lengths(R"({"max_new_tokens": 6})", least), Pair(9, 9));
  EXPECT_EQ(lengths(R"({"max_length": 7})", least, "a "), Pair(9, 9));
  DecodingOptions most;
  most.search.max_length = 5;
  EXPECT_EQ(lengths(R"({"max_new_tokens": 6, "min_length": 4})", most), Pair(3, 5));
  EXPECT_THROW(options(R"({"max_new_tokens": 6, "min_length": 9})", most), Error);
}

TEST_F(DirectoryLengths, ThatContradictEachOtherAreTold) {
  const auto told = [&](const char* generation, const std::vector<std::string>& more = {}) {
    std::ofstream(directory + "/generation_config.json") << generation;
    std::vector<std::string> args{"translate", "--model", directory};
    args.insert(args.end(), more.begin(), more.end());
    Launch launch;
    launch.input = "a dog\n";
    const Ran ran = run_tril(args, launch);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.err;
  };
  const std::string expected = "generation_config.json: asks for at least 8 tokens and at most 6: using 6";
  EXPECT_NE(told(R"({"max_new_tokens": 6, "min_length": 9})").find(expected), std::string::npos);
  EXPECT_EQ(told(R"({"max_new_tokens": 6, "min_length": 9})", {"--min-length", "3"}).find("obeyed"), std::string::npos);
  EXPECT_EQ(told(R"({"max_new_tokens": 6, "min_length": 7})").find("obeyed"), std::string::npos);
}

TEST_F(DirectoryLengths, AWishForALengthGoesBeforeTheFactor) {
  const std::int64_t positions = model->max_positions();
  ASSERT_GT(positions, 14);
  EXPECT_EQ(options(R"({"max_length": 13})").max_length_factor, 0);
  EXPECT_EQ(options(R"({"max_new_tokens": 13})").max_length_factor, 0);
  // A maximum equal to all positions is the model's limit, not a setting.
  const std::string all = R"({"max_length": )" + std::to_string(positions) + "}";
  EXPECT_EQ(options(all.c_str()).max_length_factor, 3);
  EXPECT_EQ(options("{}").max_length_factor, 3);
  DecodingOptions given;
  given.search.max_length_factor = 1.5;
  EXPECT_EQ(options(R"({"max_length": 13})", given).max_length_factor, 1.5);
}

TEST_F(DirectoryLengths, NoBeamsAreOne) {
  EXPECT_EQ(options("{}").decoding.search.beam_size, 1);
  EXPECT_EQ(options(R"({"num_beams": 6})").decoding.search.beam_size, 6);
  DecodingOptions given;
  given.search.beam_size = 3;
  EXPECT_EQ(options(R"({"num_beams": 6})", given).decoding.search.beam_size, 3);
}

}  // namespace
}  // namespace tril::cli

// tril translate --split: lines in parts.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/contains.h"
#include "support/translate.h"

namespace tril {
namespace {

using TranslateSplit = Translate;

TEST_F(TranslateSplit, SentencesAreTranslatedOneByOne) {
  const auto one_by_one = lines_of(translate({}, "a dog runs.\ntwo men play\n").out);
  ASSERT_EQ(one_by_one.size(), 2u);
  const Ran ran = translate({"--split", "sentences"}, "a dog runs.  \xe2\x80\x9ctwo men play\n\n \n\ta dog runs.\n");
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto lines = lines_of(ran.out);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[1], "");
  EXPECT_EQ(lines[2], " ");
  EXPECT_EQ(lines[3], "\t" + one_by_one[0]) << "white space stays";
  const std::string two = translate({"--split", "sentences"}, "a dog runs.  A dog runs.\n").out;
  EXPECT_EQ(two, translate({}, "a dog runs.\n").out.substr(0, one_by_one[0].size()) + "  " +
                     translate({}, "A dog runs.\n").out);
}

TEST_F(TranslateSplit, LinesLongerThanThePositionsAreCutAndNothingIsLost) {
  std::string text = "the dog";
  for (int i = 0; i < 100; ++i) text += i % 10 == 9 ? ", the ball" : " and a dog";
  for (const char* how : {"lines", "sentences"}) {
    const Ran ran = translate({"--split", how, "--json", "-b", "1"}, text + "\n");
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.err.find("truncated"), std::string::npos) << ran.err;
    const auto json = nlohmann::json::parse(ran.out);
    EXPECT_EQ(json["source"], text);
    std::string sources, translation;
    EXPECT_GT(json["segments"].size(), 3u);
    for (const auto& segment : json["segments"]) {
      if (!sources.empty()) sources += " ", translation += " ";
      sources += segment["source"];
      translation += segment["translations"][0]["text"];
    }
    EXPECT_EQ(sources, text);
    EXPECT_EQ(json["text"], translation);
  }
  const Ran whole = translate({"-b", "1"}, text + "\n");
  EXPECT_TRUE(contains(whole.err, "64 positions", "truncated", "--split lines", ": 1")) << whole.err;
}

// A paragraph in one line causes a warning that names --split sentences.
TEST_F(TranslateSplit, ParagraphsAreToldOf) {
  const std::string text =
      "a dog runs. two men play.\na dog runs. Two men play. A ball!\na ball? A dog. A ball? A dog.\n";
  const Ran whole = translate({}, text);
  EXPECT_TRUE(contains(whole.err, "lines of 3 sentences or more that were translated as one: 2", "--split sentences"))
      << whole.err;
  EXPECT_EQ(translate({"--split", "sentences"}, text).err.find("sentences or more"), std::string::npos);
  EXPECT_EQ(translate({}, "a dog runs. Two men play.\n").err.find("sentences or more"), std::string::npos);
}

TEST_F(TranslateSplit, JsonHasWhatBelongsToEachPart) {
  const Ran ran = translate({"--split", "sentences", "--json", "--n-best", "2", "-b", "2", "--alignment", "soft"},
                            "a dog runs. A ball\n\n");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto lines = lines_of(ran.out);
  ASSERT_EQ(lines.size(), 2u);
  const auto json = nlohmann::json::parse(lines[0]);
  EXPECT_EQ(json["line"], 1);
  ASSERT_EQ(json["segments"].size(), 2u);
  EXPECT_EQ(json["segments"][0]["source"], "a dog runs.");
  for (const auto& segment : json["segments"]) {
    ASSERT_EQ(segment["translations"].size(), 2u);
    EXPECT_TRUE(segment["translations"][1].contains("score"));
    EXPECT_TRUE(segment["translations"][1].contains("alignment"));
  }
  EXPECT_EQ(nlohmann::json::parse(lines[1])["segments"].size(), 0u);
  EXPECT_EQ(nlohmann::json::parse(lines[1])["text"], "");
}

// The samples of a part depend on its line and its place in it alone.
TEST_F(TranslateSplit, SamplesDoNotDependOnBatches) {
  const std::string text = "a dog. A ball. A dog\ntwo men\na ball. A dog.\n";
  const std::vector<std::string> sampling{"--sampling", "--seed", "5", "-b", "1"};
  const auto sampled = [&](std::vector<std::string> args, const std::string& input) {
    args.insert(args.end(), sampling.begin(), sampling.end());
    const Ran ran = translate(args, input);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.out;
  };
  const std::string split = sampled({"--split", "sentences", "--batch-size", "1", "--threads", "1"}, text);
  EXPECT_EQ(sampled({"--split", "sentences", "--batch-size", "7"}, text), split);
  EXPECT_EQ(lines_of(sampled({}, "x\ntwo men\n"))[1], lines_of(split)[1]) << "a line of one sentence";
}

TEST_F(TranslateSplit, WhatHasNoMeaningForPartsIsRefused) {
  const std::string prefix = folder->write("prefix", "a\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused{
      {{"--split", "sentences", "--n-best", "2"}, "--n-best"},
      {{"--split", "lines", "--alignment", "soft"}, "--alignment"},
      {{"--split", "lines", "--target-prefix", prefix}, "--target-prefix"},
      {{"--split-language", "de"}, "--split-language"},
      {{"--split", "sentences", "--split-language", "german"}, "--split-language"},
      {{"--split", "words"}, "--split"}};
  for (const auto& [args, option] : refused) {
    const Ran ran = translate(args, "a dog\n");
    EXPECT_EQ(ran.code, 2) << option;
    EXPECT_TRUE(contains(ran.err, option)) << ran.err;
  }
  EXPECT_EQ(translate({"--split", "sentences", "--split-language", "deu"}, "a dog\n").code, 0);
}

}  // namespace
}  // namespace tril

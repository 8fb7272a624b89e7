// tril translate from outside: lines in and out, signals, output formats, mistakes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/translate.h"

namespace tril {
namespace {

TEST_F(Translate, GivesALineForEachLine) {
  const Ran ran = translate({"-b", "2"}, text);
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto lines = lines_of(ran.out);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[2], "");
  EXPECT_NE(lines[0] + lines[1] + lines[3], "");
}

TEST_F(Translate, TheWayOfDecodingDoesNotMatter) {
  std::string many;
  for (int i = 0; i < 30; ++i) many += text;
  for (const char* beam : {"1", "4"}) {
    const Ran one = translate({"-b", beam, "--batch-size", "1", "--threads", "1"}, many);
    EXPECT_EQ(one.code, 0) << one.err;
    EXPECT_EQ(lines_of(one.out).size(), 120u);
    EXPECT_EQ(translate({"-b", beam, "--batch-size", "7", "--threads", "2"}, many).out, one.out);
    EXPECT_EQ(translate({"-b", beam, "--no-cache"}, many).out, one.out);
    const std::string out = folder->at("out");
    EXPECT_EQ(translate({"-b", beam, "-o", out}, many).code, 0);
    EXPECT_EQ(file_text(out), one.out);
  }
}

// Ctrl-C loses no finished line, and a file appears only when complete.
TEST_F(Translate, ASignalLeavesWhatIsTranslated) {
  std::string many;
  for (int i = 0; i < 10'000; ++i) many += text;
  const std::string shown = folder->write("shown", ""), out = folder->at("stopped");
  Launch launch;
  launch.input = many;
  launch.stdout_to = shown;
  launch.meanwhile = [&](pid_t child) {
    for (int i = 0; i < 6000 && file_text(shown).empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    kill(child, SIGINT);
  };
  const std::vector<std::string> args{"translate", "--model", model, "-b", "2", "--threads", "1"};
  const Ran ran = run_tril(args, launch);
  EXPECT_EQ(ran.code, 1) << ran.signal;
  const auto lines = lines_of(file_text(shown));
  EXPECT_GE(lines.size(), 1024u);
  EXPECT_LT(lines.size(), 40'000u);
  const auto first = lines_of(translate({"-b", "2"}, text).out);
  for (std::size_t i = 0; i < lines.size(); ++i) ASSERT_EQ(lines[i], first[i % 4]) << i;
  EXPECT_NE(ran.err.find("stopped; lines in standard output: "), std::string::npos) << ran.err;

  launch.stdout_to.clear();
  launch.meanwhile = [&](pid_t child) {
    const auto begun = [&] {  // its temporary file exists
      const std::filesystem::directory_iterator files(std::filesystem::path(out).parent_path());
      return std::any_of(begin(files), end(files), [&](const auto& file) {
        return file.path().filename().string().find("stopped.partial") != std::string::npos;
      });
    };
    for (int i = 0; i < 6000 && !begun(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    kill(child, SIGINT);
  };
  std::vector<std::string> to_file = args;
  to_file.insert(to_file.end(), {"-o", out});
  const Ran filed = run_tril(to_file, launch);
  EXPECT_EQ(filed.code, 1) << filed.signal;
  EXPECT_FALSE(std::filesystem::exists(out));
  EXPECT_NE(filed.err.find("in " + out + ".partial"), std::string::npos) << filed.err;
  const auto kept = lines_of(file_text(out + ".partial"));
  EXPECT_LT(kept.size(), 40'000u);
  for (std::size_t i = 0; i < kept.size(); ++i) ASSERT_EQ(kept[i], first[i % 4]) << i;

  to_file.insert(to_file.end(), {"-i", folder->write("few", text)});
  EXPECT_EQ(run_tril(to_file).code, 0);
  EXPECT_EQ(lines_of(file_text(out)), first);
  EXPECT_FALSE(std::filesystem::exists(out + ".partial"));
}

TEST_F(Translate, WhatWouldHaveNoEffectIsRefused) {
  for (const auto& [args, named] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"-b", "1", "--patience", "2"}, "--patience"},
           {{"-b", "1", "--early-stopping", "never"}, "--early-stopping"},
           {{"--sampling", "--early-stopping", "true"}, "--early-stopping"},
           {{"-b", "1", "--coverage-penalty", "0.2"}, "--coverage-penalty"},
           {{"-b", "1", "--draft-tokens", "3"}, "--draft-tokens"},
           {{"--mbr", "4", "--length-penalty", "0.6"}, "--length-penalty"},
           {{"--mbr", "4", "--coverage-penalty", "0.2"}, "--coverage-penalty"},
           {{"-b", "2", "--min-alternative-prob", "0.5"}, "--min-alternative-prob"},
           {{"--weights", "3"}, "--weights"},
           {{"--target-prefix", ""}, "--target-prefix"},
           {{"--draft-model="}, "--draft-model"},
           {{"--bad-words", ""}, "--bad-words"},
           {{"--source-language", "de"}, "--source-language"}}) {
    const Ran ran = translate(args, text);
    EXPECT_EQ(ran.code, 2) << named;
    EXPECT_NE(ran.err.find(named), std::string::npos) << ran.err;
  }
  EXPECT_EQ(translate({"-b", "2", "--alternatives", "--min-alternative-prob", "1"}, text).code, 0);
}

TEST_F(Translate, WindowsAndSmallCaches) {
  for (const std::vector<std::string>& way :
       {std::vector<std::string>{"--attention-window", "3"}, {"--attention-window", "2", "--attention-sinks", "1"}}) {
    std::vector<std::string> cached = way, whole = way;
    whole.emplace_back("--no-cache");
    const Ran ran = translate(cached, text);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, translate(whole, text).out);
  }
  EXPECT_EQ(translate({"--cache-precision", "int8"}, text).code, 0);
  EXPECT_EQ(translate({"--attention-sinks", "1"}, text).code, 2);
  EXPECT_EQ(translate({"--cache-precision", "int8", "--no-cache"}, text).code, 2);
}

TEST_F(Translate, JsonHoldsScoresAndLengths) {
  const Ran ran = translate({"-b", "1", "--json", "--max-length", "5", "--min-length", "2"}, text);
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto lines = lines_of(ran.out);
  ASSERT_EQ(lines.size(), 4u);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto j = nlohmann::json::parse(lines[i]);
    EXPECT_EQ(j.at("line"), i + 1);
    const auto& best = j.at("translations").at(0);
    if (i == 2) continue;
    EXPECT_LE(best.at("tokens").get<int>(), 5);
    EXPECT_GE(best.at("tokens").get<int>(), 3);
    EXPECT_LT(best.at("log_prob").get<double>(), 0);
    EXPECT_NEAR(best.at("score").get<double>(), best.at("log_prob").get<double>() / best.at("tokens").get<double>(),
                1e-6);
  }
}

TEST_F(Translate, NothingGivesNothing) {
  const Ran ran = translate({}, "");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "");
}

TEST_F(Translate, LongLinesAreCutAndCounted) {
  std::string line;
  for (int i = 0; i < 200; ++i) line += "dog ";
  const Ran ran = translate({"-b", "1"}, line + "\n");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(lines_of(ran.out).size(), 1u);
  EXPECT_NE(ran.err.find("64 positions, which were truncated: 1"), std::string::npos) << ran.err;
}

TEST_F(Translate, WhatCannotBeSaidIsTold) {
  const auto warns = [](const Ran& ran, const std::string& part) {
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(ran.err.find(part), std::string::npos) << ran.err;
  };
  warns(translate({"-b", "1"}, "a d\u4e1cg\n"), "unknown tokens, for characters that are not in the vocabulary: 1");
  std::vector<std::string> all{"-b", "2", "--json", "--logit-bias"};
  for (int id = 0; id < 61; ++id) all.push_back(std::to_string(id) + "=-100");
  const Ran none = translate(all, "a dog\n");
  warns(none, "forbidden: 1");
  EXPECT_EQ(nlohmann::json::parse(none.out)["translations"][0]["cut"], "dead_end");
  warns(translate({"-b", "2", "--terminology", folder->write("terms", "")}, "a dog\n"), "contains no phrases");
}

// Terms in a part that is cut off are not required.
TEST_F(Translate, TermsBeyondTheCutAreLeftOut) {
  std::string line;
  for (int i = 0; i < 200; ++i) line += "dog ";
  const std::string terms = folder->write("late", "snow\tball\n");
  const Ran ran = translate({"-b", "4", "--terminology", terms, "--json"}, line + "snow\n");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(nlohmann::json::parse(ran.out)["translations"][0]["unsatisfied"].empty());
  EXPECT_EQ(translate({"-b", "4", "--terminology", terms}, line + "snow\n").out,
            translate({"-b", "4"}, line + "\n").out);
}

TEST_F(Translate, MistakesAreNamed) {
  const auto expect = [&](const Ran& ran, int code, const std::string& part) {
    EXPECT_EQ(ran.code, code) << ran.err;
    EXPECT_NE(ran.err.find(part), std::string::npos) << ran.err;
  };
  expect(run_tril({"translate"}, text), 2, "--model");
  expect(run_tril({"translate", "--model", folder->at("nowhere")}, text), 1, "nowhere");
  expect(translate({"-b", "0"}, text), 2, "--beam-size");
  expect(translate({"-b", "2", "--n-best", "3"}, text), 2, "pass --beam-size 3");
  expect(translate({"--precision", "int9"}, text), 2, "int8");
  expect(translate({"--min-length", "9", "--max-length", "8"}, text), 2, "--min-length");
  expect(translate({"--min-length", "65", "--max-length", "80"}, text), 2, "above the model's 64 positions");
  expect(translate({"--length-penalty", "400"}, text), 2, "from -50 to 50");
  expect(translate({"-b", "1", "--alternatives", "--prompt-lookup", "2"}, text), 2, "--prompt-lookup");
  expect(translate({"--bad-words", "a\xff"}, text), 2, "--bad-words: expected UTF-8, got \"a\\xFF\"");
  expect(translate({"--input", folder->at("missing")}, ""), 1, "missing");
  expect(translate({"--output", folder->at("no/such/folder/out")}, text), 1, "folder");
  const Ran invalid = translate({"-b", "1"}, "a dog\nb\xff\n");
  expect(invalid, 1, "line 2");
  EXPECT_EQ(translate({"-b", "1", "--skip-invalid"}, "a dog\nb\xff\nruns\n").code, 0);
  expect(run_tril({"translate", "--model", model, "-b", "1"}, text, "/dev/full"), 1, "standard output");
}

// A model with language tokens assumes one for the text if none is given, and warns once.
TEST(TranslateLanguages, TheOneThatIsAssumedIsTold) {
  const ScratchFolder folder;
  const std::string model = folder.at("model"), golden = test::test_dir() + "/golden/hf/";
  std::filesystem::create_directory(model);
  for (const char* file : {"config.json", "generation_config.json", "model.safetensors"})
    std::filesystem::copy(golden + "m2m100/" + file, model);
  std::filesystem::copy(golden + "tokenizers/spm_unigram/spm.model", model + "/sentencepiece.bpe.model");
  folder.write("model/vocab.json", R"({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "▁": 4, "a": 5})");
  folder.write("model/tokenizer_config.json", R"({"tokenizer_class": "M2M100Tokenizer"})");
  const std::string told =
      "the source language, one of 100, is not given; assuming en, pass --source-language to set it";
  const auto ran = [&](const std::vector<std::string>& more) {
    std::vector<std::string> args{"translate", "--model", model, "--target-language", "de", "--max-length", "4"};
    args.insert(args.end(), more.begin(), more.end());
    Ran r = run_tril(args, "a\na\n");
    EXPECT_EQ(r.code, 0) << r.err;
    return r;
  };
  const Ran silent = ran({}), asked = ran({"--source-language", "en"});
  EXPECT_NE(silent.err.find(told), std::string::npos) << silent.err;
  EXPECT_EQ(silent.err.find(told), silent.err.rfind(told)) << "once";
  EXPECT_EQ(asked.err.find("is assumed"), std::string::npos) << asked.err;
  EXPECT_EQ(silent.out, asked.out);
  // Each line from its own language.
  std::string warnings;
  const auto json_of = [&](const std::string& source, const std::string& text) {
    const Ran r = run_tril({"translate", "--model", model, "--target-language", "de", "--max-length", "4", "--json",
                            "--source-language", source},
                           text);
    EXPECT_EQ(r.code, 0) << r.err;
    warnings = r.err;
    std::vector<nlohmann::json> lines;
    for (const std::string& line : lines_of(r.out)) lines.push_back(nlohmann::json::parse(line));
    return lines;
  };
  const std::string english = "We went home early because of the rain.\n",
                    other = "Il faisait très beau et nous sommes rentrés tôt à la maison.\n";
  const std::vector<nlohmann::json> each = json_of("auto", english + other + "OK\n");
  ASSERT_EQ(each.size(), 3u);
  EXPECT_NE(warnings.find("lines whose language is uncertain, translated as if they were in the likeliest one: 1"),
            std::string::npos)
      << warnings;
  EXPECT_EQ(each[0]["source_language"], "en");
  EXPECT_EQ(each[1]["source_language"], "fr");
  EXPECT_GT(each[1]["confidence"], 90);
  // A line alone has the same translation; float32 products of other numbers of rows may differ in the last digit.
  const auto are_equal = [](const nlohmann::json& a, const nlohmann::json& b) {
    return a["text"] == b["text"] && a["tokens"] == b["tokens"] &&
           std::abs(a["log_prob"].get<double>() - b["log_prob"].get<double>()) < 1e-4;
  };
  EXPECT_TRUE(are_equal(each[0]["translations"][0], json_of("eng", english)[0]["translations"][0]));
  EXPECT_TRUE(are_equal(each[1]["translations"][0], json_of("fra_Latn", other)[0]["translations"][0]));
  EXPECT_FALSE(are_equal(each[1]["translations"][0], json_of("en", other)[0]["translations"][0]));
  folder.write("model/tokenizer_config.json", R"({"tokenizer_class": "M2M100Tokenizer", "src_lang": "fr"})");
  const Ran french = ran({});
  EXPECT_EQ(french.err.find("is assumed"), std::string::npos) << french.err;
}

}  // namespace
}  // namespace tril

// tril translate, score and bench translate from outside, on the golden MarianMT model with a small tokenizer of its
// own.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <thread>

#include "cli/run_program.h"
#include "cli/tiny_marian.h"
#include "support/paths.h"
#include "text/marian_tokenizer.h"
#include "text/vocabulary.h"

namespace tril {
namespace {

class Translate : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new ScratchFolder;
    model = write_tiny_marian(*folder);
  }
  static void TearDownTestSuite() { delete folder; }

  static Ran translate(std::vector<std::string> args, const std::string& input) {
    args.insert(args.begin(), {"translate", "--model", model});
    return run_tril(args, input);
  }

  static inline ScratchFolder* folder = nullptr;
  static inline std::string model;
};

const std::string text = "a dog runs\nthe red ball\n\ntwo men\n";

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

// Ctrl-C loses no line that is done, and a file is not there before it is whole.
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
    const auto begun = [&] {  // its temporary file is there
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

TEST_F(Translate, NBestAreSortedByScore) {
  const Ran ran = translate({"-b", "4", "--n-best", "3"}, text);
  EXPECT_EQ(ran.code, 0) << ran.err;
  double last = 0;
  int of_line[4] = {};
  for (const std::string& line : lines_of(ran.out)) {
    const std::size_t first = line.find(" ||| "), second = line.rfind(" ||| ");
    ASSERT_TRUE(first != std::string::npos && second > first) << line;
    const int number = std::stoi(line.substr(0, first));
    const double score = std::stod(line.substr(second + 5));
    ASSERT_LT(number, 4);
    if (of_line[number]++ > 0) {
      EXPECT_LE(score, last) << line;
    }
    last = score;
  }
  EXPECT_EQ(of_line[0], 3);
  EXPECT_EQ(of_line[2], 1) << "an empty line has one translation";
}

TEST_F(Translate, GroupsOfABeamFindDifferentTexts) {
  const auto texts_of = [&](std::vector<std::string> args) {
    args.insert(args.end(), {"-b", "4", "--n-best", "4"});
    const Ran ran = translate(args, "a dog runs\n");
    EXPECT_EQ(ran.code, 0) << ran.err;
    return lines_of(ran.out);
  };
  const auto plain = texts_of({}), diverse = texts_of({"--beam-groups", "4", "--diversity-penalty", "50"});
  EXPECT_EQ(diverse.size(), 4u);
  EXPECT_NE(diverse, plain);
  EXPECT_EQ(texts_of({"--beam-groups", "1"}), plain);

  const Ran odd = translate({"-b", "4", "--beam-groups", "3"}, text);
  EXPECT_EQ(odd.code, 2);
  EXPECT_NE(odd.err.find("pass -b 6"), std::string::npos) << odd.err;
  const Ran none = translate({"-b", "4", "--diversity-penalty", "1"}, text);
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("--beam-groups"), std::string::npos) << none.err;
}

TEST_F(Translate, ATranslationBeginsWithItsPrefix) {
  const std::string prefixes = folder->write("prefixes", "the old dog\n\nthe ball\ntwo \n");
  const Ran ran = translate({"-b", "3", "--target-prefix", prefixes}, text);
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto lines = lines_of(ran.out), plain = lines_of(translate({"-b", "3"}, text).out);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_TRUE(lines[0].starts_with("the old dog")) << lines[0];
  EXPECT_EQ(lines[1], plain[1]) << "an empty prefix is none";
  EXPECT_EQ(lines[2], "the ball") << "nothing to translate: nothing but the prefix";
  EXPECT_TRUE(lines[3].starts_with("two ") && !lines[3].starts_with("two  ")) << lines[3];
  EXPECT_GT(lines[3].size(), 4u);

  // What greedy search says comes again behind the beginning of it.
  const std::string best = lines_of(translate({"-b", "1"}, "a dog runs\n").out)[0];
  const std::string beginning = best.substr(0, best.find(' ', best.size() / 2));
  const Ran again =
      translate({"-b", "1", "--target-prefix", folder->write("beginning", beginning + "\n")}, "a dog runs\n");
  EXPECT_EQ(lines_of(again.out)[0].substr(0, beginning.size()), beginning);

  for (const auto& [bad, words] : {std::pair{"one\n", "has 1 lines, the text has more"},
                                   {"1\n2\n3\n4\n5\n", "has more lines than the text, which has 4"}}) {
    const Ran wrong = translate({"--target-prefix", folder->write("wrong", bad)}, text);
    EXPECT_NE(wrong.code, 0);
    EXPECT_NE(wrong.err.find(words), std::string::npos) << wrong.err;
  }
  EXPECT_EQ(translate({"--target-prefix", "-"}, text).code, 2);
  std::string long_prefix;
  for (int i = 0; i < 200; ++i) long_prefix += "the old dog ";
  const Ran full = translate({"--target-prefix", folder->write("long", long_prefix + "\n")}, "a dog\n");
  EXPECT_EQ(full.code, 2) << full.err;
  EXPECT_NE(full.err.find("positions free"), std::string::npos) << full.err;
}

TEST_F(Translate, AlternativesDifferInTheFirstTokenBehindThePrefix) {
  const std::string prefix = folder->write("prefix", "the \n");
  const Ran ran =
      translate({"-b", "2", "--alternatives", "--n-best", "6", "--target-prefix", prefix, "--json"}, "a dog\n");
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto list = nlohmann::json::parse(lines_of(ran.out)[0]).at("translations");
  ASSERT_EQ(list.size(), 6u);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto t = list[i].at("text").get<std::string>();
    EXPECT_TRUE(t.starts_with("the ")) << t;
  }
  const Ran few =
      translate({"--alternatives", "--n-best", "6", "--min-alternative-prob", "0.999", "--json"}, "a dog\n");
  EXPECT_EQ(nlohmann::json::parse(lines_of(few.out)[0]).at("translations").size(), 1u) << few.err;
  EXPECT_EQ(translate({"--min-alternative-prob", "0.5"}, text).code, 2);
  EXPECT_EQ(translate({"--alternatives", "--sampling"}, text).code, 2);
}

TEST_F(Translate, TerminologyIsObeyedAndWhatCannotBeIsNamed) {
  const std::string terms = folder->write("terms", "dog\tthe ball\n\nred ball\tsnow\nmen\t\u6771\n");
  const Ran ran = translate({"-b", "6", "--terminology", terms, "--json", "--max-length", "40"}, text);
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto lines = lines_of(ran.out);
  ASSERT_EQ(lines.size(), 4u);
  const auto best = [&](std::size_t i) { return nlohmann::json::parse(lines[i]).at("translations").at(0); };
  EXPECT_NE(best(0).at("text").get<std::string>().find("the ball"), std::string::npos) << lines[0];
  EXPECT_TRUE(best(0).at("unsatisfied").empty());
  EXPECT_NE(best(1).at("text").get<std::string>().find("snow"), std::string::npos) << lines[1];
  EXPECT_EQ(best(3).at("unsatisfied").at(0).at("source"), "men");
  EXPECT_NE(ran.err.find("phrases of the terminology"), std::string::npos) << ran.err;

  EXPECT_EQ(translate({"-b", "1", "--terminology", terms}, text).code, 2);
  const Ran no_tab = translate({"-b", "4", "--terminology", folder->write("no_tab", "dog\tx\ndog ball\n")}, text);
  EXPECT_EQ(no_tab.code, 2);
  EXPECT_NE(no_tab.err.find("no_tab:2"), std::string::npos) << no_tab.err;
  const Ran twice = translate({"-b", "4", "--terminology", folder->write("twice", "dog\tx\ndog\ty\n")}, text);
  EXPECT_EQ(twice.code, 2);
  EXPECT_NE(twice.err.find("two translations"), std::string::npos) << twice.err;
}

TEST_F(Translate, ATimeLimitIsMarked) {
  const Ran ran = translate({"-b", "4", "--time-limit", "1e-9", "--json"}, text);
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto t = nlohmann::json::parse(lines_of(ran.out)[0]).at("translations").at(0);
  EXPECT_EQ(t.at("cut"), "time_limit");
  EXPECT_LE(t.at("tokens").get<int>(), 1);
  EXPECT_NE(ran.err.find("time limit: 3"), std::string::npos) << ran.err;
  EXPECT_EQ(translate({"-b", "4", "--time-limit", "1000"}, text).out, translate({"-b", "4"}, text).out);
}

TEST_F(Translate, PatienceLooksFurther) {
  EXPECT_EQ(translate({"-b", "4", "--patience", "1"}, text).out, translate({"-b", "4"}, text).out);
  const Ran more = translate({"-b", "2", "--patience", "8", "--early-stopping", "true", "--json"}, text);
  EXPECT_EQ(more.code, 0) << more.err;
  const auto score = [](const Ran& ran) {
    return nlohmann::json::parse(lines_of(ran.out)[0]).at("translations").at(0).at("score").get<double>();
  };
  EXPECT_GE(score(more), score(translate({"-b", "2", "--early-stopping", "true", "--json"}, text)));
  const Ran wrong = translate({"-b", "4", "--patience", "0.5", "--n-best", "4"}, text);
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("patience"), std::string::npos) << wrong.err;
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

TEST_F(Translate, ProposedTokensAndDeterminismLeaveTheTextAsItIs) {
  std::string many;
  for (int i = 0; i < 12; ++i) many += text;
  const Ran plain = translate({"-b", "1"}, many);
  EXPECT_EQ(plain.code, 0) << plain.err;
  const Ran drafted = translate({"-b", "1", "--draft-model", model, "--draft-tokens", "3"}, many);
  EXPECT_EQ(drafted.out, plain.out);
  EXPECT_NE(drafted.err.find("proposed tokens"), std::string::npos) << drafted.err;
  EXPECT_EQ(translate({"-b", "1", "--prompt-lookup", "3"}, many).out, plain.out);
  EXPECT_EQ(translate({"-b", "1", "--deterministic", "--batch-size", "3"}, many).out, plain.out);
  EXPECT_NE(translate({"-b", "4", "--prompt-lookup", "3"}, text).err.find("greedy"), std::string::npos);
  EXPECT_EQ(translate({"-b", "1", "--prompt-lookup", "3", "--draft-model", model}, text).code, 2);
}

TEST_F(Translate, AnEnsembleOfOneModelIsThatModel) {
  const Ran alone = translate({"-b", "3", "--json"}, text);
  for (const char* mean : {"log-probabilities", "probabilities"}) {
    const Ran ran =
        translate({"-b", "3", "--json", "--models", model, "--weights", "1", "2.5", "--ensemble-mean", mean}, text);
    EXPECT_EQ(ran.code, 0) << ran.err;
    const auto lines = lines_of(ran.out), expected = lines_of(alone.out);
    ASSERT_EQ(lines.size(), expected.size());
    for (std::size_t i = 0; i < lines.size(); ++i)
      EXPECT_EQ(nlohmann::json::parse(lines[i])["translations"][0]["text"],
                nlohmann::json::parse(expected[i])["translations"][0]["text"]);
  }
  EXPECT_NE(translate({"--models", model, "--weights", "1"}, text).err.find("1 for 2 models"), std::string::npos);
  EXPECT_NE(translate({"--models", model, "--weights", "1", "x"}, text).err.find("not a positive number"),
            std::string::npos);
}

TEST_F(Translate, TheLeastRiskyOfManySamples) {
  const Ran ran = translate({"--mbr", "8", "--n-best", "2", "--seed", "3"}, text);
  EXPECT_EQ(ran.code, 0) << ran.err;
  std::map<std::string, std::vector<double>> scores;
  for (const std::string& line : lines_of(ran.out)) {
    const std::size_t first = line.find(" ||| "), last = line.rfind(" ||| ");
    scores[line.substr(0, first)].push_back(std::stod(line.substr(last + 5)));
  }
  EXPECT_EQ(scores.size(), 4u);
  for (const auto& [line, list] : scores) {
    EXPECT_TRUE(std::is_sorted(list.rbegin(), list.rend()));
    EXPECT_GE(list.back(), 0.0);
    EXPECT_LE(list.front(), 100.0 + 1e-9);
  }
  EXPECT_EQ(translate({"--mbr", "8", "--n-best", "2", "--seed", "3", "--batch-size", "1"}, text).out, ran.out);
  EXPECT_EQ(translate({"--mbr", "4", "-b", "2"}, text).code, 2);
  EXPECT_EQ(translate({"--mbr", "2", "--n-best", "3"}, text).code, 2);
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
  EXPECT_NE(ran.err.find("64 positions, which were cut: 1"), std::string::npos) << ran.err;
}

// A table from text, and the search over what it lists.
TEST_F(Translate, AShortlistIsLearnedAndUsed) {
  const std::string source = folder->write("learn.en", "a dog runs\nthe red ball\ntwo men\n"),
                    target = folder->write("learn.de", "the dog\na red ball\nmen play\n"), table = folder->at("lex");
  const auto learn = [&](std::vector<std::string> more) {
    std::vector<std::string> args{"shortlist", "-m", model, "-t", source, target, "-o", table};
    args.insert(args.end(), more.begin(), more.end());
    return run_tril(args);
  };
  Ran ran = learn({});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_FALSE(lines_of(file_text(table)).empty());
  const Ran all = translate({"-b", "2", "--shortlist", table, "1000"}, text), plain = translate({"-b", "2"}, text);
  EXPECT_EQ(all.out, plain.out) << all.err;
  const Ran few = translate({"-b", "2", "--shortlist", table, "0", "2", "0.1"}, text);
  EXPECT_EQ(few.code, 0) << few.err;
  EXPECT_NE(few.out, plain.out);
  for (const auto& wrong : std::vector<std::vector<std::string>>{{"--shortlist", table, "x"},
                                                                 {"--shortlist", table, "-1"},
                                                                 {"--shortlist", table, "1", "2", "0.1", "3"},
                                                                 {"--shortlist", table, "1", "2", "1.5"}}) {
    std::vector<std::string> args{"-b", "2"};
    args.insert(args.end(), wrong.begin(), wrong.end());
    const Ran refused = translate(args, text);
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find("--shortlist"), std::string::npos) << refused.err;
  }
  // Counted instead; a wrong alignment is named by its file.
  const std::string alignment = folder->write("align", "0-0 1-1\n1-1\n0-0 9-1\n");
  ran = learn({"--alignments", alignment});
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find(alignment + ": pair 3"), std::string::npos) << ran.err;
  folder->write("align", "0-0 1-1\n1-1\n0-0 1-1\n");
  EXPECT_EQ(learn({"--alignments", alignment}).code, 0);
  EXPECT_EQ(translate({"-b", "1", "--shortlist", alignment}, text).code, 1) << "no table";
}

TEST_F(Translate, WhatCannotBeSaidIsTold) {
  const auto warns = [](const Ran& ran, const std::string& part) {
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(ran.err.find(part), std::string::npos) << ran.err;
  };
  warns(translate({"-b", "1"}, "a d\u4e1cg\n"), "unknown tokens, for characters that the vocabulary lacks: 1");
  std::vector<std::string> all{"-b", "2", "--json", "--logit-bias"};
  for (int id = 0; id < 61; ++id) all.push_back(std::to_string(id) + "=-100");
  const Ran none = translate(all, "a dog\n");
  warns(none, "forbidden: 1");
  EXPECT_EQ(nlohmann::json::parse(none.out)["translations"][0]["cut"], "dead_end");
  warns(translate({"-b", "2", "--terminology", folder->write("terms", "")}, "a dog\n"), "has no phrases");
}

// A term of a part that is not read is not wanted.
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
  expect(translate({"-b", "2", "--n-best", "3"}, text), 2, "pass -b 3");
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

TEST_F(Translate, ScoreAddsUpItsTokens) {
  const std::string source = folder->write("source", text),
                    target = folder->write("target", "the dog\nball\n\na red dog\n");
  const Ran plain = run_tril({"score", "--model", model, "--source", source, "--target", target});
  EXPECT_EQ(plain.code, 0) << plain.err;
  const Ran detailed = run_tril({"score", "--model", model, "--source", source, "--target", target, "--word-scores",
                                 "--json", "--batch-size", "1"});
  const auto sums = lines_of(plain.out), details = lines_of(detailed.out);
  ASSERT_EQ(sums.size(), 4u);
  ASSERT_EQ(details.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto j = nlohmann::json::parse(details[i]);
    double sum = 0;
    for (const auto& word : j.at("word_scores")) sum += word.at("log_prob").get<double>();
    EXPECT_NEAR(sum, std::stod(sums[i]), 1e-4);
    EXPECT_EQ(j.at("word_scores").back().at("piece"), "</s>");
  }
  const std::string shorter = folder->write("shorter", "the dog\n");
  const Ran unequal = run_tril({"score", "--model", model, "--source", source, "--target", shorter});
  EXPECT_EQ(unequal.code, 1);
  EXPECT_NE(unequal.err.find("ends after 1 lines"), std::string::npos) << unequal.err;
}

TEST_F(Translate, ScoreSkipsWhatIsNoTextAndKeepsTheLines) {
  const std::string source = folder->write("source", "a dog\nb\xff\nruns\n"),
                    target = folder->write("target", "the dog\nball\na red dog\n");
  const std::vector<std::string> args{"score", "--model", model, "--source", source, "--target", target};
  const Ran refused = run_tril(args);
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("line 2"), std::string::npos) << refused.err;
  auto skipping = args;
  skipping.emplace_back("--skip-invalid");
  const Ran plain = run_tril(skipping);
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_NE(plain.err.find("not scored: 1"), std::string::npos) << plain.err;
  const auto lines = lines_of(plain.out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], "nan");
  EXPECT_LT(std::stod(lines[2]), 0);
  skipping.emplace_back("--json");
  const auto objects = lines_of(run_tril(skipping).out);
  ASSERT_EQ(objects.size(), 3u);
  EXPECT_TRUE(nlohmann::json::parse(objects[1]).at("log_prob").is_null());
  EXPECT_EQ(nlohmann::json::parse(objects[2]).at("line"), 3);
}

TEST_F(Translate, BenchForcesTheLength) {
  const std::string input = folder->write("bench", text);
  for (const char* batch : {"1", "3"}) {
    const Ran ran = run_tril({"bench", "translate", "--model", model, "-i", input, "-b", "2", "--batch-size", batch,
                              "--min-length", "6", "--max-length", "6", "--sentences", "3", "--repeat", "1"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    const auto j = nlohmann::json::parse(ran.out);
    EXPECT_EQ(j.at("target_tokens"), 18);
    for (const char* key : {"target_tokens_per_second", "p50_ms", "p99_ms", "peak_mib"}) EXPECT_GT(j.at(key), 0) << key;
    EXPECT_FALSE(j.contains("profile"));
  }
}

TEST_F(Translate, BenchSaysWhereTheTimeWent) {
  const std::string input = folder->write("bench", text);
  const Ran ran = run_tril({"bench", "translate", "--model", model, "-i", input, "-b", "2", "--precision", "int8",
                            "--batch-size", "2", "--repeat", "1", "--threads", "1", "--profile"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto profile = nlohmann::json::parse(ran.out).at("profile");
  for (const char* key : {"target_tokens_per_second", "mflop_per_token", "gflops", "int8_gflops"})
    EXPECT_GT(profile.at(key), 0) << key;
  EXPECT_NEAR(profile.at("share_of_int8").get<double>(),
              profile.at("gflops").get<double>() / profile.at("int8_gflops").get<double>(), 1e-9);
  double shares = 0;
  for (const auto& row : profile.at("rows")) {
    EXPECT_GE(row.at("share").get<double>(), 0) << row;
    shares += row.at("share").get<double>();
  }
  EXPECT_NEAR(shares, 1, 1e-9) << "nothing is counted twice, nothing left out";
  EXPECT_EQ(profile.at("rows").back().at("name"), "rest");
}

// What translation says a translation was made from is what scoring says of the same pair, in every form.
TEST_F(Translate, AlignmentsOfTranslationAndOfScoring) {
  const std::string sources = "a dog runs\nthe red ball\ntwo men\n";
  const auto objects = lines_of(translate({"-b", "3", "--alignment", "soft", "--json"}, sources).out);
  const auto hard = lines_of(translate({"-b", "3", "--alignment", "hard"}, sources).out),
             some = lines_of(translate({"-b", "3", "--alignment", "0.15"}, sources).out),
             plain = lines_of(translate({"-b", "3"}, sources).out),
             best = lines_of(translate({"-b", "3", "--alignment", "hard", "--n-best", "2"}, sources).out);
  ASSERT_EQ(objects.size(), 3u);
  ASSERT_EQ(best.size(), 6u);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto j = nlohmann::json::parse(objects[i]).at("translations")[0];
    const auto soft = j.at("alignment").get<std::vector<std::vector<double>>>();
    const auto source_pieces = j.at("source_pieces").get<std::vector<std::string>>(),
               pieces = j.at("pieces").get<std::vector<std::string>>();
    EXPECT_EQ(source_pieces.back(), "</s>");
    ASSERT_EQ(soft.size(), pieces.size());
    std::vector<std::pair<std::size_t, std::size_t>> highest, above;
    for (std::size_t t = 0; t < soft.size(); ++t) {
      ASSERT_EQ(soft[t].size(), source_pieces.size());
      EXPECT_NEAR(std::accumulate(soft[t].begin(), soft[t].end(), 0.0), 1, 1e-5);
      highest.emplace_back(std::max_element(soft[t].begin(), soft[t].end()) - soft[t].begin(), t);
      for (std::size_t s = 0; s < soft[t].size(); ++s)
        if (soft[t][s] > 0.15) above.emplace_back(s, t);
    }
    const auto text_of = [](std::vector<std::pair<std::size_t, std::size_t>> points) {
      std::sort(points.begin(), points.end());
      std::string list;
      for (const auto& [s, t] : points) list += (list.empty() ? "" : " ") + std::to_string(s) + "-" + std::to_string(t);
      return list;
    };
    EXPECT_EQ(hard[i], plain[i] + " ||| " + text_of(highest));
    EXPECT_EQ(some[i], plain[i] + " ||| " + text_of(above));
    EXPECT_TRUE(best[2 * i].starts_with(std::to_string(i) + " ||| " + hard[i] + " ||| ")) << best[2 * i];
  }
  // A translation that ends by itself, scored.
  const std::string source = folder->write("aligned.src", sources);
  const std::string target = folder->write("aligned.tgt", plain[0] + "\n" + plain[1] + "\n" + plain[2] + "\n");
  const Ran scored = run_tril({"score", "-m", model, "-s", source, "-t", target, "--alignment", "soft", "--json"});
  ASSERT_EQ(scored.code, 0) << scored.err;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto a = nlohmann::json::parse(lines_of(scored.out)[i]),
               b = nlohmann::json::parse(objects[i]).at("translations")[0];
    if (a.at("pieces") != b.at("pieces")) continue;  // it was cut another way, or reached its bound
    const auto x = a.at("alignment").get<std::vector<std::vector<double>>>(),
               y = b.at("alignment").get<std::vector<std::vector<double>>>();
    for (std::size_t t = 0; t < x.size(); ++t)
      for (std::size_t s = 0; s < x[t].size(); ++s) EXPECT_NEAR(x[t][s], y[t][s], 1e-5);
  }
  const auto text_lines =
      lines_of(run_tril({"score", "-m", model, "-s", source, "-t", target, "--alignment", "hard"}).out);
  ASSERT_EQ(text_lines.size(), 3u);
  EXPECT_NE(text_lines[0].find(" ||| "), std::string::npos) << text_lines[0];
  // Another layer looks elsewhere; the last is the one that is asked where nothing is said.
  EXPECT_EQ(lines_of(translate({"-b", "3", "--alignment", "hard", "--alignment-layer", "last"}, sources).out), hard);
  EXPECT_NE(translate({"-b", "3", "--alignment", "soft", "--alignment-layer", "1"}, sources).out,
            translate({"-b", "3", "--alignment", "soft"}, sources).out);
}

TEST_F(Translate, UnknownTokensAreReplacedAndCoverageCounts) {
  const std::string line = "two men play with a red ball in the snow and the old dog runs\n";
  const auto best = [&](const std::vector<std::string>& args) {
    const Ran ran = translate(args, line);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return nlohmann::json::parse(ran.out).at("translations")[0];
  };
  // The vocabulary's unknown token and one that the model says trade places: now it says the unknown one.
  const auto plain = best({"-b", "1", "--json", "--alignment", "hard"});
  const auto source_pieces = plain.at("source_pieces").get<std::vector<std::string>>();
  std::string said;
  for (const auto& piece : plain.at("pieces"))
    if (said.empty() && piece != "</s>" &&
        std::find(source_pieces.begin(), source_pieces.end(), piece) == source_pieces.end())
      said = piece;
  ASSERT_FALSE(said.empty());
  auto vocabulary = nlohmann::json::parse(file_text(model + "/vocab.json"));
  std::swap(vocabulary.at(said), vocabulary.at("<unk>"));
  const std::string whole = model, other = folder->at("unknowing");
  std::filesystem::copy(whole, other);
  std::ofstream(other + "/vocab.json") << vocabulary;
  model = other;
  const auto unknown = best({"-b", "1", "--json", "--alignment", "hard"}),
             replaced = best({"-b", "1", "--json", "--alignment", "hard", "--replace-unknowns"});
  model = whole;
  ASSERT_EQ(unknown.at("pieces"), replaced.at("pieces"));
  const auto pieces = replaced.at("pieces").get<std::vector<std::string>>();
  ASSERT_NE(std::find(pieces.begin(), pieces.end(), "<unk>"), pieces.end());
  const auto words_in = [&](const nlohmann::json& t) {
    int n = 0;
    std::istringstream said_words(t.at("text").get<std::string>()), words(line);
    const std::vector<std::string> known{std::istream_iterator<std::string>(words), {}};
    for (std::string word; said_words >> word;) n += std::find(known.begin(), known.end(), word) != known.end() ? 1 : 0;
    return n;
  };
  EXPECT_GT(words_in(replaced), words_in(unknown)) << replaced << unknown;

  // More source tokens than generated ones: not all can be covered.
  EXPECT_LT(best({"-b", "4", "--json", "--coverage-penalty", "3"}).at("score"),
            best({"-b", "4", "--json"}).at("score"));
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--alignment", "some"},
                                                {"--alignment", "1.5"},
                                                {"--alignment", "hard", "--alignment-layer", "99"},
                                                {"--alignment", "hard", "--alignment-layer", "x"},
                                                {"--alignment-layer", "1"},
                                                {"--coverage-penalty", "-1"}})
    EXPECT_EQ(translate(wrong, "a\n").code, 2) << wrong[1];
}

}  // namespace
}  // namespace tril

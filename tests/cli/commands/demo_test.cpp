// tril demo from outside, at a size that trains in seconds.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/run_program.h"

namespace tril {
namespace {

std::vector<std::string> small_demo(const std::string& out) {
  return {"demo", "--out", out, "--only", "times", "--lines", "3000", "--updates", "300", "--threads", "2"};
}

TEST(Demo, TrainsAndTranslatesWhatItHasNotSeen) {
  const ScratchFolder folder;
  const std::string out = folder.at("demo");
  std::vector<std::string> args = small_demo(out);
  args.emplace_back("--json");
  const Ran ran = run_tril(args);
  ASSERT_EQ(ran.code, 0) << ran.err;
  const nlohmann::json result = nlohmann::json::parse(ran.out);
  EXPECT_GT(result["exact_match"].get<double>(), 60) << "of times alone, after a few seconds";
  EXPECT_EQ(result["lines"], 150);
  EXPECT_EQ(result["model"], out + "/model");
  for (const char* file :
       {"model.safetensors", "config.json", "vocab.json", "source.spm", "report.html", "train.jsonl"})
    EXPECT_TRUE(std::filesystem::exists(out + "/model/" + file)) << file;

  // The model works with every other command: translating gives the demo's measured result again.
  const Ran translated = run_tril({"translate", "--model", out + "/model", "-i", out + "/test.src"});
  ASSERT_EQ(translated.code, 0) << translated.err;
  std::istringstream found(translated.out), wanted(file_text(out + "/test.tgt"));
  int right = 0, lines = 0;
  for (std::string a, b; std::getline(found, a) && std::getline(wanted, b); ++lines) right += a == b;
  EXPECT_EQ(lines, 150);
  EXPECT_NEAR(100.0 * right / lines, result["exact_match"].get<double>(), 1e-9);
}

TEST(Demo, EachKindHasAsManyLinesAsItAsksFor) {
  for (const char* kind : {"times", "numbers"}) {
    const ScratchFolder folder;
    const Ran ran = run_tril({"demo", "--out", folder.at("demo"), "--only", kind, "--updates", "41", "--json"});
    ASSERT_EQ(ran.code, 0) << kind << ": " << ran.err;
    EXPECT_EQ(nlohmann::json::parse(ran.out)["lines"], 1000) << kind;
  }
}

// The applications, with as little training as the test can afford: just enough to tell learning from no learning.
struct Application {
  const char* name;
  const char* lines;
  const char* updates;
  const char* figure;
  double least, most;
};

void PrintTo(const Application& a, std::ostream* out) {
  *out << a.name;
}  // instead of its bytes

void expect_learning(const Application& a) {
  const ScratchFolder folder;
  const std::string out = folder.at("demo");
  const Ran ran =
      run_tril({"demo", a.name, "--out", out, "--lines", a.lines, "--updates", a.updates, "--threads", "2", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const nlohmann::json result = nlohmann::json::parse(ran.out);
  EXPECT_EQ(result["task"], a.name);
  EXPECT_GT(result[a.figure].get<double>(), a.least) << ran.out;
  EXPECT_LT(result[a.figure].get<double>(), a.most) << ran.out;
  for (const std::string& file :
       {out + "/" + a.name + ".yml", out + "/model/model.safetensors", out + "/model/report.html"})
    EXPECT_TRUE(std::filesystem::exists(file)) << file;
}

class DemoApplication : public ::testing::TestWithParam<Application> {};

TEST_P(DemoApplication, LearnsItsTask) {
  expect_learning(GetParam());
}

// Without training, BLEU and exact match are 0, and a character of a story costs more than 2 bits: a quarter of a token,
// one of 350.
INSTANTIATE_TEST_SUITE_P(Demo, DemoApplication,
                         ::testing::Values(Application{"translation", "4000", "150", "bleu", 20, 100},
                                           Application{"reading", "4000", "150", "bleu", 10, 100},
                                           Application{"dialogue", "4000", "150", "bleu", 20, 100},
                                           Application{"summary", "4000", "150", "bleu", 30, 100},
                                           Application{"chinese", "4000", "200", "exact_match", 30, 100},
                                           Application{"text", "1500", "60", "bits_per_character", 0, 1.2}),
                         [](const auto& application) { return std::string(application.param.name); });

// Answers by guessing among the people of a passage are right in about a quarter of the lines. To learn whose a fact is
// takes more than a minute, so only `make soak` trains so long.
TEST(DemoSoak, ReadingIsLearned) {
  if (!std::getenv("TRIL_SOAK_UPDATES")) GTEST_SKIP() << "make soak trains a model to read";
  expect_learning({"reading", "60000", "6000", "exact_match", 40, 100});
}

TEST(Demo, ShowsWhatItRunsAndWhereThingsAre) {
  const ScratchFolder folder;
  const std::string out = folder.at("demo");
  std::vector<std::string> args = small_demo(out);
  args[6] = "200", args[8] = "41";  // too little to learn anything
  const Ran ran = run_tril(args);
  ASSERT_EQ(ran.code, 0) << ran.err;
  for (const std::string& text :
       {"$ tril vocab --train-sets " + out + "/train.src", "$ tril train --model " + out + "/model",
        std::string("exact match"), "model        " + out + "/model", out + "/model/report.html",
        "translate --model " + out + "/model"})
    EXPECT_NE(ran.out.find(text), std::string::npos) << text << "\n" << ran.out;

  EXPECT_EQ(run_tril(args).code, 0) << "a second demo in its place";
}

TEST(Demo, KeepsOutOfOtherPeoplesFolders) {
  const ScratchFolder folder;
  folder.write("mine.txt", "mine");
  const Ran ran = run_tril(small_demo(folder.at(".")));
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("already exists and holds no demo"), std::string::npos) << ran.err;
  EXPECT_EQ(file_text(folder.at("mine.txt")), "mine");
}

}  // namespace
}  // namespace tril

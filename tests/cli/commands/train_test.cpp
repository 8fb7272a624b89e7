// `tril train` as a user sees it: what it writes, and mistakes before the first update.
#include <gtest/gtest.h>

#include <filesystem>

#include "support/paths.h"
#include "support/run_program.h"
#include "support/train_program.h"

namespace tril::train_test {
namespace {

using Data = test::TrainData;

TEST(Train, TellsOnceWhatValidationIsWithout) {
  const Data data;
  std::string source = file_text(data.folder.at("valid.src")), target = file_text(data.folder.at("valid.tgt"));
  for (int i = 0; i < 600; ++i) source += "ab ";
  data.folder.write("long.src", source + "\n\n");
  data.folder.write("long.tgt", target + "a\nb\n");
  const Ran ran = run_tril(data.train("model", {"--valid-sets", data.folder.at("long.src"), data.folder.at("long.tgt"),
                                                "--after", "4u", "--valid-freq", "2u", "--valid-metrics", "bleu"}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::string remark = "1 of 32 pairs have a side of more than the model's 512 positions, the first one is " +
                             data.folder.at("long.src") + ": line 31";
  EXPECT_TRUE(contains(ran.err, remark)) << ran.err;
  EXPECT_EQ(ran.err.find(remark), ran.err.rfind(remark)) << "once";
  EXPECT_TRUE(contains(
      ran.err, "1 of 32 pairs have an empty side, the first one is " + data.folder.at("long.src") + ": line 32"))
      << ran.err;
}

TEST(Train, ARefusedFirstRunLeavesNothing) {
  const Data data;
  const std::string none = data.folder.at("none"), blank = data.folder.write("blank", "\n\n");
  const std::vector<std::vector<std::string>> mistakes{
      {"--valid-sets", none, none},
      {"--valid-sets", blank, blank},
      {"--vocab-size", "8"},
      {"--num-heads", "3"},
      {"--vocab", test::test_dir() + "/golden/hf/tokenizers/bytelevel_gpt2"},
      {"--max-tokens", "9999999999"},
      {"--guided-alignment", "learn", "learn"}};
  for (const std::vector<std::string>& mistake : mistakes) {
    const Ran ran = run_tril(data.train("never", mistake));
    EXPECT_NE(ran.code, 0) << mistake[0];
    EXPECT_TRUE(contains(ran.err, mistake[0] == "--vocab-size" ? "ask for"
                                  : mistake[1] == none         ? none + ": cannot be read"
                                                               : mistake[0]))
        << ran.err;
    EXPECT_FALSE(std::filesystem::exists(data.folder.at("never"))) << mistake[0];
  }
}

// Errors in the texts are reported before a vocabulary is learned from them.
TEST(Train, TextsThatDoNotGoTogetherAreToldOfFirst) {
  const Data data;
  const std::string source = data.folder.at("train.src"), target = data.folder.at("train.tgt");
  const auto with_line = [&](const std::string& name, const std::string& line) {
    return data.folder.write(name, file_text(target) + line + "\n");
  };
  const std::string longer = with_line("longer", "a"),
                    longer_source = data.folder.write("s", file_text(source) + "a\n");
  std::string weights;
  for (int i = 0; i < 299; ++i) weights += "1\n";
  struct Case {
    std::vector<std::string> options;
    std::string error;
  };
  const std::vector<Case> cases{
      {{"--train-sets", source, longer}, longer + ": has 301 lines, but " + source + " has 300"},
      {{"--valid-sets", source, longer}, longer + ": has 301 lines, but " + source + " has 300"},
      {{"--train-sets", longer_source, with_line("bytes", "a\xff")}, "line 301: is not valid UTF-8"},
      {{"--tsv", "--train-sets", data.folder.write("tsv", "a\tb\na\n"), "--valid-sets",
        data.folder.write("v", "a\tb\n")},
       "line 2: has 1 tab-separated columns"},
      {{"--data-weighting", data.folder.write("299", weights)}, "has 299 weights"},
      {{"--data-weighting", data.folder.write("nan", weights + "x\n")}, "line 300: expected a weight"},
      {{"--guided-alignment", data.folder.write("align", weights + "1-\n")}, "line 1: "}};
  for (const Case& c : cases) {
    const Ran ran = run_tril(data.train("never", c.options));
    EXPECT_EQ(ran.code, 1) << ran.err;
    EXPECT_TRUE(contains(ran.err, c.error)) << ran.err;
    EXPECT_FALSE(contains(ran.err, "learning a vocabulary")) << ran.err;
    EXPECT_FALSE(std::filesystem::exists(data.folder.at("never"))) << c.error;
  }
}

TEST(Train, TextsThatCannotBeTrainedWithLeaveNothing) {
  const Data data;
  std::string words, lines;
  for (int i = 0; i < 80; ++i) words += "abcdefgh ";
  for (int i = 0; i < 50; ++i) lines += words + "\n";
  const std::string long_lines = data.folder.write("long", lines);
  const Ran pairs = run_tril(data.train("never", {"--train-sets", long_lines, long_lines, "--max-length", "10"}));
  EXPECT_EQ(pairs.code, 1);
  EXPECT_TRUE(contains(pairs.err, "no usable pair")) << pairs.err;
  EXPECT_FALSE(std::filesystem::exists(data.folder.at("never")));
  const Ran text = run_tril({"train", "--model", data.folder.at("never"), "--arch", "gpt2", "--vocab-type", "char",
                             "--train-sets", data.folder.write("x", "x")});
  EXPECT_EQ(text.code, 1);
  EXPECT_TRUE(contains(text.err, "has nothing to predict")) << text.err;
  EXPECT_FALSE(std::filesystem::exists(data.folder.at("never")));
}

TEST(Train, TheLargestSeedIsGoneOnWith) {
  const Data data;
  const std::string config = data.folder.write("seed.yml", "seed: 18446744073709551615\n");
  ASSERT_EQ(run_tril(data.train("whole", {"--config", config, "--after", "6u"})).code, 0);
  ASSERT_EQ(run_tril(data.train("parts", {"--seed", "18446744073709551615", "--after", "3u"})).code, 0);
  const Ran rest = run_tril(data.train("parts", {"--config", config, "--after", "6u"}));
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_TRUE(file_text(data.folder.at("parts/model.safetensors")) ==
              file_text(data.folder.at("whole/model.safetensors")));
  const Ran other = run_tril(data.train("parts", {"--seed", "18446744073709551614", "--after", "7u"}));
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(contains(other.err, "seed was 18446744073709551615, now 18446744073709551614")) << other.err;
  EXPECT_EQ(run_tril(data.train("none", {"--seed", "18446744073709551616"})).code, 2);
}

TEST(Train, WritesAModelDirectoryWithReports) {
  const Data data;
  const Ran ran = run_tril(data.train("model"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "");
  for (const char* name : {"config.json", "generation_config.json", "model.safetensors", "source.spm", "target.spm",
                           "vocab.json", "tokenizer_config.json", "train.jsonl", "samples.jsonl", "report.html"})
    EXPECT_TRUE(std::filesystem::exists(data.folder.at(std::string("model/") + name))) << name;
  EXPECT_TRUE(contains(file_text(data.folder.at("model/train.jsonl")), "\"type\":\"valid\""));
  const Ran translated = run_tril({"translate", "--model", data.folder.at("model")}, "ab c\n");
  EXPECT_EQ(translated.code, 0) << translated.err;
}

TEST(Train, AStudentTakesItsTeachersVocabularyAndASecondCannotHaveAnother) {
  const Data data;
  ASSERT_EQ(run_tril(data.train("teacher", {"--after", "10u"})).code, 0);
  const auto student = [&](const std::string& model, std::vector<std::string> teachers) {
    std::vector<std::string> more{"--after", "6u", "--distillation-mix", "0.7", "--teacher"};
    for (const std::string& t : teachers) more.push_back(data.folder.at(t));
    return run_tril(data.train(model, more));
  };
  const Ran once = student("student", {"teacher"});
  ASSERT_EQ(once.code, 0) << once.err;
  EXPECT_EQ(file_text(data.folder.at("student/source.spm")), file_text(data.folder.at("teacher/source.spm")));

  ASSERT_EQ(run_tril(data.train("stranger", {"--after", "2u", "--vocab-size", "55"})).code, 0);
  const Ran refused = student("student2", {"teacher", "stranger"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "stranger")) << refused.err;
  EXPECT_TRUE(contains(refused.err, "vocabulary")) << refused.err;
  EXPECT_FALSE(std::filesystem::exists(data.folder.at("student2/config.json")));
}

TEST(Train, LearnsAlignmentsAndGoesOnWithThem) {
  const Data data;
  const std::vector<std::string> learn{"--guided-alignment", "learn", "--deterministic"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), learn.begin(), learn.end());
    return more;
  };
  const Ran whole = run_tril(data.train("whole", with({"--after", "8u"})));
  ASSERT_EQ(whole.code, 0) << whole.err;
  const std::string file = data.folder.at("whole/guided-1.align");
  const std::string out = data.folder.at("by-hand.align");
  ASSERT_EQ(run_tril({"align", "-t", data.folder.at("train.src"), data.folder.at("train.tgt"), "-o", out}).code, 0);
  EXPECT_EQ(file_text(file), file_text(out));
  const std::string source = file_text(data.folder.at("train.src"));
  for (const std::string& wrong : {data.folder.at("train.src"), std::string("-")})
    EXPECT_EQ(run_tril({"align", "-t", data.folder.at("train.src"), data.folder.at("train.tgt"), "-o", wrong}).code, 2);
  EXPECT_EQ(file_text(data.folder.at("train.src")), source);
  ASSERT_EQ(run_tril(data.train("parts", with({"--after", "4u"}))).code, 0);
  ASSERT_EQ(run_tril(data.train("parts", with({"--after", "8u"}))).code, 0);
  const Ran given = run_tril(data.train("given", {"--after", "8u", "--guided-alignment", out, "--deterministic"}));
  ASSERT_EQ(given.code, 0) << given.err;
  const std::string weights = file_text(data.folder.at("whole/model.safetensors"));
  EXPECT_EQ(file_text(data.folder.at("parts/model.safetensors")), weights);
  EXPECT_EQ(file_text(data.folder.at("given/model.safetensors")), weights);
  const Ran tokens = run_tril(data.train("tokens", with({"--after", "2u", "--guided-alignment-units", "tokens"})));
  EXPECT_EQ(tokens.code, 2);
  EXPECT_NE(tokens.err.find("alignments of words"), std::string::npos) << tokens.err;
}

TEST(Train, ConfigFilesAndTheirMistakes) {
  const Data data;
  const Ran dumped = run_tril(data.train("model", {"--seed", "7", "--dump-config"}));
  ASSERT_EQ(dumped.code, 0) << dumped.err;
  EXPECT_TRUE(contains(dumped.out, "seed: 7")) << dumped.out;
  const std::string config = data.folder.write("run.yml", dumped.out);
  const Ran again = run_tril({"train", "--config", config, "--dump-config"});
  EXPECT_EQ(again.out, dumped.out) << again.err;

  const Ran unknown = run_tril({"train", "--config", data.folder.write("bad.yml", "model: m\nmax-tokns: 4\n")});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(contains(unknown.err, "max-tokns") && contains(unknown.err, "max-tokens")) << unknown.err;
  const Ran unit = run_tril(data.train("model", {"--after", "30x"}));
  EXPECT_EQ(unit.code, 2);
  EXPECT_TRUE(contains(unit.err, "--after") && contains(unit.err, "30x")) << unit.err;
  const Ran precision = run_tril(data.train("model", {"--precision", "bf17"}));
  EXPECT_EQ(precision.code, 2);
  EXPECT_TRUE(contains(precision.err, "--precision") && contains(precision.err, "bf16")) << precision.err;
  const Ran missing =
      run_tril(data.train("model", {"--train-sets", data.folder.at("none.src"), data.folder.at("train.tgt")}));
  EXPECT_NE(missing.code, 0);
  EXPECT_TRUE(contains(missing.err, "none.src")) << missing.err;
}

TEST(Train, ASignatureIsTheSameEachTime) {
  const Ran first = run_tril({"signature"}), second = run_tril({"signature"});
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out.size(), 17u);
  EXPECT_EQ(first.out, second.out);
}

}  // namespace
}  // namespace tril::train_test

// Translation with a language model by the program: prompts, context, terms, scores.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/contains.h"
#include "support/paths.h"
#include "support/run_program.h"

namespace tril::prompted_translation_test {
namespace {

std::string golden(const std::string& name) {
  return test::test_dir() + "/golden/lm_translation/" + name;
}

const std::string text = "The dog sleeps in the old house.\n\nIt rains.\n";

Ran translate(const std::string& name, std::vector<std::string> more, const std::string& input = text) {
  std::vector<std::string> args{
      "translate", "--model", golden(name), "--source-language", "en", "--target-language", "de", "--max-length", "12"};
  args.insert(args.end(), more.begin(), more.end());
  return run_tril(args, input);
}

TEST(PromptedTranslation, OneLineGivesOneLine) {
  for (const char* name : {"ALMA-7B-R", "some-chat-model", "translategemma-4b-it"}) {
    const Ran ran = translate(name, {});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const std::vector<std::string> lines = lines_of(ran.out);
    ASSERT_EQ(lines.size(), 3U) << name;
    EXPECT_EQ(lines[1], "");
    EXPECT_NE(lines[0], "");
    EXPECT_TRUE(contains(ran.err, "--max-length", "2"));
  }
  EXPECT_TRUE(contains(translate("ALMA-7B-R", {}).err, "ALMA's prompt"));
  EXPECT_TRUE(contains(translate("some-chat-model", {}).err, "the general prompt", "--prompt-template"));
}

// Further lines and smaller batches change nothing, and context does.
TEST(PromptedTranslation, ContextIsTheLinesBefore) {
  const std::string plain = translate("some-chat-model", {}).out;
  EXPECT_EQ(translate("some-chat-model", {"--batch-size", "1"}).out, plain);
  EXPECT_EQ(translate("some-chat-model", {"--deterministic"}).out, plain);
  const std::vector<std::string> with = lines_of(translate("some-chat-model", {"--context", "1"}).out);
  const std::vector<std::string> without = lines_of(plain);
  EXPECT_EQ(with[0], without[0]);
  EXPECT_NE(with[2], without[2]);
}

TEST(PromptedTranslation, SentencesOfALineHaveTheirOwnPrompts) {
  const std::vector<std::string> each = lines_of(translate("some-chat-model", {}, "The dog sleeps.\nIt rains.\n").out);
  ASSERT_EQ(each.size(), 2U);
  const Ran split = translate("some-chat-model", {"--split", "sentences"}, "The dog sleeps. It rains.\n");
  EXPECT_EQ(split.out, each[0] + " " + each[1] + "\n") << split.err;
}

TEST(PromptedTranslation, ScoresAreThoseOfTheTranslations) {
  const ScratchFolder folder;
  const std::string source = folder.write("source", "It rains.\n"), target = folder.write("target", "Es regnet.\n");
  const Ran scored = run_tril({"score", "--model", golden("some-chat-model"), "--source", source, "--target", target,
                               "--source-language", "eng", "--target-language", "deu_Latn", "--json", "--word-scores"});
  ASSERT_EQ(scored.code, 0) << scored.err;
  const auto line = nlohmann::json::parse(scored.out);
  EXPECT_EQ(line["word_scores"].back()["piece"], "<|im_end|>");
  double sum = 0;
  for (const auto& word : line["word_scores"]) sum += word["log_prob"].get<double>();
  EXPECT_NEAR(sum, line["log_prob"].get<double>(), 1e-4);
  EXPECT_TRUE(contains(
      run_tril({"score", "--model", golden("some-chat-model"), "--source", source, "--target-language", "de"}).err,
      "--target-language", "--target"));
}

TEST(PromptedTranslation, TermsAreInThePromptOrPlacedByTheBeam) {
  const ScratchFolder folder;
  const std::string terms = folder.write("terms", "dog\tHund\n");
  const Ran listed = translate("some-chat-model", {"--terminology", terms, "--json"});
  ASSERT_EQ(listed.code, 0) << listed.err;
  const auto line = nlohmann::json::parse(lines_of(listed.out)[0]);
  EXPECT_EQ(line["translations"][0]["unsatisfied"][0]["target"], "Hund");  // random weights do not obey
  EXPECT_TRUE(contains(translate("ALMA-7B-R", {"--terminology", terms}).err, "--terminology", "beam"));
  const Ran placed = translate("ALMA-7B-R", {"--terminology", terms, "--beam-size", "8", "--json"});
  EXPECT_TRUE(contains(lines_of(placed.out)[0], "Hund", "\"unsatisfied\":[]"));
}

TEST(PromptedTranslation, RefusesWhatHasNoEffect) {
  const auto refused = [](const Ran& ran, const std::string& flag, const std::string& why) {
    EXPECT_EQ(ran.code, 2);
    EXPECT_TRUE(contains(ran.err, flag, why));
  };
  refused(translate("ALMA-7B-R", {"--context", "2"}), "--context", "ALMA");
  refused(translate("ALMA-7B-R", {"--style", "formal"}), "--style", "ALMA");
  refused(translate("ALMA-7B-R", {"--alignment", "hard"}), "--alignment", "encoder-decoder");
  refused(translate("ALMA-7B-R", {"--prompt-template", "towr"}), "--prompt-template", "tower-plus");
  refused(run_tril({"translate", "-m", golden("ALMA-7B-R"), "--source-language", "en"}, text), "--target-language",
          "ALMA");
  refused(run_tril({"translate", "-m", golden("ALMA-7B-R"), "--target-language", "de"}, text), "--source-language",
          "ALMA");
  refused(run_tril({"translate", "-m", golden("ALMA-7B-R"), "--source-language", "german", "--target-language", "fr"},
                   text),
          "german", "de");
}

}  // namespace
}  // namespace tril::prompted_translation_test

// The public interface generates and chats as the program does.
#include <gtest/gtest.h>
#include <tril/tril.h>

#include <nlohmann/json.hpp>

#include "support/contains.h"
#include "support/error_of.h"
#include "support/run_program.h"

namespace tril {
namespace {

const std::string language_model = test::test_dir() + "/golden/lm_translation/some-chat-model";
const std::vector<std::string> prompts{"a dog", "the", "two men"};

TEST(LibraryGenerator, GivesTheTextsOfTheProgram) {
  const v0::Model model = v0::Model::open(language_model);
  EXPECT_FALSE(model.has_encoder());
  const ScratchFolder folder;
  const std::string schema = folder.write("schema.json", R"({"enum": [10, 200]})");
  struct Case {
    v0::Options options;
    std::vector<std::string> args;
  };
  for (const auto& [options, args] : std::vector<Case>{
           {{{"max-new-tokens", 12}, {"beam-size", 1}}, {"--max-new-tokens", "12", "-b", "1"}},
           {{{"max-new-tokens", 8}, {"sampling", true}, {"seed", 3}, {"n", 2}},
            {"--max-new-tokens", "8", "--sampling", "--seed", "3", "--n", "2"}},
           {{{"max-new-tokens", 8}, {"beam-size", 3}, {"n", 2}}, {"--max-new-tokens", "8", "-b", "3", "--n", "2"}},
           {{{"max-new-tokens", 12}, {"regex", "( [a-z]+){2}"}}, {"--max-new-tokens", "12", "--regex", "( [a-z]+){2}"}},
           {{{"max-new-tokens", 12}, {"json-object", true}, {"json-space", "none"}},
            {"--max-new-tokens", "12", "--json-object", "--json-space", "none"}},
           {{{"max-new-tokens", 12}, {"json-schema", schema}}, {"--max-new-tokens", "12", "--json-schema", schema}}}) {
    std::vector<std::string> command{"generate", "-m", language_model, "--json", "--no-echo"};
    command.insert(command.end(), args.begin(), args.end());
    for (const std::string& prompt : prompts) command.insert(command.end(), {"--prompt", prompt});
    const Ran ran = run_tril(command);
    ASSERT_EQ(ran.code, 0) << ran.err;
    v0::Options with_scores = options;
    with_scores.push_back({"scores", true});
    v0::Generator generator(model, with_scores);
    const auto lists = generator.generate(prompts);
    const std::vector<std::string> lines = lines_of(ran.out);
    ASSERT_EQ(lists.size(), lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto expected = nlohmann::json::parse(lines[i])["generations"];
      ASSERT_EQ(lists[i].size(), expected.size());
      for (std::size_t n = 0; n < expected.size(); ++n) {
        EXPECT_EQ(lists[i][n].text, expected[n]["text"].get<std::string>());
        EXPECT_EQ(lists[i][n].log_prob, expected[n]["log_prob"]);
        EXPECT_EQ(v0::name_of(lists[i][n].stop_reason), expected[n]["finish_reason"].get<std::string>());
      }
    }
  }
}

TEST(LibraryGenerator, ObeysSchemasAndOtherModelsLikeTheProgram) {
  const v0::Model model = v0::Model::open(language_model);
  v0::Generator by_text(model, {{"max-new-tokens", 12}, {"json-schema", R"({"enum": [10, 200]})"}});
  const std::string text = by_text.generate("a dog");
  EXPECT_TRUE(text == "10" || text == "200") << text;
  EXPECT_EQ(by_text.chat({{"user", "hello"}})[0].text.find_first_not_of("0123456789"), std::string::npos);
  const auto refused = [&](const v0::Options& options) { return error_of([&] { v0::Generator(model, options); }); };
  EXPECT_TRUE(contains(refused({{"json-schema", R"({"enum": 3})"}}), "JSON schema", "enum"));
  EXPECT_TRUE(contains(refused({{"json-space", "lines"}}), "json_space", "no effect"));
  EXPECT_TRUE(contains(refused({{"regex", "a"}, {"json-object", true}}), "regex", "json-object"));

  const Ran ran = run_tril({"generate", "-m", language_model, "--models", language_model, "--no-echo", "--prompt",
                            "a dog", "--max-new-tokens", "9", "-b", "1"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  v0::Generator joined(v0::Model::open(language_model, {{"models", language_model}}),
                       {{"max-new-tokens", 9}, {"beam-size", 1}});
  EXPECT_EQ(joined.generate("a dog") + "\n", ran.out);
}

TEST(LibraryGenerator, StreamsWhatItReturns) {
  v0::Generator generator(v0::Model::open(language_model), {{"max-new-tokens", 10}, {"sampling", true}, {"n", 2}});
  std::vector<std::string> streamed(prompts.size() * 2);
  std::size_t ended = 0;
  const auto lists = generator.generate(prompts, {.on_text = [&](const v0::TextPiece& p) {
                                          streamed.at(p.prompt * 2 + static_cast<std::size_t>(p.sample)) += p.text;
                                          ended += p.ended ? 1 : 0;
                                        }});
  EXPECT_EQ(ended, streamed.size());
  for (std::size_t i = 0; i < streamed.size(); ++i) EXPECT_EQ(streamed[i], lists[i / 2][i % 2].text);
}

TEST(LibraryGenerator, StopsWhenItIsAsked) {
  v0::Generator generator(v0::Model::open(language_model), {{"max-new-tokens", 30}, {"beam-size", 1}});
  std::stop_source stop;
  const auto lists = generator.generate(
      {"a dog"}, {.on_text = [&](const v0::TextPiece&) { stop.request_stop(); }, .stop = stop.get_token()});
  EXPECT_EQ(lists[0][0].stop_reason, v0::StopReason::cancelled);
  EXPECT_TRUE(contains(error_of([&] {
                         v0::Generator(v0::Model::open(language_model), {{"stop", ""}}).generate("a");
                       }),
                       "stop"));
}

TEST(LibraryGenerator, AnswersAsTheChatOfTheProgram) {
  const Ran ran = run_tril({"chat", "-m", language_model, "--max-new-tokens", "12"}, "hello\n");
  ASSERT_EQ(ran.code, 0) << ran.err;
  v0::Generator generator(v0::Model::open(language_model), {{"max-new-tokens", 12}});
  const auto answers = generator.chat({{"user", "hello"}});
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].text + "\n", ran.out);
  const std::string marian = test::test_dir() + "/golden/lm_translation/ALMA-7B-R";
  EXPECT_TRUE(contains(error_of([&] {
                         v0::Generator(v0::Model::open(marian)).chat({{"user", "hello"}});
                       }),
                       "has no chat template"));
}

TEST(LibraryTranslator, AsksALanguageModelAsTheProgram) {
  const std::string directory = test::test_dir() + "/golden/lm_translation/Hunyuan-MT-7B";
  const Ran ran = run_tril(
      {"translate", "-m", directory, "--source-language", "en", "--target-language", "de", "--max-length", "8"},
      "a dog\nthe ball\n");
  ASSERT_EQ(ran.code, 0) << ran.err;
  v0::Translator translator(v0::Model::open(directory),
                            {{"source-language", "en"}, {"target-language", "de"}, {"max-length", 8}});
  const std::vector<std::string> lines = translator.translate(std::vector<std::string>{"a dog", "the ball"});
  EXPECT_EQ(lines[0] + "\n" + lines[1] + "\n", ran.out);
}

TEST(LibraryScorer, ScoresTextsAsTheProgram) {
  const ScratchFolder folder;
  const Ran ran =
      run_tril({"score", "-m", language_model, "-s", folder.write("s", "a dog runs\nthe ball\n"), "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  v0::Scorer scorer(v0::Model::open(language_model));
  const std::vector<v0::Score> scores = scorer.score_texts({"a dog runs", "the ball"});
  const std::vector<std::string> lines = lines_of(ran.out);
  for (std::size_t i = 0; i < lines.size(); ++i)
    EXPECT_EQ(scores[i].log_prob, nlohmann::json::parse(lines[i])["log_prob"]);
}

}  // namespace
}  // namespace tril

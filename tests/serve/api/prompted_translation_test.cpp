// A language model that translates, over sockets: LibreTranslate's routes and OpenAI's for the same model.
#include <gtest/gtest.h>

#include "decode/texts/prompted_text.h"
#include "support/contains.h"
#include "support/prompted_model.h"
#include "support/serving.h"

namespace tril::serve::prompted_test {
namespace {

using testing::prompted;

struct PromptedServing : Serving {
  static void SetUpTestSuite() { translator = small_translator(), writer = prompted("some-chat-model", {"en", "de"}); }

  static std::string expected(const std::string& text, std::vector<std::string> context = {}) {
    search::TranslatorOptions o;
    o.decoding.search = writer.search;
    o.max_length = 10;
    o.source_language = "en", o.target_language = "de";
    o.context = static_cast<std::int32_t>(context.size());
    context.push_back(text);
    return search::Translator(search::make_translation_text(*writer.model, writer.tokenizer, writer.prompt), o)
        .translate(context)
        .back()[0]
        .text;
  }
};

TEST_F(PromptedServing, TranslatesAndContinues) {
  serve();
  const Json plain = post("/translate", {{"q", "It rains."}, {"source", "en"}, {"target", "de"}, {"model", "plays"}});
  EXPECT_EQ(plain["translatedText"], expected("It rains."));
  const Json list = post("/translate", {{"q", {"It rains. The dog sleeps.", " "}},
                                        {"source", "en"},
                                        {"target", "de"},
                                        {"model", "plays"},
                                        {"context", 1},
                                        {"scores", true}});
  EXPECT_EQ(list["translatedText"][1], " ");
  EXPECT_EQ(list["details"][0][1]["translations"][0]["text"], expected("The dog sleeps.", {"It rains."}));
  EXPECT_EQ(post("/v1/completions", {{"model", "plays"}, {"prompt", "a"}, {"max_tokens", 3}})["object"],
            "text_completion");
  EXPECT_EQ(
      post("/v1/chat/completions",
           {{"model", "plays"}, {"messages", {{{"role", "user"}, {"content", "a"}}}}, {"max_tokens", 3}})["object"],
      "chat.completion");
  const Json models = Json::parse(ask("GET", "/v1/models").body)["data"];
  EXPECT_EQ(models[1]["translates"], true);
  EXPECT_EQ(models[1]["continues"], true);
  EXPECT_EQ(models[1]["targets"], Json({"en", "de"}));
  EXPECT_EQ(models[0]["continues"], false);
  const std::string languages = ask("GET", "/languages").body;
  EXPECT_TRUE(contains(languages, "\"code\":\"de\"", "\"code\":\"en\""));
}

TEST_F(PromptedServing, TermsAreInThePrompt) {
  serve();
  const Json answer = post("/translate", {{"q", "The dog sleeps."},
                                          {"source", "en"},
                                          {"target", "de"},
                                          {"model", "plays"},
                                          {"scores", true},
                                          {"terminology", {{"dog", "Hund"}}}});
  EXPECT_EQ(answer["details"][0]["translations"][0]["unsatisfied"][0]["target"], "Hund");
}

TEST_F(PromptedServing, StreamsAndScores) {
  serve();
  const Answer events =
      ask("POST", "/translate",
          Json{{"q", "It rains."}, {"source", "en"}, {"target", "de"}, {"model", "plays"}, {"stream", true}}.dump());
  EXPECT_TRUE(contains(events.body, "partial", Json(expected("It rains.")).dump(), "[DONE]"));
  const Json scored = post("/score", {{"source", "It rains."},
                                      {"target", "Es regnet."},
                                      {"source_language", "en"},
                                      {"target_language", "de"},
                                      {"model", "plays"}});
  EXPECT_EQ(scored["scores"][0]["tokens"].back(), "<|im_end|>");
}

TEST_F(PromptedServing, RefusesWhatThePromptCannotSay) {
  serve();
  const auto refused = [&](Json more, const std::string& part) {
    Json body{{"q", "It rains."}, {"source", "en"}, {"target", "de"}, {"model", "plays"}};
    body.update(more);
    EXPECT_TRUE(contains(post("/translate", body, 400)["error"].get<std::string>(), part));
  };
  refused({{"alignment", true}}, "alignment");
  refused({{"target", "fr"}}, "target");
  refused({{"model", "de"}, {"style", "formal"}}, "style");
  refused({{"model", "de"}, {"context", 1}}, "context");
}

}  // namespace
}  // namespace tril::serve::prompted_test

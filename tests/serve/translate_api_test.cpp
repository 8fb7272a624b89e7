// Translations over sockets, with a small model: what comes back is what the library gives, in every form in which it may be asked.
#include "serve/polyglot.h"
#include "serve/serving.h"

namespace tril::serve {
namespace {

TEST_F(Serving, TranslatesAsTheLibraryDoes) {
  serve();
  const std::string one = "a dog runs in the snow", two = "the old dog and the ball";
  Json got = post("/translate", {{"q", one}, {"source", "en"}, {"target", "de"}});
  EXPECT_EQ(got["translatedText"], translated(one, 1)[0].text);
  EXPECT_FALSE(got.contains("alternatives"));
  got = post("/translate", {{"q", {one, two, ""}}, {"source", "auto"}, {"target", "de"}, {"alternatives", 2}});
  ASSERT_EQ(got["translatedText"].size(), 3u);
  EXPECT_EQ(got["translatedText"][1], translated(two, 3)[0].text);
  EXPECT_EQ(got["translatedText"][2], "");
  EXPECT_EQ(got["detectedLanguage"][0]["language"], "en");
  std::vector<std::string> others;
  for (const auto& t : translated(one, 3))
    if (t.text != translated(one, 3)[0].text) others.push_back(t.text);
  EXPECT_EQ(got["alternatives"][0].get<std::vector<std::string>>(), others);
  // Sentences are translated each by itself, lines stay.
  got = post("/translate",
             {{"q", " A dog runs. Two men play!\n\nthe ball"}, {"source", "en"}, {"target", "de"}, {"beam_size", 1}});
  EXPECT_EQ(got["translatedText"], " " + translated("A dog runs.", 1, 1)[0].text + " " +
                                       translated("Two men play!", 1, 1)[0].text + "\n\n" +
                                       translated("the ball", 1, 1)[0].text);
  got = post("/translate",
             {{"q", "<p>a <b>dog</b> &amp; men</p>"}, {"source", "en"}, {"target", "de"}, {"format", "html"}});
  const std::string html = got["translatedText"];
  EXPECT_TRUE(html.starts_with("<p>") && html.ends_with("</p>") && html.find("<b>") != std::string::npos) << html;
  got = post("/translate", {{"q", one}, {"source", "en"}, {"target", "de"}, {"scores", true}, {"alignment", true}});
  const Json& best = got["details"][0]["translations"][0];
  EXPECT_NEAR(best["score"].get<double>(), translated(one, 1)[0].score, 1e-4);
  EXPECT_EQ(best["attention"].size(), best["tokens"].size());
  EXPECT_EQ(best["attention"][0].size(), best["source_tokens"].size());
  got =
      post("/translate",
           {{"q", one}, {"target", "de"}, {"terminology", {{"dog", "red ball"}}}, {"beam_size", 8}, {"scores", true}});
  EXPECT_NE(got["translatedText"].get<std::string>().find("red ball"), std::string::npos) << got.dump();
  got = post("/translate", {{"q", one}, {"target", "de"}, {"prefix", "the old "}, {"split", "none"}});
  EXPECT_TRUE(got["translatedText"].get<std::string>().starts_with("the old "));
  got = post("/translate", {{"q", one}, {"target", "de"}, {"branch", true}, {"alternatives", 4}, {"split", "none"}});
  EXPECT_GE(got["alternatives"].size(), 2u);
  const Answer form = ask("POST", "/translate", "");
  EXPECT_EQ(form.status, 400);
}

TEST_F(Serving, TakesFormsAndStreams) {
  serve();
  const std::string text = "a dog runs in the snow",
                    form = "q=a+dog+runs+in+the%20snow&source=en&target=de&format=text";
  Client client(server->port());
  client.send(
      "POST /translate HTTP/1.1\r\nHost: t\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: " +
      std::to_string(form.size()) + "\r\n\r\n" + form);
  EXPECT_EQ(Json::parse(client.answer().body)["translatedText"], translated(text, 1)[0].text);
  const Answer a = client.ask("POST", "/translate", Json{{"q", text}, {"target", "de"}, {"stream", true}}.dump());
  EXPECT_EQ(a.headers.at("content-type"), "text/event-stream");
  EXPECT_TRUE(a.body.starts_with("data: {\"index\":0,\"partial\":")) << a.body;
  EXPECT_TRUE(a.body.ends_with("data: [DONE]\n\n"));
  EXPECT_NE(a.body.find("\"translatedText\":" + Json(translated(text, 1)[0].text).dump()), std::string::npos) << a.body;
}

// A model that is told its languages translates from each into each, and scores and shows what it looks at for the same.
TEST_F(Serving, TakesTheLanguagesOfModelsThatHaveThem) {
  const Loaded many = testing::small_polyglot();
  serve({}, many);
  const Json model = Json::parse(ask("GET", "/v1/models").body)["data"][0];
  EXPECT_EQ(model["sources"].size(), 202u);
  EXPECT_EQ(model["sources"], model["targets"]);
  const std::string text = "Hello there";
  search::TranslatorOptions o;
  o.decoding.search = many.search;
  o.max_length = many.text.max_length;
  o.source_language = "fra_Latn", o.target_language = "deu_Latn";
  const search::Translation expected = search::Translator(*many.model, many.tokenizer, o).translate({&text, 1})[0][0];
  EXPECT_EQ(post("/translate", {{"q", text}, {"source", "fra_Latn"}, {"target", "deu_Latn"}})["translatedText"],
            expected.text);
  const Json pair{{"source", text}, {"target", "Hello"}};
  Json told = pair;
  told["source_language"] = "fra_Latn", told["target_language"] = "__deu_Latn__";
  const Json score = post("/score", told)["scores"][0];
  EXPECT_EQ(score["tokens"][0], "deu_Latn");
  EXPECT_NE(score["log_prob"], post("/score", pair)["scores"][0]["log_prob"]);
  const Json map = post("/attention", told)["maps"][0];
  EXPECT_EQ(map["keys"][0], "fra_Latn");
  told["target_language"] = "deu";
  EXPECT_NE(post("/score", told, 400).dump().find("target_language"), std::string::npos);
  // Who has but one pair has no choice.
  serve();
  const Json one = Json::parse(ask("GET", "/v1/models").body)["data"][0];
  EXPECT_EQ(one["sources"], Json({"en"}));
  EXPECT_EQ(one["targets"], Json({"de"}));
}

}  // namespace
}  // namespace tril::serve

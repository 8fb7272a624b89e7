// Translations over sockets, with a small model: the answers equal the library's results, in every form of request.
#include "document/markup/html.h"
#include "support/polyglot.h"
#include "support/serving.h"

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
  EXPECT_EQ(got["detectedLanguage"].size(), 3u);
  std::vector<std::string> others;
  for (const auto& t : translated(one, 3))
    if (t.text != translated(one, 3)[0].text) others.push_back(t.text);
  EXPECT_EQ(got["alternatives"][0].get<std::vector<std::string>>(), others);
  // Sentences are translated separately, lines are kept.
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

// Forms of both kinds, and fields in the address: no text is lost.
TEST_F(Serving, FormsSayWhatJsonDoes) {
  serve();
  const std::string one = "a dog runs", two = "the old dog";
  const auto form = [&](const std::string& address, const std::string& type, const std::string& body) {
    Client client(server->port());
    client.send("POST " + address + " HTTP/1.1\r\nHost: t\r\nContent-Type: " + type +
                "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    const Answer a = client.answer();
    Json json = Json::parse(a.body);
    json["status"] = a.status;
    return json;
  };
  const std::string encoded = "application/x-www-form-urlencoded";
  const Json both{translated(one, 1)[0].text, translated(two, 1)[0].text};
  EXPECT_EQ(form("/translate", encoded, "q=a+dog+runs&q=the+old+dog&source=en&target=de")["translatedText"], both);
  EXPECT_EQ(
      form("/translate", encoded, "q=a+dog+runs&source=en&target=de&beam_size=1&scores=true")["details"][0]["source"],
      one);
  Json got = form("/translate", encoded, "q=a+dog&source=en&source=fr&target=de");
  EXPECT_EQ(got["status"], 400);
  EXPECT_EQ(got["error"], "source: given 2 times, expected once");
  EXPECT_EQ(form("/translate?q=a+dog+runs&source=en&target=de", encoded, "")["translatedText"], both[0]);
  EXPECT_EQ(form("/translate?source=en&target=de&q=a+dog+runs", encoded, "q=the+old+dog")["translatedText"], both);
  const auto field = [](const std::string& name, const std::string& value) {
    return "--xyz\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
  };
  const std::string multipart = "multipart/form-data; boundary=xyz";
  EXPECT_EQ(form("/translate", multipart,
                 field("q", one) + field("q", two) + field("source", "en") + field("target", "de") +
                     field("terminology", "{}") + "--xyz--\r\n")["translatedText"],
            both);
  got = form("/translate", multipart,
             "--xyz\r\nContent-Disposition: form-data; name=q; filename=a.txt\r\n\r\na\r\n--xyz--\r\n");
  EXPECT_EQ(got["status"], 415);
  EXPECT_EQ(got["error"], "q: files are not accepted; send the text as a field");
  EXPECT_EQ(form("/translate", multipart, "q=a")["status"], 400);
  // The other routes accept only JSON, whatever the content type.
  for (const std::string& type : {encoded, multipart}) {
    got = form("/tokenize", type, "text=a&model=plays");
    EXPECT_EQ(got["status"], 415);
    EXPECT_EQ(got["error"]["message"], "this route takes JSON, but the body is a form");
  }
  EXPECT_EQ(form("/tokenize", encoded, R"( {"text": "a", "model": "plays"})")["status"], 200);
}

// A key whose field name is disguised in a form is not logged.
TEST_F(Serving, KeysOfFormsAreNotLogged) {
  ServiceOptions o;
  o.log_texts = true, o.keys.api = {"some-secret"};
  serve(o);
  for (const char* name : {"api_key", "api%5Fkey", "%61pi_key"}) {
    const std::string body = std::string("q=a+dog&target=de&") + name + "=some-secret";
    Client client(server->port());
    client.send(
        "POST /translate HTTP/1.1\r\nHost: t\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body);
    (void)client.answer();
  }
  server.reset();  // flushes the log
  const std::lock_guard lock(mutex);
  ASSERT_EQ(log.size(), 3u);
  for (const std::string& line : log) {
    EXPECT_EQ(line.find("some-secret"), std::string::npos) << line;
    EXPECT_NE(line.find("a dog"), std::string::npos) << line;
  }
}

TEST_F(Serving, LengthsThatContradictEachOtherAreRefused) {
  Loaded long_winded = translator;
  long_winded.text.min_length = 5;
  serve({}, long_winded);
  const auto error = [&](Json lengths) {
    lengths["q"] = "a dog", lengths["source"] = "en", lengths["target"] = "de";
    return post("/translate", lengths, 400)["error"].get<std::string>();
  };
  EXPECT_EQ(error({{"min_length", 7}, {"max_length", 6}}), "min_length: 7 is above the longest output of 6");
  EXPECT_EQ(error({{"min_length", 25}}), "min_length: 25 is above the longest output of 24") << "which the server has";
  EXPECT_EQ(error({{"max_length", 4}}), "max_length: 4 is below the shortest output of 5") << "which the server has";
  EXPECT_EQ(error({{"min_length", 129}, {"max_length", 200}}), "min_length: 129 is above the model's 128 positions");
  EXPECT_EQ(
      error({{"min_length", 127}, {"max_length", 200}, {"prefix", "the old dog"}, {"split", "none"}}).substr(0, 28),
      "min_length: 127 is above the");
  const Json got = post(
      "/translate",
      {{"q", "a dog"}, {"source", "en"}, {"target", "de"}, {"min_length", 7}, {"max_length", 7}, {"scores", true}});
  EXPECT_EQ(got["details"][0]["translations"][0]["tokens"].size(), 7u);
}

TEST_F(Serving, ATextLongerThanThePositionsIsTranslatedInParts) {
  serve();
  std::string text = "a dog runs";
  for (int i = 0; i < 100; ++i) text += i % 10 == 9 ? ", the ball" : " and a dog";
  for (const char* split : {"lines", "sentences"}) {
    const Json got =
        post("/translate",
             {{"q", text}, {"source", "en"}, {"target", "de"}, {"split", split}, {"beam_size", 1}, {"scores", true}});
    std::string sources;
    for (const Json& part : got["details"]) sources += (sources.empty() ? "" : " ") + part["source"].get<std::string>();
    EXPECT_EQ(sources, text);
    EXPECT_GT(got["details"].size(), 1u);
  }
}

TEST_F(Serving, MarkupStaysAsItWas) {
  serve();
  const auto one = [&](const std::string& text) { return document::html_escaped(translated(text, 1)[0].text); };
  const Json got =
      post("/translate", {{"q", "<ul>\n  <li>a dog</li>\r\n\t<li> the\n  ball &amp;\n</li>&nbsp;\n</ul>\n"},
                          {"source", "en"},
                          {"target", "de"},
                          {"format", "html"},
                          {"scores", true}});
  // The line end within the second item is put into a blank of its translation.
  std::string page = got["translatedText"];
  EXPECT_EQ(page.find("\n  ", page.find("<li> ")) != std::string::npos,
            one("the ball &").find(' ') != std::string::npos);
  if (const std::size_t at = page.find("\n  ", page.find("<li> ")); at != std::string::npos) page.replace(at, 3, " ");
  EXPECT_EQ(page, "<ul>\n  <li>" + one("a dog") + "</li>\r\n\t<li> " + one("the ball &") + "\n</li>&nbsp;\n</ul>\n");
  EXPECT_EQ(got["details"][1]["source"], "the ball &");
}

TEST_F(Serving, WhatWeblateWritesForPlaceholdersComesBack) {
  serve();
  const Json got = post("/translate", {{"q", {"a [X2X] and [X12X] men", "a dog"}}, {"source", "en"}, {"target", "de"}});
  const std::string text = got["translatedText"][0];
  for (const std::string mark : {"[X2X]", "[X12X]"}) {
    EXPECT_NE(text.find(mark), text.npos) << text;
    EXPECT_EQ(text.find(mark), text.rfind(mark)) << text;
  }
  EXPECT_EQ(got["translatedText"][1], translated("a dog", 1)[0].text);
}

TEST_F(Serving, ASentenceIsTranslatedWholeAcrossTags) {
  serve();
  const Json got = post("/translate", {{"q", "<p>a <b>dog</b> runs <i>in the <u>snow</u></i></p>"},
                                       {"source", "en"},
                                       {"target", "de"},
                                       {"format", "html"},
                                       {"scores", true},
                                       {"alternatives", 2}});
  ASSERT_EQ(got["details"].size(), 1u);
  EXPECT_EQ(got["details"][0]["source"], "a dog runs in the snow");
  std::vector<std::string> pages{got["translatedText"]};
  for (const Json& other : got["alternatives"]) pages.push_back(other);
  for (const std::string& page : pages) {
    std::string text = page;
    for (const char* const tag : {"<p>", "</p>", "<b>", "</b>", "<i>", "</i>", "<u>", "</u>"}) {
      const std::size_t at = text.find(tag);
      ASSERT_NE(at, std::string::npos) << tag << page;
      text.erase(at, std::string(tag).size());
    }
    EXPECT_EQ(text.find('<'), std::string::npos) << page;
    const auto list = translated("a dog runs in the snow", 3);
    EXPECT_TRUE(std::any_of(list.begin(), list.end(), [&](const auto& t) { return t.text == text; })) << page;
    EXPECT_GT(page.find("<u>"), page.find("<i>")) << "within its parent";
    EXPECT_LT(page.find("</u>"), page.find("</i>"));
  }
}

// An invalid request gets an ordinary error, and no stream begins.
TEST_F(Serving, ATranslationThatIsRefusedStreamsNothing) {
  ServiceOptions o;
  o.most_texts = 1;
  serve(o);
  const std::vector<std::pair<Json, std::string>> wrong{
      {{{"q", "a dog"}, {"target", "es"}}, "no model here translates"},
      {{{"q", "a dog"}, {"model", "nothing"}}, "nothing"},
      {{{"q", "a dog"}, {"min_length", 500}}, "min_length: 500 is above"},
      {{{"q", "a dog"}, {"prefix", "x"}}, "prefix: needs"},
      {{{"q", "a dog"}, {"beam_size", 0}}, "beam_size"},
      {{{"q", "a dog"}, {"terminology", 3}}, "terminology: expected"},
      {{{"q", Json::array({"a", "b"})}}, "q: 2 texts, but at most 1 is allowed in a request"}};
  for (const auto& [fields, says] : wrong) {
    Json body = fields;
    const auto answer = [&](bool stream) {
      body["stream"] = stream;
      return ask("POST", "/translate", body.dump());
    };
    const Answer a = answer(true), plain = answer(false);
    EXPECT_EQ(a.status, plain.status) << body;
    EXPECT_TRUE(a.status == 400 || a.status == 404) << a.status << body;
    EXPECT_EQ(a.headers.at("content-type"), plain.headers.at("content-type"));
    EXPECT_EQ(a.body, plain.body);
    EXPECT_NE(Json::parse(a.body)["error"].get<std::string>().find(says), std::string::npos) << a.body;
  }
}

// A multilingual model translates between all its languages, and scores and shows attention for the same.
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
  const Json pair{{"source", text}, {"target", "Hello"}, {"source_language", "fra_Latn"}};
  Json told = pair;
  told["target_language"] = "__deu_Latn__";
  const Json score = post("/score", told)["scores"][0];
  EXPECT_EQ(score["tokens"][0], "deu_Latn");
  EXPECT_NE(score["log_prob"], post("/score", pair)["scores"][0]["log_prob"]);
  const Json map = post("/attention", told)["maps"][0];
  EXPECT_EQ(map["keys"][0], "fra_Latn");
  told["target_language"] = "deu";
  EXPECT_EQ(post("/score", told)["scores"][0], score) << "another form of the code";
  told["target_language"] = "tlh";
  EXPECT_NE(post("/score", told, 400).dump().find("target_language"), std::string::npos);
  // A model with a single pair leaves no choice.
  serve();
  const Json one = Json::parse(ask("GET", "/v1/models").body)["data"][0];
  EXPECT_EQ(one["sources"], Json({"en"}));
  EXPECT_EQ(one["targets"], Json({"de"}));
}

}  // namespace
}  // namespace tril::serve

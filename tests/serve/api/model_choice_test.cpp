// Which model translates a request, over sockets: no language is guessed, and ambiguities are named.
#include <atomic>

#include "support/polyglot.h"
#include "support/serving.h"

namespace tril::serve {
namespace {

struct Choosing : Serving {
  static Loaded speaks(const std::string& source, const std::string& target) {
    Loaded l = translator;
    l.source_language = source, l.target_language = target;
    return l;
  }
  void serve_these(std::vector<ModelLoader> sources) {
    server.reset(), service.reset(), models.reset();
    models = std::make_unique<Models>(std::move(sources));
    service = std::make_unique<Service>(ServiceOptions{}, *models);
    server = std::make_unique<HttpServer>(
        HttpServerOptions{.port = 0},
        [this](HttpRequest r, std::shared_ptr<Responder> out) { service->handle(std::move(r), std::move(out)); });
  }
  void serve_these(const std::vector<std::pair<std::string, Loaded>>& list) {
    std::vector<ModelLoader> sources;
    for (const auto& [name, loaded] : list) sources.push_back({name, [l = loaded] { return l; }});
    serve_these(std::move(sources));
    models->wait();
  }
  Json translate(Json more, int status = 200) const {
    more["q"] = "a dog", more["beam_size"] = 1;
    return post("/translate", more, status);
  }
  std::string refused(const Json& request, int status = 400) const { return translate(request, status)["error"]; }
};

TEST_F(Choosing, TheOneSourceThatThereIsIsAssumedAndToldAsSuch) {
  serve_these({{"a", speaks("en", "de")}, {"b", speaks("en", "fr")}});
  for (const Json& source : {Json("auto"), Json(nullptr), Json("")}) {
    const Json got = translate({{"source", source}, {"target", "fr"}});
    EXPECT_EQ(got["sourceAssumed"], "en");
    EXPECT_EQ(got["detectedLanguage"], Json::parse(R"({"confidence":0,"language":"en"})"));
  }
  const Json said = translate({{"source", "en"}, {"target", "fr"}});
  EXPECT_FALSE(said.contains("sourceAssumed") || said.contains("detectedLanguage"));
  const Json list = post("/translate", {{"q", {"a", "b"}}, {"target", "de"}, {"beam_size", 1}});
  EXPECT_EQ(list["detectedLanguage"].size(), 2u);
  EXPECT_EQ(list["detectedLanguage"][1]["confidence"], 0);
  // The target language is a choice too.
  EXPECT_EQ(refused({{"source", "en"}}), "target: the models here translate into de, fr; choose one");
  EXPECT_EQ(translate({{"model", "b"}})["sourceAssumed"], "en");
}

TEST_F(Choosing, SeveralSourcesHaveToBeSaid) {
  serve_these({{"a", speaks("en", "de")}, {"b", speaks("fr", "de")}, {"c", speaks("it", "es")}});
  for (const Json& source : {Json("auto"), Json(nullptr)})
    EXPECT_EQ(refused({{"source", source}, {"target", "de"}}),
              "source: language detection is not supported, and the text may be in any of en, fr; choose one");
  EXPECT_EQ(translate({{"target", "es"}})["sourceAssumed"], "it");
  EXPECT_EQ(translate({{"model", "b"}, {"target", "de"}})["sourceAssumed"], "fr");
  EXPECT_FALSE(translate({{"source", ">>fr<<"}, {"target", "__de__"}}).contains("sourceAssumed"));
  // A request that no model satisfies is refused with the possible choices.
  EXPECT_EQ(
      refused({{"source", "en"}, {"target", "es"}}),
      "no model here translates from en into es; available: a from en into de; b from fr into de; c from it into es");
  EXPECT_EQ(refused({{"model", "a"}, {"source", "fr"}}), "source: model a does not translate from fr, but from en");
  EXPECT_EQ(refused({{"model", "a"}, {"target", "es"}}), "target: model a does not translate into es, but into de");
  EXPECT_EQ(post("/detect", {{"q", "ein Hund"}}, 501)["error"],
            "language detection is not supported; the models read: en, fr, it");
  post("/detect", Json::object(), 400);
}

TEST_F(Choosing, AModelThatReadsSeveralLanguagesIsTold) {
  serve_these({{"many", testing::small_polyglot()}});
  for (const Json& request : {Json{{"target", "deu_Latn"}}, Json{{"source", "auto"}, {"model", "many"}}}) {
    const std::string error = refused(request);
    EXPECT_TRUE(error.starts_with("source: language detection is not supported")) << error;
    EXPECT_NE(error.find("fra_Latn, "), std::string::npos) << error;
  }
  EXPECT_FALSE(translate({{"source", "fra_Latn"}, {"target", "deu_Latn"}}).contains("sourceAssumed"));
  EXPECT_FALSE(translate({{"source", "fra_Latn"}}).contains("sourceAssumed")) << "into what its directory says";
  refused({{"source", "fr"}, {"model", "many"}});
  const Json settings = Json::parse(ask("GET", "/frontend/settings").body);
  EXPECT_EQ(settings["language"]["source"]["code"], "");
}

// If nothing gives the target language, the model must not choose it.
TEST_F(Choosing, AModelWithoutATargetOfItsOwnIsTold) {
  serve_these({{"many", testing::small_polyglot("")}});
  for (const Json& target : {Json(nullptr), Json("")})
    for (const Json& model : {Json(nullptr), Json("many")}) {
      const std::string error = refused({{"source", "fra_Latn"}, {"target", target}, {"model", model}});
      EXPECT_TRUE(error.starts_with("target: model many translates into ")) << error;
      EXPECT_NE(error.find("deu_Latn, "), std::string::npos) << error;
    }
  (void)translate({{"source", "fra_Latn"}, {"target", "deu_Latn"}});
}

// "auto" is only for the source.
TEST_F(Choosing, NoTargetIsFoundOut) {
  serve_these({{"many", testing::small_polyglot()}, {"de", speaks("en", "de")}});
  for (const Json& model : {Json(nullptr), Json("many"), Json("de")})
    EXPECT_EQ(refused({{"source", "en"}, {"target", "auto"}, {"model", model}}),
              "target: expected a language, got \"auto\", which is only for source");
}

TEST_F(Choosing, AModelThatDoesNotSayItsLanguagesTakesAnyAndComesLast) {
  serve_these({{"silent", speaks("", "")}, {"de", speaks("en", "de")}});
  (void)translate({{"source", "en"}, {"target", "de"}});
  EXPECT_NE(ask("GET", "/metrics").body.find("tril_sentences_total{model=\"de\",outcome=\"ended\"} 1"),
            std::string::npos)
      << "the one that knows them";
  (void)translate({{"source", "sv"}, {"target", "fi"}});
  EXPECT_NE(ask("GET", "/metrics").body.find("tril_sentences_total{model=\"silent\",outcome=\"ended\"} 1"),
            std::string::npos);
  EXPECT_EQ(refused({{"source", "auto"}, {"target", "de"}}),
            "source: language detection is not supported, and the text may be in any of en, or in the language of "
            "model silent; choose one");
  const Json languages = Json::parse(ask("GET", "/languages").body);
  EXPECT_EQ(languages.back(), Json::parse(R"({"code":"und","name":"unknown","targets":[]})"));
  // A single model translates any text, and does not say its language.
  serve_these({{"silent", speaks("", "")}});
  const Json got = translate({{"source", "auto"}, {"target", "de"}});
  EXPECT_FALSE(got.contains("sourceAssumed") || got.contains("detectedLanguage"));
  EXPECT_EQ(post("/detect", {{"q", "a"}}, 501)["error"],
            "language detection is not supported; the models read: languages that they do not name");
  serve_these({{"one", speaks("", "")}, {"two", speaks("", "")}});
  EXPECT_EQ(refused({{"source", "en"}, {"target", "de"}}),
            "model: the possible models do not state their languages; choose one of one, two");
  EXPECT_FALSE(translate({{"model", "two"}}).contains("sourceAssumed"));
}

// A model with these tags.
Loaded tagged(const Loaded& like, const std::vector<std::string>& tags) {
  const std::string spm = file_text(test::test_dir() + "/golden/hf/tokenizers/spm_unigram/spm.model");
  Loaded l = like;
  l.tokenizer = make_marian_tokenizer({.source_spm = spm, .target_spm = spm, .tags = tags});
  l.model = testing::small_marian(*l.tokenizer, l.tokenizer->special(Side::target).pad, 64, 5);
  l.search.eos_ids = {l.model->special_ids().eos};
  return l;
}

// The target language is given by the request, the text's own tag, or the server's options; otherwise it is unknown.
TEST_F(Choosing, ATextForAModelWithSeveralTagsHasOne) {
  const std::vector<std::string> tags{">>de<<", ">>fr<<"};
  serve_these({{"tags", tagged(speaks("en", ""), tags)}});
  const auto sources = [&](const Json& q) {
    Json got;
    const Json body{{"q", q}, {"beam_size", 1}, {"alignment", true}};
    const Json answer = post("/translate", body);
    for (const Json& piece : answer["details"]) got.push_back(piece["translations"][0]["source_tokens"][0]);
    return got;
  };
  for (const Json& q : {Json("a dog"), Json(">>it<< a dog"), Json::array({">>de<< a", "a dog"})})
    for (const bool stream : {false, true})
      EXPECT_EQ(post("/translate", {{"q", q}, {"stream", stream}}, 400)["error"],
                "target: model tags translates into de, fr, and the target is not given; choose one, or begin each "
                "text with a tag: >>de<<")
          << q;
  EXPECT_EQ(sources(">>fr<< a dog"), Json({">>fr<<"}));
  (void)post("/translate", {{"q", Json::array({">>fr<< a dog", ">>de<< a dog"})}, {"beam_size", 1}});
  EXPECT_EQ(sources(">>fr<< A dog runs. A man plays.\n>>de<< A ball."), Json({">>fr<<", ">>fr<<", ">>de<<"}))
      << "a tag holds for what follows it";
  EXPECT_EQ(post("/translate", {{"q", Json::array({"", " \n"})}})["translatedText"], Json({"", " \n"}))
      << "nothing to translate";
  const Json pair{{"source", "a dog"}, {"target", "a dog"}};
  for (const char* path : {"/score", "/attention"}) {
    const Json error = post(path, pair, 400)["error"];
    EXPECT_TRUE(error["message"].get<std::string>().starts_with("target_language: model tags translates into de, fr, "))
        << error;
    EXPECT_EQ(error["param"], "target_language");
    Json told = pair, itself = pair;
    told["target_language"] = "fr", itself["source"] = ">>fr<< a dog";
    EXPECT_EQ(post(path, told), post(path, itself));
  }
  // If the server's options give one, or say that there is none.
  serve_these({{"tags", tagged(speaks("en", "fr"), tags)}});
  EXPECT_EQ(sources("a dog"), Json({">>fr<<"}));
  EXPECT_EQ(sources(">>de<< a dog"), Json({">>fr<<"}));
  serve_these({{"tags", tagged(speaks("en", "-"), tags)}});
  EXPECT_EQ(sources("a dog").size(), 1u);
  EXPECT_NE(sources("a dog")[0].get<std::string>().substr(0, 2), ">>");
  // A single tag leaves no choice, and neither does a first token that the directory forces.
  serve_these({{"tags", tagged(speaks("en", ""), {">>de<<"})}});
  EXPECT_NE(sources("a dog")[0], ">>de<<");
  Loaded forced = tagged(speaks("en", ""), tags);
  forced.search.forced_bos_id = 5;
  serve_these({{"tags", forced}});
  (void)sources("a dog");
}

// Scores and attention use the same languages as a translation.
TEST_F(Choosing, LanguagesOfScoresAreSaidAsThoseOfTranslationsAre) {
  const Json pair{{"source", "a dog"}, {"target", "a dog"}};
  const auto with = [&](const char* source, const char* target) {
    Json told = pair;
    if (source) told["source_language"] = source;
    if (target) told["target_language"] = target;
    return told;
  };
  serve_these({{"many", testing::small_polyglot("")}});
  for (const char* path : {"/score", "/attention"}) {
    Json error = post(path, with(nullptr, "deu_Latn"), 400)["error"];
    EXPECT_TRUE(error["message"].get<std::string>().starts_with("source_language: language detection is not supported"))
        << error;
    EXPECT_EQ(error["param"], "source_language");
    error = post(path, with("fra_Latn", nullptr), 400)["error"];
    EXPECT_TRUE(error["message"].get<std::string>().starts_with("target_language: model many translates into "))
        << error;
    EXPECT_EQ(error["param"], "target_language");
    post(path, with("fra_Latn", "deu_Latn"));
  }
  // The directory's forced token begins its translations.
  serve_these({{"many", testing::small_polyglot()}});
  for (const char* path : {"/score", "/attention"}) {
    EXPECT_EQ(post(path, with("fra_Latn", nullptr)), post(path, with("fra_Latn", "spa_Latn")));
    EXPECT_NE(post(path, with("fra_Latn", nullptr)), post(path, with("fra_Latn", "deu_Latn")));
  }
}

// A vocabulary's only tag is put before a text too, if the target is given.
TEST_F(Choosing, ATagIsPutInFrontOfTexts) {
  for (const std::vector<std::string>& tags : {std::vector<std::string>{">>de<<"}, {">>de<<", ">>fr<<"}}) {
    serve_these({{"tags", tagged(speaks("en", ""), tags)}});
    const Json got = translate({{"source", "en"}, {"target", ">>de<<"}, {"alignment", true}});
    EXPECT_EQ(got["details"][0]["translations"][0]["source_tokens"][0], ">>de<<");
    EXPECT_EQ(got["details"][0]["source"], "a dog");
    EXPECT_TRUE(refused({{"target", "it"}}).starts_with("no model here translates from any language into it"))
        << tags.size();
  }
}

// While a model that may affect the choice is loading, there is no choice.
TEST_F(Choosing, NothingIsAssumedBeforeAllModelsAreThere) {
  std::atomic<bool> go = false;
  std::vector<ModelLoader> sources;
  sources.push_back({"a", [] { return speaks("en", "de"); }});
  sources.push_back({"b", [&go] {
                       while (!go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                       return speaks("fr", "es");
                     }});
  serve_these(std::move(sources));
  while (models->ready().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(refused({{"source", "auto"}, {"target", "de"}}, 503), "the models are still loading");
  refused({{"source", "fr"}, {"target", "es"}}, 503);
  (void)translate({{"source", "en"}, {"target", "de"}});
  EXPECT_EQ(translate({{"model", "a"}})["sourceAssumed"], "en");
  go = true;
  models->wait();
  EXPECT_EQ(translate({{"source", "auto"}, {"target", "de"}})["sourceAssumed"], "en");
}

}  // namespace
}  // namespace tril::serve

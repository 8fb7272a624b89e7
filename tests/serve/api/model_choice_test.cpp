// Which model translates a request, over sockets: languages are detected, and ambiguities are named.
#include <atomic>
#include <map>
#include <set>

#include "support/contains.h"
#include "support/events.h"
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
  for (const Json& source : {Json(nullptr), Json("")}) {
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

TEST_F(Choosing, SeveralSourcesHaveToBeDetected) {
  serve_these({{"a", speaks("en", "de")}, {"b", speaks("fr", "de")}, {"c", speaks("it", "es")}});
  for (const Json& source : {Json("auto"), Json(nullptr)}) {
    const Json got = translate({{"source", source}, {"target", "de"}});
    EXPECT_EQ(got["detectedLanguage"]["language"], "en");
    EXPECT_GT(got["detectedLanguage"]["confidence"], 90);
    EXPECT_FALSE(got.contains("sourceAssumed"));
  }
  EXPECT_EQ(translate({{"target", "es"}})["sourceAssumed"], "it");
  EXPECT_EQ(translate({{"model", "b"}, {"target", "de"}})["sourceAssumed"], "fr");
  EXPECT_FALSE(translate({{"source", ">>fr<<"}, {"target", "__de__"}}).contains("sourceAssumed"));
  // A request that no model satisfies is refused with the possible choices.
  EXPECT_EQ(
      refused({{"source", "en"}, {"target", "es"}}),
      "no model here translates from en into es; available: a from en into de; b from fr into de; c from it into es");
  EXPECT_EQ(refused({{"model", "a"}, {"source", "fr"}}), "source: model a does not translate from fr, but from en");
  EXPECT_EQ(refused({{"model", "a"}, {"target", "es"}}), "target: model a does not translate into es, but into de");
  EXPECT_EQ(post("/detect", {{"q", "ein schöner Hund"}})[0]["language"], "de") << "though no model reads it";
  EXPECT_EQ(post("/detect", {{"q", "un cane bianco e nero"}})[0]["language"], "it");
  post("/detect", Json::object(), 400);
  post("/detect", {{"q", "12:30"}}, 400);
}

constexpr const char* english = "The weather was fine, and we went home early.";
constexpr const char* french = "Il faisait beau et nous sommes rentrés tôt.";
constexpr const char* italian = "Questa mattina siamo andati al mercato, perché avevamo bisogno di frutta e verdura.";

// A text in an uncertain or impossible language is not translated.
TEST_F(Choosing, AnUncertainLanguageIsRefusedWithItsCandidates) {
  serve_these({{"a", speaks("en", "de")}, {"b", speaks("fr", "de")}, {"c", speaks("it", "es")}});
  const auto error = [&](const Json& q) {
    const std::string text = post("/translate", {{"q", q}, {"source", "auto"}, {"target", "de"}}, 400)["error"];
    return text;
  };
  std::string text = error("OK");
  EXPECT_TRUE(contains(text, "source: the language of the text is uncertain", "candidates", "en ", "fr ",
                       "give source, one of en, fr"))
      << text;
  text = error(italian);
  EXPECT_TRUE(contains(text, "source: the text seems to be in it (confidence ", "which no model for this request reads",
                       "give source, one of en, fr"))
      << text;
  EXPECT_TRUE(contains(error({english, italian}), "text 2 seems to be in it")) << "of a list, its place";
  // The only possible language is checked too.
  serve_these({{"a", speaks("en", "de")}});
  EXPECT_EQ(translate({{"source", "auto"}})["detectedLanguage"]["language"], "en");
  EXPECT_TRUE(contains(error(french), "the text seems to be in fr"));
}

// Each text of a list goes to the model of its language.
TEST_F(Choosing, TextsOfAListMayBeInSeveralLanguages) {
  Loaded other = speaks("fr", "de");
  other.text.max_length = 5;  // so that its translations differ
  serve_these({{"a", speaks("en", "de")}, {"b", other}});
  const Json texts{
      english, french, "12:30", "", "The station is on the left.", "Où est la gare ? Je la cherche depuis une heure."};
  Json request{{"q", texts},     {"source", "auto"},  {"target", "de"},
               {"beam_size", 2}, {"alternatives", 1}, {"scores", true}};
  const Json got = post("/translate", request);
  ASSERT_EQ(got["translatedText"].size(), texts.size());
  const std::vector<std::string> sources{"en", "fr", "en", "en", "en", "fr"};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Json one = request;
    one["q"] = texts[i], one["source"] = sources[i];
    const Json alone = post("/translate", one);
    EXPECT_EQ(got["translatedText"][i], alone["translatedText"]) << texts[i];
    EXPECT_EQ(got["alternatives"][i], alone["alternatives"]) << texts[i];
    EXPECT_EQ(got["details"][i].size(), alone["details"].size()) << texts[i];
    EXPECT_EQ(got["detectedLanguage"][i]["language"], sources[i]) << texts[i];
    EXPECT_EQ(got["detectedLanguage"][i]["confidence"] > 50, i != 2 && i != 3) << texts[i];
  }
  // As a stream, with the texts' own numbers.
  request["stream"] = true;
  Client client(server->port());
  const std::vector<Json> events = testing::events_of(client.ask("POST", "/translate", request.dump()).body);
  ASSERT_GT(events.size(), 2u);
  std::set<std::size_t> seen;
  for (const Json& event : events)
    if (event.contains("partial")) seen.insert(event["index"].get<std::size_t>());
  EXPECT_TRUE(seen.contains(0) || seen.contains(4));
  EXPECT_TRUE(seen.contains(1) || seen.contains(5));
  EXPECT_EQ(events.back()["translatedText"], got["translatedText"]);
  EXPECT_EQ(events.back()["detectedLanguage"], got["detectedLanguage"]);
  // An error of one group is the answer, once.
  request.erase("stream");
  request["prefix"] = "x";
  EXPECT_TRUE(post("/translate", request, 400).contains("error"));
}

TEST_F(Choosing, CodesOfAnyFormAreFound) {
  serve_these({{"many", testing::small_polyglot()}, {"de", speaks("en", "de")}});
  const Json usual = translate({{"source", "fra_Latn"}, {"target", "deu_Latn"}});
  for (const auto& [from, to] : {std::pair{"fr", "de"}, std::pair{"fre", ">>ger<<"}, std::pair{"FR-CA", "de_DE"}})
    EXPECT_EQ(translate({{"source", from}, {"target", to}}), usual) << from;
  EXPECT_EQ(refused({{"source", "german"}, {"target", "fr"}}),
            "source: expected a language code, got \"german\"; for German it is de");
  EXPECT_TRUE(contains(refused({{"source", "de"}, {"target", "xx"}}), "target: expected a language code, got \"xx\""));
  // /languages has public codes, each once, with names in the asker's language.
  const auto languages = [&](const std::string& path, const std::string& headers = "") {
    std::map<std::string, Json> all;
    for (const Json& one : Json::parse(ask("GET", path, "", headers).body)) all[one["code"]] = one;
    return all;
  };
  std::map<std::string, Json> all = languages("/languages");
  EXPECT_EQ(all.size(), 201u) << "twi and aka are the same for CLDR";
  EXPECT_EQ(all["de"]["name"], "German");
  EXPECT_EQ(all["de"]["nativeName"], "Deutsch");
  EXPECT_EQ(all["zh-Hant"]["name"], "Chinese (Traditional)");
  EXPECT_GT(all["en"]["targets"].size(), 190u);
  EXPECT_EQ(languages("/languages?locale=fr")["de"]["name"], "allemand");
  EXPECT_EQ(languages("/languages", "Accept-Language: ja, en;q=0.5\r\n")["de"]["name"], "ドイツ語");
  EXPECT_EQ(languages("/languages?locale=nonsense")["de"]["name"], "German");
}

TEST_F(Choosing, AModelThatReadsSeveralLanguagesIsTold) {
  serve_these({{"many", testing::small_polyglot()}});
  const Json told = post("/translate", {{"q", english}, {"source", "auto"}, {"target", "deu_Latn"}, {"beam_size", 1}});
  EXPECT_EQ(told["detectedLanguage"]["language"], "en");
  EXPECT_EQ(told["translatedText"],
            post("/translate",
                 {{"q", english}, {"source", "eng_Latn"}, {"target", "deu_Latn"}, {"beam_size", 1}})["translatedText"]);
  const Json both =
      post("/translate", {{"q", {english, french}}, {"source", "auto"}, {"target", "deu_Latn"}, {"beam_size", 1}});
  EXPECT_EQ(both["detectedLanguage"][1]["language"], "fr");
  EXPECT_EQ(both["translatedText"][0], told["translatedText"]);
  EXPECT_FALSE(translate({{"source", "fra_Latn"}, {"target", "deu_Latn"}}).contains("sourceAssumed"));
  EXPECT_FALSE(translate({{"source", "fra_Latn"}}).contains("sourceAssumed")) << "into what its directory says";
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
  EXPECT_EQ(translate({{"source", "auto"}, {"target", "de"}})["detectedLanguage"]["language"], "en");
  const std::string other = post("/translate", {{"q", french}, {"source", "auto"}, {"target", "de"}}, 400)["error"];
  EXPECT_TRUE(contains(other, "or choose model silent, which does not state its language")) << other;
  const Json languages = Json::parse(ask("GET", "/languages").body);
  EXPECT_EQ(languages.back(), Json::parse(R"({"code":"und","name":"unknown","targets":[]})"));
  // A single model translates any text, and does not say its language.
  serve_these({{"silent", speaks("", "")}});
  const Json got = translate({{"source", "auto"}, {"target", "de"}});
  EXPECT_FALSE(got.contains("sourceAssumed") || got.contains("detectedLanguage"));
  EXPECT_EQ(post("/detect", {{"q", french}})[0]["language"], "fr") << "among all languages";
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
    EXPECT_TRUE(error["message"].get<std::string>().starts_with("source_language: the text may be in any of "))
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
  EXPECT_EQ(translate({{"source", "auto"}, {"target", "de"}})["detectedLanguage"]["language"], "en");
}

}  // namespace
}  // namespace tril::serve

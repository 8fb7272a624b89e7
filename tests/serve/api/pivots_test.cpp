// Translations through pivots: the path between two languages, and requests that take it, over sockets.
#include <condition_variable>
#include <map>
#include <optional>

#include "support/contains.h"
#include "support/file_form.h"
#include "support/polyglot.h"
#include "support/serving.h"

namespace tril::serve {
namespace {

Models::Offer leads(const std::string& name, const std::string& source, const std::vector<std::string>& targets) {
  auto profile = std::make_shared<ModelProfile>();
  profile->translates = true;
  profile->languages.source = source;
  profile->languages.targets = targets;
  return {name, profile};
}

std::string path_text(const std::vector<Hop>& path) {
  std::string text;
  for (const Hop& hop : path) text += fmt::format("{}:{}>{} ", hop.model.name, hop.source, hop.target);
  return text;
}

TEST(LanguageGraph, ThePathIsTheShortest) {
  const std::vector<Models::Offer> models{leads("a", "fr", {"en"}), leads("b", "en", {"de"}), leads("c", "de", {"cs"}),
                                          leads("d", "cs", {"pl"}), leads("e", "pl", {"uk"}), leads("f", "fr", {"it"})};
  const auto path = [&](const char* from, const char* to, std::int64_t most) {
    return path_text(LanguageGraph(models, {most, {}}).path(from, to));
  };
  EXPECT_EQ(path("fr", "de", 1), "a:fr>en b:en>de ");
  EXPECT_EQ(path("fr", "de", 0), "");
  EXPECT_EQ(path("fr", "it", 0), "f:fr>it ") << "without a pivot";
  EXPECT_EQ(path("fr", "cs", 1), "") << "it needs two";
  EXPECT_EQ(path("fr", "cs", 2), "a:fr>en b:en>de c:de>cs ");
  EXPECT_EQ(path("fr", "uk", 3), "");
  EXPECT_EQ(path("en", "uk", 3), "b:en>de c:de>cs d:cs>pl e:pl>uk ");
  EXPECT_EQ(path("de", "fr", 3), "") << "there is no way back";
  EXPECT_EQ(path("fr", "fr", 3), "");
  EXPECT_EQ(path("sv", "de", 3), "");
  const LanguageGraph graph(models, {1, {}});
  EXPECT_EQ(graph.targets_of("fr"), (std::vector<std::string>{"en", "it", "de"}));
  EXPECT_EQ(graph.targets_of("uk"), std::vector<std::string>{});
  EXPECT_EQ(graph.targets_of("sv"), std::vector<std::string>{});
}

TEST(LanguageGraph, TheOperatorRanksPivots) {
  const std::vector<Models::Offer> models{leads("a", "fr", {"en"}), leads("b", "fr", {"es"}), leads("c", "es", {"de"}),
                                          leads("d", "en", {"de"}), leads("e", "fr", {"it"}), leads("f", "it", {"de"}),
                                          leads("g", "en", {"de"})};
  const auto path = [&](const std::vector<std::string>& preferred) {
    return path_text(LanguageGraph(models, {1, preferred}).path("fr", "de"));
  };
  EXPECT_EQ(path({}), "a:fr>en d:en>de ") << "the first models";
  EXPECT_EQ(path({"es"}), "b:fr>es c:es>de ");
  EXPECT_EQ(path({"it", "es"}), "e:fr>it f:it>de ");
  EXPECT_EQ(path({"sv", "spa"}), "b:fr>es c:es>de ") << "a code in any form";
}

TEST(LanguageGraph, ModelsNameLanguagesDifferently) {
  std::vector<Models::Offer> models{leads("nllb", "", {"eng_Latn", "fra_Latn", "zho_Hans"}),
                                    leads("opus", "en", {"de"}), leads("silent", "", {}),
                                    leads("odd", "de", {"my own"})};
  auto many = std::make_shared<ModelProfile>(*models[0].profile);
  many->languages.from_each = true;
  models[0].profile = many;
  const LanguageGraph graph(models, {1, {}});
  EXPECT_EQ(path_text(graph.path("fr", "de")), "nllb:fra_Latn>eng_Latn opus:en>de ");
  EXPECT_EQ(path_text(graph.path("en_XX", "my own")), "opus:en>de odd:de>my own ");
  EXPECT_EQ(path_text(graph.path("zh-Hant", "de")), "") << "another script";
  EXPECT_EQ(public_code("eng_Latn"), "en");
  EXPECT_EQ(public_code("my own"), "my own");
}

// Each hop has to be loaded.
ModelsOptions on_demand() {
  return {.at_start = false, .on_demand = true};
}
// There is memory for one model, so it is unloaded for the next hop.
ModelsOptions one_at_a_time() {
  ModelsOptions o = on_demand();
  o.memory = std::int64_t{150} << 20;
  return o;
}

struct ServingPivots : Serving {
  // Models of the same weights, of 100 MiB each.
  void begin(const std::vector<std::array<std::string, 3>>& list, ServiceOptions o = {},
             ModelsOptions of_models = on_demand()) {
    server.reset(), service.reset(), models.reset();
    std::vector<ModelLoader> loaders;
    for (const auto& [name, source, target] : list) {
      Loaded l = translator;
      l.source_language = source, l.target_language = target;
      l.bytes = 100 << 20;
      if (positions.count(name) > 0)
        l.model = testing::small_marian(*l.tokenizer, l.tokenizer->special(Side::target).pad, positions.at(name), 5);
      loaders.push_back({.name = name, .load = [l] { return l; }, .describe = [l] { return profile_of(l); }});
    }
    models = std::make_unique<Models>(loaders, of_models);
    service = std::make_unique<Service>(o, *models);
    server = std::make_unique<HttpServer>(
        HttpServerOptions{.port = 0},
        [this](HttpRequest r, std::shared_ptr<Responder> out) { service->handle(std::move(r), std::move(out)); });
    models->wait();
  }
  static std::string twice(const std::string& text, std::int32_t beam = 3) {
    return translated(translated(text, 1)[0].text, 1, beam)[0].text;
  }

  std::map<std::string, std::int64_t> positions;  ///< of models with fewer than the translator
};

TEST_F(ServingPivots, APairWithoutAModelGoesThroughAnother) {
  begin({{"a", "fr", "en"}, {"b", "en", "de"}, {"c", "de", "cs"}});
  const std::string text = "a dog runs in the snow";
  Json got = post("/translate", {{"q", text}, {"source", "fr"}, {"target", "de"}});
  EXPECT_EQ(got["translatedText"], twice(text));
  EXPECT_EQ(got["pivot"], Json({"en"}));
  got = post("/translate", {{"q", text}, {"source", "fr"}, {"target", "en"}});
  EXPECT_FALSE(got.contains("pivot")) << got;
  // Several sentences and texts; what is not translated stays.
  got = post("/translate",
             {{"q", {"A dog runs.  The old dog.\n", "", "two men play"}}, {"source", "fr"}, {"target", "de"}});
  EXPECT_EQ(got["translatedText"],
            Json({twice("A dog runs.") + "  " + twice("The old dog.") + "\n", "", twice("two men play")}));
  got = post("/translate", {{"q", "<b>a dog</b> runs"}, {"source", "fr"}, {"target", "de"}, {"format", "html"}});
  // Marks are placed without an alignment. The whole translation is one word here, so it is in the mark.
  EXPECT_EQ(got["translatedText"], "<b>" + twice("a dog runs") + "</b>");
  // The request's search is that of the last model.
  got = post("/translate", {{"q", text}, {"source", "fr"}, {"target", "de"}, {"beam_size", 1}, {"scores", true}});
  EXPECT_EQ(got["translatedText"], twice(text, 1));
  EXPECT_EQ(got["details"][0]["source"], translated(text, 1)[0].text);
  got = post("/translate", {{"q", text}, {"source", "fr"}, {"target", "de"}, {"alternatives", 2}});
  EXPECT_GE(got["alternatives"].size(), 1u);
  // A language that is detected may be one without a model of its own for the target.
  const std::string french = "Il faisait beau et nous sommes rentrés tôt.",
                    english = "We went home early because of the rain.";
  got = post("/translate", {{"q", {english, french}}, {"source", "auto"}, {"target", "de"}});
  EXPECT_EQ(got["translatedText"], Json({translated(english, 1)[0].text, twice(french)}));
  EXPECT_EQ(got["detectedLanguage"][1]["language"], "fr");
  EXPECT_EQ(got["pivot"], Json({nullptr, {"en"}}));
  // What one group may not have is the answer to all; no texts are no translations.
  EXPECT_TRUE(
      contains(post("/translate", {{"q", {english, french}}, {"source", "auto"}, {"target", "de"}, {"alignment", true}},
                    400)["error"],
               "alignment", "en"));
  EXPECT_EQ(post("/translate", {{"q", Json::array()}, {"source", "auto"}, {"target", "de"}})["translatedText"],
            Json::array());
  EXPECT_EQ(
      post("/translate", {{"q", text}, {"source", "fr"}, {"target", "cs"}}, 400)["error"],
      "no model here translates from fr into cs; available: a from fr into en; b from en into de; c from de into cs");
}

TEST_F(ServingPivots, TheirNumberIsLimited) {
  begin({{"a", "fr", "en"}, {"b", "en", "de"}, {"c", "de", "cs"}}, {.pivots = {2, {}}});
  const Json got = post("/translate", {{"q", "a dog"}, {"source", "fr"}, {"target", "cs"}});
  EXPECT_EQ(got["pivot"], Json({"en", "de"}));
  std::map<std::string, Json> targets;
  const Json languages = Json::parse(ask("GET", "/languages").body);
  for (const Json& one : languages) targets[one["code"]] = one["targets"];
  EXPECT_EQ(targets, (std::map<std::string, Json>{
                         {"cs", Json::array()}, {"de", {"cs"}}, {"en", {"de", "cs"}}, {"fr", {"en", "de", "cs"}}}));
  begin({{"a", "fr", "en"}, {"b", "en", "de"}}, {.pivots = {0, {}}});
  post("/translate", {{"q", "a dog"}, {"source", "fr"}, {"target", "de"}}, 400);
  begin({{"a", "fr", "en"}, {"b", "fr", "es"}, {"c", "en", "de"}, {"d", "es", "de"}}, {.pivots = {1, {"es"}}});
  EXPECT_EQ(post("/translate", {{"q", "a dog"}, {"source", "fr"}, {"target", "de"}})["pivot"], Json({"es"}));
}

TEST_F(ServingPivots, WhatNeedsTheSourcesWordsIsRefused) {
  begin({{"a", "fr", "en"}, {"b", "en", "de"}});
  const Json pair{{"q", "a dog"}, {"source", "fr"}, {"target", "de"}};
  for (const auto& [field, value] : {std::pair<const char*, Json>("alignment", true),
                                     {"replace_unknowns", true},
                                     {"terminology", {{"dog", "Hund"}}},
                                     {"glossary", "x"},
                                     {"memory", "x"}}) {
    Json request = pair;
    request[field] = value;
    const std::string error = post("/translate", request, 400)["error"];
    EXPECT_TRUE(contains(error, std::string(field) + ": ", "through en"));
  }
  Json admins = pair;
  admins["priority"] = 5;
  EXPECT_EQ(ask("POST", "/translate", admins.dump()).status, 403);
  EXPECT_EQ(models->status()[0].loads, 0u) << "before a model is loaded for them";
}

TEST_F(ServingPivots, AStreamTellsThem) {
  begin({{"a", "fr", "en"}, {"b", "en", "de"}}, {}, ModelsOptions());
  const Answer a =
      ask("POST", "/translate", Json{{"q", "a dog"}, {"source", "fr"}, {"target", "de"}, {"stream", true}}.dump());
  EXPECT_TRUE(contains(a.body, R"("pivot":["en"])", "[DONE]"));
}

TEST_F(ServingPivots, AHopThatFailsIsTold) {
  begin({{"a", "fr", "en"}, {"b", "en", "de"}});
  models->unload("b");
  EXPECT_TRUE(contains(post("/translate", {{"q", "a dog"}, {"source", "fr"}, {"target", "de"}}, 400)["error"],
                       "no model here translates from fr into de"));
  begin({{"a", "fr", "en"}, {"b", "en", "de"}}, {.request_seconds = 1e-4});
  const Answer a = ask("POST", "/translate", Json{{"q", "a dog"}, {"source", "fr"}, {"target", "de"}}.dump());
  EXPECT_EQ(a.status, 503) << a.body;
}

// The translation by one model may be longer than the next model's positions. The answer says so, once, also for texts of several
// groups.
TEST_F(ServingPivots, WhatTheNextModelCannotReadIsTold) {
  positions = {{"b", 4}};
  begin({{"a", "fr", "en"}, {"b", "en", "de"}, {"c", "de", "cs"}}, {.pivots = {2, {}}});
  const std::string french = "Il faisait beau et nous sommes rentrés tôt.",
                    english = "We went home early because of the rain.";
  const auto warnings = [&](const Json& q, const std::string& source, const std::string& target) {
    return post("/translate", {{"q", q}, {"source", source}, {"target", target}}).value("warnings", Json());
  };
  const Json told{"model b has 4 positions, and a sentence that it reads is longer; its end was not translated"};
  EXPECT_EQ(warnings(french, "fr", "de"), told) << "it is the last model";
  EXPECT_EQ(warnings(french, "fr", "cs"), told) << "it is a model between";
  EXPECT_EQ(warnings({french, french}, "fr", "de"), told);
  EXPECT_EQ(warnings({english, french, french}, "auto", "de"), told) << "two groups";
  EXPECT_EQ(warnings(english, "en", "de"), Json()) << "a text of the request is split to fit";
}

// An answer for which this thread sets callbacks slowly, so that other threads may set theirs before.
class SlowlyWatched : public Responder {
 public:
  void send(HttpResponse response) override {
    const std::lock_guard lock(mutex_);
    response_ = std::move(response);
    on_gone_ = {};
    changed_.notify_all();
  }
  void begin(HttpResponse) override {}
  void write(std::string_view) override {}
  void finish() override {}
  void on_gone(std::function<void()> f) override {
    if (std::this_thread::get_id() == slow_) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const std::lock_guard lock(mutex_);
    on_gone_.swap(f);
  }
  /// The answer; nothing after this many seconds without one.
  std::optional<HttpResponse> wait(int seconds) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(seconds), [&] { return response_.has_value(); });
    on_gone_ = {};
    return response_;
  }

 private:
  const std::thread::id slow_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<HttpResponse> response_;
  std::function<void()> on_gone_;
};

// The first model may have translated before the thread that submitted the sentences continues. This thread must not keep
// the model loaded, since the next model waits for its memory.
TEST_F(ServingPivots, AHopThatEndsAtOnceLeavesItsMemoryToTheNext) {
  begin({{"a", "fr", "en"}, {"b", "en", "de"}}, {}, one_at_a_time());
  post("/translate", {{"q", "a dog"}, {"source", "fr"}, {"target", "en"}});  // loads a
  HttpRequest request;
  request.method = "POST", request.path = "/translate";
  request.body = R"({"q": "a dog", "source": "fr", "target": "de"})";
  const auto out = std::make_shared<SlowlyWatched>();
  service->handle(std::move(request), out);
  const std::optional<HttpResponse> got = out->wait(30);
  ASSERT_TRUE(got) << "no answer";
  EXPECT_EQ(got->status, 200) << got->body;
  EXPECT_EQ(Json::parse(got->body)["translatedText"], twice("a dog"));
}

// A file is translated in windows, two at a time. One that has ended must not keep the last model loaded, since the next window
// needs the first one again.
TEST_F(ServingPivots, AFileLeavesTheMemoryOfItsModelsToItself) {
  begin({{"a", "fr", "en"}, {"b", "en", "de"}}, {}, one_at_a_time());
  std::string lines;
  for (int i = 0; i < 300; ++i) lines += "a dog\n\n";  // three windows
  Client client(server->port());
  client.send(testing::FileForm{"notes.txt", lines, {{"source", "fr"}, {"target", "de"}, {"beam_size", "1"}}}.request(
      "/translate_file"));
  const Answer a = client.answer();
  EXPECT_EQ(a.status, 200) << a.body;
}

// Many at once, while models make room for each other; a server that stops finishes the last hops.
TEST_F(ServingPivots, SoakLosesNoHop) {
  begin({{"a", "fr", "en"}, {"b", "en", "de"}, {"c", "de", "cs"}}, {.pivots = {2, {}}}, one_at_a_time());
  const std::string expected = twice("a dog");
  std::vector<std::thread> clients;
  for (int t = 0; t < 4; ++t)
    clients.emplace_back([&, t] {
      for (int i = 0; i < 8; ++i) {
        const char* const target = (i + t) % 2 == 0 ? "de" : "cs";
        const Json got = post("/translate", {{"q", "a dog"}, {"source", "fr"}, {"target", target}});
        if ((i + t) % 2 == 0) {
          EXPECT_EQ(got["translatedText"], expected);
        }
      }
    });
  for (std::thread& client : clients) client.join();
  std::atomic<bool> answered = false;
  std::thread last([&] {
    post("/translate", {{"q", "a dog"}, {"source", "fr"}, {"target", "cs"}});
    answered = true;
  });
  const auto begun = Clock::now();
  while (models->status()[0].waiting == 0 && models->status()[0].idle_seconds.value_or(1) > 0 && !answered &&
         Clock::now() - begun < std::chrono::seconds(10))
    std::this_thread::yield();
  service->stop_taking();
  service->drain();
  last.join();
}

}  // namespace
}  // namespace tril::serve

// Glossaries and translation memories over HTTP: uploads, owners, restarts, and what answers tell.
#include <atomic>

#include "support/serving.h"
#include "support/temporary.h"

namespace tril::serve {
namespace {

struct ServingGlossaries : Serving {
  static constexpr const char* anna = "Authorization: Bearer anna\r\n";
  static constexpr const char* bert = "Authorization: Bearer bert\r\n";
  static constexpr const char* root = "Authorization: Bearer root\r\n";

  // A server with two users and an administrator, whose glossaries are in a directory.
  void begin(ServiceOptions o = {}) {
    server.reset(), service.reset(), models.reset();  // the directory is for one server at a time
    o.keys = {.api = {"anna", "bert"}, .admin = {"root"}};
    o.glossaries.reset();
    o.glossaries =
        std::make_shared<terms::GlossaryLibrary>(std::make_unique<terms::GlossaryStore>(folder.path("glossaries")));
    o.glossaries->add("house", terms::read_term_table("en,de,fr\nball,snow,neige\n", terms::TableFormat::csv, "h.csv"));
    serve(o);
  }
  Json send(const char* key, const std::string& method, const std::string& path, const Json& body = nullptr,
            int status = 200) const {
    const Answer a = ask(method, path, body.is_null() ? "" : body.dump(), key);
    EXPECT_EQ(a.status, status) << method << " " << path << " " << a.body;
    return Json::parse(a.body);
  }
  Json upload(const char* key, const std::string& name, const std::string& entries, int status = 201) const {
    return send(key, "POST", "/glossaries", {{"name", name}, {"source", "en"}, {"target", "de"}, {"entries", entries}},
                status);
  }
  static Json request(const std::string& q, const Json& glossary) {
    return {{"q", q}, {"source", "en"}, {"target", "de"}, {"glossary", glossary}, {"beam_size", 8}};
  }

  TemporaryDirectory folder;
};

TEST_F(ServingGlossaries, AreUploadedUsedAndRemoved) {
  begin();
  const Json made = upload(anna, "pets", "dog\tred ball\nmen\tsnow\n");
  EXPECT_EQ(made["entries"], 2);
  EXPECT_EQ(made["name"], "pets");
  const std::string id = made["id"];

  Json got = send(anna, "POST", "/translate", request("a Dog runs in the ball", Json::array({"pets", "house"})));
  EXPECT_TRUE(contains(got["translatedText"].get<std::string>(), "red ball", "snow"));
  EXPECT_EQ(got["terms"], Json::parse(R"([{"source":"dog","target":"red ball","applied":true},
                                          {"source":"ball","target":"snow","applied":true}])"));
  got = send(anna, "POST", "/translate", request("two dogs", id));
  EXPECT_EQ(got["terms"], Json::array());
  Json stems = request("two dogs", id);
  stems["glossary_match"] = "stem";
  EXPECT_EQ(send(anna, "POST", "/translate", stems)["terms"][0]["applied"], true);
  // The terms of the request itself go before those of glossaries.
  Json both = request("a dog", "pets");
  both["terminology"] = {{"dog", "snow"}};
  EXPECT_EQ(send(anna, "POST", "/translate", both)["terms"][0]["target"], "snow");

  EXPECT_EQ(send(anna, "GET", "/glossaries").size(), 2u);
  EXPECT_EQ(send(anna, "GET", "/glossaries/pets")["entries"][0], Json::parse(R"(["dog", "red ball"])"));
  EXPECT_EQ(send(anna, "DELETE", "/glossaries/" + id)["id"], id);
  EXPECT_EQ(send(anna, "GET", "/glossaries").size(), 1u);
  send(anna, "GET", "/glossaries/" + id, nullptr, 404);
  EXPECT_TRUE(contains(send(anna, "POST", "/translate", request("a dog", "pets"), 400)["error"].get<std::string>(),
                       "glossary: ", "pets", "house"));
}

TEST_F(ServingGlossaries, AreChangedWithoutLosingTheirId) {
  begin();
  const std::string id = upload(anna, "pets", "dog\tred ball\n")["id"];
  const auto change = [&](const char* key, const Json& body, int status = 200) {
    return send(key, "PATCH", "/glossaries/" + id, body, status);
  };
  Json got = change(anna, {{"name", "animals"}});
  EXPECT_EQ(got["id"], id);
  EXPECT_EQ(got["name"], "animals");
  EXPECT_EQ(got["entries"], 1);
  EXPECT_EQ(change(anna, {{"entries", Json::parse(R"([["dog", "snow", "exact"], ["men", "x"]])")}})["entries"], 2);
  EXPECT_EQ(send(anna, "POST", "/translate", request("a dog", "animals"))["terms"][0]["target"], "snow");
  EXPECT_EQ(change(root, {{"entries", "dog,sun\n"}, {"format", "csv"}})["entries"], 1) << "an administrator";
  EXPECT_EQ(send(anna, "GET", "/glossaries/animals")["entries"], Json::parse(R"([["dog", "sun"]])")) << "still hers";
  EXPECT_EQ(change(anna, {{"target", "fr"}})["target"], "fr");
  send(anna, "POST", "/translate", request("a dog", id), 400);
  change(anna, {{"target", "deu"}});

  change(bert, {{"name", "mine"}}, 404);
  EXPECT_TRUE(contains(change(anna, {{"entries", Json::array()}}, 400)["error"].get<std::string>(), "entries"));
  EXPECT_TRUE(contains(change(anna, {{"source", "xx"}}, 400)["error"].get<std::string>(), "source", "xx"));
  upload(anna, "others", "cat\tsnow\n");
  EXPECT_TRUE(contains(change(anna, {{"name", "others"}}, 409)["error"].get<std::string>(), "name", "others"));
  send(anna, "PATCH", "/glossaries/house", {{"name", "mine"}}, 403);
  begin();
  EXPECT_EQ(send(anna, "GET", "/glossaries/animals")["id"], id);
}

TEST_F(ServingGlossaries, ATermThatCannotBePlacedIsTold) {
  begin();
  upload(anna, "far", "dog\t\u6771\n");
  const Json got = send(anna, "POST", "/translate", request("a dog", "far"));
  EXPECT_EQ(got["terms"][0]["applied"], false) << "the vocabulary lacks the character";
}

TEST_F(ServingGlossaries, BelongToTheirKeys) {
  begin();
  const std::string id = upload(anna, "pets", "dog\tsnow\n")["id"];
  EXPECT_EQ(ask("GET", "/glossaries").status, 401);
  EXPECT_EQ(ask("POST", "/glossaries", "{}").status, 401);
  EXPECT_EQ(send(bert, "GET", "/glossaries").size(), 1u) << "only the operator's";
  send(bert, "DELETE", "/glossaries/" + id, nullptr, 404);
  send(bert, "POST", "/translate", request("a dog", id), 400);
  EXPECT_EQ(send(root, "GET", "/glossaries").size(), 2u);
  send(root, "DELETE", "/glossaries/" + id);
  send(root, "DELETE", "/glossaries/house", nullptr, 403);
}

TEST_F(ServingGlossaries, SurviveARestart) {
  begin();
  const std::string id = upload(anna, "pets", "dog\tsnow\n")["id"];
  EXPECT_EQ(upload(anna, "pets", "dog\tred ball\n")["id"], id) << "it is replaced";
  begin();
  EXPECT_EQ(send(anna, "GET", "/glossaries/pets")["id"], id);
  EXPECT_EQ(send(anna, "POST", "/translate", request("a dog", "pets"))["terms"][0]["target"], "red ball");
  EXPECT_EQ(send(bert, "GET", "/glossaries").size(), 1u);
}

TEST_F(ServingGlossaries, WhatIsWrongIsSaid) {
  begin();
  const auto error = [&](const Json& body, int status = 400) {
    return send(anna, "POST", "/glossaries", body, status)["error"].get<std::string>();
  };
  const Json sound{{"name", "x"}, {"source", "en"}, {"target", "de"}, {"entries", "dog\tHund"}};
  const auto with = [&](const char* field, const Json& value) {
    Json body = sound;
    body[field] = value;
    return body;
  };
  EXPECT_TRUE(contains(error(with("entries", "dog Hund")), "line 1", "tab"));
  EXPECT_TRUE(contains(error(with("entries", Json::array({Json::array({"dog"})}))), "entries"));
  EXPECT_TRUE(contains(error(with("entries", "dog\tHund\ndog\tKöter")), "line 2", "Köter"));
  EXPECT_TRUE(contains(error(with("source", "xx")), "source", "xx"));
  EXPECT_TRUE(contains(error(with("name", "")), "name"));
  EXPECT_TRUE(contains(error(with("format", "xls")), "format"));
  EXPECT_TRUE(contains(error(with("entries", "")), "entries"));
  Json none = sound;
  none.erase("entries");
  EXPECT_TRUE(contains(error(none), "entries"));
  send(anna, "POST", "/glossaries", with("entries", Json::array({Json::array({"dog", "Hund", "exact"})})), 201);
  // Only for its languages.
  Json french = request("a dog", "house");
  french["target"] = "fr";
  EXPECT_EQ(ask("POST", "/translate", french.dump(), anna).status, 400);
}

TEST_F(ServingGlossaries, WithoutADirectoryTheyAreInMemoryOnly) {
  serve();
  const Json made =
      post("/glossaries", {{"name", "x"}, {"source", "en"}, {"target", "de"}, {"entries", "dog\tsnow"}}, 201);
  EXPECT_TRUE(contains(made["warnings"][0].get<std::string>(), "directory"));
}

TEST_F(ServingGlossaries, AreReplacedWhileTheyAreUsed) {
  begin();
  upload(anna, "pets", "dog\tsnow\n");
  std::atomic<bool> done = false;
  std::thread uploads([&] {
    for (int i = 0; i < 20; ++i) upload(anna, "pets", i % 2 == 0 ? "dog\tred ball\n" : "dog\tsnow\n");
    done = true;
  });
  int translated = 0;
  while (!done || translated == 0) {
    const Json got = send(anna, "POST", "/translate", request("a dog", "pets"));
    EXPECT_EQ(got["terms"].size(), 1u);
    EXPECT_TRUE(contains(got["translatedText"].get<std::string>(), got["terms"][0]["target"].get<std::string>()));
    ++translated;
  }
  uploads.join();
}

TEST_F(ServingGlossaries, AMemoryAnswersExactHitsAndTellsOthers) {
  auto memory = std::make_shared<terms::TranslationMemory>();
  memory->add("A dog runs.", "Der Hund rennt.");
  memory->finish();
  ServiceOptions o;
  o.memories = std::make_shared<const ServedMemories>(ServedMemories{{"mine", {{"en", "de"}, memory}}});
  serve(o);
  Json body{
      {"q", "A dog runs. A dog walks."}, {"source", "en"}, {"target", "de"}, {"memory", "mine"}, {"beam_size", 1}};
  Json got = post("/translate", body);
  EXPECT_EQ(got["translatedText"], "Der Hund rennt. " + translated("A dog walks.", 1, 1)[0].text);
  ASSERT_EQ(got["memory"].size(), 2u);
  EXPECT_EQ(got["memory"][0]["score"], 100);
  EXPECT_EQ(got["memory"][0]["applied"], true);
  EXPECT_EQ(
      got["memory"][1],
      Json::parse(
          R"({"text":"A dog walks.","source":"A dog runs.","target":"Der Hund rennt.","score":75,"applied":false})"));
  body["memory_use"] = "tell";
  EXPECT_EQ(post("/translate", body)["translatedText"],
            translated("A dog runs.", 1, 1)[0].text + " " + translated("A dog walks.", 1, 1)[0].text);
  body["q"] = Json::array({"A dog runs.", "x"});
  got = post("/translate", body);
  EXPECT_EQ(got["memory"].size(), 2u);
  EXPECT_EQ(got["memory"][1], Json::array());
  // In a stream; and with more requests at a time than the side worker has places.
  body["stream"] = true;
  const std::string events = ask("POST", "/translate", body.dump()).body;
  EXPECT_TRUE(contains(events, "\"score\":100", "[DONE]")) << events;
  body.erase("stream");
  std::atomic<int> answered = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 48; ++i)
    clients.emplace_back([&] {
      if (ask("POST", "/translate", body.dump()).status == 200) ++answered;
    });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(answered, 48);
  body["memory"] = "other";
  EXPECT_TRUE(contains(post("/translate", body, 400)["error"].get<std::string>(), "memory: ", "other", "mine"));
}

}  // namespace
}  // namespace tril::serve

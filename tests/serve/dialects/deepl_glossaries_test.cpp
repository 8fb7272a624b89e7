// Glossaries of DeepL's API: of one language pair (v2) and of several (v3), their owners, and translations with them.
#include <fstream>

#include "support/contains.h"
#include "support/dialects.h"
#include "support/temporary.h"

namespace tril::serve::deepl_glossaries_test {
namespace {

struct DeeplGlossaries : ServingDialects {
  static inline const std::string anna = "Authorization: DeepL-Auth-Key anna\r\n",
                                  bert = "Authorization: DeepL-Auth-Key bert\r\n",
                                  root = "Authorization: DeepL-Auth-Key root\r\n";

  void start() {
    server.reset(), service.reset(), models.reset();  // the directory is for one server at a time
    ServiceOptions o;
    o.keys = {.api = {"anna", "bert"}, .admin = {"root"}};
    o.glossaries.reset();
    o.glossaries =
        std::make_shared<terms::GlossaryLibrary>(std::make_unique<terms::GlossaryStore>(folder.path("glossaries")));
    o.glossaries->add("house", terms::read_term_table("en,de\nball,snow\n", terms::TableFormat::csv, "h.csv"));
    begin(o);
  }
  Json send(const std::string& key, const std::string& method, const std::string& path, const Json& body = nullptr,
            int status = 200) const {
    const Answer a = ask(method, path, body.is_null() ? "" : body.dump(), key);
    EXPECT_EQ(a.status, status) << method << " " << path << " " << a.body;
    if (a.status == 204) {
      EXPECT_EQ(a.body, "");
    }
    return a.body.empty() ? Json(nullptr) : Json::parse(a.body);
  }
  static Json dictionary(const std::string& target, const std::string& entries) {
    return {{"source_lang", "en"}, {"target_lang", target}, {"entries", entries}, {"entries_format", "tsv"}};
  }
  static Json named(const std::string& name, const std::string& entries) {
    Json body = dictionary("de", entries);
    body["name"] = name;
    return body;
  }
  Json make(const std::string& entries) const {
    return send(anna, "POST", "/v2/glossaries", named("pets", entries), 201);
  }
  static Json asking(const std::string& text, const Json& id) {
    return {{"text", {text}}, {"source_lang", "EN"}, {"target_lang", "DE"}, {"glossary_id", id}};
  }
  std::string translation(const Json& body) const {
    return send(anna, "POST", "/v2/translate", body)["translations"][0]["text"];
  }

  TemporaryDirectory folder;
};

TEST_F(DeeplGlossaries, OfOnePairAreMadeUsedAndRemoved) {
  start();
  EXPECT_EQ(send(anna, "GET", "/v2/glossary-language-pairs")["supported_languages"],
            Json::parse(R"([{"source_lang": "en", "target_lang": "de"}])"));
  const Json made = make("dog\tred ball\n#men\tsnow\n");
  const std::string id = made["glossary_id"], at = "/v2/glossaries/" + id;
  EXPECT_EQ(id.size(), 36u);
  EXPECT_EQ(made["ready"], true);
  EXPECT_EQ(made["name"], "pets");
  EXPECT_EQ(made["source_lang"], "en");
  EXPECT_EQ(made["target_lang"], "de");
  EXPECT_EQ(made["entry_count"], 2) << "there are no comments";
  const std::string time = made["creation_time"];
  EXPECT_TRUE(time.size() == 24 && time.ends_with(".000Z") && time[10] == 'T') << time;
  EXPECT_EQ(made.size(), 7u) << "no warnings: " << made;
  EXPECT_EQ(send(anna, "GET", at), made);
  EXPECT_EQ(send(anna, "GET", "/v2/glossaries")["glossaries"], Json::array({made}));
  const Answer entries = ask("GET", at + "/entries", "", anna + "Accept: text/tab-separated-values\r\n");
  EXPECT_EQ(entries.body, "dog\tred ball\n#men\tsnow");
  EXPECT_TRUE(contains(entries.headers.at("content-type"), "text/tab-separated-values"));

  EXPECT_TRUE(contains(translation(asking("a dog runs", id)), "red ball"));
  Json variant = asking("a dog runs", id);
  variant["source_lang"] = "en-GB";
  EXPECT_TRUE(contains(translation(variant), "red ball"));
  EXPECT_TRUE(contains(translation(asking("a ball", "house")), "snow")) << "the operator's, by its name";
  Json several = asking("a dog and a ball", nullptr);
  several["glossary_ids"] = {id, "house"};
  EXPECT_TRUE(contains(translation(several), "red ball", "snow"));
  several["glossary_ids"] = id + ",house";
  EXPECT_TRUE(contains(translation(several), "red ball", "snow"));

  Json csv = named("csv", "dog,snow,en,de\n");
  csv["entries_format"] = "csv";
  EXPECT_EQ(send(anna, "POST", "/v2/glossaries", csv, 201)["entry_count"], 1);
  EXPECT_EQ(request("POST", "/v2/glossaries",
                    "auth_key=anna&name=form&source_lang=EN&target_lang=DE&entries=dog%09snow&entries_format=tsv",
                    form_type, 201)["name"],
            "form");
  send(anna, "DELETE", at, nullptr, 204);
  send(anna, "DELETE", at, nullptr, 404);
  EXPECT_EQ(send(anna, "GET", "/v2/glossaries")["glossaries"].size(), 2u);
  EXPECT_TRUE(contains(send(anna, "POST", "/v2/translate", asking("a dog", id), 404)["message"], "not found"));
}

TEST_F(DeeplGlossaries, HaveOneDictionaryOfAPairIfTrilsRouteChangesThem) {
  start();
  const auto make = [&](const std::string& name, const std::vector<Json>& dictionaries) {
    send(anna, "POST", "/v3/glossaries", {{"name", name}, {"dictionaries", dictionaries}}, 201);
  };
  make("pets", {dictionary("de", "dog\tsnow"), dictionary("fr", "dog\tchien")});
  make("others", {dictionary("de", "dog\tsun")});
  std::string french;
  for (const Json& one : send(anna, "GET", "/glossaries"))
    if (one["name"] == "pets" && one["target"] == "fr") french = "/glossaries/" + one["id"].get<std::string>();
  const Json moved{{"name", "animals"}, {"target", "de"}};
  EXPECT_TRUE(contains(send(anna, "PATCH", french, moved, 409)["error"], "another dictionary"));
  EXPECT_TRUE(contains(send(anna, "PATCH", french, {{"name", "others"}}, 409)["error"], "others")) << "into German";
  EXPECT_EQ(send(anna, "PATCH", french, {{"name", "animals"}})["target"], "fr");
}

TEST_F(DeeplGlossaries, OfSeveralPairsAreChanged) {
  start();
  const Json body{{"name", "pets"}, {"dictionaries", {dictionary("de", "dog\tsnow"), dictionary("fr", "dog\tchien")}}};
  const Json made = send(anna, "POST", "/v3/glossaries", body, 201);
  EXPECT_EQ(made["dictionaries"][1], Json::parse(R"({"source_lang": "en", "target_lang": "fr", "entry_count": 1})"));
  const std::string id = made["glossary_id"], at = "/v3/glossaries/" + id;
  EXPECT_EQ(send(anna, "GET", at), made);
  EXPECT_EQ(send(anna, "GET", "/v3/glossaries")["glossaries"], Json::array({made}));
  EXPECT_EQ(send(anna, "GET", "/v2/glossaries")["glossaries"], Json::array()) << "v2 has those of one pair";
  EXPECT_TRUE(contains(send(anna, "GET", "/v2/glossaries/" + id, nullptr, 400)["message"], "/v3/glossaries/" + id));
  EXPECT_TRUE(contains(translation(asking("a dog runs", id)), "snow"));

  // PATCH adds to entries, PUT replaces them.
  Json got = send(anna, "PATCH", at,
                  {{"name", "animals"}, {"dictionaries", Json::array({dictionary("de", "dog\tred ball\nmen\tx")})}});
  EXPECT_EQ(got["name"], "animals");
  const std::string german = "?source_lang=EN&target_lang=DE";
  got = send(anna, "PATCH", at, {{"dictionaries", Json::array({dictionary("de", "ball\tsnow")})}});
  EXPECT_EQ(got["dictionaries"][0]["entry_count"], 3);
  EXPECT_EQ(got["name"], "animals");
  EXPECT_EQ(send(anna, "GET", at + "/entries" + german)["dictionaries"][0],
            Json({{"source_lang", "en"},
                  {"target_lang", "de"},
                  {"entries", "ball\tsnow\ndog\tred ball\nmen\tx"},
                  {"entries_format", "tsv"}}));
  EXPECT_EQ(send(anna, "PUT", at + "/dictionaries", dictionary("de", "dog\tsnow"))["entry_count"], 1);
  EXPECT_EQ(send(anna, "PUT", at + "/dictionaries", dictionary("es", "dog\tperro\nmen\tx"))["entry_count"], 2);
  EXPECT_EQ(send(anna, "GET", at)["dictionaries"].size(), 3u);

  // The id stays when the first dictionary goes, and after a restart.
  send(anna, "DELETE", at + "/dictionaries" + german, nullptr, 204);
  start();
  got = send(anna, "GET", at);
  EXPECT_EQ(got["dictionaries"].size(), 2u);
  EXPECT_EQ(got["name"], "animals");
  EXPECT_TRUE(contains(send(anna, "GET", at + "/entries" + german, nullptr, 404)["message"], "Dictionary not found"));
  EXPECT_TRUE(contains(send(anna, "POST", "/v2/translate", asking("a dog", id), 400)["message"],
                       "glossary_id: ", "no dictionary for EN to DE, only for en to "));
  EXPECT_EQ(send(anna, "PUT", at + "/dictionaries", dictionary("de", "dog\tsnow"))["entry_count"], 1);
  EXPECT_TRUE(contains(translation(asking("a dog runs", id)), "snow"));
  send(anna, "DELETE", at, nullptr, 204);
  EXPECT_EQ(send(anna, "GET", "/v3/glossaries")["glossaries"], Json::array());
}

TEST_F(DeeplGlossaries, BelongToTheirKeys) {
  start();
  const std::string id = make("dog\tsnow")["glossary_id"], v2 = "/v2/glossaries/" + id, v3 = "/v3/glossaries/" + id;
  EXPECT_EQ(ask("GET", v2).status, 403);
  for (const std::string& path : {v2, v2 + "/entries", v3, v3 + "/entries?source_lang=en&target_lang=de"})
    send(bert, "GET", path, nullptr, 404);
  for (const std::string& path : {v2, v3, v3 + "/dictionaries?source_lang=en&target_lang=de"})
    send(bert, "DELETE", path, nullptr, 404);
  send(bert, "PATCH", v3, {{"name", "mine"}}, 404);
  send(bert, "PUT", v3 + "/dictionaries", dictionary("de", "dog\tx"), 404);
  send(bert, "POST", "/v2/translate", asking("a dog", id), 404);
  EXPECT_EQ(send(bert, "GET", "/v2/glossaries")["glossaries"], Json::array());
  // What an administrator adds stays the key's own.
  send(root, "PUT", v3 + "/dictionaries", dictionary("fr", "dog\tchien"));
  EXPECT_EQ(send(anna, "GET", v3)["dictionaries"].size(), 2u);
  send(root, "DELETE", v3, nullptr, 204);
  send(anna, "GET", v3, nullptr, 404);
}

TEST_F(DeeplGlossaries, WhatIsWrongIsSaid) {
  start();
  const auto refused = [&](const std::string& path, const Json& body) -> std::string {
    return send(anna, "POST", path, body, 400)["message"];
  };
  const auto with = [](const std::string& name, const Json& value) {
    Json body = named("pets", "dog\tsnow");
    body[name] = value;
    return body;
  };
  const std::string v2 = "/v2/glossaries", v3 = "/v3/glossaries";
  EXPECT_TRUE(contains(refused(v2, with("name", nullptr)), "name"));
  EXPECT_TRUE(contains(refused(v2, with("entries_format", "tbx")), "entries_format"));
  EXPECT_TRUE(contains(refused(v2, with("entries_format", nullptr)), "entries_format"));
  EXPECT_TRUE(contains(refused(v2, with("source_lang", "xx")), "source_lang"));
  EXPECT_TRUE(contains(refused(v2, with("target_lang", "en")), "target_lang"));
  EXPECT_TRUE(contains(refused(v2, with("entries", "")), "entries"));
  EXPECT_TRUE(contains(refused(v2, with("entries", "dog snow")), "Invalid glossary entries provided", "line 1"));
  EXPECT_TRUE(contains(refused(v2, with("entries", "dog\tsnow\ndog\tball")), "line 2", "line 1"));
  EXPECT_TRUE(contains(refused(v3, {{"name", "x"}}), "dictionaries"));
  EXPECT_TRUE(contains(refused(v3, {{"name", "x"}, {"dictionaries", 3}}), "dictionaries"));
  const Json one = dictionary("de", "dog\tsnow");
  EXPECT_TRUE(
      contains(refused(v3, {{"name", "x"}, {"dictionaries", {one, one}}}), "two dictionaries are for en to de"));
  EXPECT_TRUE(contains(refused(v3, {{"name", ""}, {"dictionaries", Json::array({one})}}), "name"));
  // The second dictionary is wrong, so that the first one is not kept either.
  EXPECT_TRUE(contains(refused(v3, {{"name", "x"}, {"dictionaries", {one, dictionary("fr", "dog")}}}), "line 1"));
  EXPECT_EQ(send(anna, "GET", v3)["glossaries"], Json::array());

  const std::string id = make("dog\tsnow")["glossary_id"];
  EXPECT_TRUE(contains(send(anna, "PATCH", v3 + "/" + id, Json::object(), 400)["message"], "name"));
  EXPECT_TRUE(contains(send(anna, "GET", v3 + "/" + id + "/entries", nullptr, 400)["message"], "source_lang"));
  Json body = asking("a dog", id);
  body["glossary_ids"] = id;
  EXPECT_TRUE(contains(refused("/v2/translate", body), "glossary_ids"));
  body.erase("glossary_id");
  body["glossary_ids"] = {id, id, id, id, id, id};
  EXPECT_TRUE(contains(refused("/v2/translate", body), "at most 5"));
  body = asking("a dog", id);
  body.erase("source_lang");
  EXPECT_TRUE(contains(refused("/v2/translate", body), "source_lang: must be given with a glossary"));
}

TEST_F(DeeplGlossaries, WithoutADirectoryTheyAreInMemoryOnly) {
  begin();
  const Json made = post("/v2/glossaries", named("pets", "dog\tsnow"), 201);
  EXPECT_TRUE(contains(made["warnings"][0], "no directory for glossaries"));
  EXPECT_TRUE(contains(
      post("/v2/translate", asking("a dog runs", made["glossary_id"]))["translations"][0]["text"].get<std::string>(),
      "snow"));
}

}  // namespace
}  // namespace tril::serve::deepl_glossaries_test

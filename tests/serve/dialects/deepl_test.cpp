// DeepL's API: requests of its clients, and their answers.
#include "base/file.h"
#include "support/contains.h"
#include "support/dialects.h"
#include "support/polyglot.h"
#include "support/temporary.h"

namespace tril::serve::deepl_test {
namespace {

using DeeplApi = ServingDialects;

TEST_F(DeeplApi, TranslatesAsTranslateDoes) {
  begin();
  const std::string one = "a dog runs in the snow", two = "the old dog and the ball";
  Json got = post("/v2/translate", {{"text", {one, two, ""}}, {"source_lang", "EN"}, {"target_lang", "DE"}});
  EXPECT_EQ(got["translations"][0], Json({{"detected_source_language", "EN"}, {"text", translated(one, 1)[0].text}}));
  EXPECT_EQ(got["translations"][1]["text"], translated(two, 1)[0].text);
  EXPECT_EQ(got["translations"][2]["text"], "");
  got = post("/v2/translate", {{"text", one},
                               {"target_lang", "de-DE"},
                               {"show_billed_characters", true},
                               {"model_type", "prefer_quality_optimized"}});
  EXPECT_EQ(got["translations"][0]["billed_characters"], 22);
  EXPECT_EQ(got["translations"][0]["model_type_used"], "quality_optimized");
  EXPECT_EQ(got["translations"][0]["detected_source_language"], "EN") << "the only source language";
  got = request("POST", "/v2/translate", "text=a+dog+runs&text=the+old+dog&target_lang=DE&preserve_formatting=1",
                form_type);
  EXPECT_EQ(got["translations"][1]["text"], translated("the old dog", 1)[0].text);
  EXPECT_EQ(got.size(), 1u) << "no warnings: " << got;
}

TEST_F(DeeplApi, SentencesAreSplitAsAsked) {
  begin();
  const std::string text = "A dog runs. The old\ndog sleeps";
  const auto split = [&](const Json& how) {
    Json body{{"text", {text}}, {"target_lang", "DE"}};
    if (!how.is_null()) body["split_sentences"] = how;
    return post("/v2/translate", body)["translations"][0]["text"].get<std::string>();
  };
  const auto best = [](const std::string& t) { return translated(t, 1)[0].text; };
  EXPECT_EQ(split("1"), best("A dog runs.") + " " + best("The old") + "\n" + best("dog sleeps"));
  EXPECT_EQ(split(nullptr), split("1"));
  EXPECT_EQ(split(0), best(text));
  std::string across = split("nonewlines");
  std::replace(across.begin(), across.end(), '\n', ' ');
  EXPECT_EQ(across, best("A dog runs.") + " " + best("The old dog sleeps"));
  EXPECT_TRUE(
      contains(post("/v2/translate", {{"text", text}, {"target_lang", "DE"}, {"split_sentences", "2"}}, 400)["message"],
               "split_sentences"));
}

TEST_F(DeeplApi, TagsAreKept) {
  begin();
  Json got = post("/v2/translate", {{"text", {"<d><p>a dog</p><raw>the ball</raw></d>"}},
                                    {"target_lang", "DE"},
                                    {"tag_handling", "xml"},
                                    {"ignore_tags", "raw,x"}});
  EXPECT_EQ(got["translations"][0]["text"], "<d><p>" + translated("a dog", 1)[0].text + "</p><raw>the ball</raw></d>");
  got =
      post("/v2/translate",
           {{"text", {"<p>a dog</p>\n<p translate=\"no\">the</p>"}}, {"target_lang", "DE"}, {"tag_handling", "html"}});
  EXPECT_EQ(got["translations"][0]["text"],
            "<p>" + translated("a dog", 1)[0].text + "</p>\n<p translate=\"no\">the</p>");
  got = post("/v2/translate", {{"text", {"a dog", "a <b>dog"}}, {"target_lang", "DE"}, {"tag_handling", "xml"}}, 400);
  EXPECT_TRUE(contains(got["message"], "text: ", "<b> is not closed"));
  got = post("/v2/translate", {{"text", {"<a><b>a dog</b><b>runs</b></a>"}},
                               {"target_lang", "DE"},
                               {"tag_handling", "xml"},
                               {"outline_detection", "0"},
                               {"splitting_tags", {"b"}}});
  EXPECT_EQ(got["translations"][0]["text"],
            "<a><b>" + translated("a dog", 1)[0].text + "</b><b>" + translated("runs", 1)[0].text + "</b></a>");
}

TEST_F(DeeplApi, ErrorsHaveItsForm) {
  ServiceOptions o;
  o.keys.api = {"secret", "other"};
  begin(o);
  const std::string body = Json{{"text", {"a dog"}}, {"target_lang", "DE"}}.dump();
  const std::string key = "Authorization: DeepL-Auth-Key secret\r\n";
  EXPECT_TRUE(request("POST", "/v2/translate", body, "", 403).contains("message"));
  EXPECT_TRUE(request("POST", "/v2/translate", body, "Authorization: DeepL-Auth-Key x\r\n", 403).contains("message"));
  EXPECT_EQ(request("POST", "/v2/translate", body, key)["translations"].size(), 1u);
  // The older way.
  EXPECT_EQ(request("POST", "/v2/translate", "auth_key=secret&text=a+dog&target_lang=DE", form_type).size(), 1u);
  EXPECT_EQ(request("POST", "/v2/translate?auth_key=secret", body).size(), 1u);
  request("POST", "/v2/translate", "auth_key=wrong&text=a+dog&target_lang=DE", form_type, 403);
  const auto message = [&](const Json& wrong, int status = 400) {
    return request("POST", "/v2/translate", wrong.dump(), key, status)["message"].get<std::string>();
  };
  EXPECT_TRUE(contains(message({{"text", {"a"}}, {"target_lang", "XX"}}), "Value for 'target_lang' not supported"));
  EXPECT_TRUE(contains(message({{"text", {"a"}}, {"target_lang", "DE"}, {"source_lang", "XX"}}),
                       "Value for 'source_lang' not supported"));
  EXPECT_TRUE(contains(message({{"text", {"a"}}}), "target_lang", "missing"));
  EXPECT_TRUE(contains(message({{"target_lang", "DE"}}), "text", "missing"));
  EXPECT_TRUE(contains(message({{"text", {"a"}}, {"target_lang", "DE"}, {"formality", "invalid"}}), "formality"));
  EXPECT_TRUE(contains(message({{"text", {"a"}}, {"target_lang", "DE"}, {"formality", "More"}}),
                       "Target language does not support formality"));
  EXPECT_TRUE(contains(message({{"text", {"a"}}, {"target_lang", "DE"}, {"custom_instructions", {"x"}}}),
                       "custom_instructions", "not supported"));
  EXPECT_TRUE(contains(message({{"text", {std::string(300'000, 'a')}}, {"target_lang", "DE"}}, 413), "text"));
  EXPECT_TRUE(contains(message({{"text", {"a"}}, {"context", std::string(300'000, 'a')}, {"target_lang", "DE"}}, 413),
                       "context"));
  EXPECT_TRUE(
      contains(request("POST", "/v2/translate", "text=a&context=%ff&target_lang=DE", key + form_type, 400)["message"],
               "context", "UTF-8"));
  EXPECT_EQ(request("POST", "/v2/translate",
                    Json{{"text", {"a dog"}}, {"target_lang", "DE"}, {"formality", "prefer_less"}}.dump(), key)
                .size(),
            1u)
      << "a model without a style does without";
  EXPECT_TRUE(contains(request("GET", "/v2/translate", "", key, 405)["message"], "POST"));
}

TEST_F(DeeplApi, UsageIsCountedByKey) {
  ServiceOptions o;
  o.keys.api = {"secret", "other"};
  begin(o);
  const auto key = [](const std::string& name) { return "Authorization: DeepL-Auth-Key " + name + "\r\n"; };
  const std::string body = Json{{"text", {"a dog", "d\u00f6g"}}, {"target_lang", "DE"}}.dump();
  request("POST", "/v2/translate", body, key("secret"));
  request("POST", "/translate", Json{{"q", "dog"}, {"target", "de"}}.dump(), key("secret"));
  Json got = request("GET", "/v2/usage", "", key("secret"));
  EXPECT_EQ(got["character_count"], 11);
  EXPECT_EQ(got["character_limit"], 1'000'000'000'000);
  EXPECT_EQ(request("POST", "/v2/usage", "auth_key=other", form_type)["character_count"], 0);
  request("GET", "/v2/usage", "", "", 403);
}

TEST_F(DeeplApi, UsageIsKeptOverARestart) {
  const TemporaryDirectory directory;
  ServiceOptions o;
  o.keys.api = {"secret"};
  o.usage_file = directory.path("usage.counts");
  const std::string key = "Authorization: DeepL-Auth-Key secret\r\n";
  const std::string body = Json{{"text", {"a dog"}}, {"target_lang", "DE"}}.dump();
  for (const int characters : {5, 10}) {
    begin(o);
    request("POST", "/v2/translate", body, key);
    EXPECT_EQ(request("GET", "/v2/usage", "", key)["character_count"], characters);
    TearDown();
    EXPECT_FALSE(contains(read_text(o.usage_file, 1000), "secret"));
  }
  o.keys.most_characters = {{"secret", 12}};
  begin(o);
  EXPECT_EQ(request("GET", "/v2/usage", "", key)["character_limit"], 12);
  request("POST", "/v2/translate", body, key, 456);
  TearDown();
  models.reset();
  for (const char* bad : {"[]", "{\"characters\": {\"a\": -1}}", "{\"characters\": {\"a\": \"1\"}}",
                          "{\"characters\": {\"a\": 9223372036854775807}}"}) {
    directory.write("usage.counts", bad);
    EXPECT_TRUE(contains(error_of([&] { Usage usage(o.usage_file); }), "usage.counts", "expected"));
  }
}

TEST_F(DeeplApi, LanguagesAreListed) {
  Loaded english = translator;
  english.source_language = "de", english.target_language = "en";
  begin({}, translator, english);
  EXPECT_EQ(request("GET", "/v2/languages"), Json::parse(R"([{"language": "DE", "name": "German"},
                                                             {"language": "EN", "name": "English"}])"));
  const Json targets = Json::parse(
      R"json([{"language": "DE", "name": "German", "supports_formality": false},
          {"language": "EN-GB", "name": "English (United Kingdom)", "supports_formality": false
},
          {"language": "EN-US", "name": "English (United States)", "supports_formality": false}])json");
  EXPECT_EQ(request("GET", "/v2/languages?type=target"), targets);
  EXPECT_EQ(request("POST", "/v2/languages", "type=target&auth_key=x", form_type), targets);
  EXPECT_EQ(request("GET", "/v2/languages", "type=target", form_type), targets) << "as its Python client asks";
  EXPECT_TRUE(contains(request("GET", "/v2/languages?type=all", "", "", 400)["message"], "type"));
  EXPECT_EQ(request("GET", "/v2/glossary-language-pairs")["supported_languages"],
            Json::parse(R"([{"source_lang": "de", "target_lang": "en"}, {"source_lang": "en", "target_lang": "de"}])"));
  EXPECT_EQ(post("/v2/translate", {{"text", {"der Hund"}}, {"source_lang", "DE"}, {"target_lang", "EN-GB"}}).size(),
            1u);
}

TEST_F(DeeplApi, EachTextHasItsOwnLanguage) {
  begin({}, testing::small_polyglot(), writer);
  const Json got = post(
      "/v2/translate",
      {{"text", {"Il faisait beau et nous sommes rentr\u00e9s t\u00f4t.", "We went home early because of the rain."}},
       {"target_lang", "ES"}});
  EXPECT_EQ(got["translations"][0]["detected_source_language"], "FR");
  EXPECT_EQ(got["translations"][1]["detected_source_language"], "EN");
  EXPECT_TRUE(contains(post("/v2/translate", {{"text", {"ok"}}, {"target_lang", "ES"}}, 400)["message"], "uncertain"));
}

}  // namespace
}  // namespace tril::serve::deepl_test

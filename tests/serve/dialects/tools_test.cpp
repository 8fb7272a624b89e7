// The requests of tools, as these tools send them: Weblate (weblate/machinery/deepl.py, libretranslate.py, google.py, microsoft.py) and
// OmegaT (Google2Translate.java).
#include "support/contains.h"
#include "support/dialects.h"

namespace tril::serve::tools_test {
namespace {

struct Tools : ServingDialects {
  static std::string best(const std::string& text) { return translated(text, 1)[0].text; }
  void SetUp() override {
    ServiceOptions o;
    o.keys.api = {"secret"};
    begin(o);
  }
};

TEST_F(Tools, WeblateAsksDeepl) {
  const std::string key =
      "Authorization: DeepL-Auth-Key secret\r\nReferer: http://weblate\r\nAccept: application/json; charset=utf-8\r\n";
  EXPECT_EQ(request("GET", "/v2/languages?type=source", "", key)[0]["language"], "EN");
  const Json targets = request("GET", "/v2/languages?type=target", "", key);
  EXPECT_EQ(targets[0]["language"], "DE");
  EXPECT_EQ(targets[0]["supports_formality"], false);
  EXPECT_EQ(request("GET", "/v2/glossary-language-pairs", "", key)["supported_languages"],
            Json::parse(R"([{"source_lang": "en", "target_lang": "de"}])"));
  const Json asked{{"text", {"a dog runs", "<x id=\"0\"></x> the old dog &amp; <x id=\"21\"></x>"}},
                   {"source_lang", "EN"},
                   {"target_lang", "DE"},
                   {"formality", "default"},
                   {"tag_handling", "xml"},
                   {"ignore_tags", {"x"}},
                   {"context", "A zoo."},
                   {"model_type", "prefer_quality_optimized"}};
  const Json got = request("POST", "/v2/translate", asked.dump(), key);
  EXPECT_EQ(got["translations"][0]["text"], best("a dog runs"));
  const std::string text = got["translations"][1]["text"];
  for (const char* mark : {"<x id=\"0\"></x>", "<x id=\"21\"></x>"})
    EXPECT_EQ(text.find(mark), text.rfind(mark)) << text << " has each mark once";
  EXPECT_TRUE(contains(text, "<x id=\"0\"></x>", "<x id=\"21\"></x>"));
  EXPECT_FALSE(got.contains("warnings")) << got;
  // What it shows to its users.
  EXPECT_TRUE(
      request("POST", "/v2/translate", asked.dump(), "Authorization: DeepL-Auth-Key no\r\n", 403).contains("message"));
  // Before 2022: a form, with the key in it.
  EXPECT_EQ(request("POST", "/v2/translate", "auth_key=secret&text=a+dog+runs&source_lang=EN&target_lang=DE",
                    form_type)["translations"][0]["text"],
            best("a dog runs"));
  EXPECT_EQ(request("POST", "/v2/languages", "auth_key=secret", form_type)[0]["language"], "EN");
}

TEST_F(Tools, WeblateAsksLibreTranslateAndGoogle) {
  const Json languages = request("GET", "/languages", "", "X-Api-Key: secret\r\n");
  EXPECT_EQ(languages[0]["code"], "de");
  const Json got =
      post("/translate", {{"api_key", "secret"}, {"q", {"a dog runs", "the"}}, {"source", "en"}, {"target", "de"}});
  EXPECT_EQ(got["translatedText"], Json({best("a dog runs"), best("the")}));
  const std::string google = "/language/translate/v2/";
  EXPECT_EQ(request("GET", google + "languages?key=secret")["data"]["languages"][0]["language"], "de");
  EXPECT_EQ(request("GET", google + "?key=secret&q=a+dog+runs&source=en&target=de&format=text")["data"]["translations"]
                                                                                               [0]["translatedText"],
            best("a dog runs"));
  EXPECT_TRUE(contains(
      request("GET", google + "?key=secret&q=a&source=en&target=tlh&format=text", "", "", 400)["error"]["message"],
      "tlh"));
}

// argostranslate.apis.LibreTranslateAPI sends a form to every route.
TEST_F(Tools, ArgosTranslateAsksLibreTranslate) {
  EXPECT_EQ(request("POST", "/languages", "api_key=secret", form_type)[0]["code"], "de");
  EXPECT_EQ(
      request("POST", "/translate", "q=a+dog+runs&source=en&target=de&api_key=secret", form_type)["translatedText"],
      best("a dog runs"));
  EXPECT_EQ(request("POST", "/detect", "q=We+went+home+early.&api_key=secret", form_type)[0]["language"], "en");
}

TEST_F(Tools, WeblateAsksMicrosoft) {
  const std::string key = "Authorization: Bearer secret\r\n";
  EXPECT_TRUE(request("GET", "/languages?api-version=3.0", "", key)["translation"].contains("de"));
  const Json got = request("POST", "/translate?api-version=3.0&from=en&to=de&category=general&textType=html",
                           R"([{"Text": "the <span class=\"notranslate\" id=\"4\">%s</span> dog runs"}])", key);
  EXPECT_TRUE(contains(got[0]["translations"][0]["text"], "<span class=\"notranslate\" id=\"4\">%s</span>"));
}

TEST_F(Tools, OmegatAsksGoogle) {
  // Its parameters are sorted by name. Tags of a segment are a letter and a number.
  const std::string form =
      "format=html&key=secret&model=nmt&q=the+%3Cg0%3Eold+dog%3C%2Fg0%3E+runs%3Cx1%2F%3E&source=en&target=de";
  const Json got = request("POST", "/language/translate/v2", form, form_type + "X-HTTP-Method-Override: GET\r\n");
  const std::string text = got["data"]["translations"][0]["translatedText"];
  EXPECT_TRUE(contains(text, "<g0>", "</g0>", "<x1/>"));
  EXPECT_EQ(text.substr(0, text.find('<')).find(best("the")), std::string::npos)
      << "one sentence across tags: " << text;
  EXPECT_FALSE(got.contains("warnings")) << got;
}

}  // namespace
}  // namespace tril::serve::tools_test

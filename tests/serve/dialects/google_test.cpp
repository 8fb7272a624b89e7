// Google's Cloud Translation API, version 2: requests of its clients, and their answers.
#include "support/contains.h"
#include "support/dialects.h"
#include "support/polyglot.h"

namespace tril::serve::google_test {
namespace {

using GoogleApi = ServingDialects;
const std::string root = "/language/translate/v2";

TEST_F(GoogleApi, TranslatesFromEveryPlaceOfFields) {
  begin();
  const std::string one = "a dog runs", best = translated(one, 1)[0].text;
  const auto text = [](const Json& got) { return got["data"]["translations"][0]["translatedText"]; };
  EXPECT_EQ(text(request("GET", root + "?q=a+dog+runs&source=en&target=de&format=text&key=any")), best);
  EXPECT_EQ(text(request("GET", root + "/?q=a+dog+runs&source=en&target=de&format=text")), best) << "as Weblate asks";
  EXPECT_EQ(text(request("POST", root, "q=a+dog+runs&source=en&target=de&format=text&key=any",
                         form_type + "X-HTTP-Method-Override: GET\r\n")),
            best)
      << "as OmegaT asks";
  EXPECT_EQ(text(request("POST", root + "?key=any&prettyPrint=false&target=de", Json{{"q", one}}.dump())), best);
  Json got = post(root, {{"q", {one, "a <b>dog</b> & men"}}, {"target", "de"}, {"model", "nmt"}, {"cid", ""}});
  EXPECT_EQ(got["data"]["translations"][0],
            Json({{"translatedText", best}, {"detectedSourceLanguage", "en"}, {"model", "nmt"}}));
  EXPECT_TRUE(contains(got["data"]["translations"][1]["translatedText"], "<b>", "</b>"))
      << "HTML unless told otherwise";
  got = post(root, {{"q", one}, {"source", "en"}, {"target", "de"}, {"model", "de"}});
  EXPECT_EQ(got["data"]["translations"][0], Json({{"translatedText", best}, {"model", "de"}}));
}

TEST_F(GoogleApi, LanguagesAndDetections) {
  begin({}, testing::small_polyglot(), writer);
  Json got = request("GET", root + "/languages?target=de&key=k");
  EXPECT_TRUE(contains(got.dump(), "\"zh-CN\",\"name\":\"Chinesisch (Vereinfacht)\""));
  EXPECT_FALSE(request("GET", root + "/languages")["data"]["languages"][0].contains("name"));
  EXPECT_EQ(post(root + "/languages", {{"target", "en"}})["data"]["languages"].size(), got["data"]["languages"].size());
  got = post(root + "/detect", {{"q", {"We went home early because of the rain.", "12:30"}}});
  EXPECT_EQ(got["data"]["detections"][0][0]["language"], "en");
  EXPECT_GT(got["data"]["detections"][0][0]["confidence"], 0.8);
  EXPECT_EQ(got["data"]["detections"][1][0]["language"], "und");
  EXPECT_EQ(request("GET", root + "/detect?q=Il+faisait+beau+ce+matin")["data"]["detections"][0][0]["language"], "fr");
}

// OmegaT 3 takes a response without an encoding for Latin-1.
TEST_F(GoogleApi, ResponsesNameTheirEncoding) {
  begin();
  for (const char* path : {"?q=a&target=de", "/languages", "?q=a&target=xx"})
    EXPECT_EQ(ask("GET", root + path).headers.at("content-type"), "application/json; charset=UTF-8") << path;
  EXPECT_EQ(ask("GET", "/languages").headers.at("content-type"), "application/json");
}

TEST_F(GoogleApi, ErrorsHaveItsForm) {
  ServiceOptions o;
  o.keys.api = {"secret"};
  begin(o);
  for (const char* path : {"?q=a&target=de", "/languages", "/detect?q=a", "?q=a&target=de&key=wrong"}) {
    const Json error = request("GET", root + path, "", "", 401)["error"];
    EXPECT_EQ(error["code"], 401);
    EXPECT_EQ(error["status"], "UNAUTHENTICATED");
  }
  request("GET", root + "?q=a&target=de&key=secret");
  request("GET", root + "?q=a&target=de", "", "X-Goog-Api-Key: secret\r\n");
  request("POST", root, "q=a&target=de&key=secret", form_type);
  Json error = request("GET", root + "?q=a&key=secret", "", "", 400)["error"];
  EXPECT_EQ(error["status"], "INVALID_ARGUMENT");
  EXPECT_EQ(error["errors"][0]["reason"], "invalid");
  EXPECT_TRUE(contains(error["message"], "target", "missing"));
  error = request("GET", root + "?q=a&target=xx&key=secret", "", "", 400)["error"];
  EXPECT_TRUE(contains(error["message"], "xx"));
  error = request("GET", root + "?q=a&target=de&model=none&key=secret", "", "", 404)["error"];
  EXPECT_EQ(error["status"], "NOT_FOUND");
  request("GET", root + "?key=secret", "", "", 400);
}

}  // namespace
}  // namespace tril::serve::google_test

// All APIs together: keys, the description, and hostile requests.
#include <algorithm>
#include <set>

#include "serve/api/classroom.h"
#include "support/contains.h"
#include "support/dialects.h"
#include "support/rounds.h"

namespace tril::serve::dialects_test {
namespace {

using Dialects = ServingDialects;

std::string path_of(const Route& route) {
  std::string path = route.path;
  for (std::size_t at = path.find('{'); at != std::string::npos; at = path.find('{'))
    path.replace(at, path.find('}') - at + 1, "x");
  return path;
}

TEST_F(Dialects, NoRouteAnswersWithoutAKey) {
  ServiceOptions o;
  o.keys.api = {"secret"};
  begin(o);
  std::set<std::string> open;
  for (const Route& route : service->routes()) {
    const bool anybody = route.who == Route::Who::anybody;
    if (anybody) open.insert(route.path);
    const int status = ask(route.method, path_of(route), "{}").status;
    EXPECT_EQ(status == 401 || status == 403, !anybody) << route.method << " " << route.path << " " << status;
    if (route.alias.empty()) continue;
    const int other =
        ask(route.method, route.alias + (route.alias_field.empty() ? "" : "?api-version=3.0"), "{}").status;
    EXPECT_EQ(other, status) << route.alias;
  }
  EXPECT_EQ(open, (std::set<std::string>{"/", "/inside", "/health", "/ready", "/openapi.json", "/languages",
                                         "/frontend/settings", "/spec"}));
}

TEST_F(Dialects, AClassHasNoneOfThem) {
  begin(for_classroom({}));
  for (const Route& route : service->routes()) EXPECT_TRUE(is_for_classroom(route.path)) << route.path;
  EXPECT_EQ(ask("POST", "/v2/translate", R"({"text": ["a"], "target_lang": "DE"})").status, 404);
}

TEST_F(Dialects, TheDescriptionListsEveryRoute) {
  begin();
  const Json api = request("GET", "/openapi.json");
  for (const Route& route : service->routes()) {
    const Json& one = api["paths"][route.path][lower(route.method)];
    ASSERT_TRUE(one.is_object()) << route.path;
    EXPECT_FALSE(one["summary"].get<std::string>().empty()) << route.path;
    EXPECT_EQ(one["tags"].size(), 1u);
    EXPECT_EQ(one.contains("requestBody"), !route.request_schema.is_null()) << route.path;
  }
  EXPECT_EQ(api["paths"]["/v2/translate"]["post"]["tags"][0], "DeepL");
  EXPECT_EQ(api["paths"]["/translate"]["post"]["tags"][0], "LibreTranslate");
  EXPECT_EQ(api["paths"]["/health"]["get"]["tags"][0], "tril");
  EXPECT_TRUE(contains(api["paths"]["/translator/text/v3.0/translate"]["post"]["description"], "api-version"));
  EXPECT_EQ(api["paths"]["/language/translate/v2"]["get"]["parameters"][0]["name"], "q");
}

TEST_F(Dialects, ErrorsWithoutARouteHaveTheFormOfTheirApi) {
  begin({.most_body_bytes = 1000});
  EXPECT_TRUE(request("GET", "/v2/nothing", "", "", 404)["message"].is_string());
  EXPECT_EQ(request("DELETE", "/language/translate/v2", "", "", 405)["error"]["errors"].size(), 1u);
  EXPECT_EQ(request("GET", "/translator/text/v3.0/x", "", "", 404)["error"]["code"], 404'000);
  EXPECT_TRUE(request("GET", "/translate/x", "", "", 404)["error"].is_string());
  EXPECT_EQ(request("GET", "/nothing", "", "", 404)["error"]["type"], "invalid_request_error");
  // Also those of the server below.
  const std::string large(5 << 20, ' ');
  EXPECT_TRUE(request("POST", "/v2/translate", large, "", 413)["message"].is_string());
  EXPECT_EQ(request("POST", "/language/translate/v2", large, "", 413)["error"]["code"], 413);
  EXPECT_TRUE(request("POST", "/translate", large, "", 413)["error"].is_string());
  EXPECT_EQ(ask("GET", "/v2/document").headers.at("allow"), "POST");
  EXPECT_EQ(ask("DELETE", "/v2/usage").headers.at("allow"), "GET, POST");
  request("POST", "/translate?Api-Version=3.0&to=de", R"([{"Text": "a dog"}])");
}

TEST_F(Dialects, KeysAreNotLogged) {
  ServiceOptions o;
  o.log_texts = true, o.keys.api = {"some-secret"};
  begin(o);
  (void)ask("POST", "/v2/translate", "text=a+dog&target_lang=DE&auth_key=some-secret", form_type);
  (void)ask("POST", "/v2/translate",
            Json{{"text", "a dog"}, {"target_lang", "DE"}, {"auth_key", "some-secret"}}.dump());
  (void)ask("POST", "/language/translate/v2", "q=a+dog&target=de&k%65y=some-secret", form_type);
  (void)ask("GET", "/language/translate/v2?q=a+dog&target=de&key=some-secret");
  (void)ask("POST", "/translate?api-version=3.0&to=de",
            R"([{"Text": "100 % \u00e4", "Subscription-Key": "some-secret"}])");
  server.reset();  // flushes the log
  const std::lock_guard lock(mutex);
  ASSERT_EQ(log.size(), 5u);
  for (const std::string& line : log) {
    EXPECT_EQ(line.find("some-secret"), std::string::npos) << line;
  }
  const auto has_list = [](const std::string& line) { return line.find("100 %") != std::string::npos; };
  EXPECT_EQ(std::count_if(log.begin(), log.end(), has_list), 1) << "Microsoft's body is a list";
}

TEST_F(Dialects, UnknownFieldsAreTold) {
  begin();
  EXPECT_TRUE(
      contains(post("/v2/translate", {{"text", "a"}, {"target_lang", "DE"}, {"target_langs", "DE"}})["warnings"].dump(),
               "target_langs", "did you mean target_lang?"));
  EXPECT_TRUE(contains(request("GET", "/language/translate/v2?q=a&target=de&sourc=en")["warnings"].dump(), "sourc"));
  begin({.unknown_fields = UnknownFields::refuse});
  EXPECT_TRUE(contains(post("/v2/translate", {{"text", "a"}, {"target_lang", "DE"}, {"x", 1}}, 400)["message"], "x"));
  EXPECT_TRUE(contains(
      request("POST", "/translate?api-version=3.0&to=de&too=fr", R"([{"Text": "a"}])", "", 400)["error"]["message"],
      "too"));
  // An answer that is a list has a header instead.
  begin();
  const Answer list = ask("POST", "/translate?api-version=3.0&to=de&t\u00f6o=fr", R"([{"Text": "a"}])");
  EXPECT_EQ(list.status, 200);
  EXPECT_TRUE(contains(list.headers.at("x-tril-warnings"), R"(["t\u00f6o: there is no such field)"));
  EXPECT_FALSE(ask("POST", "/v2/languages?type=target", "{}").headers.contains("x-tril-warnings"))
      << "this route reads its address";
}

// Whatever comes is answered, with an error in the API's form, and the server lives on.
TEST_F(Dialects, HostileRequestsAreAnswered) {
  begin();
  const std::vector<std::string> bodies{
      "",
      "{",
      "[]",
      "null",
      "\xff\xfe",
      R"({"text": 5, "target_lang": []})",
      R"({"text": [["a"]], "target_lang": "DE"})",
      R"({"text": ["\ud800"], "target_lang": "DE"})",
      R"({"text": null, "target_lang": "DE"})",
      R"({"text": ["a"], "target_lang": {"a": 1}})",
      R"({"text": ["a"], "target_lang": "DE", "ignore_tags": {"a": [1]}})",
      R"({"text": ["a"], "target_lang": "DE", "ignore_tags": [5, null]})",
      R"({"text": ["<a>"], "target_lang": "DE", "tag_handling": "xml"})",
      R"({"q": {"a": 1}, "target": "de"})",
      R"({"q": [1, 2], "target": "de"})",
      R"({"q": "a", "target": "auto"})",
      R"([{"Text": {"a": "b"}}])",
      R"([[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]])",
      "text=%00&target_lang=DE",
      "text=%ff&target_lang=DE&target_lang=FR",
      std::string(100'000, '['),
      "{\"text\": [" + std::string(3000, ' ') + "\"a\"" + "], \"target_lang\": \"\"}"};
  const std::vector<std::string> queries{"",
                                         "?api-version=3.0&to=de",
                                         "?api-version=3.0&to=%ff",
                                         "?type=%00",
                                         "?q=%ff",
                                         "?key=%ff&target=%ff",
                                         "?a=b=c&&=&",
                                         "?api-version=&api-version=3.0&to="};
  std::vector<std::string> paths;
  for (const Route& route : service->routes())
    if (route.errors != ErrorStyle::openai) {
      paths.push_back(path_of(route));
      if (!route.alias.empty()) paths.push_back(route.alias);
    }
  test::rounds(400, [&](RandomSequence& random) {
    const std::string path = paths[random.below(paths.size())] + queries[random.below(queries.size())];
    const std::string& body = bodies[random.below(bodies.size())];
    const Answer a = ask(random.below(4) == 0 ? "GET" : "POST", path, body, random.below(2) == 0 ? form_type : "");
    EXPECT_LT(a.status, 500) << path << " " << body.substr(0, 200) << " " << a.body;
    if (path.starts_with("/sts/") && a.status == 200) return;  // a token is plain text
    const Json json = Json::parse(a.body, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << path << " " << a.body;
    if (a.status >= 400) {
      EXPECT_TRUE(json.contains("error") || json.contains("message")) << path << " " << a.body;
    }
  });
  EXPECT_EQ(request("GET", "/health")["status"], "ok");
}

}  // namespace
}  // namespace tril::serve::dialects_test

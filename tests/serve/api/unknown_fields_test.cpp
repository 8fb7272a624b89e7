// Unknown fields of a request are reported, refused or ignored, as configured, on every route and at every depth.
#include "support/events.h"
#include "support/serving.h"

namespace tril::serve {
namespace {

using testing::events_of;
using testing::joined;

Json completion(Json more) {
  Json body{{"prompt", "ab"}, {"max_tokens", 4}, {"temperature", 0}};
  body.update(more);
  return body;
}

Json chat(Json more) {
  Json body{{"messages", {{{"role", "user"}, {"content", "ab"}}}}, {"max_tokens", 4}, {"temperature", 0}};
  body.update(more);
  return body;
}

TEST_F(Serving, WhatNobodyReadsOfARequestIsTold) {
  serve();
  const Json got = post("/v1/completions", completion({{"temprature", 2}, {"frobnicate", {{"a", 1}}}}));
  ASSERT_EQ(got["warnings"].size(), 2u) << got;
  EXPECT_NE(
      got["warnings"][0].get<std::string>().find("temprature: there is no such field (did you mean temperature?)"),
      std::string::npos)
      << got["warnings"];
  EXPECT_NE(got["warnings"][1].get<std::string>().find("frobnicate: there is no such field"), std::string::npos);
  EXPECT_EQ(got["warnings"][1].get<std::string>().find("did you mean"), std::string::npos);
  EXPECT_EQ(got["choices"], post("/v1/completions", completion(Json::object()))["choices"]) << "nothing else changes";
  // Null counts as absent, and many are summarised.
  EXPECT_FALSE(post("/v1/completions", completion({{"temprature", nullptr}})).contains("warnings"));
  Json many = Json::object();
  for (int i = 0; i < 40; ++i) many[fmt::format("zz{}", i)] = i;
  const Json warnings = post("/v1/completions", completion(many))["warnings"];
  EXPECT_LE(warnings.size(), 20u);
  EXPECT_NE(warnings.back().get<std::string>().find("more"), std::string::npos);
  // Nested: in messages, the format, the stream's options.
  const auto told = [&](const Json& answer, const std::string& name) {
    std::string all;
    for (const Json& one : answer.value("warnings", Json::array())) all += one.get<std::string>() + "\n";
    EXPECT_NE(all.find(name), std::string::npos) << answer;
  };
  told(post("/v1/chat/completions", chat({{"messages", {{{"role", "user"}, {"contents", "x"}, {"content", "ab"}}}}})),
       "messages[0].contents");
  const Json part{{"type", "text"}, {"text", "ab"}, {"zz", 1}};
  told(post("/v1/chat/completions", chat({{"messages", {{{"role", "user"}, {"content", Json::array({part, part})}}}}})),
       "messages[0].content[1].zz: there is no such field");
  told(post("/v1/completions", completion({{"", 1}})), "\"\": there is no field with an empty name");
  told(post("/v1/completions", completion({{"response_format", {{"type", "text"}, {"shema", Json::object()}}}})),
       "response_format.shema");
  // On the other routes.
  told(post("/tokenize", {{"model", "plays"}, {"text", "a"}, {"txt", "b"}}), "txt: there is no such field");
  told(post("/detokenize", {{"model", "plays"}, {"ids", {1}}, {"idz", 1}}), "idz");
  told(post("/score", {{"model", "plays"}, {"text", "ab"}, {"textt", "ab"}}), "textt");
  told(post("/translate", {{"q", "a dog"}, {"target", "de"}, {"bem_size", 2}}), "bem_size");
}

// With a JSON body, fields in the address are not read.
TEST_F(Serving, FieldsOfTheAddressThatNobodyReadsAreUnknownOnes) {
  serve();
  const std::string body = Json{{"q", "a dog"}, {"source", "en"}, {"beam_size", 1}}.dump();
  Answer a = ask("POST", "/translate?target=fr&foo=1&api_key=x", body);
  ASSERT_EQ(a.status, 200) << a.body;
  const std::string told =
      ": is in the query string, where fields are read only if the body is a form or empty; put it into the body";
  EXPECT_EQ(Json::parse(a.body)["warnings"],
            Json({"foo" + told + "; it was ignored", "target" + told + "; it was ignored"}));
  a = ask("POST", "/tokenize?text=b", Json{{"model", "plays"}, {"text", "a"}}.dump());
  EXPECT_NE(a.body.find("text: is in the query string, where this route reads no fields"), std::string::npos) << a.body;
  a = ask("POST", "/translate?q=a+dog&target=de&beam_size=1");
  EXPECT_EQ(a.status, 200) << a.body;
  EXPECT_FALSE(Json::parse(a.body).contains("warnings"));
  ServiceOptions o;
  o.unknown_fields = UnknownFields::refuse;
  serve(o);
  a = ask("POST", "/translate?foo=1", body);
  EXPECT_EQ(a.status, 400) << a.body;
  EXPECT_EQ(Json::parse(a.body)["error"], "foo" + told);
  EXPECT_EQ(ask("POST", "/translate?api_key=x", body).status, 200);
  a = ask("POST", "/v1/completions?n=2", completion(Json::object()).dump());
  EXPECT_EQ(a.status, 400) << a.body;
  EXPECT_EQ(Json::parse(a.body)["error"]["param"], "n");
  o.unknown_fields = UnknownFields::ignore;
  serve(o);
  a = ask("POST", "/translate?foo=1", body);
  EXPECT_FALSE(Json::parse(a.body).contains("warnings")) << a.body;
}

TEST_F(Serving, AStreamTellsOnceWhatNobodyReads) {
  serve();
  for (const bool usage : {false, true}) {
    Json body = completion({{"stream", true}, {"n", 2}, {"temprature", 2}});
    if (usage) body["stream_options"] = {{"include_usage", true}, {"include_uszge", true}};
    const Answer a = ask("POST", "/v1/completions", body.dump());
    const Json whole = joined(events_of(a.body), false);
    EXPECT_EQ(whole["warnings"].size(), usage ? 2u : 1u) << a.body;
    EXPECT_EQ(whole.contains("usage"), usage);
  }
}

TEST_F(Serving, UnknownFieldsAreRefusedOrIgnoredWhereTheServerIsToldTo) {
  ServiceOptions o;
  o.unknown_fields = UnknownFields::refuse;
  serve(o);
  const Json refused = post("/v1/completions", completion({{"temprature", 2}}), 400);
  EXPECT_EQ(refused["error"]["param"], "temprature");
  EXPECT_NE(refused["error"]["message"].get<std::string>().find("did you mean temperature?"), std::string::npos);
  post("/v1/completions", completion(Json::object()));
  EXPECT_EQ(
      post("/v1/chat/completions", chat({{"response_format", {{"type", "text"}, {"x", 1}}}}), 400)["error"]["param"],
      "response_format.x");
  const Json schema{{"type", "boolean"}, {"enumm", {true}}};
  EXPECT_EQ(post("/v1/chat/completions", chat({{"response_format", {{"type", "json_object"}, {"schema", schema}}}}),
                 400)["error"]["param"],
            "response_format");
  post("/tokenize", {{"model", "plays"}, {"text", "a"}, {"txt", "b"}}, 400);
  post("/translate", {{"q", "a dog"}, {"target", "de"}, {"bem_size", 2}}, 400);
  post("/translate", {{"q", "a dog"}, {"target", "de"}, {"secret", "x"}});
  o.unknown_fields = UnknownFields::ignore;
  serve(o);
  EXPECT_FALSE(post("/v1/completions", completion({{"temprature", 2}})).contains("warnings"));
}

// Fields that do not affect the answer are ignored; fields that would are refused.
TEST_F(Serving, OpenAisOtherFieldsAreTakenOrRefused) {
  ServiceOptions o;
  o.unknown_fields = UnknownFields::refuse;
  serve(o);
  const Json plain = post("/v1/chat/completions", chat(Json::object()))["choices"];
  for (const Json& harmless :
       {Json{{"user", "me"}}, Json{{"metadata", {{"a", "b"}}}}, Json{{"store", true}}, Json{{"service_tier", "auto"}},
        Json{{"parallel_tool_calls", true}}, Json{{"safety_identifier", "x"}}, Json{{"prompt_cache_key", "x"}},
        Json{{"modalities", {"text"}}}, Json{{"tools", Json::array()}}, Json{{"tool_choice", "none"}}})
    EXPECT_EQ(post("/v1/chat/completions", chat(harmless))["choices"], plain) << harmless;
  for (const char* name : {"reasoning_effort", "verbosity"})
    EXPECT_EQ(post("/v1/chat/completions", chat({{name, "low"}}), 400)["error"]["message"],
              std::string(name) + ": is not supported by these models");
  o.unknown_fields = UnknownFields::warn;
  serve(o);
  EXPECT_EQ(post("/v1/chat/completions", chat({{"reasoning_effort", "low"}, {"verbosity", nullptr}}))["warnings"],
            Json({"reasoning_effort: is not supported by these models; it was ignored"}));
  o.unknown_fields = UnknownFields::ignore;
  serve(o);
  for (const Json& other : {Json{{"tools", {{{"type", "function"}}}}}, Json{{"tool_choice", "required"}},
                            Json{{"audio", {{"voice", "x"}}}}, Json{{"modalities", {"audio"}}},
                            Json{{"web_search_options", {{"a", 1}}}}, Json{{"functions", {{{"name", "f"}}}}}}) {
    const Json error = post("/v1/chat/completions", chat(other), 400)["error"];
    EXPECT_EQ(error["param"], other.begin().key()) << error;
  }
  EXPECT_EQ(post("/v1/completions", completion({{"suffix", "x"}}), 400)["error"]["param"], "suffix");
}

TEST_F(Serving, AKeyThatStandsTwiceIsRefused) {
  serve();
  for (const char* body : {R"({"prompt": "a", "prompt": "b", "max_tokens": 2})",
                           R"({"prompt": "a", "stream_options": {"include_usage": true, "include_usage": false}})"}) {
    const Answer a = ask("POST", "/v1/completions", body);
    EXPECT_EQ(a.status, 400) << a.body;
    EXPECT_NE(a.body.find("occurs twice in the same object"), std::string::npos) << a.body;
  }
  EXPECT_EQ(ask("POST", "/translate", R"({"q": "a", "q": "b", "target": "de"})").status, 400);
}

}  // namespace
}  // namespace tril::serve

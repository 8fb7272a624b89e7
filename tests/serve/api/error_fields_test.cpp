// OpenAI's errors name the field that is wrong, as "param": in every route that takes fields, whatever finds the mistake.
#include "serve/api/error_answer.h"

#include "serve/http/http_error.h"
#include "support/serving.h"

namespace tril::serve {
namespace {

using nlohmann::literals::operator""_json_pointer;

TEST_F(Serving, ErrorsNameTheFieldOfEveryRoute) {
  serve();
  struct Case {
    const char* path;
    Json body;
    const char* field;
  };
  const Json chat = Json::array({Json{{"role", "user"}, {"content", "ab"}}});
  const std::vector<Case> cases{
      {"/v1/completions", Json::object(), "prompt"},
      {"/v1/completions", {{"prompt", 5}}, "prompt"},
      {"/v1/completions", {{"prompt", std::string(300'000, 'a')}}, "prompt"},
      {"/v1/completions", {{"prompt", "a"}, {"bad_words", Json::array({""})}}, "bad_words"},
      {"/v1/completions", {{"prompt", "a"}, {"n", "two"}}, "n"},
      {"/v1/completions", {{"prompt", "a"}, {"temperature", -1}}, "temperature"},
      {"/v1/completions", {{"prompt", "a"}, {"max_tokens", 1'000'000}}, "max_tokens"},
      {"/v1/completions", {{"prompt", "a"}, {"model", "nobody"}}, "model"},
      {"/v1/completions", {{"prompt", "a"}, {"beam_size", 4}, {"beam_groups", 3}}, "beam_groups"},
      {"/v1/completions", {{"prompt", "a"}, {"n", 128}, {"best_of", 1}}, "best_of"},
      {"/v1/completions", {{"prompt", {"a", "b", "c", "d", "e", "f", "g", "h", "a"}}, {"n", 128}}, "n"},
      {"/v1/chat/completions", Json::object(), "messages"},
      {"/v1/chat/completions", {{"messages", "ab"}}, "messages"},
      {"/v1/chat/completions", {{"messages", chat}, {"top_logprobs", 2}}, "top_logprobs"},
      {"/v1/chat/completions", {{"messages", chat}, {"logit_bias", {{"x", 1}}}}, "logit_bias"},
      {"/v1/chat/completions", {{"messages", chat}, {"response_format", {{"type", "xml"}}}}, "response_format"},
      {"/v1/chat/completions", {{"messages", chat}, {"stop", Json::array({""})}}, "stop"},
      {"/score", Json::object(), "text"},
      {"/score", {{"source", "a dog"}, {"target", {"ein Hund", "x"}}}, "target"},
      {"/score", {{"text", "abc"}, {"source_language", "de"}}, "source_language"},
      {"/score", {{"source", "a dog"}, {"target", "x"}, {"source_language", "xx"}}, "source_language"},
      {"/score", {{"source", std::string(300'000, 'a')}, {"target", "x"}}, "source"},
      {"/tokenize", Json::object(), "text"},
      {"/tokenize", {{"text", "a"}, {"side", "left"}}, "side"},
      {"/tokenize", {{"text", "a"}, {"model", "nobody"}}, "model"},
      {"/detokenize", Json::object(), "ids"},
      {"/detokenize", {{"ids", {100'000}}}, "ids"},
      {"/detokenize", {{"ids", Json::array()}, {"model", 5}}, "model"},
      {"/attention", Json::object(), "text"},
      {"/attention", {{"source", "a dog"}}, "target"},
      {"/attention", {{"text", "ab"}, {"max_tokens", 0}}, "max_tokens"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.path) + " " + c.body.dump().substr(0, 200));
    const Answer got = ask("POST", c.path, c.body.dump());
    EXPECT_GE(got.status, 400);
    EXPECT_LT(got.status, 500);
    const Json answer = Json::parse(got.body);
    EXPECT_EQ(answer.value("/error/param"_json_pointer, Json()), c.field) << answer;
  }
}

ErrorAnswer of(const Error& error) {
  const Json fields{{"prompt", Json::object()}, {"seed", Json::object()}};
  return error_answer(std::make_exception_ptr(error), "/", fields);
}

TEST(ErrorAnswer, ALibrarysUsageErrorIsAboutTheFieldInItsPlace) {
  EXPECT_EQ(of(Error(ErrorKind::usage, "seed", "is odd")).parameter, "seed");
  EXPECT_EQ(of(Error(ErrorKind::usage, "prompt 2", "is long")).parameter, "prompt");
  EXPECT_EQ(of(Error(ErrorKind::usage, "prompts", "are none")).parameter, "");
  EXPECT_EQ(of(Error(ErrorKind::usage, "", "is wrong")).parameter, "");
  EXPECT_EQ(of(Error(ErrorKind::failure, "seed", "is lost")).parameter, "");
  EXPECT_EQ(error_answer(std::make_exception_ptr(field_error("seed", "is odd")), "/", Json::object()).message,
            "seed: is odd");
}

}  // namespace
}  // namespace tril::serve

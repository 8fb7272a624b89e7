// Continuations over sockets, with a small model: the answers equal the library's results, whole or streamed, and obey
// the request.
#include <set>

#include "support/events.h"
#include "support/serving.h"

namespace tril::serve {
namespace {

using testing::events_of;
using testing::joined;

TEST_F(Serving, ContinuesTextAsTheLibraryDoes) {
  serve();
  std::string prompt;  // one that does not end at once
  for (const char* one : {"abc d", "b", "ca", "dd e", "hg", "fed", "a", "ab", "gg h", "\n"})
    if (generated(one, 12).text.size() > 3) prompt = one;
  ASSERT_NE(prompt, "");
  const search::Generation expected = generated(prompt, 12);
  Json got = post("/v1/completions", {{"model", "plays"}, {"prompt", prompt}, {"max_tokens", 12}, {"temperature", 0}});
  EXPECT_EQ(got["choices"][0]["text"], expected.text);
  EXPECT_EQ(got["object"], "text_completion");
  EXPECT_EQ(got["usage"]["prompt_tokens"], writer.tokenizer->encode(prompt, Side::target).size());
  EXPECT_EQ(got["usage"]["completion_tokens"], expected.tokens.size());
  const std::string reason = got["choices"][0]["finish_reason"];
  EXPECT_EQ(reason, expected.stop_reason == search::StopReason::end_token ? "stop" : "length");
  // Ids, lists, echo, stops.
  got = post("/v1/completions",
             {{"prompt", {writer.tokenizer->encode(prompt, Side::target), writer.tokenizer->encode("a", Side::target)}},
              {"max_tokens", 12},
              {"temperature", 0},
              {"echo", true}});
  EXPECT_EQ(got["choices"][0]["text"], prompt + expected.text);
  EXPECT_EQ(got["choices"][1]["index"], 1);
  const std::string stop = expected.text.substr(std::min<std::size_t>(2, expected.text.size() - 1), 1);
  got = post("/v1/completions", {{"prompt", prompt}, {"max_tokens", 12}, {"temperature", 0}, {"stop", stop}});
  EXPECT_EQ(got["choices"][0]["text"], generated(prompt, 12, {stop}).text);
  // The same seed gives the same text, another seed another.
  const auto drawn = [&](int seed) {
    return post("/v1/completions",
                {{"prompt", prompt}, {"max_tokens", 20}, {"temperature", 1.5}, {"seed", seed}, {"n", 3}})["choices"];
  };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
  EXPECT_EQ(drawn(1).size(), 3u);
  EXPECT_EQ(
      post("/v1/completions", {{"prompt", prompt}, {"max_tokens", 4}, {"best_of", 4}, {"n", 2}})["choices"].size(), 2u);
  got = post("/v1/chat/completions",
             {{"messages", {{{"role", "user"}, {"content", "abc"}}}}, {"max_tokens", 5}, {"temperature", 0}});
  EXPECT_EQ(got["choices"][0]["message"]["content"], generated("abc\na", 5).text);
  EXPECT_EQ(got["choices"][0]["message"]["role"], "assistant");
}

TEST_F(Serving, StreamsWhatItWouldHaveSaid) {
  serve();
  for (const bool chat : {false, true}) {
    Json body{{"max_tokens", 30}, {"min_tokens", 12}, {"temperature", 1.2}, {"seed", 5}, {"n", 2}};
    chat ? body["messages"] = {{{"role", "user"}, {"content", "ab"}}} : body["prompt"] = "ab";
    const std::string path = chat ? "/v1/chat/completions" : "/v1/completions";
    const Json whole = post(path, body);
    body["stream"] = true;
    body["stream_options"] = {{"include_usage", true}};
    const Answer a = ask("POST", path, body.dump());
    std::vector<std::string> texts(2), reasons(2);
    Json usage;
    std::size_t events = 0;
    bool done = false;
    for (std::size_t at = 0; at < a.body.size();) {
      const std::size_t end = a.body.find("\n\n", at);
      ASSERT_NE(end, std::string::npos);
      const std::string event = a.body.substr(at + 6, end - at - 6);
      at = end + 2;
      if (event == "[DONE]") {
        done = true;
        continue;
      }
      ++events;
      const Json j = Json::parse(event);
      if (j.contains("usage")) usage = j["usage"];
      for (const Json& choice : j["choices"]) {
        const auto index = choice["index"].get<std::size_t>();
        if (!chat) texts[index] += choice["text"].get<std::string>();
        if (chat && choice["delta"].contains("content")) texts[index] += choice["delta"]["content"].get<std::string>();
        if (!choice["finish_reason"].is_null()) reasons[index] = choice["finish_reason"];
      }
    }
    EXPECT_TRUE(done);
    EXPECT_GT(events, 10u);
    EXPECT_EQ(usage, whole["usage"]);
    for (std::size_t i = 0; i < 2; ++i) {
      const Json& choice = whole["choices"][i];
      EXPECT_EQ(texts[i], (chat ? choice["message"]["content"] : choice["text"]).get<std::string>());
      EXPECT_EQ(reasons[i], choice["finish_reason"].get<std::string>());
    }
  }
}

TEST_F(Serving, TellsLogProbabilities) {
  serve();
  const std::string prompt = "abcd";
  Json got = post("/v1/completions",
                  {{"prompt", prompt}, {"max_tokens", 6}, {"temperature", 0}, {"logprobs", 3}, {"echo", true}});
  const Json& l = got["choices"][0]["logprobs"];
  const std::string text = got["choices"][0]["text"];
  ASSERT_GE(l["tokens"].size(), 5u);
  EXPECT_TRUE(l["token_logprobs"][0].is_null());
  std::string joined;
  double sum = 0;
  for (std::size_t i = 0; i < l["tokens"].size(); ++i) {
    EXPECT_EQ(l["text_offset"][i], joined.size());
    joined += l["tokens"][i].get<std::string>();
    if (i == 0) continue;
    const std::size_t tops = l["top_logprobs"][i].size();
    EXPECT_TRUE(tops == 3 || tops == 4) << "the token that came is among them, likely or not";
    EXPECT_TRUE(l["top_logprobs"][i].contains(l["tokens"][i].get<std::string>()));
    double best = -1e9;
    for (const auto& [token, log_prob] : l["top_logprobs"][i].items()) best = std::max(best, log_prob.get<double>());
    if (i >= 4) {
      EXPECT_NEAR(l["token_logprobs"][i].get<double>(), best, 1e-4) << "greedy";
    }
    EXPECT_LE(l["token_logprobs"][i].get<double>(), best + 1e-6);
    if (i < 4) sum += l["token_logprobs"][i].get<double>();
  }
  EXPECT_EQ(joined, text);
  EXPECT_NEAR(sum, post("/score", {{"text", prompt}, {"model", "plays"}})["scores"][0]["log_prob"].get<double>(), 1e-4);
  got = post("/v1/completions", {{"prompt", prompt}, {"max_tokens", 0}, {"logprobs", 1}, {"echo", true}});
  EXPECT_EQ(got["choices"][0]["text"], prompt);
  EXPECT_EQ(got["choices"][0]["logprobs"]["tokens"].size(), 4u);
  got = post("/v1/chat/completions", {{"messages", {{{"role", "user"}, {"content", "a"}}}},
                                      {"max_tokens", 4},
                                      {"temperature", 1},
                                      {"seed", 2},
                                      {"logprobs", true},
                                      {"top_logprobs", 2}});
  for (const Json& one : got["choices"][0]["logprobs"]["content"]) EXPECT_EQ(one["top_logprobs"].size(), 2u);
}

TEST_F(Serving, AnswersAreJsonWhereThatIsAskedFor) {
  std::string characters;
  for (char c = ' '; c <= '~'; ++c) characters += c;
  serve({}, translator, small_writer(characters));
  const Json any{{"type", "json_object"}};
  const Json answer =
      post("/v1/completions",
           {{"prompt", "ab"}, {"max_tokens", 40}, {"n", 3}, {"temperature", 1}, {"seed", 5}, {"response_format", any}});
  ASSERT_EQ(answer["choices"].size(), 3u);
  for (const Json& choice : answer["choices"])
    EXPECT_TRUE(Json::parse(choice["text"].get<std::string>()).is_object()) << choice;
  const Json schema{{"type", "object"},
                    {"properties", {{"a", {{"type", "integer"}}}}},
                    {"required", {"a"}},
                    {"additionalProperties", false}};
  const Json of_schema{{"type", "json_schema"}, {"json_schema", {{"name", "one"}, {"schema", schema}}}};
  const Json chat = post("/v1/chat/completions", {{"messages", {{{"role", "user"}, {"content", "ab"}}}},
                                                  {"max_tokens", 30},
                                                  {"temperature", 0},
                                                  {"response_format", of_schema}});
  const Json got = Json::parse(chat["choices"][0]["message"]["content"].get<std::string>());
  EXPECT_TRUE(got.size() == 1 && got["a"].is_number_integer()) << got;

  const auto refused = [&](Json change, const std::string& what) {
    Json body{{"prompt", "ab"}, {"max_tokens", 30}, {"response_format", of_schema}};
    body.update(change);
    EXPECT_NE(post("/v1/completions", body, 400)["error"]["message"].get<std::string>().find(what), std::string::npos);
  };
  refused({{"response_format", {{"type", "xml"}}}}, "response_format");
  refused({{"response_format", {{"type", "json_schema"}, {"json_schema", {{"schema", {{"type", "nonsense"}}}}}}}},
          "nonsense");
  refused({{"stop", "x"}}, "stop");
  refused({{"max_tokens", 2}}, "allow more");

  // Impossible requests are refused before a stream begins, with the same message.
  for (const bool is_chat : {false, true})
    for (const bool stream : {false, true}) {
      Json body{{"max_tokens", 1}, {"response_format", any}, {"stream", stream}};
      is_chat ? body["messages"] = {{{"role", "user"}, {"content", "ab"}}} : body["prompt"] = "ab";
      if (!is_chat) body["echo"] = true;
      const Json error = post(is_chat ? "/v1/chat/completions" : "/v1/completions", body, 400)["error"];
      EXPECT_EQ(error["type"], "invalid_request_error");
      EXPECT_EQ(error["param"], "max_tokens");
      EXPECT_TRUE(error["code"].is_null()) << error;
      EXPECT_NE(error["message"].get<std::string>().find("3 tokens with its end token, but at most 1 is allowed"),
                std::string::npos)
          << error;
    }
}

TEST_F(Serving, PartsOfAMessageThatAreNoTextAreRefused) {
  serve();
  const auto asked = [&](const Json& content, bool stream, int status) {
    const Json messages = Json::array({{{"role", "user"}, {"content", content}}});
    const Json body{{"messages", messages}, {"max_tokens", 2}, {"stream", stream}};
    return ask("POST", "/v1/chat/completions", body.dump()).status == status;
  };
  const Json text{{"type", "text"}, {"text", "ab"}};
  EXPECT_TRUE(asked(Json::array({text, text}), false, 200));
  const Json image{{"type", "image_url"}, {"image_url", {{"url", "data:,"}}}};
  for (const Json& part : {image, Json{{"type", "input_audio"}}, Json{{"type", "text"}}, Json{{"text", "ab"}},
                           Json{{"type", "text"}, {"text", 3}}, Json("ab"), Json(3), Json(nullptr)})
    for (const bool stream : {false, true}) {
      const Json messages = Json::array({{{"role", "user"}, {"content", Json::array({text, part})}}});
      const Json error =
          post("/v1/chat/completions", {{"messages", messages}, {"max_tokens", 2}, {"stream", stream}}, 400)["error"];
      EXPECT_EQ(error["message"],
                R"(messages[0].content[1]: expected {"type": "text", "text": "..."}; only text parts are supported)")
          << part;
      EXPECT_EQ(error["param"], "messages");
    }
  for (const Json& content : {Json(3), Json(true), text}) EXPECT_TRUE(asked(content, false, 400)) << content;
}

// Clients send whole conversations: an error names the message.
TEST_F(Serving, ErrorsNameTheMessage) {
  serve();
  const Json good{{"role", "user"}, {"content", "ab"}};
  for (const auto& [message, expected] : std::vector<std::pair<Json, std::string>>{
           {3, "messages[1]: expected a message with a role and content"},
           {{{"content", "ab"}}, "messages[1]: expected a message with a role and content"},
           {{{"role", 3}, {"content", "ab"}}, "messages[1]: expected a message with a role and content"},
           {{{"role", "user"}}, "messages[1]: expected content, or an assistant's tool calls"},
           {{{"role", "user"}, {"content", 3}}, "messages[1].content: expected a string, or a list of parts"},
           {{{"role", "user"}, {"content", "ab"}, {"audio", {{"id", "a"}}}}, "messages[1].audio: is not supported"},
           {{{"role", "assistant"}, {"tool_calls", "f"}}, "messages[1].tool_calls: expected a list"}}) {
    const Json body{{"messages", Json::array({good, message})}, {"max_tokens", 2}};
    const Json error = post("/v1/chat/completions", body, 400)["error"];
    EXPECT_EQ(error["message"], expected) << message;
    EXPECT_EQ(error["param"], "messages");
  }
  const Json prediction{{"type", "content"}, {"content", 3}};
  const Json body{{"messages", Json::array({good})}, {"prediction", prediction}, {"max_tokens", 2}};
  EXPECT_EQ(post("/v1/chat/completions", body, 400)["error"]["message"],
            "prediction.content: expected a string, or a list of parts");
}

TEST_F(Serving, ErrorsHaveOpenAisCodes) {
  ServiceOptions o;
  o.keys.api = {"right"};
  serve(o);
  const auto code = [&](const std::string& headers, const Json& body) {
    const Answer a = ask("POST", "/v1/completions", body.dump(), headers);
    return Json::parse(a.body)["error"]["code"];
  };
  const std::string key = "Authorization: Bearer right\r\n";
  EXPECT_EQ(code(key, {{"prompt", "a"}, {"model", "nope"}}), "model_not_found");
  EXPECT_EQ(code(key, {{"prompt", std::string(5000, 'a')}}), "context_length_exceeded");
  EXPECT_EQ(code(key, {{"prompt", Json(std::vector<int>(5000, 1))}}), "context_length_exceeded");
  EXPECT_EQ(code("Authorization: Bearer wrong\r\n", {{"prompt", "a"}}), "invalid_api_key");
  EXPECT_TRUE(code("", {{"prompt", "a"}}).is_null());
  EXPECT_TRUE(code(key, {{"prompt", "a"}, {"n", 0}}).is_null());
}

// A repeated conversation: its prefix need not be read again, and nothing else differs.
TEST_F(Serving, PromptsThatBeginAlikeAreReadOnce) {
  Loaded plays = writer;
  plays.engine.threads = 1;
  serve({}, translator, plays);
  std::vector<Json> asked;
  for (int i = 0; i < 6; ++i)
    asked.push_back({{"prompt", "abcdefgh" + std::string(60, static_cast<char>('a' + i % 2)) + std::string(i, 'c')},
                     {"max_tokens", 20},
                     {"temperature", 0.8},
                     {"seed", i},
                     {"logprobs", 1}});
  std::vector<Json> expected;
  for (const Json& body : asked) expected.push_back(post("/v1/completions", body)["choices"][0]);
  plays.engine.session.prefix_tokens = 1000;
  serve({}, translator, plays);
  for (int round = 0; round < 2; ++round)
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const Json got = post("/v1/completions", asked[i])["choices"][0];
      EXPECT_EQ(got["text"], expected[i]["text"]) << i;
      const Json &a = got["logprobs"]["token_logprobs"], &b = expected[i]["logprobs"]["token_logprobs"];
      ASSERT_EQ(a.size(), b.size());
      for (std::size_t t = 0; t < a.size(); ++t) EXPECT_NEAR(a[t].get<double>(), b[t].get<double>(), 1e-4);
    }
  const ModelPtr model = models->find("plays");
  EXPECT_GE(model->statistics().remembered_tokens.value(), 10u * 48);
  EXPECT_GT(model->statistics().cache().prefix_tokens, 0);
  EXPECT_EQ(model->statistics().cache().used_slots, 0);
  const std::string text = ask("GET", "/metrics").body;
  EXPECT_NE(text.find("tril_prefix_tokens_reused_total{model=\"plays\"}"), std::string::npos) << text;
  EXPECT_NE(text.find("tril_prefix_cache_tokens{model=\"plays\"}"), std::string::npos);
}

TEST_F(Serving, TokensHaveBiases) {
  serve();
  const Json ids = post("/tokenize", {{"model", "plays"}, {"text", "a"}})["ids"];
  const Json body{{"prompt", "ab"}, {"max_tokens", 60}, {"temperature", 3}, {"seed", 2}};
  Json biased = body;
  biased["logit_bias"] = {{std::to_string(ids[0].get<int>()), -100}};
  EXPECT_NE(post("/v1/completions", body)["choices"][0]["text"].get<std::string>().find('a'), std::string::npos);
  EXPECT_EQ(post("/v1/completions", biased)["choices"][0]["text"].get<std::string>().find('a'), std::string::npos);
  // A bias of a hundred is as good as forced; a chat has biases too.
  biased["logit_bias"] = {{std::to_string(ids[0].get<int>()), 100}};
  EXPECT_EQ(post("/v1/completions", biased)["choices"][0]["text"], std::string(60, 'a'));
  biased.erase("prompt");
  biased["messages"] = {{{"role", "user"}, {"content", "b"}}};
  EXPECT_EQ(post("/v1/chat/completions", biased)["choices"][0]["message"]["content"], std::string(60, 'a'));
  // A small bias makes a token a little more probable.
  const Json one{{"prompt", "ab"}, {"max_tokens", 1}, {"temperature", 1}, {"logprobs", 20}, {"seed", 1}};
  Json more = one;
  const Json tops = post("/v1/completions", one)["choices"][0]["logprobs"]["top_logprobs"][0];
  more["logit_bias"] = {{std::to_string(ids[0].get<int>()), 1.5}};
  const Json biased_tops = post("/v1/completions", more)["choices"][0]["logprobs"]["top_logprobs"][0];
  ASSERT_TRUE(tops.contains("a") && tops.contains("b")) << tops.dump();
  const auto odds = [](const Json& t) { return t["a"].get<double>() - t["b"].get<double>(); };
  EXPECT_NEAR(odds(biased_tops) - odds(tops), 1.5, 1e-3);
  for (const Json& wrong : {Json{{"x", 1}}, Json{{"1", "2"}}, Json{{"99999", 1}}, Json(5), Json{{"1", -101}}}) {
    biased["logit_bias"] = wrong;
    EXPECT_EQ(post("/v1/chat/completions", biased, 400)["error"]["param"], "logit_bias") << wrong.dump();
  }
}

// Beam search only on request: with temperature 0 the answer is greedy, and the same each time.
TEST_F(Serving, TheLikeliestTextIsTheSameEveryTime) {
  serve();
  for (const char* prompt : {"abc d", "b", "hg", "fed", "gg h"}) {
    Json body{{"prompt", prompt}, {"max_tokens", 12}, {"temperature", 0}, {"logprobs", 1}};
    const Json one = post("/v1/completions", body)["choices"][0];
    EXPECT_EQ(one["text"], generated(prompt, 12).text);
    body["best_of"] = 3;
    EXPECT_EQ(post("/v1/completions", body)["choices"], Json::array({one}));
    body.erase("best_of");
    body["n"] = 3;
    const Json plain = post("/v1/completions", body);
    body["stream"] = true;
    body["stream_options"] = {{"include_usage", true}};
    const Json pieces = joined(events_of(ask("POST", "/v1/completions", body.dump()).body), false);
    for (const Json& got : {plain, pieces}) {
      ASSERT_EQ(got["choices"].size(), 3u) << got;
      for (const Json& choice : got["choices"])
        for (const char* name : {"text", "logprobs", "finish_reason"}) {
          if (name == std::string("logprobs") && one["logprobs"]["tokens"].empty()) continue;
          EXPECT_EQ(choice[name], one[name]) << name;
        }
    }
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(plain["choices"][i]["index"], i);
    EXPECT_EQ(pieces["usage"], plain["usage"]);
    EXPECT_EQ(plain["usage"]["completion_tokens"].get<std::size_t>(), 3 * generated(prompt, 12).tokens.size());
  }
  const Json beam = post("/v1/completions",
                         {{"prompt", "abc d"}, {"max_tokens", 12}, {"temperature", 0}, {"n", 3}, {"beam_size", 4}});
  std::set<std::string> texts;
  for (const Json& choice : beam["choices"]) texts.insert(choice["text"]);
  EXPECT_EQ(texts.size(), 3u) << "a beam's answers differ";
}

TEST_F(Serving, LengthsThatNoAnswerHasAreRefused) {
  serve();
  const auto refused = [&](const Json& more, const std::string& message) {
    Json body{{"prompt", "ab"}};
    body.update(more);
    const Json error = post("/v1/completions", body, 400)["error"];
    EXPECT_EQ(error["message"], message);
    EXPECT_EQ(error["param"], "min_tokens");
  };
  refused({{"min_tokens", 10}, {"max_tokens", 3}}, "min_tokens: 10 is above max_tokens 3");
  refused({{"min_tokens", 201}, {"max_tokens", 300}}, "min_tokens: 201 is above the model's 200 positions");
  refused({{"min_tokens", 201}}, "min_tokens: 201 is above the model's 200 positions");
  const Json got = post("/v1/completions", {{"prompt", "ab"}, {"min_tokens", 30}, {"seed", 3}});
  EXPECT_EQ(got["usage"]["completion_tokens"], 30) << "more than there are where nothing is said";
  post("/v1/completions", {{"prompt", "ab"}, {"max_tokens", 1000}});  // up to the last position
}

TEST_F(Serving, AnAnswerIsOfTheSchemaThatIsGiven) {
  std::string characters;
  for (char c = ' '; c <= '~'; ++c) characters += c;
  serve({}, translator, small_writer(characters));
  // In the schema's order, not alphabetically.
  Json schema{{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
  for (const char* name : {"zeta", "alpha", "mid", "beta"}) {
    schema["properties"][name] = {{"const", 1}};
    schema["required"].push_back(name);
  }
  const std::string expected = R"({"zeta":1,"alpha":1,"mid":1,"beta":1})";
  const auto text = [&](const Json& format) {
    const Json answer = post("/v1/completions",
                             {{"prompt", "ab"}, {"max_tokens", 80}, {"temperature", 0}, {"response_format", format}});
    return Json::parse(answer["choices"][0]["text"].get<std::string>()).dump();
  };
  EXPECT_EQ(text({{"type", "json_schema"}, {"json_schema", {{"name", "a"}, {"strict", true}, {"schema", schema}}}}),
            expected);
  EXPECT_EQ(text({{"type", "json_object"}, {"schema", schema}}), expected);
  // Ignored parts of a schema are reported.
  Json odd = schema;
  odd["propertys"] = Json::object();
  const Json told =
      post("/v1/completions",
           {{"prompt", "ab"}, {"max_tokens", 80}, {"response_format", {{"type", "json_object"}, {"schema", odd}}}});
  ASSERT_EQ(told["warnings"].size(), 1u) << told;
  EXPECT_NE(told["warnings"][0].get<std::string>().find("\"propertys\" (did you mean \"properties\"?)"),
            std::string::npos)
      << told;
  for (const Json& wrong :
       {Json{{"type", "text"}, {"schema", schema}}, Json{{"type", "json_schema"}, {"schema", schema}},
        Json{{"type", "json_object"}, {"json_schema", {{"schema", schema}}}}, Json{{"schema", schema}}})
    EXPECT_EQ(post("/v1/completions", {{"prompt", "ab"}, {"response_format", wrong}}, 400)["error"]["param"],
              "response_format")
        << wrong;
}

// A template sees all of a message: missing content, tool calls, the tool's answers.
TEST_F(Serving, MessagesReachTheTemplateAsTheyAre) {
  const auto seen = std::make_shared<Json>();
  Loaded plays = writer;
  plays.chat = [seen](const Json& messages, bool) {
    *seen = messages;
    return std::string("ab");
  };
  serve({}, translator, plays);
  const Json call{
      {"id", "1"}, {"type", "function"}, {"function", {{"name", "f"}, {"arguments", R"({"b": 1, "a": 2})"}}}};
  const auto send = [&](const Json& messages, int status = 200) {
    return post("/v1/chat/completions", {{"messages", messages}, {"max_tokens", 2}}, status);
  };
  const Json user{{"role", "user"}, {"content", "x"}};
  send({user,
        {{"role", "assistant"}, {"content", nullptr}, {"tool_calls", {call}}},
        {{"role", "tool"},
         {"tool_call_id", "1"},
         {"content", {{{"type", "text"}, {"text", "y"}}, {{"type", "text"}, {"text", "z"}}}}}});
  ASSERT_EQ(seen->size(), 3u);
  EXPECT_TRUE((*seen)[1]["content"].is_null()) << *seen;
  EXPECT_EQ((*seen)[1]["tool_calls"][0]["function"]["arguments"].dump(), R"({"b":1,"a":2})")
      << "an object, in its order";
  EXPECT_EQ((*seen)[2]["content"], "yz");
  EXPECT_EQ((*seen)[2]["tool_call_id"], "1");
  send({{{"role", "assistant"}, {"content", nullptr}}}, 400);
  send({{{"role", "user"}, {"content", nullptr}, {"tool_calls", {call}}}}, 400);
  send({{{"role", "user"}, {"content", {{{"type", "image_url"}, {"image_url", "x"}}}}}}, 400);
}

}  // namespace
}  // namespace tril::serve

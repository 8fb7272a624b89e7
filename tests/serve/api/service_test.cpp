// The whole service over sockets, with small models: listings, authorisation, error formats, and the replacement of
// models under load. The answers of each API are tested in separate files.
#include "support/little_memory.h"
#include "support/serving.h"

namespace tril::serve {
namespace {

TEST_F(Serving, TellsWhatIsThere) {
  serve();
  EXPECT_EQ(Json::parse(ask("GET", "/languages").body),
            Json::parse(R"([{"code":"de","name":"German","nativeName":"Deutsch","targets":[]},
                            {"code":"en","name":"English","nativeName":"English","targets":["de"]}])"));
  EXPECT_EQ(post("/detect", {{"q", "a dog"}})[0]["language"], "en");
  const Json settings = Json::parse(ask("GET", "/frontend/settings").body);
  EXPECT_EQ(settings["language"]["target"]["code"], "de");
  EXPECT_EQ(settings["filesTranslation"], true);
  const Json list = Json::parse(ask("GET", "/v1/models").body);
  EXPECT_EQ(list["data"].size(), 2u);
  EXPECT_EQ(list["data"][1]["id"], "plays");
  EXPECT_EQ(ask("GET", "/health").status, 200);
  EXPECT_EQ(ask("GET", "/ready").status, 200);
  const std::string metrics = ask("GET", "/metrics").body;
  for (const char* name :
       {"tril_waiting{model=\"de\"} 0", "tril_sentence_seconds_count{model=\"plays\"}",
        "# TYPE tril_batch_rows histogram", "tril_requests_total{route=\"/languages\",status=\"200\"} 1"})
    EXPECT_NE(metrics.find(name), std::string::npos) << name << "\n" << metrics;
  // The description names every route and no other.
  const Json api = Json::parse(ask("GET", "/openapi.json").body);
  std::size_t described = 0;
  for (const auto& [path, methods] : api["paths"].items()) described += methods.size();
  EXPECT_EQ(described, service->routes().size());
  for (const Route& route : service->routes()) {
    std::string method = route.method;
    for (char& c : method) c = static_cast<char>(std::tolower(c));
    ASSERT_TRUE(api["paths"].contains(route.path) && api["paths"][route.path].contains(method)) << route.path;
    std::string at = route.path;
    if (const std::size_t name = at.find("{model}"); name != std::string::npos) at.replace(name, 7, "plays");
    const Answer a = ask(route.method, at, route.method == "POST" || route.method == "PATCH" ? "{}" : "");
    // There is nothing of this name.
    const bool is_absent = route.path == "/download_file/{name}" || route.path == "/glossaries/{id}";
    EXPECT_EQ(a.status == 404, is_absent) << route.path;
    EXPECT_NE(a.status, 405) << route.path;
    EXPECT_NE(a.status, 500) << route.path << a.body;
    EXPECT_EQ(a.headers.at("x-content-type-options"), "nosniff");
    if (route.path != "/glossaries/{id}") {
      EXPECT_EQ(ask("DELETE", route.path).status, 405);
    }
  }
  EXPECT_EQ(ask("GET", "/nothing").status, 404);
  EXPECT_EQ(ask("GET", "/../etc/passwd").status, 404);
}

// A wrong setting ends the program like a wrong option, so that a supervisor need not restart it.
// Removing a model needs no new thread, which might not be available.
TEST(Models, LeaveWhereNoThreadIsToBeHad) {
  if (!test::can_limit_memory()) GTEST_SKIP() << "no limit on addresses holds";
  const auto leave = [] {
    Models models({{"de", [] {
                      Loaded l = small_translator();
                      l.engine.threads = 1;
                      return l;
                    }}});
    models.wait();
    if (!models.find("de")) fail("de", "is not there: " + models.status()[0].error);
    std::vector<std::thread> others;
    try {
      for (;;) others.emplace_back([] { pause(); });
    } catch (const std::system_error&) {
    }
    models.reload();
    models.wait();
    models.unload("de");
    models.drain();
    const bool left = models.find("de") == nullptr;
    std::fputs(left ? "it left" : "it is there", stderr);
    _exit(0);
  };
  EXPECT_EXIT(test::end_with_little_memory(leave), ::testing::ExitedWithCode(0), "it left");
}

TEST(Models, WhatCannotBeIsToldFromWhatFailed) {
  for (const ErrorKind kind : {ErrorKind::usage, ErrorKind::failure}) {
    const Models models({{"de", [kind]() -> Loaded { throw Error(kind, "test", "is wrong"); }}});
    models.wait();
    const Models::Status status = models.status()[0];
    EXPECT_EQ(status.state, Models::State::failed);
    EXPECT_EQ(status.error, "test: is wrong");
    EXPECT_EQ(status.refused, kind == ErrorKind::usage);
  }
}

TEST_F(Serving, ScoresAndTokens) {
  serve();
  const std::string source = "a dog runs", target = "the old dog";
  const auto ids = [&](const std::string& t, Side side) {
    auto list = translator.tokenizer->encode(t, side);
    list.push_back(translator.tokenizer->special(side).eos);
    return list;
  };
  Arena arena;
  Context c(arena);
  const auto expected = search::score(c, *translator.model,
                                      {std::vector<std::vector<std::int32_t>>{ids(source, Side::source)},
                                       std::vector<std::vector<std::int32_t>>{ids(target, Side::target)}})[0];
  Json got = post("/score", {{"source", source}, {"target", {target}}});
  EXPECT_NEAR(got["scores"][0]["log_prob"].get<double>(), expected.log_prob, 1e-4);
  EXPECT_EQ(got["scores"][0]["tokens"].size(), expected.token_log_probs.size());
  got = post("/score", {{"text", {"abc", "ab"}}, {"model", "plays"}});
  EXPECT_EQ(got["scores"][0]["tokens"].size(), 3u);
  EXPECT_EQ(got["scores"][0]["token_log_probs"].size(), 3u) << "one for each token";
  EXPECT_TRUE(got["scores"][0]["token_log_probs"][0].is_null()) << "the first follows nothing";
  EXPECT_NEAR(
      got["scores"][0]["token_log_probs"][1].get<double>() + got["scores"][0]["token_log_probs"][2].get<double>(),
      got["scores"][0]["log_prob"].get<double>(), 1e-4);
  EXPECT_EQ(post("/score", {{"text", "a"}, {"model", "plays"}})["scores"][0]["token_log_probs"],
            Json::array({nullptr}));
  post("/score", {{"source", source}, {"target", {target, target}}}, 400);
  post("/score", Json::object(), 400);
  // An empty text has a valid answer, and an error names its text.
  got = post("/score", {{"text", {"", "ab", ""}}, {"model", "plays"}});
  EXPECT_EQ(got["scores"][0], Json::parse(R"({"log_prob":0.0,"tokens":[],"token_log_probs":[]})"));
  EXPECT_EQ(got["scores"][1], post("/score", {{"text", "ab"}, {"model", "plays"}})["scores"][0]);
  got = post("/score", {{"source", {source, ""}}, {"target", {"", ""}}});
  EXPECT_EQ(got["scores"][0]["tokens"], Json({"</s>"}));
  EXPECT_EQ(got["scores"].size(), 2u);
  std::string long_text;
  while (long_text.size() < 1000) long_text += "a dog ";
  got = post("/score", {{"source", {source, source}}, {"target", {target, long_text}}}, 400);
  EXPECT_EQ(got["error"]["param"], "target");
  EXPECT_TRUE(got["error"]["message"].get<std::string>().starts_with("target 2: has ")) << got.dump();
  got = post("/tokenize", {{"text", source}});
  EXPECT_EQ(got["ids"].get<std::vector<std::int32_t>>(), translator.tokenizer->encode(source, Side::source));
  EXPECT_EQ(post("/detokenize", {{"ids", got["ids"]}, {"side", "source"}})["text"], source);
  post("/detokenize", {{"ids", {100'000}}}, 400);
  got = post("/attention", {{"source", source}, {"target", target}});
  EXPECT_EQ(got["maps"].size(), 3u);
  // For a language model, as in /score; the field name of a translation's source works too.
  const Json of_text = post("/attention", {{"text", "abc"}})["maps"];
  EXPECT_EQ(of_text[0]["queries"], Json({"a", "b", "c", "<|endoftext|>"}));
  EXPECT_EQ(of_text, post("/attention", {{"source", "abc"}, {"model", "plays"}})["maps"]);
  post("/attention", {{"text", "abc"}, {"source", "abc"}, {"model", "plays"}}, 400);
  post("/attention", {{"text", "abc"}, {"model", "de"}}, 400);
  post("/attention", {{"target", target}}, 400);
  for (const char* path : {"/attention", "/score"})
    for (const char* name : {"source_language", "target_language"})
      EXPECT_EQ(post(path, {{"text", "abc"}, {name, "de"}}, 400)["error"]["param"], name) << "is told no languages";
  EXPECT_EQ(got["maps"][0]["layers"][0]["heads"][0].size(), got["maps"][0]["queries"].size());
}

TEST_F(Serving, RefusesWhatCannotBe) {
  ServiceOptions o;
  o.most_texts = 3, o.most_characters = 100, o.most_hypotheses = 4, o.most_new_tokens = 50;
  serve(o);
  const auto refused = [&](const std::string& path, const Json& body, int status, const std::string& says) {
    const Json got = post(path, body, status);
    EXPECT_NE(got.dump().find(says), std::string::npos) << got.dump();
  };
  refused("/translate", {{"q", {"a", "b", "c", "d"}}, {"target", "de"}}, 400, "at most 3");
  refused("/translate", {{"q", std::string(101, 'a')}, {"target", "de"}}, 413, "at most 100");
  refused("/translate", {{"q", "a"}, {"target", "fr"}}, 400, "fr");
  refused("/translate", {{"q", "a"}, {"model", "plays"}}, 400, "does not translate");
  refused("/translate", {{"q", "a"}, {"model", "no"}}, 404, "no model");
  refused("/translate", {{"q", 5}, {"beam_size", "x"}}, 400, "beam_size");
  refused("/translate", {{"q", "a"}, {"beam_size", 4}, {"temperature", 1}}, 400, "cannot be combined with temperature");
  refused("/translate", {{"q", "a"}, {"priority", 5}}, 403, "administrators");
  refused("/translate", {{"q", "a"}, {"terminology", 5}}, 400, "terminology");
  refused("/translate", {{"q", "a"}, {"prefix", "x"}}, 400, "split");
  refused("/v1/completions", {{"prompt", "a"}, {"n", 5}}, 400, "at most 4");
  refused("/v1/completions", {{"prompt", "a"}, {"max_tokens", 51}}, 400,
          "max_tokens: 51 is above the server's limit of 50");
  refused("/v1/completions", {{"prompt", Json::array()}}, 400, "prompt");
  refused("/v1/completions", {{"prompt", {1, 100'000}}}, 400, "prompt");
  refused("/v1/completions", {{"prompt", "a"}, {"logit_bias", {{"1", 101}}}}, 400, "logit_bias");
  refused("/v1/completions", {{"prompt", "a"}, {"stream", true}, {"beam_size", 3}}, 400, "beam");
  refused("/v1/completions", {{"prompt", "a"}, {"model", "de"}}, 400, "does not continue");
  refused("/v1/completions", {{"prompt", std::string(99, 'a') + std::string(99, 'b')}}, 413, "at most 100");
  refused("/v1/chat/completions", {{"messages", 1}}, 400, "messages");
  refused("/v1/chat/completions", {{"messages", {{{"role", "user"}}}}}, 400, "content");
  for (const Json& part : {Json{{"type", 1}}, Json{{"text", "a"}}, Json{{"type", "image_url"}}, Json("a")})
    refused("/v1/chat/completions", {{"messages", {{{"role", "user"}, {"content", Json::array({part})}}}}}, 400,
            "messages[0].content[0]: expected");
  EXPECT_EQ(ask("POST", "/translate", "{").status, 400);
  EXPECT_EQ(ask("POST", "/translate", "[]").status, 400);
  EXPECT_EQ(ask("POST", "/translate", std::string(5000, '[')).status, 400);
  EXPECT_EQ(ask("POST", "/translate", "{\"q\": \"\xff\"}").status, 400);
}

TEST_F(Serving, KeysOriginsAndLog) {
  ServiceOptions o;
  o.keys.api = {"first-key", "other-key"};
  o.keys.admin = {"admin-key"};
  o.origins.allowed = {"https://a.example"};
  serve(o);
  const std::string body = Json{{"q", "a dog"}, {"target", "de"}}.dump();
  EXPECT_EQ(ask("POST", "/translate", body).status, 401);
  EXPECT_EQ(ask("POST", "/translate", body, "Authorization: Bearer first-keY\r\n").status, 403);
  EXPECT_EQ(ask("POST", "/translate", body, "Authorization: Bearer other-key\r\n").status, 200);
  EXPECT_EQ(ask("POST", "/translate", body, "X-API-Key: first-key\r\n").status, 200);
  EXPECT_EQ(ask("POST", "/translate", Json{{"q", "a dog"}, {"target", "de"}, {"api_key", "first-key"}}.dump()).status,
            200);
  EXPECT_EQ(ask("GET", "/health").status, 200) << "a health check needs no key";
  EXPECT_EQ(ask("GET", "/metrics").status, 401);
  EXPECT_EQ(ask("POST", "/admin/models/reload", R"({"model":"de"})", "X-API-Key: first-key\r\n").status, 403);
  EXPECT_EQ(ask("POST", "/admin/models/unload", R"({"model":"plays"})", "X-API-Key: admin-key\r\n").status, 202);
  EXPECT_EQ(ask("POST", "/admin/models/unload", R"({"model":"../x"})", "X-API-Key: admin-key\r\n").status, 404);
  EXPECT_EQ(ask("POST", "/v1/completions", R"({"prompt":"a","model":"plays"})", "X-API-Key: first-key\r\n").status,
            503);
  Answer a = ask("OPTIONS", "/translate", "", "Origin: https://a.example\r\n");
  EXPECT_EQ(a.headers.at("access-control-allow-origin"), "https://a.example");
  a = ask("OPTIONS", "/translate", "", "Origin: https://b.example\r\n");
  EXPECT_EQ(a.headers.count("access-control-allow-origin"), 0u);
  // A log line is written after its answer is sent, so another one may come first.
  const auto answered = Clock::now();
  std::size_t written = 0;
  while (written < 13 && Clock::now() - answered < std::chrono::seconds(60)) {
    const std::lock_guard lock(mutex);
    written = log.size();
  }
  const std::lock_guard lock(mutex);
  ASSERT_EQ(log.size(), 13u);
  const auto number = [](const std::string& one) {
    const std::string id = Json::parse(one)["id"];
    return std::stoi(id.substr(id.find('-') + 1));
  };
  std::sort(log.begin(), log.end(), [&](const auto& x, const auto& y) { return number(x) < number(y); });
  const Json line = Json::parse(log[2]);
  EXPECT_EQ(line["path"], "/translate");
  EXPECT_EQ(line["status"], 200);
  // The client, as the queue knows it, and the model.
  EXPECT_EQ(line["client"], "key-2");
  EXPECT_EQ(line["model"], "de");
  EXPECT_EQ(Json::parse(log[0])["client"], "127.0.0.1");
  EXPECT_FALSE(Json::parse(log[0]).contains("model"));
  EXPECT_EQ(Json::parse(log[3])["client"], "key-1");
  EXPECT_EQ(Json::parse(log[8])["client"], "admin-key-1");
  for (const std::string& l : log)
    for (const char* key : {"first-key", "other-key", "first-keY"}) EXPECT_EQ(l.find(key), std::string::npos) << l;
  for (const std::string& l : log) EXPECT_EQ(l.find("a dog"), std::string::npos) << "no texts";
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", ""));
  EXPECT_FALSE(equal_in_constant_time("", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abcabc", "abc"));
}

TEST_F(Serving, AModelIsReplacedWithoutDroppingAnybody) {
  serve();
  const std::string text = "a dog runs in the snow", expected = translated(text, 1)[0].text;
  std::atomic<bool> stop = false;
  std::atomic<int> asked = 0, wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      Client client(server->port());
      while (!stop) {
        const Answer a = client.ask("POST", "/translate", Json{{"q", text}, {"target", "de"}}.dump());
        ++asked;
        if (a.status != 200 || Json::parse(a.body)["translatedText"] != expected) ++wrong;
      }
    });
  for (int i = 0; i < 5; ++i) {
    const ModelPtr before = models->find("de");
    ASSERT_TRUE(models->reload("de"));
    while (models->find("de") == before) std::this_thread::yield();
    const int n = asked;
    while (asked < n + 6) std::this_thread::yield();
  }
  stop = true;
  for (std::thread& t : threads) t.join();
  EXPECT_GT(asked, 30);
  EXPECT_EQ(wrong, 0);
  EXPECT_FALSE(models->reload("nothing"));
}

TEST_F(Serving, SaysThatItIsLoading) {
  std::atomic<bool> go = false;
  models = std::make_unique<Models>(
      std::vector<ModelLoader>{{"de",
                                [&] {
                                  while (!go) std::this_thread::yield();
                                  return translator;
                                }},
                               {"bad", [&]() -> Loaded { fail("test", "no such directory"); }}});
  service = std::make_unique<Service>(ServiceOptions{}, *models);
  server = std::make_unique<HttpServer>(
      HttpServerOptions{.port = 0},
      [this](HttpRequest r, std::shared_ptr<Responder> out) { service->handle(std::move(r), std::move(out)); });
  EXPECT_EQ(ask("GET", "/health").status, 503);
  const Answer a = ask("POST", "/translate", R"({"q":"a"})");
  EXPECT_EQ(a.status, 503);
  EXPECT_EQ(a.headers.at("retry-after"), "1");
  go = true;
  models->wait();
  EXPECT_EQ(ask("GET", "/health").status, 200);
  EXPECT_EQ(ask("GET", "/ready").status, 503) << "one of them failed";
  EXPECT_EQ(ask("POST", "/translate", R"({"q":"a"})").status, 200);
}

// The callbacks of running requests use the service.
TEST_F(Serving, NoRequestRunsWhenItHasEnded) {
  struct Unread : Responder {
    void send(HttpResponse) override {}
    void begin(HttpResponse) override {}
    void write(std::string_view) override {}
    void finish() override {}
    void on_gone(std::function<void()>) override {}
  };
  Loaded endless = writer;
  endless.search.suppress_ids.push_back(endless.search.eos_ids[0]);
  endless.engine.batch_size = 2;
  serve({}, translator, endless);
  HttpRequest request;
  request.method = "POST", request.path = "/v1/completions";
  request.body = Json{{"prompt", std::vector<std::string>(64, "a")}, {"max_tokens", 190}}.dump();
  service->handle(std::move(request), std::make_shared<Unread>());
  const ModelPtr plays = models->find("plays");
  EXPECT_GT(plays->engine().running() + plays->engine().waiting(), 0u);
  service.reset();
  EXPECT_EQ(plays->engine().running() + plays->engine().waiting(), 0u);
  EXPECT_GT(plays->statistics().cancelled.value(), 0u);
}

TEST_F(Serving, MutatedBodiesAreAnswered) {
  serve();
  const std::vector<std::pair<std::string, std::string>> seeds{
      {"/translate",
       R"({"q":["a dog","<b>x</b>"],"source":"en","target":"de","format":"html","alternatives":2,"beam_size":3,"terminology":{"dog":"ball"},"scores":true})"},
      {"/v1/completions",
       R"({"prompt":[[1,2],[3]],"max_tokens":4,"temperature":0.5,"n":2,"stop":["a"],"logprobs":2,"echo":true,"seed":3})"},
      {"/v1/chat/completions", R"({"messages":[{"role":"user","content":"ab"}],"max_tokens":3,"stream":true})"},
      {"/score", R"({"source":"a","target":"b"})"},
      {"/detokenize", R"({"ids":[1,2,3],"side":"source"})"}};
  RandomSequence random(7, 7);
  Client client(server->port());
  const std::string bytes = "{}[]\",:0123456789.-eE\\u\x00\xff truefalsn";
  for (int i = 0; i < 400; ++i) {
    const auto& [path, seed] = seeds[random.below(seeds.size())];
    std::string body = seed;
    for (std::uint64_t n = 1 + random.below(4); n > 0 && !body.empty(); --n) {
      const auto at = static_cast<std::size_t>(random.below(body.size()));
      switch (random.below(3)) {
        case 0:
          body[at] = bytes[random.below(bytes.size())];
          break;
        case 1:
          body.erase(at, 1 + random.below(6));
          break;
        default:
          body.insert(at, body.substr(random.below(body.size()), random.below(10)));
      }
    }
    const Answer a = client.ask("POST", path, body);
    EXPECT_TRUE(a.status == 200 || (a.status >= 400 && a.status < 500))
        << a.status << " " << path << " " << body << "\n"
        << a.body;
  }
}

}  // namespace
}  // namespace tril::serve

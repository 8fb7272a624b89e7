// The whole service over sockets, with small models: what it answers is what the library gives, who may not is refused,
// errors are told as clients expect, and nothing is left behind.
#include "serve/serving.h"

namespace tril::serve {
namespace {

TEST_F(Serving, TranslatesAsTheLibraryDoes) {
  serve();
  const std::string one = "a dog runs in the snow", two = "the old dog and the ball";
  Json got = post("/translate", {{"q", one}, {"source", "en"}, {"target", "de"}});
  EXPECT_EQ(got["translatedText"], translated(one, 1)[0].text);
  EXPECT_FALSE(got.contains("alternatives"));
  got = post("/translate", {{"q", {one, two, ""}}, {"source", "auto"}, {"target", "de"}, {"alternatives", 2}});
  ASSERT_EQ(got["translatedText"].size(), 3u);
  EXPECT_EQ(got["translatedText"][1], translated(two, 3)[0].text);
  EXPECT_EQ(got["translatedText"][2], "");
  EXPECT_EQ(got["detectedLanguage"][0]["language"], "en");
  std::vector<std::string> others;
  for (const auto& t : translated(one, 3))
    if (t.text != translated(one, 3)[0].text) others.push_back(t.text);
  EXPECT_EQ(got["alternatives"][0].get<std::vector<std::string>>(), others);
  // Sentences are translated each by itself, lines stay.
  got = post("/translate",
             {{"q", " A dog runs. Two men play!\n\nthe ball"}, {"source", "en"}, {"target", "de"}, {"beam_size", 1}});
  EXPECT_EQ(got["translatedText"], " " + translated("A dog runs.", 1, 1)[0].text + " " +
                                       translated("Two men play!", 1, 1)[0].text + "\n\n" +
                                       translated("the ball", 1, 1)[0].text);
  got = post("/translate",
             {{"q", "<p>a <b>dog</b> &amp; men</p>"}, {"source", "en"}, {"target", "de"}, {"format", "html"}});
  const std::string html = got["translatedText"];
  EXPECT_TRUE(html.starts_with("<p>") && html.ends_with("</p>") && html.find("<b>") != std::string::npos) << html;
  got = post("/translate", {{"q", one}, {"source", "en"}, {"target", "de"}, {"scores", true}, {"alignment", true}});
  const Json& best = got["details"][0]["translations"][0];
  EXPECT_NEAR(best["score"].get<double>(), translated(one, 1)[0].score, 1e-4);
  EXPECT_EQ(best["attention"].size(), best["tokens"].size());
  EXPECT_EQ(best["attention"][0].size(), best["source_tokens"].size());
  got =
      post("/translate",
           {{"q", one}, {"target", "de"}, {"terminology", {{"dog", "red ball"}}}, {"beam_size", 8}, {"scores", true}});
  EXPECT_NE(got["translatedText"].get<std::string>().find("red ball"), std::string::npos) << got.dump();
  got = post("/translate", {{"q", one}, {"target", "de"}, {"prefix", "the old "}, {"split", "none"}});
  EXPECT_TRUE(got["translatedText"].get<std::string>().starts_with("the old "));
  got = post("/translate", {{"q", one}, {"target", "de"}, {"branch", true}, {"alternatives", 4}, {"split", "none"}});
  EXPECT_GE(got["alternatives"].size(), 2u);
  const Answer form = ask("POST", "/translate", "");
  EXPECT_EQ(form.status, 400);
}

TEST_F(Serving, TakesFormsAndStreams) {
  serve();
  const std::string text = "a dog runs in the snow",
                    form = "q=a+dog+runs+in+the%20snow&source=en&target=de&format=text";
  Client client(server->port());
  client.send(
      "POST /translate HTTP/1.1\r\nHost: t\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: " +
      std::to_string(form.size()) + "\r\n\r\n" + form);
  EXPECT_EQ(Json::parse(client.answer().body)["translatedText"], translated(text, 1)[0].text);
  const Answer a = client.ask("POST", "/translate", Json{{"q", text}, {"target", "de"}, {"stream", true}}.dump());
  EXPECT_EQ(a.headers.at("content-type"), "text/event-stream");
  EXPECT_TRUE(a.body.starts_with("data: {\"index\":0,\"partial\":")) << a.body;
  EXPECT_TRUE(a.body.ends_with("data: [DONE]\n\n"));
  EXPECT_NE(a.body.find("\"translatedText\":" + Json(translated(text, 1)[0].text).dump()), std::string::npos) << a.body;
}

TEST_F(Serving, TellsWhatIsThere) {
  serve();
  EXPECT_EQ(Json::parse(ask("GET", "/languages").body),
            Json::parse(R"([{"code":"de","name":"de","targets":[]},{"code":"en","name":"en","targets":["de"]}])"));
  EXPECT_EQ(post("/detect", {{"q", "a dog"}})[0]["language"], "en");
  EXPECT_EQ(Json::parse(ask("GET", "/frontend/settings").body)["language"]["target"]["code"], "de");
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
  // The description names every route and nothing else.
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
    const Answer a = ask(route.method, at, route.method == "POST" ? "{}" : "");
    EXPECT_NE(a.status, 404) << route.path;
    EXPECT_NE(a.status, 405) << route.path;
    EXPECT_NE(a.status, 500) << route.path << a.body;
    EXPECT_EQ(a.headers.at("x-content-type-options"), "nosniff");
    EXPECT_EQ(ask("DELETE", route.path).status, 405);
  }
  EXPECT_EQ(ask("GET", "/nothing").status, 404);
  EXPECT_EQ(ask("GET", "/../etc/passwd").status, 404);
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
  const auto expected =
      search::score(c, *translator.model, std::vector<std::vector<std::int32_t>>{ids(source, Side::source)},
                    std::vector<std::vector<std::int32_t>>{ids(target, Side::target)},
                    translator.model->special_ids().decoder_start)[0];
  Json got = post("/score", {{"source", source}, {"target", {target}}});
  EXPECT_NEAR(got["scores"][0]["log_prob"].get<double>(), expected.log_prob, 1e-4);
  EXPECT_EQ(got["scores"][0]["tokens"].size(), expected.token_log_probs.size());
  got = post("/score", {{"text", {"abc", "ab"}}, {"model", "plays"}});
  EXPECT_EQ(got["scores"][0]["token_log_probs"].size(), 2u);
  post("/score", {{"source", source}, {"target", {target, target}}}, 400);
  post("/score", Json::object(), 400);
  got = post("/tokenize", {{"text", source}});
  EXPECT_EQ(got["ids"].get<std::vector<std::int32_t>>(), translator.tokenizer->encode(source, Side::source));
  EXPECT_EQ(post("/detokenize", {{"ids", got["ids"]}, {"side", "source"}})["text"], source);
  post("/detokenize", {{"ids", {100'000}}}, 400);
  got = post("/attention", {{"source", source}, {"target", target}});
  EXPECT_EQ(got["maps"].size(), 3u);
  EXPECT_EQ(got["maps"][0]["layers"][0]["heads"][0].size(), got["maps"][0]["queries"].size());
}

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
  EXPECT_EQ(reason, expected.finish == search::Finish::end_token ? "stop" : "length");
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
  // The same seed gives the same, another one another.
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
      EXPECT_EQ(texts[i], chat ? whole["choices"][i]["message"]["content"] : whole["choices"][i]["text"]);
      EXPECT_EQ(reasons[i], whole["choices"][i]["finish_reason"]);
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
    EXPECT_EQ(l["top_logprobs"][i].size(), 3u);
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
  refused("/translate", {{"q", "a"}, {"beam_size", 4}, {"temperature", 1}}, 400, "draws");
  refused("/translate", {{"q", "a"}, {"priority", 5}}, 403, "administrators");
  refused("/translate", {{"q", "a"}, {"terminology", 5}}, 400, "terminology");
  refused("/translate", {{"q", "a"}, {"prefix", "x"}}, 400, "split");
  refused("/v1/completions", {{"prompt", "a"}, {"n", 5}}, 400, "at most 4");
  refused("/v1/completions", {{"prompt", "a"}, {"max_tokens", 51}}, 400, "at most 50");
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
            "parts of text");
  EXPECT_EQ(ask("POST", "/translate", "{").status, 400);
  EXPECT_EQ(ask("POST", "/translate", "[]").status, 400);
  EXPECT_EQ(ask("POST", "/translate", std::string(5000, '[')).status, 400);
  EXPECT_EQ(ask("POST", "/translate", "{\"q\": \"\xff\"}").status, 400);
}

TEST_F(Serving, KeysOriginsAndLog) {
  ServiceOptions o;
  o.keys.api = {"first-key", "other-key"};
  o.keys.admin = {"admin-key"};
  o.cors_origins = {"https://a.example"};
  serve(o);
  const std::string body = Json{{"q", "a dog"}, {"target", "de"}}.dump();
  EXPECT_EQ(ask("POST", "/translate", body).status, 401);
  EXPECT_EQ(ask("POST", "/translate", body, "Authorization: Bearer first-keY\r\n").status, 401);
  EXPECT_EQ(ask("POST", "/translate", body, "Authorization: Bearer other-key\r\n").status, 200);
  EXPECT_EQ(ask("POST", "/translate", body, "X-API-Key: first-key\r\n").status, 200);
  EXPECT_EQ(ask("POST", "/translate", Json{{"q", "a dog"}, {"target", "de"}, {"api_key", "first-key"}}.dump()).status,
            200);
  EXPECT_EQ(ask("GET", "/health").status, 200) << "for whoever watches";
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
  const std::lock_guard lock(mutex);
  ASSERT_GE(log.size(), 10u);
  const Json line = Json::parse(log[2]);
  EXPECT_EQ(line["path"], "/translate");
  EXPECT_EQ(line["status"], 200);
  for (const std::string& l : log) EXPECT_EQ(l.find("a dog"), std::string::npos) << "no texts";
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", ""));
  EXPECT_FALSE(equal_in_constant_time("", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abcabc", "abc"));
}

TEST_F(Serving, WhoGoesAwayLeavesNothing) {
  Loaded endless = writer;
  endless.search.suppress_ids.push_back(endless.search.eos_ids[0]);
  serve({}, translator, endless);
  const ModelPtr plays = models->find("plays");
  const std::string body =
      Json{{"prompt", "a"}, {"max_tokens", 190}, {"temperature", 1}, {"n", 4}, {"stream", true}}.dump();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 12; ++i) {
    clients.push_back(std::make_unique<Client>(server->port()));
    clients.back()->send(Client::request("POST", "/v1/completions", body));
  }
  clients[0]->head();
  clients.clear();
  const auto begun = Clock::now();
  const auto idle = [&] { return plays->engine().running() + plays->engine().waiting() == 0; };
  while (!idle() && Clock::now() - begun < std::chrono::seconds(30)) std::this_thread::yield();
  EXPECT_TRUE(idle());
  EXPECT_EQ(plays->statistics().cache().used_slots, 0);
}

TEST_F(Serving, TooManyAreTurnedAway) {
  Loaded endless = writer;
  endless.search.suppress_ids.push_back(endless.search.eos_ids[0]);
  endless.engine.queue_size = 2;
  endless.engine.batch_size = 1;
  serve({}, translator, endless);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 12; ++i) {
    clients.push_back(std::make_unique<Client>(server->port()));
    clients.back()->send(Client::request("POST", "/v1/completions",
                                         Json{{"prompt", "a"}, {"max_tokens", 190}, {"stream", i % 2 == 0}}.dump()));
  }
  int turned_away = 0, answered = 0;
  for (const auto& client : clients) {
    const Answer a = client->answer();
    answered += a.status == 200;
    if (a.status == 200) continue;
    EXPECT_EQ(a.status, 429) << a.body;
    EXPECT_GE(std::stoi(a.headers.at("retry-after")), 1);
    ++turned_away;
  }
  EXPECT_GE(turned_away, 1) << "one is answered, one may wait";
  EXPECT_GE(answered, 1);
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
      std::vector<ModelSource>{{"de",
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
}

// The same conversation again: its beginning need not be read, and nothing else differs.
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
  // A hundred more than the others is as good as forced; a chat has biases too.
  biased["logit_bias"] = {{std::to_string(ids[0].get<int>()), 100}};
  EXPECT_EQ(post("/v1/completions", biased)["choices"][0]["text"], std::string(60, 'a'));
  biased.erase("prompt");
  biased["messages"] = {{{"role", "user"}, {"content", "b"}}};
  EXPECT_EQ(post("/v1/chat/completions", biased)["choices"][0]["message"]["content"], std::string(60, 'a'));
  // A little more is a little more likely.
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

// One request or client must not harm others: hold up the server, end it, change others' answers, or take their
// share.
#include "document/markup/plain_text.h"
#include "document/segments/document_sentences.h"
#include "serve/engine/side_worker.h"
#include "support/serving.h"

namespace tril::serve {
namespace {

// A page with more sentences than can wait at once.
std::string long_text(int sentences) {
  std::string text;
  for (int i = 0; i < sentences; ++i)
    text += i % 3 == 0 ? "A dog runs. " : i % 3 == 1 ? "Two men play! " : "The old dog. ";
  return text;
}

TEST_F(Serving, ATextMayHaveMoreSentencesThanMayWait) {
  Loaded de = translator;
  de.engine.queue_size = 16;
  serve({}, de);
  const std::string text = long_text(60);
  const std::string whole = post("/translate", {{"q", text}, {"target", "de"}})["translatedText"];
  const auto document = document::read_plain_text(text);
  const document::DocumentSentences sentences(*document, {});
  const std::string row = sentences.write("de", [&](std::size_t i) {
    return document::Translated{translated(sentences.text(i), 1)[0].text, {}};
  });
  EXPECT_EQ(whole, row);
  // Also while others wait, and while the server is stopping.
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      const Answer a = ask("POST", "/translate", Json{{"q", text}, {"target", "de"}}.dump());
      right += a.status == 200 ? Json::parse(a.body)["translatedText"] == whole : a.status == 429 || a.status == 503;
    });
  const ModelPtr model = models->find("de");
  const auto begun = Clock::now();
  while (model->engine().running() == 0 && Clock::now() - begun < std::chrono::seconds(60))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  service->stop_taking();
  service->drain();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 3);
}

TEST_F(Serving, WhoLeavesALongTextLeavesNothing) {
  Loaded de = translator;
  de.engine.queue_size = 16;
  serve({}, de);
  {
    Client client(server->port());
    client.send(Client::request("POST", "/translate", Json{{"q", long_text(2000)}, {"target", "de"}}.dump()));
    const auto begun = Clock::now();
    while (models->find("de")->engine().running() == 0 && Clock::now() - begun < std::chrono::seconds(60))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const Engine& engine = models->find("de")->engine();
  const auto begun = Clock::now();
  while (engine.running() + engine.waiting() > 0 && Clock::now() - begun < std::chrono::seconds(60))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(engine.running() + engine.waiting(), 0u);
  EXPECT_EQ(post("/translate", {{"q", "a dog"}, {"target", "de"}}).count("translatedText"), 1u);
}

TEST_F(Serving, AStreamOfALongTextComesToItsEnd) {
  Loaded de = translator;
  de.engine.queue_size = 256;
  serve({}, de);
  const std::string text = long_text(400);
  const Answer a = ask("POST", "/translate", Json{{"q", text}, {"target", "de"}, {"stream", true}}.dump());
  EXPECT_TRUE(a.body.ends_with("data: [DONE]\n\n")) << a.body.size();
}

TEST_F(Serving, AStreamThatIsNotTakenIsRefusedLikeAnyOther) {
  Loaded de = translator, plays = writer;
  de.engine.cache_tokens = plays.engine.cache_tokens = 10;
  serve({}, de, plays);
  EXPECT_EQ(ask("POST", "/translate", R"({"q":"a dog","target":"de","stream":true})").status, 400);
  EXPECT_EQ(ask("POST", "/v1/completions", R"({"prompt":"ab","max_tokens":90,"stream":true})").status, 400);
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
  // Some may still be running: what matters is that nothing stays.
  const auto idle = [&] {
    return plays->engine().waiting() == 0 && plays->engine().running() == 0 &&
           plays->statistics().cache().used_slots == 0;
  };
  bool was = idle();
  while (!was && Clock::now() - begun < std::chrono::seconds(60)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    was = idle();
  }
  EXPECT_TRUE(was);
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
    const Json error = Json::parse(a.body)["error"];  // also for requests of a stream
    EXPECT_EQ(error["type"], "rate_limit_error");
    EXPECT_EQ(error["code"], "rate_limit_exceeded");
    EXPECT_TRUE(error["param"].is_null());
    ++turned_away;
  }
  EXPECT_GE(turned_away, 1) << "one is answered, one may wait";
  EXPECT_GE(answered, 1);
}

// A model may have columns for more tokens than exist; these never appear in an answer of any form.
TEST_F(Serving, PaddedVocabulariesTellTokensThatThereAre) {
  Loaded plays = small_writer(letters, 9);
  plays.search.suppress_ids.clear();
  serve({}, translator, plays);
  const Json got = post("/v1/completions", {{"prompt", "abcdef"}, {"max_tokens", 3}, {"echo", true}, {"logprobs", 20}});
  for (const Json& top : got["choices"][0]["logprobs"]["top_logprobs"]) {
    if (!top.is_null()) {
      EXPECT_GT(top.size(), 5u);
    }
  }
  EXPECT_EQ(ask("GET", "/health").status, 200);
}

TEST_F(Serving, NoRequestSpeaksForAnother) {
  serve();
  const Json honest{{"q", "a dog"}, {"source", "auto"}, {"alternatives", 3}, {"beam_size", 6}};
  const Json expected = post("/translate", honest);
  serve();
  // A field whose name resembles two others combined, before anyone requests these.
  post("/translate", Json::parse(R"({"q":"x","source":"auto","alternatives:3,beam_size":6})"));
  post("/translate", Json::parse(R"({"q":"x","source":"auto","alternatives\":3,\"beam_size":6})"));
  EXPECT_EQ(post("/translate", honest), expected);
}

TEST_F(Serving, KeysComeInFormsAndMayBeReplaced) {
  ServiceOptions o;
  o.keys.api = {"first-key"};
  o.log_texts = true;
  serve(o);
  const auto form = [&](const std::string& key) {
    Client client(server->port());
    const std::string body = "q=a+dog&source=en&target=de&api_key=" + key;
    client.send(
        "POST /translate HTTP/1.1\r\nHost: t\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        "Content-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body);
    return client.answer().status;
  };
  EXPECT_EQ(form("first-key"), 200);
  EXPECT_EQ(form("other-key"), 403) << "as in LibreTranslate";
  EXPECT_EQ(ask("GET", "/metrics", "", "Authorization: bearer first-key\r\n").status, 200);
  service->set_keys({{"other-key"}, {}});
  EXPECT_EQ(form("first-key"), 403);
  EXPECT_EQ(form("other-key"), 200);
  const std::lock_guard lock(mutex);
  for (const std::string& line : log) EXPECT_EQ(line.find("first-key"), std::string::npos) << line;
}

TEST_F(Serving, OtherPagesAndOtherNamesMayNotAsk) {
  ServiceOptions o;
  o.origins.own_names_only = true;
  o.origins.allowed = {"https://a.example"};
  serve(o);
  const auto status = [&](const std::string& host, const std::string& origin) {
    Client client(server->port());
    const std::string body = R"({"q":"a dog","target":"de"})";
    client.send("POST /translate HTTP/1.1\r\nHost: " + host + "\r\n" +
                (origin.empty() ? "" : "Origin: " + origin + "\r\n") +
                "Content-Type: text/plain\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    return client.answer().status;
  };
  EXPECT_EQ(status("localhost:8080", ""), 200);
  EXPECT_EQ(status("127.0.0.1", ""), 200);
  EXPECT_EQ(status("[::1]:80", ""), 200);
  EXPECT_EQ(status("localhost:8080", "http://localhost:8080"), 200) << "its own page";
  EXPECT_EQ(status("localhost:8080", "https://a.example"), 200);
  EXPECT_EQ(status("a.example", "https://a.example"), 200);
  EXPECT_EQ(status("localhost:8080", "http://evil.example"), 403);
  EXPECT_EQ(status("localhost:8080", "null"), 403);
  EXPECT_EQ(status("evil.example", "http://evil.example"), 403) << "a name that leads here";
  EXPECT_EQ(status("127.0.0.1.evil.example", ""), 403);
  EXPECT_EQ(ask("DELETE", "/translate", "", "Host: localhost\r\n").status, 400) << "two names";
}

TEST_F(Serving, OneModelAndWhatAnAddressIsFor) {
  serve();
  EXPECT_EQ(Json::parse(ask("GET", "/v1/models/plays").body)["id"], "plays");
  EXPECT_EQ(ask("GET", "/v1/models/").status, 404);
  EXPECT_EQ(ask("GET", "/v1/models/none").status, 404);
  const Answer a = ask("GET", "/translate");
  EXPECT_EQ(a.status, 405);
  EXPECT_EQ(a.headers.at("allow"), "POST");
  EXPECT_EQ(ask("GET", "http://proxy.example/health").status, 200);
}

// Every accepted request is answered, including work done aside and its decoding.
TEST_F(Serving, DrainingEndsWhatIsDoneAside) {
  serve();
  std::vector<std::thread> threads;
  std::atomic<int> answered = 0;
  const std::vector<std::pair<std::string, std::string>> requests{
      {"/v1/completions", R"({"prompt":"abcabcab","max_tokens":20,"echo":true,"logprobs":3})"},
      {"/score", R"({"source":["a dog","two men"],"target":["the ball","a dog"]})"},
      {"/v1/completions", R"({"prompt":"ab","max_tokens":60,"response_format":{"type":"json_object"}})"}};
  std::atomic<int> taken = 0;
  for (int i = 0; i < 9; ++i)
    threads.emplace_back([&, i] {
      Client client(server->port());
      const auto& [path, body] = requests[static_cast<std::size_t>(i) % requests.size()];
      client.send(Client::request("POST", path, body));
      ++taken;
      const Answer a = client.answer();
      // Late requests are told so; no accepted request is.
      answered +=
          a.status == 200 || a.status == 400 || (a.status == 503 && a.body.find("shutting down") != std::string::npos);
    });
  while (taken < 9) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // for the last of them to be read
  service->stop_taking();
  service->drain();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, 9);
}

TEST(SideWorker, ClientsTakeTurnsAndHaveHalfOfThePlaces) {
  SideWorker side({.most_waiting = 8});
  std::mutex mutex;
  std::condition_variable changed;
  bool opened = false, begun = false;
  std::vector<std::string> order;
  side.push("a", [&](search::WorkerPool&) {
    std::unique_lock lock(mutex);
    begun = true;
    changed.notify_all();
    changed.wait(lock, [&] { return opened; });
  });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return begun; });
  }
  const auto push = [&](const std::string& client) {
    return side.push(client, [&order, client](search::WorkerPool&) { order.push_back(client); });
  };
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(push("a"));
  EXPECT_FALSE(push("a")) << "half of the places are a client's";
  EXPECT_TRUE(push("b"));
  EXPECT_TRUE(push("c"));
  {
    const std::lock_guard lock(mutex);
    opened = true;
  }
  changed.notify_all();
  side.drain();
  EXPECT_EQ(order, (std::vector<std::string>{"b", "a", "c", "a", "a", "a"}));
}

}  // namespace
}  // namespace tril::serve

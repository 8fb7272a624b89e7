// Large bodies are read outside of the server's threads: meanwhile all other requests are answered.
#include <condition_variable>

#include "support/packed.h"
#include "support/serving.h"

namespace tril::serve {
namespace {

constexpr std::chrono::seconds longest_wait(60);  // then a test fails

// Blocks callers until it is opened.
class Gate {
 public:
  void hold() {
    std::unique_lock lock(mutex_);
    reached_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, longest_wait, [&] { return open_; });
  }
  /// Whether a caller has arrived.
  bool wait_until_reached() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, longest_wait, [&] { return reached_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool reached_ = false, open_ = false;
};

// A server with one thread, and a model whose long chats hold up the thread that reads large bodies.
struct LargeBodies : Serving {
  void serve_slowly(const ServiceOptions& o = {}) {
    Loaded slow = writer;
    slow.chat = [gate = gate, chat = writer.chat](const Json& messages, bool answers) {
      const std::string text = chat(messages, answers);
      if (text.size() > 10'000) gate->hold();
      return text;
    };
    serve(o, translator, slow);
    server = std::make_unique<HttpServer>(
        HttpServerOptions{.port = 0, .threads = 1},
        [this](HttpRequest r, std::shared_ptr<Responder> out) { service->handle(std::move(r), std::move(out)); });
  }
  void TearDown() override {
    gate->open();  // whatever the result of the test
    Serving::TearDown();
  }
  static std::string long_chat() {
    return Json{{"messages", {{{"role", "user"}, {"content", std::string(20'000, 'a')}}}}}.dump();
  }

  std::shared_ptr<Gate> gate = std::make_shared<Gate>();
};

TEST_F(LargeBodies, AreReadWhileOthersAreAnswered) {
  serve_slowly();
  Client client(server->port());
  client.send(Client::request("POST", "/v1/chat/completions", long_chat()));
  ASSERT_TRUE(gate->wait_until_reached());
  EXPECT_EQ(ask("GET", "/health").status, 200);
  EXPECT_EQ(metric("tril_side_running"), 1);
  (void)post("/tokenize", {{"text", "a dog"}});
  (void)post("/translate", {{"q", "a dog"}, {"source", "en"}, {"target", "de"}});
  (void)post("/score",
             {{"source", "a dog"}, {"target", "the ball"}});  // which is also handled aside, but not queued after it
  gate->open();
  const Answer a = client.answer();
  EXPECT_EQ(a.status, 400) << "it has more tokens than the model has positions";
  EXPECT_NE(a.body.find("positions"), std::string::npos) << a.body;
}

// The server's own threads do nothing with them: no unpacking, no search for a key, no logging.
TEST_F(LargeBodies, WaitForTheirReaderPackedOrNot) {
  ServiceOptions o;
  o.keys.api = {"first-key"};
  o.log_texts = true;
  serve_slowly(o);
  const std::string key = "X-API-Key: first-key\r\n", gzip = "Content-Encoding: gzip\r\n";
  Client slow(server->port());
  slow.send(Client::request("POST", "/v1/chat/completions", long_chat(), key));
  ASSERT_TRUE(gate->wait_until_reached());

  const auto large = [](const std::string& api_key) {
    return Json{{"text", "a dog"}, {"api_key", api_key}}.dump() + std::string(std::size_t{3} << 20, ' ');
  };
  const std::string small_outside = tril::test::packed(large("first-key"));
  ASSERT_LT(small_outside.size(), 10'000u);
  struct Case {
    std::string body, headers;
    int status;
  };
  const std::vector<Case> cases{{small_outside, gzip, 200},       {tril::test::packed(large("other-key")), gzip, 401},
                                {small_outside, gzip + key, 200}, {small_outside + "x", gzip + key, 400},
                                {large("first-key"), "", 200},    {large("other-key"), "", 401},
                                {large("other-key"), key, 200}};
  std::vector<std::unique_ptr<Client>> clients;
  for (const Case& one : cases) {
    clients.push_back(std::make_unique<Client>(server->port()));
    ASSERT_TRUE(clients.back()->send(Client::request("POST", "/tokenize", one.body, one.headers)));
  }
  const std::string all_wait = fmt::format("\ntril_side_waiting {}\n", cases.size());
  const auto begun = Clock::now();
  std::string metrics;
  while (metrics.find(all_wait) == std::string::npos && Clock::now() - begun < longest_wait) {
    EXPECT_EQ(ask("GET", "/health").status, 200);
    metrics = ask("GET", "/metrics", "", key).body;
  }
  EXPECT_NE(metrics.find(all_wait), std::string::npos) << metrics;

  // A request that its headers disqualify does not wait.
  EXPECT_EQ(ask("POST", "/tokenize", large("first-key"), "X-API-Key: other-key\r\n").status, 401);
  EXPECT_EQ(ask("POST", "/nothing", large("first-key"), key).status, 404);
  EXPECT_EQ(ask("PUT", "/tokenize", large("first-key"), key).status, 405);

  gate->open();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Answer a = clients[i]->answer();
    EXPECT_EQ(a.status, cases[i].status) << i << " " << a.body;
    EXPECT_EQ(Json::parse(a.body).contains("ids"), a.status == 200) << a.body;
  }
  // A log line is written after its answer is sent.
  std::vector<Json> lines;
  const auto answered = Clock::now();
  while (lines.size() < cases.size() + 3 && Clock::now() - answered < longest_wait) {
    const std::lock_guard lock(mutex);
    lines.clear();
    for (const std::string& one : log) {
      Json line = Json::parse(one);
      if (line["path"] == "/tokenize" || line["path"] == "/nothing") lines.push_back(std::move(line));
    }
  }
  ASSERT_EQ(lines.size(), cases.size() + 3);
  int with_body = 0;
  for (const Json& line : lines) {
    const int status = line["status"];
    EXPECT_EQ(line["client"], (status == 200 || status == 400 ? "key-1" : "127.0.0.1")) << line;
    if (!line.contains("body")) continue;
    ++with_body;
    EXPECT_EQ(Json::parse(line["body"].get<std::string>()), Json({{"text", "a dog"}, {"api_key", "..."}}));
    EXPECT_TRUE(status == 200 || status == 401) << line;
  }
  EXPECT_EQ(with_body, 6) << "the others nobody has read: the broken one, and those that did not wait";
}

// Every route answers a large body like a small one.
TEST_F(Serving, LargeBodiesAreAnsweredAsSmallOnes) {
  serve();
  const std::string space(20'000, ' ');
  for (const auto& [path, body] :
       {std::pair<std::string, Json>{"/translate", {{"q", "a dog. The ball"}, {"source", "en"}, {"target", "de"}}},
        {"/score", {{"source", "a dog"}, {"target", "the ball"}}},
        {"/tokenize", {{"text", "a dog"}}},
        {"/v1/completions", {{"prompt", "ab"}, {"temperature", 0}, {"max_tokens", 0}, {"echo", true}}},
        {"/translate", {{"q", 5}, {"beam_size", "x"}}}}) {
    const Answer small = ask("POST", path, body.dump()), large = ask("POST", path, body.dump() + space);
    EXPECT_EQ(small.status, large.status) << path;
    if (path == "/v1/completions") continue;  // its answers contain an id
    EXPECT_EQ(small.body, large.body) << path;
  }
  // A stream too.
  const Json stream{{"q", "a dog"}, {"source", "en"}, {"target", "de"}, {"stream", true}};
  const Answer a = ask("POST", "/translate", stream.dump() + space);
  EXPECT_TRUE(a.body.ends_with("data: [DONE]\n\n")) << a.body;
}

}  // namespace
}  // namespace tril::serve

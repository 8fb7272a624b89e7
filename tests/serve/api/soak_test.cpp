// The worst clients: some read nothing, some die at random. All others are served as usual, and nothing is left
// afterwards. `make soak` runs the long forms: TRIL_SOAK_SECONDS=1800 TRIL_SLOW_CLIENTS=256.
#include "support/process.h"
#include "support/serving.h"

namespace tril::serve {
namespace {

int from_environment(const char* name, int otherwise) {
  const char* const value = std::getenv(name);
  return value ? std::stoi(value) : otherwise;
}

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

TEST_F(Serving, SoakOfSlowReadersStallsNobodyElse) {
  Loaded plays = writer;
  plays.engine.queue_size = 10'000;
  serve({}, translator, plays);
  const int slow = from_environment("TRIL_SLOW_CLIENTS", 32);
  const Json expected = post("/translate", {{"q", "a dog runs in the snow"}, {"target", "de"}});
  const std::string endless = Json{{"prompt", "ab"}, {"max_tokens", 190}, {"stream", true}, {"n", 4}}.dump();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < slow; ++i) {
    clients.push_back(std::make_unique<Client>(server->port(), 2048));
    clients.back()->send(Client::request("POST", "/v1/completions", endless));
  }
  Client fast(server->port());
  double longest = 0;
  for (int i = 0; i < 40; ++i) {
    const auto begun = Clock::now();
    const Answer a = fast.ask("POST", "/translate", Json{{"q", "a dog runs in the snow"}, {"target", "de"}}.dump());
    longest = std::max(longest, seconds_since(begun));
    ASSERT_EQ(a.status, 200) << a.body;
    EXPECT_EQ(Json::parse(a.body)["translatedText"], expected["translatedText"]);
  }
  EXPECT_LT(longest, 20) << "seconds: less than it takes to give those up who do not read, also under sanitizers";
  // A client that finally reads gets everything.
  std::string body = clients.front()->answer().body;
  EXPECT_TRUE(body.ends_with("data: [DONE]\n\n")) << body.substr(0, 200);
}

// One client: sends some request, and may or may not read the answer.
void live(std::uint16_t port, RandomSequence& random) {
  static const std::vector<std::pair<std::string, std::string>> requests{
      {"/translate", R"({"q": ["a dog runs in the snow. two men play", "the old dog"], "target": "de"})"},
      {"/translate", R"({"q": "two men play with a red ball", "target": "de", "stream": true, "beam_size": 4})"},
      {"/translate", R"({"q": "<b>the</b> ball", "target": "de", "format": "html", "alignment": true})"},
      {"/v1/completions", R"({"prompt": "abcabcabcabcabcabcab", "max_tokens": 100, "stream": true})"},
      {"/v1/completions", R"({"prompt": ["ab", "bcabcabcabcabcabcabca"], "max_tokens": 40, "n": 3, "logprobs": 2})"},
      {"/v1/completions", R"({"prompt": "abcabcabcabcabcabcabcab", "max_tokens": 9, "echo": true, "logprobs": 1})"},
      {"/v1/chat/completions", R"({"messages": [{"role": "user", "content": "abcdefgh"}], "max_tokens": 60})"},
      {"/score", R"({"source": "a dog", "target": "the ball"})"}};
  const auto& [path, text] = requests[random.below(requests.size())];
  try {
    Client client(port, random.below(4) == 0 ? 2048 : 0);
    const std::string bytes = Client::request("POST", path, text);
    switch (random.below(5)) {
      case 0:  // sends half a request
        client.send(bytes.substr(0, random.below(bytes.size())));
        break;
      case 1:  // asks and goes
        client.send(bytes);
        break;
      case 2:  // leaves in the middle
        client.send(bytes);
        client.receive();
        break;
      case 3:  // sends two requests at once, and reads one answer
        client.send(bytes + bytes);
        client.answer();
        break;
      default:
        client.send(bytes);
        EXPECT_LT(client.answer().status, 500);
    }
  } catch (const std::runtime_error& error) {
    ADD_FAILURE() << path << ": " << error.what();
  }
}

TEST_F(Serving, SoakWithClientsThatDieAtRandomLeavesNothing) {
  Loaded plays = writer, de = translator;
  plays.engine.threads = de.engine.threads = 2;
  plays.engine.session.prefix_tokens = 2000;
  serve({}, de, plays);
  const double seconds = from_environment("TRIL_SOAK_SECONDS", 3);
  const auto begun = Clock::now();
  std::vector<std::thread> threads;
  std::atomic<int> lives = 0;
  for (std::uint64_t t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      RandomSequence random(t, 21);
      while (seconds_since(begun) < seconds) {
        live(server->port(), random);
        ++lives;
      }
    });
  // Memory that stays in use once everything was used once: pools, arenas, caches.
  while (seconds_since(begun) < seconds / 2) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::int64_t middle = test::resident_bytes();
  for (std::thread& t : threads) t.join();
  const std::int64_t growth = test::resident_bytes() - middle;
  if (!test::sanitized) {
    EXPECT_LT(growth, (std::int64_t{24} << 20) + middle / 20) << "bytes more than after half of the time";
  }
  EXPECT_GT(lives, 20);
  // Clients that left send nothing more: the engines have only the remaining work.
  const auto left = Clock::now();
  while (server->connections() > 0 && seconds_since(left) < 60)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(server->connections(), 0u);
  std::uint64_t cancelled = 0;
  for (const char* name : {"de", "plays"}) {
    const ModelPtr model = models->find(name);
    const auto waited = Clock::now();
    while (model->engine().running() + model->engine().waiting() > 0 && seconds_since(waited) < 60)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(model->engine().running() + model->engine().waiting(), 0u) << name;
    EXPECT_EQ(model->statistics().cache().used_slots, 0) << name;
    EXPECT_EQ(model->statistics().failed.value(), 0u) << name;
    cancelled += model->statistics().cancelled.value();
    EXPECT_LE(model->statistics().cache().prefix_tokens, 2000) << name;
  }
  EXPECT_GT(cancelled, 0u);
  std::printf("%d clients in %.0f seconds, %lld bytes grown\n", lives.load(), seconds, static_cast<long long>(growth));
}

}  // namespace
}  // namespace tril::serve

// What takes long to read is read beside the server's threads: while it is, everybody else is answered.
#include <condition_variable>

#include "serve/serving.h"

namespace tril::serve {
namespace {

TEST_F(Serving, ALargeBodyIsReadWhileOthersAreAnswered) {
  // A model whose chats take until they are let go to be written down, where they are long.
  struct Gate {
    std::mutex mutex;
    std::condition_variable changed;
    bool reached = false, open = false;
  };
  const auto gate = std::make_shared<Gate>();
  Loaded slow = writer;
  slow.chat = [gate, chat = writer.chat](const Json& messages, bool answers) {
    const std::string text = chat(messages, answers);
    if (text.size() > 10'000) {
      std::unique_lock lock(gate->mutex);
      gate->reached = true;
      gate->changed.notify_all();
      gate->changed.wait(lock, [&] { return gate->open; });
    }
    return text;
  };
  serve({}, translator, slow);
  server = std::make_unique<HttpServer>(
      HttpServerOptions{.port = 0, .threads = 1},
      [this](HttpRequest r, std::shared_ptr<Responder> out) { service->handle(std::move(r), std::move(out)); });
  Client client(server->port());
  const Json large{{"messages", {{{"role", "user"}, {"content", std::string(20'000, 'a')}}}}};
  client.send(Client::request("POST", "/v1/chat/completions", large.dump()));
  {
    std::unique_lock lock(gate->mutex);
    gate->changed.wait(lock, [&] { return gate->reached; });
  }
  EXPECT_EQ(ask("GET", "/health").status, 200);
  EXPECT_EQ(metric("tril_side_running"), 1);
  (void)post("/tokenize", {{"text", "a dog"}});
  (void)post("/translate", {{"q", "a dog"}, {"source", "en"}, {"target", "de"}});
  (void)post("/score",
             {{"source", "a dog"}, {"target", "the ball"}});  // which is worked on aside too, but not behind it
  {
    const std::lock_guard lock(gate->mutex);
    gate->open = true;
    gate->changed.notify_all();
  }
  const Answer a = client.answer();
  EXPECT_EQ(a.status, 400) << "it has more tokens than the model has positions";
  EXPECT_NE(a.body.find("positions"), std::string::npos) << a.body;
}

// Every route's answer is the same as that of a small body.
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
    if (path == "/v1/completions") continue;  // whose answers have a number
    EXPECT_EQ(small.body, large.body) << path;
  }
  // A stream too.
  const Json stream{{"q", "a dog"}, {"source", "en"}, {"target", "de"}, {"stream", true}};
  const Answer a = ask("POST", "/translate", stream.dump() + space);
  EXPECT_TRUE(a.body.ends_with("data: [DONE]\n\n")) << a.body;
}

}  // namespace
}  // namespace tril::serve

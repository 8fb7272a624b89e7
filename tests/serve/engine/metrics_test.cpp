// /metrics reports what happens, and docs/serving.md and docs/grafana.json name its metrics.
#include <regex>
#include <set>
#include <sstream>

#include "base/file.h"
#include "support/paths.h"
#include "support/serving.h"
#include "unicode/trim.h"

namespace tril::serve {
namespace {

std::set<std::string> found(const std::string& text, const std::string& pattern) {
  std::set<std::string> names;
  const std::regex regex(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) names.insert((*at)[1]);
  return names;
}

std::string document(const std::string& name) {
  return read_text(test::test_dir() + "/../docs/" + name, std::size_t{1} << 24);
}

TEST_F(Serving, MetricsAreThoseOfTheDocuments) {
  serve();
  const std::set<std::string> told = found(ask("GET", "/metrics").body, "# TYPE (tril_\\w+) ");
  EXPECT_GE(told.size(), 20u);
  EXPECT_EQ(found(document("serving.md"), "\\| `(tril_\\w+)` \\|"), told) << "the table is of all of them";
  for (std::string name : found(document("grafana.json"), "(tril_\\w+)")) {
    if (!told.count(name)) name = std::regex_replace(name, std::regex("_(bucket|sum|count)$"), "");
    EXPECT_TRUE(told.count(name)) << name;
  }
}

TEST_F(Serving, MetricsCountConnectionsAndTheCache) {
  Loaded endless = writer;
  endless.search.suppress_ids.push_back(endless.search.eos_ids[0]);
  serve({}, translator, endless);
  EXPECT_EQ(metric("tril_connections"), 1) << "its own";
  EXPECT_EQ(metric("tril_cache_tokens_reserved{model=\"plays\"}"), 0);
  {
    Client idle(server->port()), busy(server->port());
    busy.send(Client::request("POST", "/v1/completions",
                              Json{{"prompt", "ab"}, {"max_tokens", 150}, {"n", 2}, {"stream", true}}.dump()));
    busy.head();
    const double reserved = metric("tril_cache_tokens_reserved{model=\"plays\"}"),
                 used = metric("tril_cache_tokens{model=\"plays\"}");
    // It may have ended by then, on a busy machine.
    if (reserved != 0) {
      EXPECT_EQ(reserved, 1 + 1 + 2 * 150) << "all that it may come to";
      EXPECT_LE(used, reserved);
    }
    EXPECT_GE(metric("tril_connections"), 3);
  }
  // The engine sees that the client has gone with its next step, and counts its tokens after the request.
  const auto reserved_now = [&] { return metric("tril_cache_tokens_reserved{model=\"plays\"}"); };
  const auto begun = Clock::now();
  while (reserved_now() > 0 && Clock::now() - begun < std::chrono::seconds(60))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(reserved_now(), 0);
}

TEST_F(Serving, MetricsCountWhatIsDoneAside) {
  serve();
  EXPECT_EQ(metric("tril_side_waiting") + metric("tril_side_running"), 0);
  SideWorker side;
  std::atomic<bool> begun = false, go = false;
  for (int i = 0; i < 3; ++i)
    side.push("a", [&](search::WorkerPool&) {
      begun = true;
      while (!go) std::this_thread::yield();
    });
  while (!begun) std::this_thread::yield();
  EXPECT_EQ(side.waiting(), 2u);
  EXPECT_EQ(side.running(), 1u);
  go = true;
  side.drain();
  EXPECT_EQ(side.waiting() + side.running(), 0u);
}

// The minimum cache fits the shortest request that has only a text.
TEST_F(Serving, ACacheHasItsLeast) {
  const CacheNeeds de = cache_needs(translator, 100), plays = cache_needs(writer, 100);
  EXPECT_EQ(de.most, 1 + 3 * 24) << "a beam of 3, 24 tokens";
  EXPECT_LE(de.least, de.most);
  EXPECT_EQ(plays.least, 1 + 16);
  EXPECT_EQ(plays.most, 1 + 200) << "all positions";
  Loaded small_de = translator, small_plays = writer;
  small_de.engine.cache_tokens = de.most, small_plays.engine.cache_tokens = plays.least;
  serve({}, small_de, small_plays);
  post("/translate", {{"q", std::string(40, 'a')}, {"target", "de"}});
  post("/v1/completions", {{"prompt", "a"}});
  post("/v1/completions", {{"prompt", "ab"}}, 400);
}

// Model names are directory names: none of their bytes may break the output.
TEST_F(Serving, AnyNameOfAModelIsTold) {
  const std::vector<std::string> names{"m\xff", "m\xfe", "a\"b\\c\nd", "\u00e9"};
  server.reset(), service.reset();
  std::vector<ModelLoader> sources;
  for (const std::string& name : names) sources.push_back({name, [plays = writer] { return plays; }});
  models = std::make_unique<Models>(sources);
  ServiceOptions o;
  o.log = [this](const std::string& line) {
    const std::lock_guard lock(mutex);
    log.push_back(line);
  };
  service = std::make_unique<Service>(o, *models);
  server = std::make_unique<HttpServer>(
      HttpServerOptions{.port = 0},
      [this](HttpRequest r, std::shared_ptr<Responder> out) { service->handle(std::move(r), std::move(out)); });
  models->wait();
  post("/v1/completions", {{"prompt", "a"}, {"max_tokens", 2}});
  const std::string text = ask("GET", "/metrics").body;
  EXPECT_TRUE(is_utf8(text));
  // A line is a name, labels in quotes, and a number; lines of different models differ.
  const std::regex line(R"re([a-z_]+(\{[a-z]+="([^"\\\n]|\\["\\n])*"(,[a-z]+="([^"\\\n]|\\["\\n])*")*\})? [^ ]+)re");
  std::istringstream lines(text);
  std::set<std::string> ready;
  for (std::string one; std::getline(lines, one);) {
    if (one.starts_with('#')) continue;
    EXPECT_TRUE(std::regex_match(one, line)) << one;
    if (one.starts_with("tril_model_ready")) {
      EXPECT_TRUE(ready.insert(one).second) << one;
    }
  }
  EXPECT_EQ(ready.size(), names.size());
  // The names are the same wherever they are reported or requested.
  const Json list = Json::parse(ask("GET", "/v1/models").body)["data"];
  ASSERT_EQ(list.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(list[i]["id"], model_name(names[i]));
  EXPECT_EQ(list[0]["id"], "m\\xFF");
  EXPECT_TRUE(ready.count(R"(tril_model_ready{model="m\\xFF"} 1)"));
  post("/v1/completions", {{"model", list[0]["id"]}, {"prompt", "a"}, {"max_tokens", 2}});
  for (const char* path : {"/v1/models", "/health", "/ready", "/languages", "/openapi.json"}) {
    const Answer a = ask("GET", path);
    EXPECT_TRUE(is_utf8(a.body) && Json::accept(a.body)) << path << " " << a.body;
  }
  const std::lock_guard lock(mutex);
  for (const std::string& one : log) EXPECT_TRUE(is_utf8(one) && Json::accept(one)) << one;
}

}  // namespace
}  // namespace tril::serve

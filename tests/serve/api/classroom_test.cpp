// A server for a class: it has the page and what the page asks, within bounds, for many at once, and changes nothing.
#include "serve/api/classroom.h"

#include <thread>

#include "support/contains.h"
#include "support/serving.h"

namespace tril::serve {
namespace {

ServiceOptions of_class() {
  return for_classroom({});
}

TEST_F(Serving, AClassHasOnlyThePageAndWhatItAsks) {
  serve();
  std::vector<std::pair<std::string, std::string>> all;
  for (const Route& route : service->routes()) all.emplace_back(route.method, route.path);
  serve(of_class());
  std::size_t left_out = 0;
  for (const auto& [method, path] : all) {
    SCOPED_TRACE(method + " " + path);
    bool has = false;
    for (const Route& route : service->routes()) has |= route.method == method && route.path == path;
    EXPECT_EQ(has, is_for_classroom(path));
    if (has || path.find('{') != path.npos) continue;
    ++left_out;
    const auto answer = ask(method, path, "{}");
    EXPECT_EQ(answer.status, 404);
    EXPECT_TRUE(contains(answer.body, "/inside")) << answer.body;
  }
  EXPECT_GT(left_out, 10u);
  for (const Route& route : service->routes()) EXPECT_NE(route.who, Route::Who::admins) << route.path;
  // Both addresses show the page of a pass.
  EXPECT_TRUE(contains(ask("GET", "/", "").body, "id=\"search-view\""));
  EXPECT_TRUE(contains(ask("GET", "/inside", "").body, "id=\"search-view\""));
  // What the page asks is answered as elsewhere.
  const Json trace{{"model", "plays"}, {"text", "abc"}, {"edit", {"*.scores=uniform"}}, {"new_tokens", 2}};
  const Json search{{"model", "de"}, {"text", "a dog"}, {"beam_size", 3}, {"n", 2}};
  const Json score{{"model", "plays"}, {"text", {"abc"}}};
  const Json of_trace = post("/trace", trace), of_search = post("/search", search), of_score = post("/score", score);
  serve();
  EXPECT_EQ(post("/trace", trace), of_trace);
  EXPECT_EQ(post("/search", search), of_search);
  EXPECT_EQ(post("/score", score), of_score);
}

TEST_F(Serving, AClassHasSmallerBounds) {
  ServiceOptions own;
  own.most_characters = 100;
  EXPECT_EQ(for_classroom(own).most_characters, 100u) << "a smaller one stays";
  EXPECT_LT(of_class().most_operations, own.most_operations);
  serve(of_class());
  EXPECT_EQ(post("/score", {{"model", "plays"}, {"text", std::string(9000, 'a')}}, 413)["error"]["param"], "text");
  post("/score", {{"model", "plays"}, {"text", std::vector<std::string>(17, "a")}}, 400);
  EXPECT_EQ(ask("POST", "/trace", Json{{"text", std::string(300'000, 'a')}}.dump()).status, 413);
  // Each kind of request is refused beyond the operations that are allowed.
  ServiceOptions little = of_class();
  little.most_operations = 1e6;
  serve(little);
  const std::string text(60, 'a');
  for (const Json& refused : {post("/trace", {{"model", "plays"}, {"text", text}}, 413),
                              post("/search", {{"model", "plays"}, {"text", text}}, 413),
                              post("/score", {{"model", "plays"}, {"text", text}}, 413),
                              post("/score", {{"model", "de"}, {"source", text}, {"target", text}}, 413)})
    EXPECT_TRUE(contains(refused["error"]["message"].get<std::string>(), "1.0e+06", "operations")) << refused;
}

// A class opens a link: all are answered, and alike, although they have one address.
TEST_F(Serving, AClassIsAnsweredAtTheSameTime) {
  ServiceOptions o = of_class();
  o.side_threads = 3;
  serve(o);
  const Json trace{{"model", "plays"}, {"text", "abcdefgh"}, {"points", true}},
      search{{"model", "plays"}, {"text", "abc"}, {"beam_size", 4}, {"n", 4}, {"max_length", 8}},
      values{{"model", "de"}, {"text", "a dog runs"}, {"only", {"*.weights"}}, {"encoding", "base64"}};
  const std::vector<std::pair<std::string, Json>> requests{{"/trace", trace}, {"/search", search}, {"/trace", values}};
  std::vector<std::string> expected;
  for (const auto& [path, body] : requests) expected.push_back(ask("POST", path, body.dump()).body);
  constexpr int pupils = 30;
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < pupils; ++i)
    threads.emplace_back([&] {
      for (std::size_t n = 0; n < requests.size(); ++n)
        right += ask("POST", requests[n].first, requests[n].second.dump()).body == expected[n];
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, pupils * static_cast<int>(requests.size()));
}

}  // namespace
}  // namespace tril::serve

// Suggestions of LibreTranslate's clients.

#include "support/contains.h"
#include "support/file_text.h"
#include "support/serving.h"
#include "support/temporary.h"

namespace tril::serve::suggestion_api_test {

struct Suggesting : Serving {
  const Json good{{"q", "a dog"}, {"s", "ein Hund"}, {"source", "en"}, {"target", "de"}};
  void take_suggestions(std::uint64_t most = 1000) {
    ServiceOptions o;
    o.suggestions_file = folder.path("suggestions.jsonl"), o.most_suggestion_bytes = most;
    serve(o);
  }
  std::string file() const { return file_text(folder.path("suggestions.jsonl")); }
  TemporaryDirectory folder;
};

TEST_F(Suggesting, AreRefusedByDefault) {
  serve();
  EXPECT_EQ(post("/suggest", good, 403)["error"], "Suggestions are disabled on this server.");
  EXPECT_EQ(Json::parse(ask("GET", "/frontend/settings").body)["suggestions"], false);
}

TEST_F(Suggesting, ThatCannotBeStoredAreToldWithoutTheFile) {
  ServiceOptions o;
  o.suggestions_file = "/dev/full";
  serve(o);
  EXPECT_EQ(post("/suggest", good, 500)["error"], "the suggestion could not be stored");
}

TEST_F(Suggesting, AreAppended) {
  take_suggestions();
  EXPECT_EQ(Json::parse(ask("GET", "/frontend/settings").body)["suggestions"], true);
  EXPECT_EQ(post("/suggest", good), (Json{{"success", true}}));
  Client client(server->port());
  const std::string form = "q=two%0Alines&s=%22zwei%22&source=auto&target=de&api_key=x";
  client.send(
      "POST /suggest HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: " +
      std::to_string(form.size()) + "\r\n\r\n" + form);
  EXPECT_EQ(client.answer().status, 200);
  const std::string lines = file();
  const std::size_t end = lines.find('\n');
  Json first = Json::parse(lines.substr(0, end)), second = Json::parse(lines.substr(end + 1));
  EXPECT_TRUE(first["time"].get<std::string>().ends_with("Z"));
  first.erase("time"), second.erase("time");
  EXPECT_EQ(first, good);
  EXPECT_EQ(second, (Json{{"q", "two\nlines"}, {"s", "\"zwei\""}, {"source", "auto"}, {"target", "de"}}));
  take_suggestions();
  post("/suggest", good);
  EXPECT_TRUE(file().starts_with(lines) && file().size() > lines.size()) << "earlier ones stay";
}

TEST_F(Suggesting, AreChecked) {
  take_suggestions(300);
  for (const char* name : {"q", "s", "source", "target"}) {
    Json less = good;
    less.erase(name);
    EXPECT_EQ(post("/suggest", less, 400)["error"], fmt::format("Invalid request: missing {} parameter", name));
    less[name] = "";
    EXPECT_EQ(post("/suggest", less, 400)["error"], fmt::format("Invalid request: missing {} parameter", name));
  }
  Json odd = good;
  odd["target"] = "german";
  EXPECT_TRUE(contains(post("/suggest", odd, 400)["error"], "target", "german"));
  EXPECT_EQ(file(), "");
  odd = good;
  odd["s"] = std::string(300, 'a');
  EXPECT_TRUE(contains(post("/suggest", odd, 507)["error"], "full"));
  EXPECT_EQ(file(), "") << "a line is written whole or not at all";
  post("/suggest", good);
  ServiceOptions o;
  o.suggestions_file = folder.path("none/suggestions.jsonl");
  EXPECT_THROW(serve(o), Error) << "when the server starts";
}

}  // namespace tril::serve::suggestion_api_test

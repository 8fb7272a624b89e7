// Adapters of served models: each request gets the answer of a model that has only its adapter.
#include "support/random_adapters.h"
#include "support/serving.h"

namespace tril::serve {
namespace {

using tril::testing::give_adapters;

// A model with three adapters, of which it uses one by itself (-1: none).
Loaded with_adapters(const Loaded& fresh, std::int32_t standard) {
  give_adapters(const_cast<model::Model&>(*fresh.model), standard);
  Loaded l = fresh;
  if (standard < 0) l.adapters = {"law", "news", "verse"};
  return l;
}

TEST_F(Serving, ARequestNamesAnAdapter) {
  // What models of one adapter each answer.
  std::vector<std::string> expected, scored, translated;
  const Json ask_for{{"prompt", "abc d"}, {"max_tokens", 12}, {"min_tokens", 12}, {"temperature", 0}};
  for (std::int32_t k = -1; k < tril::testing::adapter_count; ++k) {
    Loaded de = small_translator(), plays = small_writer(letters);
    give_adapters(const_cast<model::Model&>(*de.model), k), give_adapters(const_cast<model::Model&>(*plays.model), k);
    serve({}, de, plays);
    expected.push_back(post("/v1/completions", ask_for)["choices"][0]["text"]);
    scored.push_back(post("/score", {{"text", "abcab"}})["scores"].dump());
    translated.push_back(post("/translate", {{"q", "ab cd e"}, {"model", "de"}})["translatedText"]);
    TearDown();
  }
  EXPECT_NE(expected[0], expected[1]);
  EXPECT_NE(expected[1], expected[3]);
  serve({}, with_adapters(small_translator(), -1), with_adapters(small_writer(letters), -1));
  const char* const names[] = {"", ":law", ":news", ":verse"};
  const auto check = [&](std::size_t k) {
    const std::string writer = std::string("plays") + names[k], translator = std::string("de") + names[k];
    Json ask_it = ask_for;
    ask_it["model"] = writer;
    const Json got = post("/v1/completions", ask_it);
    EXPECT_EQ(got["model"], writer);
    EXPECT_EQ(got["choices"][0]["text"], expected[k]) << writer;
    EXPECT_EQ(post("/score", {{"text", "abcab"}, {"model", writer}})["scores"].dump(), scored[k]) << writer;
    EXPECT_EQ(post("/translate", {{"q", "ab cd e"}, {"model", translator}})["translatedText"], translated[k]);
  };
  for (const std::size_t k : {0u, 1u, 2u, 3u, 0u, 2u}) check(k);
  std::vector<std::thread> clients;  // together, in one batch
  for (std::size_t i = 0; i < 8; ++i) clients.emplace_back([&, i] { check(i % 4); });
  for (std::thread& client : clients) client.join();
}

TEST_F(Serving, ListsAdaptersAndRefusesUnknownOnes) {
  serve({}, translator, with_adapters(small_writer(letters), -1));
  std::vector<std::string> names;
  const Json list = Json::parse(ask("GET", "/v1/models").body);
  for (const Json& model : list["data"]) names.push_back(model["id"]);
  EXPECT_EQ(names, (std::vector<std::string>{"de", "plays", "plays:law", "plays:news", "plays:verse"}));
  EXPECT_EQ(ask("GET", "/v1/models/plays:news").status, 200);
  EXPECT_EQ(ask("GET", "/v1/models/plays:jokes").status, 404);
  const Json refused = post("/v1/completions", {{"model", "plays:jokes"}, {"prompt", "a"}}, 404);
  EXPECT_NE(refused.dump().find("plays:news"), std::string::npos) << refused;
  post("/v1/completions", {{"model", "de:law"}, {"prompt", "a"}}, 400);
  post("/v1/completions", {{"model", "nobody:law"}, {"prompt", "a"}}, 404);
}

}  // namespace
}  // namespace tril::serve

// POST /search: the tree of what a request of POST /translate, or a completion, searches; within bounds.
#include <map>

#include "serve/api/search_bounds.h"
#include "serve/http/http_error.h"
#include "support/contains.h"
#include "support/serving.h"

namespace tril::serve {
namespace {

// Added up along the path of a node.
double path_sum(const Json& answer, std::int64_t node) {
  std::vector<double> logs;
  for (Json n = answer["nodes"].at(static_cast<std::size_t>(node)); !n["parent"].is_null();
       n = answer["nodes"].at(n["parent"].get<std::size_t>()))
    logs.push_back(n["log_prob"].get<double>());
  double sum = 0;
  for (auto at = logs.rbegin(); at != logs.rend(); ++at) sum += *at;
  return sum;
}

std::size_t fates(const Json& answer, const std::string& fate) {
  std::size_t n = 0;
  for (const Json& node : answer["nodes"]) n += node["fate"] == fate ? 1 : 0;
  return n;
}

// The same fields give the same texts and numbers as a translation, and the paths of the tree sum to them.
TEST_F(Serving, SearchesAsItTranslates) {
  serve();
  const std::string text = "a dog runs in the snow";
  for (const auto& [name, n, fields, most] :
       {std::tuple("greedy", 1, Json{{"beam_size", 1}}, 1),
        {"beam", 4, Json{{"beam_size", 4}, {"length_penalty", 0.6}}, 4},
        {"groups", 4, Json{{"beam_size", 4}, {"beam_groups", 2}, {"diversity_penalty", 0.8}}, 4},
        {"alternatives", 3, Json{{"branch", true}, {"beam_size", 2}}, 6},
        {"samples", 3, Json{{"temperature", 0.9}, {"seed", 7}}, 3},
        {"bad words", 2, Json{{"beam_size", 3}, {"bad_words", {"dog", "ball"}}, {"no_repeat_ngram", 2}}, 3},
        {"lengths", 2, Json{{"beam_size", 3}, {"min_length", 5}, {"max_length", 6}}, 3}}) {
    SCOPED_TRACE(name);
    Json asked = fields, watched = fields;
    asked.update({{"q", text},
                  {"source", "en"},
                  {"target", "de"},
                  {"split", "none"},
                  {"scores", true},
                  {"alternatives", n - 1}});
    watched.update({{"model", "de"}, {"text", text}, {"n", n}});
    const Json translation = post("/translate", asked), tree = post("/search", watched);
    const Json& expected = translation["details"][0]["translations"];
    ASSERT_EQ(tree["results"].size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Json& result = tree["results"][i];
      EXPECT_EQ(result["text"], expected[i]["text"]);
      EXPECT_EQ(result["log_prob"], expected[i]["log_prob"]) << "deterministic decoding: bit for bit";
      EXPECT_EQ(result["score"], expected[i]["score"]);
      const std::int64_t node = result["node"];
      ASSERT_GE(node, 0);
      EXPECT_NEAR(path_sum(tree, node), result["log_prob"].get<double>(), 1e-9);
      std::vector<std::string> pieces;
      for (Json at = tree["nodes"][static_cast<std::size_t>(node)]; !at["parent"].is_null();
           at = tree["nodes"][at["parent"].get<std::size_t>()])
        pieces.insert(pieces.begin(), at["piece"].get<std::string>());
      EXPECT_EQ(Json(pieces), expected[i]["tokens"]);
    }
    EXPECT_EQ(tree["results"][0]["text"], translation["translatedText"]);
    std::map<std::int64_t, std::int64_t> living;
    for (const Json& node : tree["nodes"])
      if (node["fate"] == "living" && node["step"] > 0) living[node["step"]] += node.value("samples", 1);
    for (const auto& [step, count] : living) EXPECT_LE(count, most) << "step " << step;
    EXPECT_EQ(tree["left_out"], 0);
    // Nobody else sees a difference.
    EXPECT_EQ(post("/translate", asked), translation);
  }
}

TEST_F(Serving, SearchesAsItCompletes) {
  serve();
  const Json greedy = post("/search", {{"model", "plays"}, {"text", "abcabc"}, {"max_length", 12}});
  EXPECT_EQ(greedy["results"][0]["text"], generated("abcabc", 12).text);
  EXPECT_NEAR(path_sum(greedy, greedy["results"][0]["node"]), generated("abcabc", 12).log_prob, 1e-4);
  EXPECT_GT(fates(greedy, "cut"), 0u) << "what greedy search did not take";
  EXPECT_GT(fates(greedy, "forbidden"), 0u) << "bytes, which the model never writes";
  const Json beam =
      post("/search", {{"model", "plays"}, {"text", "abcabc"}, {"max_length", 8}, {"beam_size", 4}, {"n", 2}});
  const Json completed =
      post("/v1/completions",
           {{"model", "plays"}, {"prompt", "abcabc"}, {"max_tokens", 8}, {"beam_size", 4}, {"best_of", 2}, {"n", 2}});
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(beam["results"][i]["text"], completed["choices"][i]["text"]);
}

// What an expression or a schema forbids among the likeliest tokens is a branch that ends at once.
TEST_F(Serving, ShowsWhatAConstraintCuts) {
  serve();
  int compared = 0;
  for (const char* text : {"abc", "fed", "h g", "aaaa", "cab cab"}) {
    const Json plain{{"model", "plays"}, {"text", text}, {"beam_size", 3}, {"n", 3}, {"max_length", 8}};
    Json with = plain;
    with.update({{"regex", "(gh)+"}, {"forbidden", 16}});
    const Json free = post("/search", plain), bound = post("/search", with);
    EXPECT_EQ(bound["plan"]["constraint"], true);
    for (const Json& result : bound["results"]) {
      const std::string made = result["text"];
      EXPECT_EQ(made.size() % 2, 0u) << made;
      for (std::size_t i = 0; i < made.size(); ++i) EXPECT_EQ(made[i], i % 2 == 0 ? 'g' : 'h') << made;
    }
    EXPECT_GT(fates(bound, "forbidden"), fates(free, "forbidden"));
    // What the beam begins with without the expression is forbidden with it, if it is likelier than others that are shown.
    std::map<std::int64_t, double> forbidden;
    double least = 0;
    for (const Json& node : bound["nodes"])
      if (node["parent"] == 0 && node["fate"] == "forbidden") {
        forbidden[node["id"].get<std::int64_t>()] = node["log_prob"].get<double>();
        least = std::min(least, node["log_prob"].get<double>());
      }
    EXPECT_EQ(forbidden.size(), 16u);
    for (const Json& node : free["nodes"]) {
      if (node["parent"] != 0 || node["fate"] != "living" || node["piece"] == "g" || node["log_prob"] < least) continue;
      const auto found = forbidden.find(node["id"].get<std::int64_t>());
      ASSERT_NE(found, forbidden.end()) << node;
      EXPECT_EQ(found->second, node["log_prob"].get<double>()) << "the probability that it would have";
      ++compared;
    }
  }
  EXPECT_GT(compared, 0);
  const Json json =
      post("/search",
           {{"model", "plays"}, {"text", "abc"}, {"max_length", 40}, {"json_schema", {{"enum", {"ab", "ac"}}}}}, 400);
  EXPECT_TRUE(contains(json["error"]["message"].get<std::string>(), "json_schema"));  // the letters cannot write quotes
}

TEST_F(Serving, ShowsWhichDraftsWereAccepted) {
  serve();
  const Json plain = post("/search", {{"model", "plays"}, {"text", "abcabcab"}, {"max_length", 20}});
  for (const Json& more : {Json{{"lookup", 2}, {"proposals", 3}}, Json{{"draft", "plays"}}}) {
    Json request{{"model", "plays"}, {"text", "abcabcab"}, {"max_length", 20}};
    request.update(more);
    const Json tree = post("/search", request);
    EXPECT_EQ(tree["results"][0]["text"], plain["results"][0]["text"]);
    std::size_t accepted = 0;
    for (const Json& node : tree["nodes"]) accepted += node.contains("proposed") && node["fate"] != "rejected" ? 1 : 0;
    EXPECT_EQ(tree["proposals"]["accepted"], accepted);
    EXPECT_EQ(tree["proposals"]["proposed"], accepted + fates(tree, "rejected"));
    EXPECT_GT(tree["proposals"]["proposed"], 0);
  }
}

TEST_F(Serving, BoundsWhatIsSearched) {
  serve();
  const auto refused = [&](Json request, int status, const std::string& field) {
    request["model"] = request.value("model", "plays");
    if (!request.contains("text")) request["text"] = "abcdef";
    const Json error = post("/search", request, status)["error"];
    EXPECT_EQ(error["param"], field.empty() ? Json() : Json(field)) << error;
    return error["message"].get<std::string>();
  };
  EXPECT_TRUE(contains(
      refused({{"text", std::string(190, 'a')}, {"beam_size", 64}, {"n", 64}, {"branch", true}}, 400, "n"), "64"));
  EXPECT_TRUE(contains(refused({{"text", std::string(400, 'a')}}, 400, "text"), "tokens"));
  refused({{"n", 65}}, 400, "n");
  refused({{"n", 0}}, 400, "n");
  refused({{"beam_size", 65}}, 400, "beam_size");
  EXPECT_TRUE(contains(refused({{"n", 4}, {"beam_size", 2}}, 400, "n"), "n: 4 hypotheses", "beam"));
  refused({{"forbidden", 17}}, 400, "forbidden");
  refused({{"lookup", 2}, {"beam_size", 2}}, 400, "lookup");
  refused({{"lookup", 2}, {"temperature", 1}, {"n", 2}}, 400, "lookup");
  refused({{"lookup", 2}, {"draft", "plays"}}, 400, "lookup");
  refused({{"draft", "de"}}, 400, "draft");
  refused({{"draft", "nobody"}}, 404, "model");
  refused({{"regex", "(ab"}}, 400, "regex");
  refused({{"regex", "a"}, {"json_schema", Json::object()}}, 400, "regex");
  refused({{"regex", std::string(70'000, 'a')}}, 400, "regex");
  refused({{"json_schema", "text"}}, 400, "json_schema");
  refused({{"source_language", "de"}}, 400, "source_language");
  refused({{"prefix", "a"}}, 400, "prefix");
  refused({{"coverage_penalty", 0.2}}, 400, "coverage_penalty");
  refused({{"min_length", 9}, {"max_length", 4}}, 400, "min_length");
  refused({{"model", "de"}, {"text", " "}}, 400, "text");
  refused({{"text", Json::object()}}, 400, "text");
  refused({{"regex", "(a{1000}){1000}{1000}"}}, 400, "regex");
  EXPECT_TRUE(contains(
      refused({{"beam_size", 64}, {"n", 64}, {"min_length", 190}, {"max_length", 190}, {"text", "a"}}, 400, ""),
      "more than 4096 nodes", "smaller beam"));
  EXPECT_EQ(ask("POST", "/search", "{").status, 400);
  EXPECT_EQ(ask("POST", "/search", "[]").status, 400);
  EXPECT_EQ(post("/search", {{"model", "plays"}}, 400)["error"]["param"], "text");
  // A request that took long to be refused leaves no trace: the next is answered.
  EXPECT_EQ(post("/search", {{"model", "plays"}, {"text", "abc"}})["results"].size(), 1u);
}

TEST_F(Serving, SearchesForThoseWithAKey) {
  ServiceOptions o;
  o.keys.api = {"secret"};
  serve(o);
  const std::string body = Json{{"model", "plays"}, {"text", "abc"}}.dump();
  EXPECT_EQ(ask("POST", "/search", body).status, 401);
  EXPECT_EQ(ask("POST", "/search", body, "Authorization: Bearer secret\r\n").status, 200);
}

TEST(SearchBounds, CountTheWork) {
  const Loaded plays = small_writer("abcdefgh");
  trace::SearchQuestion q;
  q.request = {.start_id = 0, .max_length = 100};
  q.plan.beam_size = 8;
  SearchBounds bounds;
  const auto field_of_error = [&]() -> std::string {
    try {
      check_search(bounds, *plays.model, q);
    } catch (const HttpError& error) {
      return error.parameter();
    }
    return "";
  };
  EXPECT_EQ(field_of_error(), "");
  double weights = 0;
  for (const nn::Parameter& p : plays.model->parameters().all()) weights += static_cast<double>(p.shape.count());
  bounds.operations = 2 * weights * 801;
  EXPECT_EQ(field_of_error(), "");
  bounds.operations *= 0.999;
  EXPECT_EQ(field_of_error(), "max_length");
  bounds = {.new_tokens = 99};
  EXPECT_EQ(field_of_error(), "max_length");
  bounds = {.rows = 7};
  EXPECT_EQ(field_of_error(), "n");
  q.plan.alternatives = true, q.plan.beam_size = 2, q.plan.n_best = 4;
  EXPECT_EQ(rows_of(q.plan), 8);
}

}  // namespace
}  // namespace tril::serve

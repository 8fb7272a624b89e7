// Predictions of OpenAI's clients over sockets: they change no answer, are counted, and a warning tells where they have no effect.
#include "model/families/linear_decoder.h"
#include "support/events.h"
#include "support/serving.h"

namespace tril::serve {
namespace {

using testing::events_of;

// A prediction does not change an answer. The usage says how many of its tokens were accepted.
TEST_F(Serving, APredictionChangesNoAnswer) {
  Loaded plays = writer;
  plays.engine.session.speculative = {.predictions = true, .tokens = 8};
  serve({}, translator, plays);
  for (const bool chat : {false, true}) {
    const std::string path = chat ? "/v1/chat/completions" : "/v1/completions";
    const auto asked = [&](const Json& prediction, const Json& more = Json::object()) {
      Json body{{"max_tokens", 60}, {"min_tokens", 60}, {"temperature", 0.8}, {"seed", 3}};
      chat ? body["messages"] = {{{"role", "user"}, {"content", "ab"}}} : body["prompt"] = "ab";
      body.update(more);
      if (!prediction.is_null()) body["prediction"] = prediction;
      return post(path, body);
    };
    const auto text_of = [&](const Json& got) {
      const Json& choice = got["choices"][0];
      return (chat ? choice["message"]["content"] : choice["text"]).get<std::string>();
    };
    const Json plain = asked(nullptr);
    EXPECT_FALSE(plain["usage"].contains("completion_tokens_details"));
    const std::string text = text_of(plain), half = text.substr(text.size() / 2);
    for (const Json& content :
         {Json(text), Json::array({{{"type", "text"}, {"text", text.substr(0, text.size() - half.size())}},
                                   {{"type", "text"}, {"text", half}}})}) {
      const Json got = asked({{"type", "content"}, {"content", content}});
      EXPECT_EQ(text_of(got), text);
      const Json& tokens = got["usage"]["completion_tokens_details"];
      EXPECT_GE(tokens["accepted_prediction_tokens"], 40) << got;
      EXPECT_FALSE(got.contains("warnings")) << got;
    }
    const Json wrong =
        asked({{"type", "content"}, {"content", std::string(text.rbegin(), text.rend()) + text.substr(0, 20) + half}});
    EXPECT_EQ(text_of(wrong), text);
    EXPECT_GT(wrong["usage"]["completion_tokens_details"]["rejected_prediction_tokens"], 0) << wrong;
    const Json several = asked({{"type", "content"}, {"content", text}}, {{"n", 2}});
    EXPECT_EQ(several["usage"]["completion_tokens_details"]["accepted_prediction_tokens"], 0);
    EXPECT_NE(several["warnings"].dump().find("prediction: has no effect with a beam or several samples"),
              std::string::npos);

    for (const Json& bad : {Json(text), Json(3), Json::object(), Json{{"type", "content"}},
                            Json{{"type", "text"}, {"content", "a"}}, Json{{"type", "content"}, {"content", 3}},
                            Json{{"type", "content"}, {"content", {{{"type", "image_url"}}}}}}) {
      Json body{{"max_tokens", 3}, {"prediction", bad}};
      chat ? body["messages"] = {{{"role", "user"}, {"content", "ab"}}} : body["prompt"] = "ab";
      EXPECT_EQ(post(path, body, 400)["error"]["param"], "prediction") << bad;
    }
  }
  EXPECT_GT(metric("tril_accepted_tokens_total{model=\"plays\"}"), 80);
}

// Where a prediction has no effect, a warning says why, and nothing is counted: the tokens of a draft are not the prediction's.
TEST_F(Serving, APredictionWithoutEffectIsTold) {
  const Json body{{"prompt", "ab"},
                  {"max_tokens", 30},
                  {"min_tokens", 30},
                  {"temperature", 0},
                  {"prediction", {{"type", "content"}, {"content", "abc"}}}};
  Loaded plain = writer, drafted = writer, deterministic = writer, recurrent = writer;
  model::LinearDecoderConfig config;
  config.vocab_size = writer.model->vocab_size(), config.eos_token_id = writer.model->special_ids().eos;
  config.d_model = 16, config.num_heads = 2, config.d_ff = 32, config.num_layers = 1;
  auto linear = std::make_shared<model::LinearDecoder>(config);
  linear->parameters().allocate();
  linear->parameters().initialise(3);
  linear->parameters().refresh(kern::best());
  recurrent.model = linear;
  drafted.engine.session.speculative = {.draft = writer.model.get(), .tokens = 4};
  deterministic.engine.deterministic = true;
  for (const auto& [served, why] : {std::pair(plain, ": the server proposes no tokens for this model"),
                                    {drafted, ": the model has a draft"},
                                    {recurrent, " on this model, because its recurrent state cannot undo tokens"},
                                    {deterministic, ": the server is deterministic"}}) {
    serve({}, translator, served);
    const Json got = post("/v1/completions", body);
    EXPECT_NE(got["warnings"].dump().find(std::string("prediction: has no effect") + why), std::string::npos) << got;
    const Json& tokens = got["usage"]["completion_tokens_details"];
    EXPECT_EQ(tokens["accepted_prediction_tokens"], 0) << why;
    EXPECT_EQ(tokens["rejected_prediction_tokens"], 0) << why;
  }
  EXPECT_EQ(metric("tril_proposed_tokens_total{model=\"plays\"}"), 0);
  Json empty = body;
  empty["prediction"]["content"] = "";
  const Json got = post("/v1/completions", empty);
  EXPECT_NE(got["warnings"].dump().find("prediction: has no effect: it is empty"), std::string::npos) << got;
  EXPECT_EQ(got["usage"]["completion_tokens_details"]["accepted_prediction_tokens"], 0);
}

// Streams, greedy answers given several times, several prompts, stop strings and log-probabilities.
TEST_F(Serving, PredictionsOfAllKindsOfRequests) {
  Loaded plays = writer;
  plays.engine.session.speculative = {.predictions = true, .tokens = 8};
  serve({}, translator, plays);
  const Json body{{"prompt", "ab"}, {"max_tokens", 40}, {"min_tokens", 40}, {"temperature", 0}};
  const std::string text = post("/v1/completions", body)["choices"][0]["text"];
  Json predicted = body;
  predicted["prediction"] = {{"type", "content"}, {"content", text}};
  const auto accepted = [](const Json& usage) {
    return usage["completion_tokens_details"]["accepted_prediction_tokens"].get<int>();
  };

  Json streamed = predicted;
  streamed["stream"] = true, streamed["stream_options"] = {{"include_usage", true}};
  std::string pieces;
  Json usage;
  for (const Json& event : events_of(ask("POST", "/v1/completions", streamed.dump()).body)) {
    for (const Json& choice : event["choices"]) pieces += choice["text"].get<std::string>();
    if (!event["usage"].is_null()) usage = event["usage"];
  }
  EXPECT_EQ(pieces, text);
  EXPECT_GE(accepted(usage), 30);

  Json twice = predicted;
  twice["n"] = 2;
  Json got = post("/v1/completions", twice);
  EXPECT_EQ(got["choices"][1]["text"], text);
  EXPECT_EQ(got["usage"]["completion_tokens"], 80);
  EXPECT_LE(accepted(got["usage"]), 40) << "the answer was made once";

  Json several = predicted, alone = body;
  several["prompt"] = {"ab", "cd"}, alone["prompt"] = "cd";
  got = post("/v1/completions", several);
  EXPECT_EQ(got["choices"][0]["text"], text);
  EXPECT_EQ(got["choices"][1]["text"], post("/v1/completions", alone)["choices"][0]["text"]);

  for (const Json& more : {Json{{"logprobs", 2}}, Json{{"stop", text.substr(20, 2)}, {"min_tokens", 0}}}) {
    Json with = predicted, without = body;
    with.update(more), without.update(more);
    const Json a = post("/v1/completions", with)["choices"][0], b = post("/v1/completions", without)["choices"][0];
    EXPECT_EQ(a["text"], b["text"]) << more;
    EXPECT_EQ(a["finish_reason"], b["finish_reason"]) << more;
    if (a["logprobs"].is_null()) continue;
    EXPECT_EQ(a["logprobs"]["tokens"], b["logprobs"]["tokens"]);
  }
}

}  // namespace
}  // namespace tril::serve

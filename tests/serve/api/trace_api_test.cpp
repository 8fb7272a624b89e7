// POST /trace: what `tril trace` says, within bounds, and without a trace of itself in later requests.
#include "format/base64.h"
#include "serve/api/trace_bounds.h"
#include "serve/http/http_error.h"
#include "support/contains.h"
#include "support/serving.h"
#include "trace/report.h"
#include "trace/write.h"

namespace tril::serve {
namespace {

trace::Answer asked(const Loaded& loaded, trace::Question question) {
  const trace::TextReader reader(*loaded.model, loaded.tokenizer);
  return trace::answer(*loaded.model, reader, question);
}

TEST_F(Serving, TracesAsTheLibraryDoes) {
  serve();
  const Json of_pair = post("/trace", {{"model", "de"},
                                       {"text", "a dog runs"},
                                       {"target", "the old dog"},
                                       {"only", {"decoder.1.cross.weights", "encoder.0.self.q"}}});
  const trace::Answer pair = asked(translator, {.texts = {"a dog runs", "the old dog"},
                                                .only = {"decoder.1.cross.weights", "encoder.0.self.q"},
                                                .edits = {},
                                                .donor = {}});
  EXPECT_EQ(of_pair["values"], Json(values_json(pair.trace)));
  EXPECT_EQ(of_pair["model"], "de");
  EXPECT_NEAR(of_pair["loss"].get<double>(), pair.outcome.loss(), 1e-9);

  // Parts, as bytes.
  const Json part = post("/trace", {{"model", "plays"},
                                    {"text", "abcdef"},
                                    {"only", {"decoder.0.self.weights"}},
                                    {"head", 1},
                                    {"token", 2},
                                    {"top", 3},
                                    {"points", true},
                                    {"encoding", "base64"}});
  const trace::Answer text =
      asked(writer, {.texts = {"abcdef", ""}, .only = {"decoder.0.self.weights"}, .edits = {}, .donor = {}});
  const Json& value = part["values"]["decoder.0.self.weights"];
  const std::int64_t T = text.trace.values()[0].shape[2];
  EXPECT_EQ(value["shape"], (std::vector<std::int64_t>{1, 1, T}));
  const std::string bytes = from_base64(value["base64"].get<std::string>()).value();
  ASSERT_EQ(bytes.size(), static_cast<std::size_t>(T) * sizeof(float));
  const auto offset = static_cast<std::ptrdiff_t>(sizeof(float)) * (T + 2) * T;
  EXPECT_EQ(std::memcmp(bytes.data(), text.trace.values()[0].bytes.data() + offset, bytes.size()), 0);
  EXPECT_EQ(part["next"][2]["top"].size(), 3u);
  EXPECT_EQ(part["next"][2]["top"][0][0], part["next"][2]["best_id"]);
  EXPECT_FALSE(part["next"][1].contains("top"));
  EXPECT_EQ(part["points"][0]["name"], "decoder.tokens");

  // Edits, with what they change; analyses.
  const Json changed =
      post("/trace", {{"model", "plays"}, {"text", "abcdef"}, {"edit", {"*.self.mask=all"}}, {"new_tokens", 3}});
  const trace::Answer edited =
      asked(writer, {.texts = {"abcdef", ""}, .only = {}, .edits = {"*.self.mask=all"}, .donor = {}, .new_tokens = 3});
  EXPECT_EQ(changed["change"]["loss_after"], edited.change->loss_after);
  EXPECT_NE(changed["change"]["loss_after"], changed["change"]["loss_before"]);
  EXPECT_TRUE(changed["change"].contains("text_after"));
  const Json analysed = post("/trace", {{"model", "plays"},
                                        {"text", "abcdef"},
                                        {"lens", true},
                                        {"rollout", true},
                                        {"attribute", 3},
                                        {"head_scores", 4}});
  for (const char* key : {"lens", "rollout", "attribution", "head_scores"}) EXPECT_TRUE(analysed.contains(key)) << key;
  EXPECT_FALSE(analysed.contains("values"));
}

// The same model in 8 bits, served beside it: how its pass differs.
TEST_F(Serving, TracesAgainstAnotherModel) {
  serve({}, writer, small_writer(letters, 0, nn::Precision::int8));  // "de" is the writer here
  const Json question{{"model", "de"}, {"text", "abcdef"}, {"target", "gh"}, {"new_tokens", 4}};
  Json against = question;
  against["against"] = "plays";
  const Json reply = post("/trace", against);
  Json theirs{{"model", "plays"}, {"text", "abcdef"}, {"target", "gh"}};
  const Json &change = reply["against"]["change"], other = post("/trace", theirs);
  EXPECT_EQ(reply["against"]["model"], "plays");
  EXPECT_EQ(change["loss_before"], reply["loss"]);
  EXPECT_EQ(change["loss_after"], other["loss"]);
  EXPECT_NE(change["loss_after"], change["loss_before"]);
  EXPECT_EQ(change["bit_identical"], false);
  EXPECT_EQ(change["tokens"].size(), reply["tokens"]["ids"].size());
  for (std::size_t t = 0; t < change["tokens"].size(); ++t) {
    EXPECT_LT(change["tokens"][t]["largest_logit_difference"], 1) << "8 bits are close";
    EXPECT_EQ(change["tokens"][t]["best_after"], other["next"][t]["best"]);
  }
  EXPECT_TRUE(change.contains("text_after"));
  EXPECT_FALSE(reply.contains("change")) << "nothing of this model is changed";
  against["against"] = "de";
  EXPECT_EQ(post("/trace", against)["against"]["change"]["bit_identical"], true);
  against["against"] = "nobody";
  EXPECT_EQ(post("/trace", against, 404)["error"]["param"], "model");
  against["against"] = "plays", against["edit"] = {"*.out=zero"};
  EXPECT_EQ(post("/trace", against, 400)["error"]["param"], "against");
  serve();
  EXPECT_EQ(post("/trace", {{"model", "plays"}, {"text", "abc"}, {"against", "de"}}, 400)["error"]["param"], "against");
}

TEST_F(Serving, BoundsWhatIsTraced) {
  serve();
  const auto refused = [&](Json request, int status, const std::string& field) {
    request["model"] = request.value("model", "plays");
    if (!request.contains("text")) request["text"] = "abcdef";
    const Json error = post("/trace", request, status)["error"];
    EXPECT_EQ(error["param"], field.empty() ? Json() : Json(field)) << error;
    return error["message"].get<std::string>();
  };
  std::string long_text;
  for (int i = 0; i < 100; ++i) long_text += "a dog runs ";
  EXPECT_TRUE(contains(refused({{"model", "de"}, {"text", long_text}}, 400, "text"), "tokens"));
  EXPECT_TRUE(contains(refused({{"only", {"decoder.0.self.wights"}}}, 400, "").substr(0, 200), "weights"));
  EXPECT_TRUE(contains(refused({{"edit", {"decoder.0.output=scale"}}}, 400, ""), "needs a number"));
  EXPECT_TRUE(contains(refused({{"max_bytes", 100}, {"only", {"logits"}}}, 400, ""), "more than 100 bytes"));
  refused({{"new_tokens", 1000}, {"edit", {"*.out=zero"}}}, 400, "new_tokens");
  refused({{"max_bytes", std::int64_t{1} << 40}}, 400, "max_bytes");
  refused({{"edit", {"*.out=zero"}}, {"lens", true}}, 400, "edit");
  refused({{"patch_target", "x"}}, 400, "patch_target");
  refused({{"token", 99}, {"top", 3}}, 400, "token");
  refused({{"encoding", "hex"}}, 400, "encoding");
  refused({{"source_language", "de"}}, 400, "source_language");
  refused({{"only", std::vector<std::string>(300, "logits")}}, 400, "only");
  refused({{"edit", std::vector<std::string>(33, "*.out=zero")}}, 400, "edit");
  // A long pattern is neither compared with every name nor sent back.
  const std::string stars(1 << 20, '*');
  EXPECT_LT(refused({{"only", {stars}}}, 400, "only").size(), 300u);
  EXPECT_LT(refused({{"edit", {"encoder.tokens@0=" + stars}}}, 400, "edit").size(), 300u);
  // Errors of the other text name it.
  EXPECT_TRUE(contains(
      refused({{"edit", {"decoder.0.output@0=patch"}}, {"patch_text", std::string(400, 'b')}}, 400, "patch_text"),
      "tokens"));
  // As numbers, values become long text.
  const Json all{{"model", "plays"}, {"text", std::string(198, 'a')}, {"only", {"*"}}};
  EXPECT_TRUE(contains(refused(all, 400, "encoding"), "base64"));
  Json packed = all;
  packed["encoding"] = "base64";
  EXPECT_TRUE(post("/trace", packed).contains("values"));
}

// Each bound in turn, made small: what a pass needs is known before it runs.
TEST(TraceBounds, CountRowsOfLogitsAndTheWorkOfEdits) {
  const Loaded plays = small_writer("abcdefgh");
  const trace::TextReader reader(*plays.model, plays.tokenizer);
  const trace::Input input = reader.read({"abcdefgh", ""});
  const std::int64_t T = std::ssize(input.tokens), row = plays.model->vocab_size() * std::int64_t{sizeof(float)};
  const auto field_of_error = [&](const TraceBounds& bounds, const TraceWork& work) -> std::string {
    try {
      check_trace(bounds, *plays.model, input, work, "text");
    } catch (const HttpError& error) {
      return error.parameter();
    }
    return "";
  };
  TraceBounds just_the_text;
  just_the_text.logits_bytes = T * row;
  EXPECT_EQ(field_of_error(just_the_text, {}), "");
  EXPECT_EQ(field_of_error(just_the_text, {.edits = {}, .analyses = {.lens = true}}), "lens");
  EXPECT_EQ(field_of_error(just_the_text, {.edits = {}, .analyses = {.repeated_tokens = T}}), "head_scores");
  EXPECT_EQ(field_of_error(just_the_text, {.edits = {}, .analyses = {.attributed_token = 0}}), "attribute");
  just_the_text.logits_bytes -= row;
  EXPECT_EQ(field_of_error(just_the_text, {}), "text");
  // Edits are work: of the values that they change, in each pass.
  TraceBounds little;
  const TraceWork one{.edits = {"*.feed_forward.inner=mean"}, .analyses = {}};
  for (little.operations = 1; field_of_error(little, one) == "text"; little.operations *= 1.1) {
  }
  EXPECT_EQ(field_of_error(little, one), "");
  EXPECT_EQ(field_of_error(little, {.edits = std::vector<std::string>(10, one.edits[0]), .analyses = {}}), "text");
  EXPECT_EQ(field_of_error(little, {.edits = one.edits, .new_tokens = 20, .analyses = {}}), "text");
}

// Keys are asked for, as for every route that computes; the page itself holds nothing.
TEST_F(Serving, TracesForThoseWithAKey) {
  ServiceOptions o;
  o.keys.api = {"secret"};
  serve(o);
  const std::string body = Json{{"model", "plays"}, {"text", "abc"}}.dump();
  EXPECT_EQ(ask("POST", "/trace", body).status, 401);
  EXPECT_EQ(ask("POST", "/trace", body, "Authorization: Bearer secret\r\n").status, 200);
  const Answer page = ask("GET", "/inside");
  EXPECT_EQ(page.status, 200);
  EXPECT_LT(page.body.size(), 300u << 10);
  const Json api = Json::parse(ask("GET", "/openapi.json").body);
  const Json& fields =
      api["paths"]["/trace"]["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"];
  for (const char* name : {"text", "target", "only", "edit", "patch_text", "new_tokens", "lens", "rollout", "attribute",
                           "head_scores", "max_bytes"})
    EXPECT_TRUE(fields.contains(name)) << name;
}

// What a trace changes ends with it: the next request is the same, bit for bit, also where it takes its prefix from the cache.
TEST_F(Serving, ATraceLeavesTheNextRequestAsItIs) {
  Loaded plays = writer;
  plays.engine.session.prefix_tokens = 1000;
  serve({}, translator, plays);
  const Json completion{{"model", "plays"},
                        {"prompt", "abcdefgh abcdefgh abcdefgh"},
                        {"max_tokens", 8},
                        {"temperature", 0},
                        {"logprobs", 3}};
  const Json translation{{"model", "de"}, {"q", "a dog runs"}, {"scores", true}};
  const auto ask_both = [&] {
    return std::pair(post("/v1/completions", completion)["choices"].dump(), post("/translate", translation).dump());
  };
  ask_both();  // fills the prefix cache; the numbers of tokens that are read together may change the last digit
  const auto first = ask_both();
  EXPECT_EQ(ask_both(), first) << "from the prefix cache";
  for (const char* edit :
       {"*.self.mask=all", "*.scores=uniform", "*positions=skip", "decoder.0=skip", "*.feed_forward.out=zero"}) {
    SCOPED_TRACE(edit);
    post("/trace",
         {{"model", "plays"}, {"text", completion["prompt"]}, {"edit", {edit}}, {"only", {"*"}}, {"new_tokens", 2}});
    post("/trace", {{"model", "de"}, {"text", "a dog runs"}, {"edit", {edit}}, {"only", {"*"}}});
    EXPECT_EQ(ask_both(), first);
  }
  EXPECT_GT(metric("tril_prefix_tokens_reused_total{model=\"plays\"}"), 0);
}

}  // namespace
}  // namespace tril::serve

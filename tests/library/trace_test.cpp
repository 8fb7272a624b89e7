// The public interface traces as the program does, to the last bit.
#include <gtest/gtest.h>
#include <tril/tril.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "format/safetensors.h"
#include "support/contains.h"
#include "support/error_of.h"
#include "support/tiny_marian.h"

namespace tril {
namespace library_trace_test {
namespace {

using Json = nlohmann::ordered_json;

const std::string language_model = test::test_dir() + "/golden/lm_translation/some-chat-model";
const std::string& marian() {
  static const ScratchFolder folder;
  static const std::string model = write_tiny_marian(folder);
  return model;
}

// What the program says and keeps about the same question.
struct Told {
  Json about;
  SafetensorsFile values;
};
Told told_by_program(const ScratchFolder& folder, std::vector<std::string> args) {
  const std::string json = folder.at("about.json"), values = folder.at("values.safetensors");
  args.insert(args.begin(), "trace");
  args.insert(args.end(), {"--json", json, "--safetensors", values});
  const Ran ran = run_tril(args);
  EXPECT_EQ(ran.code, 0) << ran.err;
  return {Json::parse(file_text(json)), SafetensorsFile::open(values)};
}

std::span<const std::byte> bytes_of(const v0::TracedValue& v) {
  if (!v.ids.empty()) return std::as_bytes(v.ids);
  return v.mask.empty() ? std::as_bytes(v.floats) : std::as_bytes(v.mask);
}

void expect_same_values(const v0::Trace& trace, const SafetensorsFile& values) {
  EXPECT_EQ(trace.values().size(), values.tensors().size());
  for (const v0::TracedValue& v : trace.values()) {
    SCOPED_TRACE(v.name);
    EXPECT_TRUE(trace.contains(v.name));
    EXPECT_EQ(&trace.at(v.name), &v);
    EXPECT_EQ((v.floats.empty() ? 0 : 1) + (v.ids.empty() ? 0 : 1) + (v.mask.empty() ? 0 : 1), 1);
    const WeightView& expected = values.at(v.name);
    EXPECT_EQ(v.shape, expected.shape);
    ASSERT_EQ(bytes_of(v).size(), expected.bytes.size());
    EXPECT_EQ(std::memcmp(bytes_of(v).data(), expected.bytes.data(), expected.bytes.size()), 0);
  }
}

Json tokens_json(const std::vector<v0::TracedToken>& tokens) {
  Json json{{"ids", Json::array()}, {"pieces", Json::array()}};
  for (const v0::TracedToken& t : tokens) json["ids"].push_back(t.id), json["pieces"].push_back(t.piece);
  return json;
}

Json rows_json(const std::vector<float>& values) {
  const auto n = static_cast<std::ptrdiff_t>(std::sqrt(static_cast<double>(values.size())));
  Json rows = Json::array();
  for (auto at = values.begin(); at != values.end(); at += n) rows.push_back(std::vector<float>(at, at + n));
  return rows;
}

Json change_json(const v0::TraceChange& c, bool has_loss) {
  Json json{{"bit_identical", c.bit_identical}, {"tokens", Json::array()}};
  for (const v0::TokenChange& t : c.tokens)
    json["tokens"].push_back({{"best_before", t.best_before},
                              {"best_after", t.best_after},
                              {"log_prob_before", t.log_prob_before},
                              {"log_prob_after", t.log_prob_after},
                              {"largest_logit_difference", t.largest_logit_difference},
                              {"kl_divergence", t.kl_divergence}});
  if (has_loss) json["loss_before"] = c.loss_before, json["loss_after"] = c.loss_after;
  if (!c.text_before.empty()) json["text_before"] = c.text_before, json["text_after"] = c.text_after;
  return json;
}

// The program's JSON without the values, of the same trace.
Json about_json(const v0::Model& model, const v0::Trace& trace) {
  Json json{{"family", model.family()}};
  if (!trace.source().empty()) json["source"] = tokens_json(trace.source());
  json["tokens"] = tokens_json(trace.tokens());
  json["prompt_tokens"] = trace.prompt_tokens();
  json["next"] = Json::array();
  for (const v0::NextToken& n : trace.next()) {
    Json next{{"best", n.best}, {"best_id", n.best_id}};
    if (n.label_id >= 0) next["label"] = n.label, next["log_prob"] = n.log_prob;
    json["next"].push_back(next);
  }
  if (trace.loss()) json["loss"] = *trace.loss();
  if (trace.change()) json["change"] = change_json(*trace.change(), trace.loss().has_value());
  for (const v0::LensRow& row : trace.lens())
    json["lens"].push_back({{"point", row.point}, {"best", row.best}, {"best_ids", row.best_ids}});
  if (!trace.encoder_rollout().empty()) json["rollout"]["encoder"] = rows_json(trace.encoder_rollout());
  if (!trace.decoder_rollout().empty()) json["rollout"]["decoder"] = rows_json(trace.decoder_rollout());
  if (const v0::Attribution* const a = trace.attribution()) {
    json["attribution"] = {{"token", a->token}, {"next", a->next}, {"next_id", a->next_id},
                           {"logit", a->logit}, {"bias", a->bias}, {"rest", a->rest}};
    for (const v0::AttributedPart& p : a->parts) {
      Json part{{"point", p.point}, {"logit", p.logit}};
      if (p.head >= 0) part["head"] = p.head;
      json["attribution"]["parts"].push_back(part);
    }
  }
  for (const v0::HeadScore& s : trace.head_scores())
    json["head_scores"].push_back({{"layer", s.layer},
                                   {"head", s.head},
                                   {"previous", s.previous},
                                   {"duplicate", s.duplicate},
                                   {"induction", s.induction},
                                   {"copying", s.copying}});
  return json;
}

struct Case {
  std::string text, target;
  v0::Options options;
  std::vector<std::string> args;
};
void expect_as_program(const std::string& path, const std::vector<Case>& cases) {
  const v0::Model model = v0::Model::open(path);
  const v0::Tracer tracer(model);
  const ScratchFolder folder;
  for (const Case& one : cases) {
    std::vector<std::string> args{"-m", path, "--text", one.text};
    if (!one.target.empty()) args.insert(args.end(), {"--target", one.target});
    args.insert(args.end(), one.args.begin(), one.args.end());
    SCOPED_TRACE(::testing::PrintToString(args));
    Told told = told_by_program(folder, args);
    const v0::Trace trace = tracer.trace(one.text, one.target, one.options);
    expect_same_values(trace, told.values);
    told.about.erase("values");
    // Objects of ordered_json compare in their order, which is the program's matter.
    EXPECT_EQ(nlohmann::json(about_json(model, trace)), nlohmann::json(told.about));
    EXPECT_EQ(trace.logits().shape,
              (std::vector<std::int64_t>{std::ssize(trace.tokens()),
                                         std::ssize(trace.logits().floats) / std::ssize(trace.tokens())}));
  }
}

TEST(LibraryTracer, OfALanguageModelEqualsTheProgram) {
  expect_as_program(
      language_model,
      {{"a dog runs", "", {}, {}},
       {"a dog", "runs in the snow", {{"gradients", true}}, {"--gradients"}},
       {"a dog runs",
        "",
        {{"only", std::vector<std::string>{"*.weights", "logits"}}},
        {"--only", "*.weights", "--only", "logits"}},
       {"a dog runs",
        "",
        {{"only", "decoder.0"}, {"edit", "decoder.0.self.heads[1]=zero"}, {"new_tokens", 4}},
        {"--only", "decoder.0", "--edit", "decoder.0.self.heads[1]=zero", "--new-tokens", "4"}},
       {"a dog runs",
        "",
        {{"edit", "decoder.0.output@1=patch"}, {"patch-text", "the ball plays"}},
        {"--edit", "decoder.0.output@1=patch", "--patch-text", "the ball plays"}},
       {"a dog runs in the snow",
        "",
        {{"only", "decoder.final"}, {"lens", true}, {"rollout", true}, {"attribute", 2}, {"head-scores", 5}},
        {"--only", "decoder.final", "--lens", "--rollout", "--attribute", "2", "--head-scores", "5"}}});
}

TEST(LibraryTracer, OfAnEncoderDecoderEqualsTheProgram) {
  expect_as_program(
      marian(),
      {{"a dog runs", "two men play", {}, {}},
       {"a dog runs", "", {}, {}},
       {"a dog runs", "two men", {{"gradients", true}}, {"--gradients"}},
       {"a dog runs",
        "two men play",
        {{"edit", std::vector<std::string>{"decoder.0.cross.heads[0]=mean", "encoder.tokens@0=#5"}},
         {"max-bytes", 1 << 20}},
        {"--edit", "decoder.0.cross.heads[0]=mean", "--edit", "encoder.tokens@0=#5", "--max-bytes", "1048576"}},
       {"a dog runs",
        "two men play",
        {{"only", "logits"}, {"lens", true}, {"rollout", true}, {"head-scores", 4}},
        {"--only", "logits", "--lens", "--rollout", "--head-scores", "4"}}});
}

TEST(LibraryTracer, OfACallTheOptionsReplaceThoseOfTheConstructor) {
  const v0::Model model = v0::Model::open(language_model);
  const v0::Tracer tracer(model, {{"only", "decoder.1.self.q"}, {"edit", "decoder.0=skip"}});
  EXPECT_EQ(tracer.trace("a dog").values().size(), 1u);
  EXPECT_FALSE(tracer.trace("a dog").change()->bit_identical);
  const v0::Trace other = tracer.trace("a dog", "", {{"edit", std::vector<std::string>{}}});
  EXPECT_EQ(other.change(), nullptr);
  EXPECT_TRUE(tracer.trace("a dog", "", {{"only", std::vector<std::string>{}}}).values().empty());
  EXPECT_TRUE(v0::Tracer(model, {{"lens", true}}).trace("a dog").values().empty());
  EXPECT_EQ(std::ssize(v0::Tracer(model).trace("a dog", "", {{"lens", true}}).lens()[0].logits),
            std::ssize(other.logits().floats));
}

TEST(LibraryTracer, ValuesOutliveTracerAndModel) {
  std::optional<v0::Trace> trace;
  {
    const v0::Tracer tracer(v0::Model::open(language_model));
    trace.emplace(tracer.trace("a dog runs"));
  }
  const v0::Trace copy = *trace;
  trace.reset();
  const std::vector<float> again(copy.at("logits").floats.begin(), copy.at("logits").floats.end());
  EXPECT_EQ(again, std::vector<float>(copy.logits().floats.begin(), copy.logits().floats.end()));
}

TEST(LibraryTracer, CallsFromThreadsAreAlike) {
  const v0::Tracer tracer(v0::Model::open(language_model), {{"gradients", true}});
  const v0::Trace expected = tracer.trace("a dog runs");
  std::vector<std::thread> threads;
  std::vector<int> same(4);
  for (int& ok : same)
    threads.emplace_back([&] {
      const v0::Trace trace = tracer.trace("a dog runs");
      ok = 1;
      for (const v0::TracedValue& v : trace.values()) {
        const std::span<const std::byte> a = bytes_of(v), b = bytes_of(expected.at(v.name));
        if (!std::equal(a.begin(), a.end(), b.begin(), b.end())) ok = 0;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(same, std::vector<int>(4, 1));
}

// A request to stop, from any thread, ends a call with an error; without one a call is as others.
TEST(LibraryTracer, EndsWhenStopIsRequested) {
  const v0::Tracer tracer(v0::Model::open(language_model));
  std::stop_source stop;
  EXPECT_EQ(tracer.trace("a dog runs", "", {}, stop.get_token()).loss(), tracer.trace("a dog runs").loss());
  std::string error;
  std::thread asks([&] {
    while (error.empty()) error = error_of([&] { tracer.trace("a dog", "", {{"head-scores", 20}}, stop.get_token()); });
  });
  stop.request_stop();
  asks.join();
  EXPECT_TRUE(contains(error, "trace", "stopped")) << error;
  EXPECT_TRUE(contains(error_of([&] { tracer.trace("a dog", "", {}, stop.get_token()); }), "stopped"));
}

TEST(LibraryTracer, NamesWhatIsWrong) {
  const v0::Model model = v0::Model::open(language_model);
  const v0::Tracer tracer(model);
  const auto refused = [&](const v0::Options& options, const std::string& text = "a dog") {
    return error_of([&] { tracer.trace(text, "", options); });
  };
  EXPECT_TRUE(contains(refused({{"onlly", "*"}}), "onlly", "only"));
  EXPECT_TRUE(contains(refused({{"only", "decoder.0.self.weihgts"}}), "weihgts", "weights"));
  EXPECT_TRUE(contains(refused({{"edit", "decoder.0.self.heads[99]=zero"}}), "heads[99]", "heads"));
  EXPECT_TRUE(contains(refused({{"edit", "decoder.0=skip"}, {"lens", true}}), "edit", "plain pass"));
  EXPECT_TRUE(contains(refused({{"edit", "decoder.0=skip"}, {"gradients", true}}), "gradients", "edited"));
  EXPECT_TRUE(contains(refused({{"patch-target", "a"}}), "patch_target", "`patch_text`"));
  EXPECT_TRUE(contains(refused({{"max-bytes", 100}}), "decoder.", "100 bytes"));
  EXPECT_TRUE(contains(refused({{"attribute", 99}}), "attribute", "no token 99"));
  EXPECT_TRUE(contains(refused({{"new-tokens", 3}}), "new_tokens", "no edits"));
  EXPECT_TRUE(contains(refused({{"source-language", "de"}}), "source_language"));
  EXPECT_TRUE(contains(refused({}, "\xff"), "text", "UTF-8"));
  EXPECT_TRUE(contains(error_of([&] { v0::Tracer(model, {{"max-bytes", 0}}); }), "max-bytes", "at least 1"));
  EXPECT_TRUE(contains(error_of([&] { static_cast<void>(tracer.trace("a dog").at("logit")); }), "logit", "logits"));

  const v0::Tracer rounded(v0::Model::open(language_model, {{"precision", "int8"}}));
  EXPECT_NO_THROW(rounded.trace("a dog"));
  EXPECT_TRUE(contains(error_of([&] {
                         rounded.trace("a dog", "", {{"gradients", true}});
                       }),
                       "gradients", "`precision`"));
  EXPECT_TRUE(contains(error_of([&] {
                         v0::Tracer(v0::Model::open(language_model, {{"models", language_model}}));
                       }),
                       "models", "ensemble"));
  EXPECT_TRUE(contains(error_of([&] {
                         v0::Tracer(v0::Model::open(language_model, {{"draft-model", language_model}}));
                       }),
                       "draft_model", "no effect"));
}

}  // namespace
}  // namespace library_trace_test
}  // namespace tril

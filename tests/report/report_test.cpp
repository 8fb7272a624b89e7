// The lines that a run writes, and the page made of them; tests/cli/commands/report_test.cpp checks it in a browser.
#include "report/report.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "report/report_page.h"
#include "support/training.h"

namespace tril::train {
namespace {

using Json = nlohmann::json;

TrainingReport trained(std::int64_t update, double loss = 2) {
  TrainingReport r;
  r.position.updates = update;
  r.position.minutes = static_cast<double>(update) / 60;
  r.position.tokens = update * 100;
  r.loss = loss;
  return r;
}

ValidationReport validated(std::int64_t update, const std::string& hypothesis = "b a") {
  ValidationReport r;
  r.position.updates = update;
  r.scores.cross_entropy = 1.5;
  r.samples.list = {{{7, "a b", "b a"}, hypothesis, {}}};
  return r;
}

RunRecord run_record(std::int64_t update, const TrainOptions& options) {
  TrainOptions o = options;
  return {.update = update, .parameters = 1000, .threads = 2, .options = to_json(fields_of(o))};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    lines.push_back(text.substr(at, end - at));
  return lines;
}

// {"train 10", "valid 20", ...}
std::vector<std::string> records(const std::string& path) {
  std::vector<std::string> list;
  for (const std::string& line : lines_of(file_text(path))) {
    const Json j = Json::parse(line);
    list.push_back(j["type"].get<std::string>() + " " + j["update"].dump());
  }
  return list;
}

// The JSON object in a page.
Json data_in(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t from = page.find(begin) + begin.size();
  return Json::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST(Report, LinesAreJsonAndNanIsNull) {
  const Json train = Json::parse(json_line(trained(10, std::nan(""))));
  EXPECT_EQ(train["type"], "train");
  EXPECT_TRUE(train["loss"].is_null());
  EXPECT_EQ(train["target_tokens"], 1000);
  ValidationReport v = validated(20, "bad \xff byte");
  v.scores.bleu = 12.5;
  const Json valid = Json::parse(json_line(v));
  EXPECT_EQ(valid["bleu"], 12.5);
  EXPECT_FALSE(valid.contains("chrf"));
  const Json samples = Json::parse(samples_line(v, true));
  EXPECT_EQ(samples["samples"][0]["hypothesis"], "bad \xEF\xBF\xBD byte");
  EXPECT_EQ(samples["samples"][0]["line"], 7);
}

TEST(Report, ThePageOfADirectory) {
  const TemporaryDirectory dir;
  RunLog log(dir.path());
  log.keep_until(-1, -1);
  log.begin(run_record(0, {}));
  log.add(trained(10, std::nan("")));
  ValidationReport v = validated(10);
  v.scores.bleu = 31.25;
  log.add(v);
  log.write_html();
  const Json run = data_in(file_text(dir.path("report.html")))["runs"][0];
  EXPECT_EQ(run["valid"]["bleu"], Json({31.25}));
  EXPECT_EQ(run["options"]["learn-rate"], 0.002);
  EXPECT_EQ(run["parameters"], 1000);
  EXPECT_EQ(run["samples"][0]["samples"][0]["hypothesis"], "b a");
}

// Reported early, for readers in the meantime; the resumed run reports these updates again.
TEST(Report, AnUnfinishedLineIsForgottenOnceTheRunGoesOn) {
  const TemporaryDirectory dir;
  const std::string path = dir.path("train.jsonl");
  {
    RunLog log(dir.path());
    log.keep_until(-1, -1);
    log.begin(run_record(0, {}));
    log.updated();
    log.add(trained(10));
    TrainingReport last = trained(13);
    last.unfinished = true;
    log.add(last);
  }
  const std::string text = file_text(path);
  EXPECT_TRUE(contains(text, R"("interval":"unfinished")"));
  {
    RunLog nothing_to_do(dir.path());
    nothing_to_do.keep_until(13, -1);
    nothing_to_do.begin(run_record(13, {}));
    nothing_to_do.write_html();
  }
  EXPECT_EQ(file_text(path), text);
  RunLog log(dir.path());
  log.keep_until(13, -1);
  log.begin(run_record(13, {}));
  log.updated();
  TrainingReport old = trained(20);
  old.since = 13;
  log.add(old);
  EXPECT_EQ(records(path), (std::vector<std::string>{"run 0", "train 10", "train 20"}));
  EXPECT_TRUE(contains(file_text(path), R"("interval":"since update 13")"));
}

// Possible after a power failure.
TEST(Report, NulBytesBehindTheLinesAreACutTail) {
  const TemporaryDirectory dir;
  const std::string good = json_line(trained(5)) + "\n";
  for (const std::string& before : {std::string(), good})
    for (const std::string& tail : {std::string(5000, '\0'), std::string("{\"type\"") + std::string(9, '\0') + "\n"}) {
      dir.write("train.jsonl", before + tail);
      dir.write("samples.jsonl", tail);
      EXPECT_EQ(read_run(dir.path()).figures.size(), before.empty() ? 0u : 1u);
      RunLog log(dir.path());
      log.keep_until(5, 5);
      log.add(trained(6));
      EXPECT_EQ(file_text(dir.path("train.jsonl")), before + json_line(trained(6)) + "\n");
    }
}

TEST(Report, WhatIsNoRunIsTold) {
  const TemporaryDirectory dir;
  for (const char* garbage : {"garbage\n", "{}\n", "{\"a\": 1}\nx\n"}) {
    dir.write("train.jsonl", garbage);
    EXPECT_TRUE(contains(error_of([&] { read_run(dir.path()); }), "belongs to a run")) << garbage;
  }
  dir.write("train.jsonl", R"({"type":"run","upda)");  // just being written
  EXPECT_EQ(read_run(dir.path()).figures.size(), 1u);
  std::filesystem::remove(dir.path("train.jsonl"));
  ASSERT_EQ(mkfifo(dir.path("train.jsonl").c_str(), 0600), 0);
  EXPECT_TRUE(contains(error_of([&] { read_run(dir.path()); }), "train.jsonl"));  // and nobody waits
}

// Killed at any byte of either file and resumed from any checkpoint: no line is repeated, missing or truncated.
TEST(Report, WhatIsKeptAndWrittenAgainIsWhatAnUndisturbedRunWrites) {
  const TemporaryDirectory dir;
  const auto write_from = [&](RunLog& log, std::int64_t from, std::int64_t to) {
    for (std::int64_t u = from + 1; u <= to; ++u) {
      log.updated();
      if (u % 10 == 0) log.add(trained(u));
      if (u % 20 == 0) log.add(validated(u, "v" + std::to_string(u)));
    }
  };
  const auto begin = [&](RunLog& log, std::int64_t update, std::int64_t shown) {
    log.keep_until(update, shown);
    log.begin(run_record(update, {}));
  };
  std::filesystem::create_directory(dir.path("whole"));
  RunLog whole(dir.path("whole"));
  begin(whole, -1, -1);
  write_from(whole, 0, 100);
  const std::string figures = file_text(dir.path("whole/train.jsonl")),
                    samples = file_text(dir.path("whole/samples.jsonl"));
  EXPECT_EQ(records(dir.path("whole/samples.jsonl")).size(), 5u);

  for (const std::int64_t state : {-1, 0, 7, 35, 40, 60, 99}) {  // the checkpoint from which the run resumes
    for (std::size_t cut : {0u, 1u, 40u, 200u}) {  // bytes lost by the kill from what was written after it
      std::filesystem::create_directory(dir.path("killed"));
      RunLog before(dir.path("killed"));
      begin(before, -1, -1);
      write_from(before, 0, state);
      const auto floor_figures = file_text(dir.path("killed/train.jsonl")).size(),
                 floor_samples = file_text(dir.path("killed/samples.jsonl")).size();
      write_from(before, std::max<std::int64_t>(state, 0), 100);
      const auto shorten = [&](const std::string& name, std::size_t floor) {
        const std::string text = file_text(dir.path("killed/" + name));
        std::filesystem::resize_file(dir.path("killed/" + name),
                                     std::max(floor, text.size() - std::min(cut, text.size())));
      };
      shorten("train.jsonl", floor_figures);
      shorten("samples.jsonl", floor_samples);
      RunLog after(dir.path("killed"));
      begin(after, state, state < 0 ? -1 : state / 20 * 20);
      write_from(after, std::max<std::int64_t>(state, 0), 100);
      EXPECT_EQ(file_text(dir.path("killed/samples.jsonl")), samples) << "state " << state << ", cut " << cut;
      EXPECT_EQ(file_text(dir.path("killed/train.jsonl")), figures) << "state " << state << ", cut " << cut;
      std::filesystem::remove_all(dir.path("killed"));
    }
  }
}

// The checkpoint may be between two validations: those after it are repeated.
TEST(Report, AValidationAfterTheStateIsForgotten) {
  const TemporaryDirectory dir;
  RunLog log(dir.path());
  log.keep_until(-1, -1);
  log.add(trained(10));
  log.add(validated(10));
  log.keep_until(10, 5);
  EXPECT_EQ(records(dir.path("train.jsonl")), std::vector<std::string>{"train 10"});
  EXPECT_TRUE(records(dir.path("samples.jsonl")).empty());
}

TEST(Report, OptionsAreToldOnceAndWhereTheyChange) {
  const TemporaryDirectory dir;
  RunLog log(dir.path());
  TrainOptions o;
  log.keep_until(-1, -1);
  log.begin(run_record(0, o));
  log.begin(run_record(0, o));
  log.add(trained(10));
  o.run.threads = 7;
  log.begin(run_record(10, o));
  log.begin(run_record(10, o));
  EXPECT_EQ(records(dir.path("train.jsonl")), (std::vector<std::string>{"run 0", "train 10"}))
      << "a run that does nothing leaves nothing";
  log.add(trained(20));
  log.begin(run_record(20, o));
  log.add(trained(30));
  EXPECT_EQ(records(dir.path("train.jsonl")),
            (std::vector<std::string>{"run 0", "train 10", "run 10", "train 20", "train 30"}));
}

TEST(Report, MapsOfManyValidationsAreThinnedOut) {
  std::int64_t kept = 0;
  for (std::int64_t n = 1; n <= 1000; ++n) {
    kept += keeps_attention(n);
    EXPECT_TRUE(n > 31 || keeps_attention(n)) << n;
  }
  EXPECT_GE(kept, 80);
  EXPECT_LE(kept, 140);
}

TEST(Report, HostileTextStaysInItsElement) {
  const std::string hostile =
      "</script><script>alert(1)</script> \"quoted\" 'single' \\ & <!-- \x01\x1b \u202Egnirts \u2028 /* data */";
  const TemporaryDirectory dir;
  TrainOptions o;
  o.data.train_sets = {hostile, "b"};
  RunLines run{"dir/" + std::string("name <b>\u202E"),
               {json_line(run_record(0, o)), json_line(trained(10)), "not json", "{\"cut\": "},
               {}};
  ValidationReport v = validated(10, hostile);
  v.samples.list[0].text.source = hostile;
  run.figures.push_back(json_line(v));
  run.samples = {samples_line(v, true)};
  const std::string page = report_page({&run, 1});

  std::size_t scripts = 0;
  for (std::size_t at = 0; (at = page.find("<script", at)) != std::string::npos; ++at) ++scripts;
  EXPECT_EQ(scripts, 2u) << "the data and the page's own";
  const Json data = data_in(page);
  EXPECT_EQ(data["runs"][0]["samples"][0]["samples"][0]["source"], hostile);
  EXPECT_EQ(data["runs"][0]["samples"][0]["samples"][0]["hypothesis"], hostile);
  EXPECT_EQ(data["runs"][0]["options"]["train-sets"][0], hostile);
  EXPECT_EQ(data["runs"][0]["name"], "name <b>\u202E");
  EXPECT_EQ(data["runs"][0]["train"]["update"], Json({10}));
}

TEST(Report, ThePageNeedsNothingElse) {
  const RunLines run{"dir", {json_line(trained(10))}, {}};
  const std::string page = report_page({&run, 1});
  for (const char* outside : {"https://", "<link", "@import", "src=", "fetch(", "XMLHttpRequest"})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  std::string rest = page;  // the SVG namespace is not an address that a browser visits
  for (std::size_t at; (at = rest.find("http://www.w3.org/2000/svg")) != std::string::npos;) rest.erase(at, 26);
  EXPECT_EQ(rest.find("http://"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

// Unknown numeric keys are drawn too: the page takes every column.
TEST(Report, UnknownNumbersBecomeColumnsAndLongRunsAreThinned) {
  RunLines run{"dir", {}, {}};
  for (int u = 1; u <= 5000; ++u) {
    Json j = Json::parse(json_line(trained(u, u)));
    j["noise_scale"] = 0.5;
    j["gradient_norms"] = {{"encoder", 1.0 * u}, {"decoder", 2}};
    if (u % 2) j.erase("noise_scale");
    run.figures.push_back(j.dump());
  }
  const Json train = data_in(report_page({&run, 1}))["runs"][0]["train"];
  EXPECT_EQ(train["update"].size(), 1667u) << "three neighbours together";
  EXPECT_EQ(train["update"].back(), 5000);
  EXPECT_EQ(train["loss"][0], 2) << "the mean of 1, 2 and 3";
  EXPECT_EQ(train["gradient_norms.encoder"][1], 5);
  EXPECT_EQ(train["noise_scale"][0], 0.5);
}

TEST(Report, DifferingOptionsOfRuns) {
  TrainOptions a, b;
  b.learning.learn_rate = 0.5;
  b.run.model = "elsewhere";
  const std::vector<RunLines> runs{{"x/one", {json_line(run_record(0, a))}, {}},
                                   {"y/one/", {json_line(run_record(0, b))}, {}},
                                   {"z/old", {json_line(trained(1))}, {}}};
  const Json data = data_in(report_page(runs));
  ASSERT_EQ(data["differing"].size(), 1u) << data["differing"];
  EXPECT_EQ(data["differing"][0]["name"], "learn-rate");
  EXPECT_EQ(data["differing"][0]["values"], Json({"0.002", "0.5", "0.002"}));
  EXPECT_EQ(data["runs"][0]["name"], "x/one") << "one name twice: told apart by their paths";
  EXPECT_EQ(data["runs"][2]["name"], "old");
}

TEST(Report, SamplesLieAllOverTheSet) {
  std::vector<SampleText> set;
  for (int i = 0; i < 100; ++i) set.push_back({i + 1, i % 2 ? "" : "s", i == 50 ? std::string(5000, 'x') : "r"});
  const std::vector<SampleText> chosen = choose_samples(set, 4);
  ASSERT_EQ(chosen.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(chosen[i].source, "s");
    EXPECT_NEAR(static_cast<double>(chosen[i].line), 12.5 + 25.0 * static_cast<double>(i), 4);
  }
  EXPECT_EQ(choose_samples(set, 1000).size(), 49u);
  EXPECT_TRUE(choose_samples(set, 0).empty());
}

struct Trained {
  TemporaryDirectory dir;
  TrainOptions options;
  Trained() {
    test::write_reversals(dir, "train", 60, 1);
    test::write_reversals(dir, "valid", 12, 2);
    options = test::small_options(dir);
    options.data.valid_sets = {dir.path("valid.src"), dir.path("valid.tgt")};
    options.validation.valid_freq = {{4, Unit::updates}};
    options.model.dec_depth = 2;
  }
};

TEST(Report, ATrainedModelShowsSamplesWithItsAttention) {
  Trained run;
  const test::Trained done = test::run_trainer(run.options);
  ASSERT_EQ(done.validations.size(), 5u);
  for (const ValidationReport& v : done.validations) {
    ASSERT_EQ(v.samples.list.size(), 6u);
    EXPECT_EQ(v.samples.list[0].text.source, done.validations[0].samples.list[0].text.source);
    for (std::size_t i = 0; i < 6; ++i) {
      const Sample& s = v.samples.list[i];
      EXPECT_EQ(s.hypothesis, s.text.source) << "the test's translation is a copy";
      ASSERT_EQ(s.attention.has_value(), i < 3);
      if (!s.attention) continue;
      ASSERT_EQ(s.attention->layers.size(), 2u) << "cross-attention alone";
      EXPECT_EQ(s.attention->kind, search::AttentionMaps::Kind::cross);
      const std::size_t keys = s.attention->keys.size(), queries = s.attention->queries.size();
      EXPECT_EQ(s.attention->keys.back(), "</s>");
      for (const search::AttentionMaps::Layer& layer : s.attention->layers) {
        const std::vector<std::uint8_t> codes = layer.codes();
        ASSERT_EQ(codes.size(), static_cast<std::size_t>(layer.heads) * queries * keys);
        for (std::size_t row = 0; row < codes.size(); row += keys) {
          double sum = 0;
          for (std::size_t k = 0; k < keys; ++k) sum += std::pow(codes[row + k] / 255.0, 2);
          EXPECT_NEAR(sum, 1, 0.02);
        }
      }
    }
  }
  const Json line = Json::parse(samples_line(done.validations[0], true));
  const Json& layer = line["samples"][0]["attention"]["layers"][0];
  const std::size_t bytes = done.validations[0].samples.list[0].attention->layers[0].codes().size();
  EXPECT_EQ(layer["codes"].get<std::string>().size(), (bytes + 2) / 3 * 4);
  EXPECT_FALSE(Json::parse(samples_line(done.validations[0], false))["samples"][0].contains("attention"));

  run.options.run.model += "none";
  run.options.validation.valid_samples = 0;
  EXPECT_TRUE(test::run_trainer(run.options).validations[0].samples.list.empty());
}

TEST(Report, LookingAtSamplesDoesNotChangeTheWeights) {
  Trained run;
  TrainOptions without = run.options;
  without.run.model += "without";
  without.validation.valid_samples = 0;
  run.options.learning.ema = without.learning.ema = 0.9;
  EXPECT_EQ(test::run_trainer(run.options).weights, test::run_trainer(without).weights);
}

TEST(AttentionMaps, AreBounded) {
  const TemporaryDirectory dir;
  TrainOptions o = test::small_options(dir);
  o.model.dec_depth = 3;
  const test::LetterTokenizer tokenizer;
  const auto m = build_model(o.model, tokenizer);
  m->parameters().initialise(1);
  m->parameters().refresh(kern::best());
  Arena arena;
  Context c(arena);
  const search::AttentionMaps maps =
      search::attention_maps(c, *m, tokenizer, {std::string(50, 'a'), "abc"}, {.tokens = 9, .heads = 5});
  EXPECT_EQ(maps.keys.size(), 9u);
  EXPECT_EQ(maps.queries.size(), 4u);
  ASSERT_EQ(maps.layers.size(), 2u) << "the last two of three: 5 heads hold 2 of 2";
  EXPECT_TRUE(contains(maps.layers[1].name, "layers.2.")) << maps.layers[1].name;
  EXPECT_EQ(c.observer(), nullptr);
  // Equally many tokens on both sides: self-attention then has the same shape, but must not be included.
  EXPECT_EQ(search::attention_maps(c, *m, tokenizer, {"abc", "cba"}).layers.size(), 3u);
}

TEST(ReadRun, NestedLinesCostNoStack) {
  const TemporaryDirectory dir;
  const std::string deep = std::string(300'000, '[') + std::string(300'000, ']');
  const std::string line = R"({"type":"run","update":0,"options":)" + deep + "}\n";
  dir.write("train.jsonl", line + R"({"type":"train","update":1,"loss":2.5})" + "\n");
  dir.write("samples.jsonl", line);
  EXPECT_TRUE(contains(report_page(std::vector{read_run(dir.path())}), "2.5"));
  RunLog log(dir.path());
  log.keep_until(1, 1);
  log.begin({.options = "{}"});
}

TEST(ReadRun, NamesWhatIsMissing) {
  const TemporaryDirectory dir;
  EXPECT_TRUE(contains(error_of([&] { read_run(dir.path("none")); }), "train.jsonl"));
  dir.write("train.jsonl", "no JSON\n{\"loss\": 1}\n");
  EXPECT_TRUE(contains(error_of([&] { read_run(dir.path()); }), "none of its 2 lines"));
}

}  // namespace
}  // namespace tril::train

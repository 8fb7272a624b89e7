// `tril report`, and its page as a browser shows it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "base/rng.h"
#include "support/page_test.h"
#include "support/picture.h"

namespace tril::report_test {
namespace {

using Json = nlohmann::json;

struct RunFiles {
  std::string options = R"({"learn-rate": 0.002, "seed": 1, "train-sets": ["a", "b"]})";
  double better = 0;  ///< added to BLEU
  std::vector<std::string> hypotheses{"a dog", "a dog runs", "a dog runs"};
  std::string source = "ein Hund";
};

/// Three reports, three validations.
std::string write_run(const ScratchFolder& folder, const std::string& name, const RunFiles& r) {
  std::filesystem::create_directory(folder.at(name));
  std::string figures = R"({"type":"run","update":0,"parameters":12345,"threads":2,"options":)" + r.options + "}\n",
              samples;
  for (int i = 1; i <= 3; ++i) {
    const std::string at = "\"update\":" + std::to_string(10 * i) + ",\"epoch\":" + std::to_string(i - 1) +
                           ",\"seconds\":" + std::to_string(60 * i) + ",\"target_tokens\":" + std::to_string(1000 * i);
    figures += R"({"type":"train",)" + at + ",\"loss\":" + std::to_string(8.0 / i) +
               R"(,"learning_rate":0.0005,"gradient_norm":1.5,"tokens_per_second":900,"skipped":0,"noise_scale":)" +
               std::to_string(i) + R"(,"group_norms":{"encoder":0.5,"decoder":1.25}})" + "\n";
    figures += R"({"type":"valid",)" + at + ",\"cross_entropy\":" + std::to_string(5.0 / i) +
               ",\"perplexity\":20,\"bleu\":" + std::to_string(10 * i + r.better) + ",\"best\":true}\n";
    // Heads [1 0; 0 1] and [0 1; 1 0]: their mean is a half everywhere.
    samples += R"({"type":"samples",)" + at + R"(,"kind":"translation","samples":[{"line":3,"source":)" + "\"" +
               r.source + R"(","reference":"a dog walks","hypothesis":")" +
               r.hypotheses[static_cast<std::size_t>(i) - 1] +
               R"(","attention":{"kind":"cross","queries":["▁dog","</s>"],"keys":["▁Hund","</s>"],"layers":[)" +
               R"({"name":"model.decoder.layers.0.encoder_attn","heads":2,"codes":"/wAA/wD//wA="}]}}]})" + "\n";
  }
  folder.write(name + "/train.jsonl", figures);
  folder.write(name + "/samples.jsonl", samples);
  return folder.at(name);
}

std::string page_of(const ScratchFolder& folder, std::vector<std::string> runs, const std::string& name = "page.html") {
  const std::string page = folder.at(name);
  runs.insert(runs.begin(), "report");
  runs.insert(runs.end(), {"-o", page});
  const Ran ran = run_tril(runs);
  EXPECT_EQ(ran.code, 0) << ran.err;
  return page;
}

using ReportPage = PageTest;

TEST_F(ReportPage, OneRunInABrowser) {
  const std::string page = page_of(folder, {write_run(folder, "first", {})});
  const std::string dom = document_of(page + "#at=20&smooth=0");
  EXPECT_TRUE(contains(dom, "<title>first: training report</title>"));
  EXPECT_TRUE(contains(words_of(between(dom, "id=\"best-bleu\"", "</dd>")), "30.00at update 30"));
  const std::string loss = between(dom, "id=\"chart-loss\"", "</figure>");
  EXPECT_TRUE(contains(words_of(between(loss, "class=\"readout\"", "</figure>")), "updates 204 training2.5 validation"))
      << loss;
  EXPECT_TRUE(contains(words_of(between(loss, "class=\"axis-x\"", "/text")), "updates"));
  EXPECT_TRUE(contains(loss, ">nats per target token</text>"));
  EXPECT_TRUE(contains(loss, "aria-label=\"Loss (nats per target token): training from 8 to 2.667 at 30 updates"))
      << loss;
  for (const char* chart :
       {"bleu", "learning_rate", "gradient_norm", "tokens_per_second", "other-noise_scale", "other-group_norms"})
    EXPECT_TRUE(contains(between(dom, std::string("id=\"chart-") + chart + "\"", "</figure>"), "class=\"curve\""))
        << chart;
  EXPECT_TRUE(contains(dom, "id=\"chart-chrf\" hidden")) << "no chrF was measured";
  EXPECT_EQ(count(between(dom, "id=\"chart-other-group_norms\"", "</figure>"), "class=\"curve\""), 2);

  // Repeated translations are one line; changes are marked.
  const std::string samples = between(dom, "id=\"samples\"", "</section>");
  EXPECT_TRUE(contains(samples, "20–30 (2×)")) << samples;
  EXPECT_EQ(count(samples, "<ins>"), 1);
  EXPECT_TRUE(contains(samples, "<ins>runs</ins>"));

  const std::string map = between(dom, "id=\"map\"", "</svg>"), heads = between(dom, "id=\"heads\"", "</table>");
  EXPECT_EQ(count(map, "class=\"cell\""), 4);
  EXPECT_EQ(count(map, ": 0.500</title>"), 4) << map;
  EXPECT_TRUE(contains(map, ">▁Hund</text>") && contains(map, ">▁dog</text>"));
  EXPECT_EQ(count(heads, "<canvas"), 4) << "mean, two heads, all layers";
  EXPECT_TRUE(contains(dom, "id=\"map-update\">update 30<"));
}

TEST_F(ReportPage, ChoicesOfTheReader) {
  const std::string page = page_of(folder, {write_run(folder, "first", {})});
  const std::string dom =
      document_of(page + "#x=minutes&at=2&smooth=0&log=loss&theme=dark&mark=reference&map=0,0,0,0,1");
  EXPECT_TRUE(contains(dom, "data-theme=\"dark\""));
  const std::string loss = between(dom, "id=\"chart-loss\"", "</figure>");
  EXPECT_TRUE(contains(loss, "aria-pressed=\"true\" title=\"to a linear axis\"")) << loss;
  EXPECT_TRUE(contains(between(loss, "class=\"axis-x\"", "/text"), ">minutes<"));
  EXPECT_TRUE(contains(words_of(between(loss, "class=\"readout\"", "</figure>")), "minutes 24 training2.5 validation"));
  EXPECT_FALSE(contains(loss, "class=\"tick-y\">0</text>")) << "a logarithmic axis has no zero";
  EXPECT_EQ(count(between(dom, "id=\"samples\"", "</section>"), "<ins class=\"same\">"), 4) << "a, dog; twice";
  EXPECT_TRUE(contains(dom, "id=\"map-title\">layer 1, head 2<"));
  EXPECT_TRUE(contains(dom, "id=\"map-update\">update 10<"));
  EXPECT_EQ(count(between(dom, "id=\"map\"", "</svg>"), ": 1.000</title>"), 2);
}

TEST_F(ReportPage, SeveralRunsInABrowser) {
  RunFiles second;
  second.options = R"({"learn-rate": 0.5, "seed": 1, "train-sets": ["a", "b"]})";
  second.better = 5;
  const std::string page = page_of(folder, {write_run(folder, "first", {}), write_run(folder, "second", second)});
  const std::string dom = document_of(page + "#at=30&smooth=0");
  EXPECT_EQ(words_of(between(dom, "id=\"title\"", "</h1>")).substr(11), "2 runs compared");
  const std::string options = between(dom, "id=\"differing-options\"", "</table>");
  EXPECT_EQ(count(options, "<tr>"), 2) << options;
  EXPECT_TRUE(contains(words_of(options), "--learn-rate0.0020.5")) << options;
  const std::string runs = between(dom, "id=\"runs\"", "</table>");
  EXPECT_EQ(count(runs, "class=\"number best\">35.00<"), 1) << runs;
  EXPECT_EQ(count(runs, "class=\"number best\">30.00<"), 0);
  EXPECT_TRUE(contains(words_of(between(between(dom, "id=\"chart-bleu\"", "</figure>"), "class=\"readout\"", "$")),
                       "30 first35 second"));
  EXPECT_EQ(count(between(dom, "id=\"chart-loss\"", "</figure>"), "class=\"curve"), 4);
  EXPECT_EQ(count(between(dom, "id=\"samples\"", "</section>"), "<article"), 1) << "the same sentence of both runs";

  const std::string one = document_of(page + "#hide=0");
  EXPECT_EQ(count(between(one, "id=\"chart-loss\"", "</figure>"), "class=\"curve"), 2);
}

// A curve that the page's own list does not name has its name beside it, and a faint one is explained.
TEST_F(ReportPage, ChartsNameTheirCurves) {
  const std::string page = page_of(folder, {write_run(folder, "first", {})});
  const auto names_in = [&](const std::string& choice) {
    const std::string norm = between(document_of(page + choice), "id=\"chart-gradient_norm\"", "</figure>");
    return words_of(between(norm, "class=\"legend curves\"", "class=\"plot\""));
  };
  const std::string smoothed = names_in("#smooth=0.6");
  EXPECT_TRUE(contains(smoothed, "norm", ", smoothed", "as reported")) << smoothed;
  EXPECT_FALSE(contains(names_in("#smooth=0"), "as reported"));
}

// Smoothing a constant changes its last bit: an axis of that height has no distinct ticks. Nor has a range too narrow
// for floating point.
TEST_F(ReportPage, CurvesWithoutHeightAndPartsWithoutWidth) {
  const std::string page = page_of(folder, {write_run(folder, "first", {})});
  for (const char* choice :
       {"#smooth=0.6", "#smooth=0.99", "#part=10,10.000000000000002", "#part=10,10.00001", "#log=gradient_norm"}) {
    const std::string norm = between(document_of(page + choice), "id=\"chart-gradient_norm\"", "</figure>");
    EXPECT_TRUE(contains(norm, "norm from 1.5 to 1.5 at 30 updates")) << choice << ": " << norm;
    EXPECT_GE(count(norm, "class=\"tick-y\""), 2) << choice;
    EXPECT_LE(count(norm, "class=\"tick-y\""), 20) << choice;
  }
}

TEST_F(ReportPage, HostileTextIsOnlyText) {
  RunFiles r;  // texts as escaped in JSON
  const std::string attack =
      R"(</script><img src=x onerror=\"document.body.dataset.hacked=1\"> 'q' & \u202Eevil\u0007)";
  r.source = attack;
  r.hypotheses = {attack, attack + " <b>new</b>", "plain"};
  r.options = R"({"learn-rate": 0.002, "train-sets": [")" + attack + R"(", "b"]})";
  const std::string page = page_of(folder, {write_run(folder, "<i>name", r)});
  const std::string dom = document_of(page);
  EXPECT_FALSE(contains(dom, "data-hacked"));
  EXPECT_FALSE(contains(dom, "<img"));
  EXPECT_FALSE(contains(dom, "<b>new"));
  EXPECT_FALSE(contains(dom, "\u202E")) << "what turns the order of characters around is shown by its number";
  EXPECT_TRUE(contains(dom, "&lt;/script&gt;&lt;img src=x onerror="));
  EXPECT_TRUE(contains(dom, "<span class=\"code-point\">U+202E</span>evil<span class=\"code-point\">U+0007</span>"));
  EXPECT_TRUE(contains(dom, "&lt;i&gt;name"));
}

TEST_F(ReportPage, NothingToShowYet) {
  std::filesystem::create_directory(folder.at("run"));
  for (const char* lines :
       {"", "{\"type\":\"run\",\"update\":0,\"options\":{}}\n",
        "{\"type\":\"train\",\"update\":1,\"epoch\":0,\"seconds\":1,\"target_tokens\":5,\"loss\":null}\n",
        "{\"type\":\"train\",\"update\":1,\"epoch\":0,\"seconds\":1,\"target_tokens\":5,\"loss\":3}\n"}) {
    folder.write("run/train.jsonl", lines);
    const std::string dom = document_of(page_of(folder, {folder.at("run")}));
    EXPECT_EQ(contains(dom, "Nothing reported yet"), !contains(lines, "train")) << lines;
    EXPECT_TRUE(contains(dom, "None yet")) << lines;
    EXPECT_TRUE(contains(dom, "No maps yet")) << lines;
  }
}

// --- a run of the program itself ---

/// Words and the same words in reverse, for a model that trains in a moment.
void write_pairs(const ScratchFolder& folder, const std::string& prefix, int lines, std::uint64_t seed) {
  RandomSequence random(seed, 3);
  std::string source, target;
  for (int i = 0; i < lines; ++i) {
    std::string s, t;
    for (std::uint64_t n = 2 + random.below(5); n > 0; --n) {
      const std::string word(1 + random.below(3), static_cast<char>('a' + random.below(8)));
      s += word + " ", t = word + " " + t;
    }
    source += s + "\n", target += t + "\n";
  }
  folder.write(prefix + ".src", source);
  folder.write(prefix + ".tgt", target);
}

std::string train_run(const ScratchFolder& folder, const std::string& name, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"train",
                                 "--model",
                                 folder.at(name),
                                 "--train-sets",
                                 folder.at("train.src"),
                                 folder.at("train.tgt"),
                                 "--valid-sets",
                                 folder.at("valid.src"),
                                 folder.at("valid.tgt")};
  for (const char* word : {"--vocab-size",    "40",   "--d-model",    "16",  "--num-heads",  "2",   "--ffn-dim", "24",
                           "--enc-depth",     "1",    "--dec-depth",  "2",   "--max-tokens", "300", "--threads", "2",
                           "--after",         "60u",  "--valid-freq", "20u", "--disp-freq",  "5u",  "--warmup",  "10",
                           "--valid-metrics", "bleu", "loss"})
    words.emplace_back(word);
  words.insert(words.end(), more.begin(), more.end());
  const Ran ran = run_tril(words);
  EXPECT_EQ(ran.code, 0) << ran.err;
  return folder.at(name);
}

/// The records of a type.
std::vector<Json> records(const std::string& file, const std::string& type) {
  std::vector<Json> list;
  std::istringstream lines(file_text(file));
  for (std::string line; std::getline(lines, line);)
    if (const Json j = Json::parse(line); j["type"] == type) list.push_back(j);
  return list;
}

/// The first number after `before`, which may have thousands separators.
double number_behind(const std::string& text, const std::string& before) {
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return std::nan("");
  std::string digits;
  for (std::size_t i = at + before.size();
       i < text.size() && std::string("0123456789.,-e+").find(text[i]) != std::string::npos; ++i)
    if (text[i] != ',') digits += text[i];
  return digits.empty() ? std::nan("") : std::stod(digits);
}

/// "training from 8.5 to 2.6 at 60 updates": checks a chart's summary of the curve `label`, and its picture.
void expect_curve(const std::string& dom, const std::string& chart, const std::string& label,
                  const std::vector<Json>& of, const char* key) {
  SCOPED_TRACE(chart + ", " + label);
  const std::string figure = between(dom, "id=\"chart-" + chart + "\"", "</figure>"),
                    summary = between(figure, "role=\"img\"", ">");
  const std::string curve = between(summary, label + " from ", " updates");
  const auto expect = [&](const std::string& before, double value) {  // four digits are shown
    EXPECT_NEAR(number_behind(curve, before), value, 6e-4 * std::abs(value) + (value >= 1000 ? 0.5 : 0)) << summary;
  };
  expect(label + " from ", of.front()[key].get<double>());
  expect(" to ", of.back()[key].get<double>());
  expect(" at ", of.back()["update"].get<double>());
  const std::regex point("[ML]-?[0-9.]+ -?[0-9.]+");
  bool drawn = false;  // one point per record
  for (std::size_t at = 0; (at = figure.find("class=\"curve\"", at)) != std::string::npos; ++at) {
    const std::size_t begin = figure.rfind("<path", at);
    const std::string path = figure.substr(begin, figure.find("></path>", at) - begin);
    drawn |= std::distance(std::sregex_iterator(path.begin(), path.end(), point), {}) ==
             static_cast<std::ptrdiff_t>(of.size());
  }
  EXPECT_TRUE(drawn) << figure;
}

TEST_F(ReportPage, ShowsWhatARunWrote) {
  write_pairs(folder, "train", 300, 1), write_pairs(folder, "valid", 12, 2);
  const std::string run = train_run(folder, "run");
  const std::vector<Json> train = records(run + "/train.jsonl", "train"),
                          valid = records(run + "/train.jsonl", "valid"),
                          samples = records(run + "/samples.jsonl", "samples");
  ASSERT_EQ(train.size(), 12u);
  ASSERT_EQ(valid.size(), 3u);
  ASSERT_EQ(samples.size(), 3u);

  const std::string dom = document_of(run + "/report.html#smooth=0&map=0,0,-1,1,0");  // the page that the run left
  expect_curve(dom, "loss", "training", train, "loss");
  expect_curve(dom, "loss", "validation", valid, "cross_entropy");
  expect_curve(dom, "bleu", "BLEU", valid, "bleu");
  expect_curve(dom, "learning_rate", "rate", train, "learning_rate");
  expect_curve(dom, "gradient_norm", "norm", train, "gradient_norm");
  expect_curve(dom, "tokens_per_second", "tokens/s", train, "tokens_per_second");

  // Every distinct translation of every validation, the newest first.
  const std::string shown = words_of(between(dom, "id=\"samples\"", "</section>"));
  std::size_t sentences = 0;
  for (const Json& sample : samples.back()["samples"]) {
    ++sentences;
    EXPECT_TRUE(contains(shown, "source" + sample["source"].get<std::string>())) << sample;
    EXPECT_TRUE(contains(shown, "reference" + sample["reference"].get<std::string>())) << sample;
  }
  EXPECT_EQ(sentences, 6u);
  for (const Json& at : samples)
    for (const Json& sample : at["samples"])
      EXPECT_TRUE(contains(shown, sample["hypothesis"].get<std::string>())) << sample["hypothesis"] << " in " << shown;

  // The cells of the second layer's first head, of the first sentence at the last validation.
  const Json& attention = samples.back()["samples"][0]["attention"];
  const std::size_t queries = attention["queries"].size(), keys = attention["keys"].size();
  const std::string codes = bytes_of_base64(attention["layers"][1]["codes"].get<std::string>());
  ASSERT_EQ(codes.size(), 2 * queries * keys) << "two heads";
  EXPECT_TRUE(contains(dom, "id=\"map-title\">layer 2, head 1<"));
  const std::string map = between(dom, "id=\"map\"", "</svg>");
  const auto markup = [](std::string text) {  // of tokens: "</s>" has characters that a document escapes
    for (const auto& [sign, entity] : {std::pair{"<", "&lt;"}, {">", "&gt;"}})
      for (std::size_t at = 0; (at = text.find(sign, at)) != std::string::npos;) text.replace(at, 1, entity);
    return text;
  };
  const std::regex cell("class=\"cell\"[^>]*><title>([^<]*) ← ([^<]*): ([0-9.]+)</title>");
  std::size_t i = 0;
  for (auto found = std::sregex_iterator(map.begin(), map.end(), cell); found != std::sregex_iterator(); ++found, ++i) {
    const double code = static_cast<unsigned char>(codes.at(i)) / 255.0;
    EXPECT_NEAR(std::stod((*found)[3]), code * code, 0.00051) << i;
    EXPECT_EQ((*found)[2], markup(attention["keys"][i % keys].get<std::string>()));
    EXPECT_EQ((*found)[1], markup(attention["queries"][i / keys].get<std::string>()));
  }
  EXPECT_EQ(i, queries * keys);
}

TEST_F(ReportPage, ComparesTwoRuns) {
  write_pairs(folder, "train", 300, 1), write_pairs(folder, "valid", 12, 2);
  const std::string first = train_run(folder, "first"), second = train_run(folder, "second", {"--learn-rate", "0.004"});
  const std::string dom = document_of(page_of(folder, {first, second}) + "#smooth=0");
  for (const auto& [name, run] : {std::pair{"first", first}, {"second", second}}) {
    const std::vector<Json> train = records(run + "/train.jsonl", "train"),
                            valid = records(run + "/train.jsonl", "valid");
    expect_curve(dom, "bleu", name, valid, "bleu");
    expect_curve(dom, "learning_rate", name, train, "learning_rate");
    expect_curve(dom, "loss", std::string(name) + ", validation", valid, "cross_entropy");
  }
  const std::string options = words_of(between(dom, "id=\"differing-options\"", "</table>"));
  EXPECT_TRUE(contains(options, "--learn-rate") && contains(options, "0.004")) << options;
  EXPECT_FALSE(contains(options, "--warmup")) << options;
}

TEST_F(ReportPage, ErrorsOnTheConsoleWouldBeSeen) {
  const std::string page = folder.write("page.html", "<p id=here>text</p><script>nowhere.to.be.found();</script>");
  browser->open("file://" + page);
  EXPECT_TRUE(contains(browser->console(), "nowhere is not defined")) << browser->console();
  EXPECT_TRUE(contains(browser->document(), "id=\"here\""));
  browser->open("file://" + folder.write("fine.html", "<script>console.log('said')</script>"));
  EXPECT_TRUE(contains(browser->console(), "said")) << browser->console();
  browser->open("file://" + folder.write("silent.html", "<p>nothing to say</p>"));
  EXPECT_EQ(browser->console(), "");
}

TEST_F(ReportPage, ScreenshotsInBothColourSchemesAndInANarrowWindow) {
  const std::string page = page_of(folder, {write_run(folder, "first", {}), write_run(folder, "second", {})});
  const auto look = [&](const std::string& theme, std::uint32_t back, int width) {
    browser->open("file://" + page + "#at=20&theme=" + theme, width, 1600);
    EXPECT_EQ(browser->console(), "");
    const Picture p = read_png(browser->screenshot());
    EXPECT_EQ(p.width, static_cast<std::size_t>(width));
    EXPECT_EQ(p.height, 1600u);
    const auto colours = p.colours();
    EXPECT_GT(colours.size(), 50u) << "curves, texts, maps";
    ASSERT_TRUE(colours.contains(back));
    EXPECT_GT(colours.at(back), p.pixels.size() / 2) << "the page's ground";
    EXPECT_LT(colours.at(back), p.pixels.size() * 99 / 100) << "and something on it";
    const std::uint32_t curve = theme == "dark" ? 0x6cb2ff : 0x0b62c4;
    EXPECT_TRUE(colours.contains(curve)) << "the first run's colour";
  };
  look("light", 0xffffff, 1280);
  look("dark", 0x12161b, 1280);
  look("light", 0xffffff, 520);
}

// Text that is clipped, overlaps other text or is too small is detected by its boxes.
TEST_F(ReportPage, NothingOverlapsOrIsCutOff) {
  const std::string measure = R"JS((() => {
    const wrong = [];
    if (document.documentElement.scrollWidth > innerWidth) wrong.push('the page is wider than its window: ' + document.documentElement.scrollWidth);
    for (const svg of document.querySelectorAll('.plot svg')) {
      const all = svg.getBoundingClientRect();
      if (!all.width) continue;
      const texts = [...svg.querySelectorAll('.tick-x, .tick-y, .axis-x, .axis-y')].map(t => [t.textContent, t.getBoundingClientRect()]);
      for (const [text, box] of texts)
        if (box.left < all.left - 1 || box.right > all.right + 1 || box.bottom > all.bottom + 1) wrong.push('cut off: ' + text);
      texts.forEach(([text, a], i) => texts.slice(i + 1).forEach(([other, b]) => {
        if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) wrong.push(`${text} over ${other}`);
      }));
    }
    for (const e of document.querySelectorAll('body *'))
      if (e.checkVisibility() && [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) && parseFloat(getComputedStyle(e).fontSize) < 11)
        wrong.push('too small: ' + e.textContent.slice(0, 40) + ' ' + getComputedStyle(e).fontSize);
    return [...new Set(wrong)].join('; ');
  })())JS";
  const std::string page = page_of(folder, {write_run(folder, "first", {}), write_run(folder, "second", {})}),
                    alone = page_of(folder, {folder.at("first")}, "alone.html");
  for (const std::string& file : {page, alone})
    for (const int width : {1280, 520}) {
      browser->open("file://" + file + "#at=20", width);
      EXPECT_EQ(browser->evaluate(measure), "") << file << ", " << width << " pixels wide";
    }
}

TEST(ReportCommand, MistakesAreTold) {
  const ScratchFolder folder;
  const Ran none = run_tril({"report", folder.at("none")});
  EXPECT_EQ(none.code, 1);
  EXPECT_TRUE(contains(none.err, "none") && contains(none.err, "train.jsonl")) << none.err;
  EXPECT_EQ(run_tril({"report"}).code, 2);
  const Ran nowhere = run_tril({"report", write_run(folder, "run", {}), "-o", folder.at("no/such/page.html")});
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_TRUE(contains(nowhere.err, "no/such")) << nowhere.err;
}

}  // namespace
}  // namespace tril::report_test

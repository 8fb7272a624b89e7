// `tril explain`: one file that works from disk, with the numbers of `tril trace`.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "support/page_test.h"

namespace tril {
namespace {

class ExplainPage : public PageTest {
 protected:
  /// A language model of characters after a few updates.
  std::string model() {
    std::string lines;
    for (int i = 0; i < 60; ++i) lines += "abcd dcba abab cdcd\n";
    const std::string text = folder.write("text", lines);
    const Ran ran = run_tril({"train",
                              "--model",
                              folder.at("model"),
                              "--train-sets",
                              text,
                              "--arch",
                              "gpt2",
                              "--vocab-type",
                              "char",
                              "--max-length",
                              "32",
                              "--max-tokens",
                              "128",
                              "--d-model",
                              "16",
                              "--num-heads",
                              "2",
                              "--ffn-dim",
                              "24",
                              "--dec-depth",
                              "2",
                              "--threads",
                              "1",
                              "--after",
                              "20u"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    return folder.at("model");
  }
  nlohmann::json eval(const std::string& script) { return browser->evaluate(script); }
  /// What a promise comes to.
  nlohmann::json awaited(const std::string& promise) {
    eval("(() => { window.came = undefined; (" + promise +
         ").then(r => { window.came = {value: r}; }); return 1; })()");
    for (int i = 0; i < 600 && eval("Boolean(window.came)") != true; ++i) usleep(20'000);
    return eval("window.came.value");
  }
};

TEST_F(ExplainPage, WorksFromDisk) {
  const std::string directory = model(), page = folder.at("page.html");
  const Ran ran = run_tril(
      {"explain", "--model", directory, "--text", "abcd dc", "--edit", "decoder.0.self.heads[1]=zero", "-o", page});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::string text = file_text(page);
  for (const char* elsewhere : {"http://", "https://", "src=\"", "@import", "%DATA%", "%NONCE%"})
    EXPECT_FALSE(contains(text, elsewhere)) << elsewhere;
  browser->open("file://" + page + "?lang=zh#point=decoder.1.self.weights");
  EXPECT_EQ(eval("document.body.dataset.ready"), "true") << browser->console();
  EXPECT_EQ(eval("document.querySelector('h1').textContent"), eval("STRINGS.zh.title"));
  EXPECT_EQ(eval("view.point"), "decoder.1.self.weights");
  EXPECT_EQ(eval("document.getElementById('question').checkVisibility()"), false) << "there is no one to ask";

  const nlohmann::json traced = nlohmann::json::parse(
      run_tril({"trace", "--model", directory, "--text", "abcd dc", "--only", "decoder.1.self.weights", "--json", "-"})
          .out);
  EXPECT_EQ(eval("now.about.tokens"), traced["tokens"]);
  const auto T = traced["tokens"]["ids"].size();
  EXPECT_EQ(eval("document.querySelectorAll('#value td[data-masked]').length"), T * (T - 1) / 2);
  const auto& expected = traced["values"]["decoder.1.self.weights"]["data"];
  const auto shown = awaited("tensor('decoder.1.self.weights').then(w => [...w.data])");
  ASSERT_EQ(shown.size(), expected.size());
  for (std::size_t i = 0; i < shown.size(); ++i)
    EXPECT_NEAR(shown[i].get<double>(), expected[i].get<double>(), 1e-7) << i;
  EXPECT_LT(awaited("recomputed('decoder.0.self')")["difference"].get<double>(), 1e-5);
  EXPECT_EQ(awaited("tensor('logits', {token: 0}).then(l => largest(l.data, 1)[0])"), traced["next"][0]["best_id"]);

  // The changes were computed with the file: no mask, uniform, no positions, no feed-forward, each layer, and the given one.
  const auto buttons = eval("document.querySelectorAll('#switches button').length");
  EXPECT_EQ(buttons, 4 + 2 + 1);
  eval("document.querySelector('#switches button:last-of-type').click()");
  const nlohmann::json changed =
      nlohmann::json::parse(run_tril({"trace", "--model", directory, "--text", "abcd dc", "--edit",
                                      "decoder.0.self.heads[1]=zero", "--json", "-"})
                                .out);
  EXPECT_EQ(eval("FILE.changes[FILE.changes.length - 1].change.loss_after"), changed["change"]["loss_after"]);
  EXPECT_EQ(eval("document.querySelectorAll('#changes tbody tr').length"), T);

  // The same pass with weights in other precisions.
  const std::string precise = folder.at("precise.html");
  ASSERT_EQ(run_tril({"explain", "--model", directory, "--text", "abcd dc", "--compare-precision", "int8", "int4", "-o",
                      precise})
                .code,
            0);
  browser->open("file://" + precise);
  EXPECT_EQ(eval("document.querySelectorAll('#switches button').length"), 4 + 2 + 2);
  double before = 0;
  for (const std::string name : {"int8", "int4"}) {
    eval("[...document.querySelectorAll('#switches button')].find(b => b.textContent.endsWith(' " + name +
         "')).click()");
    const nlohmann::json other = nlohmann::json::parse(
        run_tril({"trace", "--model", directory, "--precision", name, "--text", "abcd dc", "--json", "-"}).out);
    EXPECT_EQ(eval("FILE.changes.find(c => c.of === '" + name + "').change.loss_after"), other["loss"]);
    const double moved = eval("Math.max(...FILE.changes.find(c => c.of === '" + name +
                              "').change.tokens.map(t => t.largest_logit_difference))");
    EXPECT_GT(moved, before) << "fewer bits move logits further";
    before = moved;
    EXPECT_EQ(eval("document.querySelectorAll('#changes tbody tr').length"), T);
  }

  // So was the search, whose tree it draws.
  const std::string tree = folder.at("tree.html");
  const Ran searched = run_tril({"explain", "--model", directory, "--text", "abcd dc", "--beam-size", "3", "--n", "2",
                                 "--regex", "[ab]+", "--search-tokens", "5", "-o", tree});
  ASSERT_EQ(searched.code, 0) << searched.err;
  browser->open("file://" + tree);
  EXPECT_EQ(eval("document.body.dataset.ready"), "true") << browser->console();
  EXPECT_EQ(eval("document.querySelectorAll('#tree .node').length"), eval("FILE.search.nodes.length"));
  EXPECT_EQ(eval("document.querySelectorAll('#search-controls *').length"), 0) << "there is no one to ask";
  const nlohmann::json expected_texts =
      nlohmann::json::parse(run_tril({"generate", "--model", directory, "--prompt", "abcd dc", "--beam-size", "3",
                                      "--n", "2", "--regex", "[ab]+", "--max-new-tokens", "5", "--no-echo", "--json"})
                                .out);
  EXPECT_EQ(
      eval("FILE.search.results.map(r => r.text)").dump(),
      nlohmann::json({expected_texts["generations"][0]["text"], expected_texts["generations"][1]["text"]}).dump());
  EXPECT_GT(eval("document.querySelectorAll('#tree .node.fate-forbidden').length"), 0);
  EXPECT_EQ(browser->console(), "");
  ASSERT_EQ(run_tril({"explain", "--model", directory, "--text", "abcd dc", "--search-tokens", "0", "-o", tree}).code,
            0);
  browser->open("file://" + tree);
  EXPECT_EQ(eval("document.getElementById('search-view').checkVisibility()"), false);
  EXPECT_EQ(
      run_tril({"explain", "--model", directory, "--text", "abcd dc", "--n", "9", "--beam-size", "2", "-o", tree}).code,
      2);
}

// Each kind is computed in the page from the pass's numbers, and agrees with the other way to compute it.
TEST_F(ExplainPage, ShowsKindsOfAttention) {
  const std::string page = folder.at("page.html");
  ASSERT_EQ(run_tril({"explain", "--model", model(), "--text", "abcd dc", "-o", page}).code, 0);
  for (const std::string language : {"en", "zh"}) {
    browser->prefer_dark(language == "zh");
    browser->open("file://" + page + "?lang=" + language, 390, 800);
    ASSERT_EQ(eval("document.body.dataset.ready"), "true") << browser->console();
    for (const std::string kind : {"tiles", "linear", "groups", "alibi", "rotary", "sinusoids"}) {
      SCOPED_TRACE(language + " " + kind);
      eval("document.querySelector('[data-kind=" + kind + "]').click()");
      for (int i = 0; i < 600 && eval("document.getElementById('kind').dataset.drawn") != kind; ++i) usleep(20'000);
      const std::string check = eval("document.getElementById('kind-check').textContent");
      EXPECT_NE(check, "");
      EXPECT_EQ(check.find('?'), check.npos) << "a number that is none: " << check;
      EXPECT_TRUE(eval("document.documentElement.scrollWidth <= 390")) << eval("document.documentElement.scrollWidth");
    }
  }
  // The running softmax of any tile, over a row with a mask, is the head's own result.
  const nlohmann::json far = awaited(
      "attentionOf('decoder.1.self').then(async a => { const T = a.masked.shape[1], d = 8, heads = only(await "
      "tensor('decoder.1.self.heads'), 1, 0).data;"
      "return [1, 2, 3, 7].map(tile => Math.max(...numbersOf(T).map(i => apart(runningSoftmax(a.masked.data.slice(i * "
      "T, (+i + 1) * T),"
      "a.v.data, d, tile).result, heads.slice(i * d, (+i + 1) * d))))); })");
  ASSERT_EQ(far.size(), 4u);
  for (const auto& x : far) EXPECT_LT(x.get<double>(), 1e-5);  // the pass computes in float32
  EXPECT_EQ(
      awaited(
          "attentionOf('decoder.1.self').then(a => { const l = linearAttention(a.q.data, a.k.data, a.v.data, "
          "a.q.shape[0], 8, 8);"
          "return l.results.every((r, i) => apart(r, linearByPairs(a.q.data, a.k.data, a.v.data, i, 8, 8)) < 1e-12); "
          "})"),
      true);
  EXPECT_EQ(eval("slopesOf(8)"), nlohmann::json({0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625}));
  EXPECT_LT(eval("apart(shifted(sinusoid(7, 16), 5), sinusoid(12, 16))").get<double>(), 1e-12);
  EXPECT_LT(eval("(() => { const q = [1, 2, 3, 4], k = [4, -1, 2, 1], at = m => { const x = turned(q, m), y = "
                 "turned(k, m - 3);"
                 "return x.reduce((s, v, i) => s + v * y[i], 0); }; return Math.abs(at(3) - at(40)); })()")
                .get<double>(),
            1e-12);
  EXPECT_EQ(browser->console(), "");
}

// The model that learns needs no server either.
TEST_F(ExplainPage, LearnsFromDisk) {
  const std::string page = folder.at("page.html");
  ASSERT_EQ(run_tril({"explain", "--model", model(), "--text", "abcd dc", "-o", page}).code, 0);
  browser->open("file://" + page + "#learn=seed%3D5");
  ASSERT_EQ(eval("document.body.dataset.ready"), "true") << browser->console();
  eval("document.getElementById('learning-start').click()");
  for (int i = 0; i < 600 && eval("learning.run.updates >= 3") != true; ++i) usleep(20'000);
  eval("document.getElementById('learning-start').click()");
  EXPECT_EQ(eval("[learning.settings.seed, learning.isRunning]"), nlohmann::json({5, false}));
  EXPECT_GE(eval("learning.run.updates"), 3);
  EXPECT_EQ(eval("document.querySelectorAll('#learning-table tbody tr').length"), 2);
  EXPECT_EQ(browser->console(), "");
}

TEST(ExplainTheProgram, RefusesWhatDoesNotFit) {
  const ScratchFolder folder;
  const std::string missing = folder.at("none");
  EXPECT_EQ(run_tril({"explain", "--model", missing, "--text", "a"}).code, 1);
  EXPECT_EQ(run_tril({"explain", "--text", "a"}).code, 2);
}

// What would make the file too large is refused by the name of a value; fewer points fit, and the page says which it lacks.
TEST_F(ExplainPage, IsBounded) {
  const std::string directory = model(), page = folder.at("small.html");
  const Ran refused =
      run_tril({"explain", "--model", directory, "--text", "abcd dc", "--max-bytes", "1KiB", "-o", page});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "decoder.", "more than 1024 bytes")) << refused.err;
  const Ran ran =
      run_tril({"explain", "--model", directory, "--text", "abcd dc", "--only", "decoder.0.self", "-o", page});
  ASSERT_EQ(ran.code, 0) << ran.err;
  browser->open("file://" + page + "#point=decoder.1.output");
  EXPECT_EQ(eval("document.getElementById('readout').textContent"), eval("t('too_large')"));
  EXPECT_EQ(browser->console(), "");
}

}  // namespace
}  // namespace tril

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

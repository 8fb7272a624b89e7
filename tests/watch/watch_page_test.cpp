// The page of a run that trains, in a browser.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <thread>

#include "report/page.h"
#include "support/page_test.h"
#include "support/run_files.h"
#include "watch/run_watch.h"

namespace tril::watch {
namespace {

struct WatchPage : PageTest {
  std::unique_ptr<RunWatch> watch;
  void look(const std::string& more = "", int width = 1280) {
    if (!watch) watch = std::make_unique<RunWatch>(test::write_run(folder, "run"), 0);
    browser->open("about:blank");
    browser->open(watch->url() + more, width, 900);
    ASSERT_TRUE(comes("document.body.dataset.fetched && document.querySelector('#chart-loss .curve')"))
        << browser->console();
  }
  nlohmann::json eval(const std::string& script) { return browser->evaluate(script); }
  bool comes(const std::string& condition) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(90);
    while (std::chrono::steady_clock::now() < until) {
      if (eval("Boolean(" + condition + ")") == true) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }
  static train::TrainingReport report_of(std::int64_t update, double loss) {
    train::TrainingReport r;
    r.position.updates = update;
    r.position.tokens = update * 100;
    r.loss = loss;
    r.rate = 0.25;
    r.tokens_per_second = 900;
    r.group_norms = {{"encoder", 0.5}, {"decoder", 1.5}};
    return r;
  }
};

TEST_F(WatchPage, GrowsWithTheRun) {
  look();
  EXPECT_EQ(eval("runs[0].train.update"), nlohmann::json({10, 20, 30}));
  EXPECT_EQ(eval("document.getElementById('live-state').textContent"), "Training.");
  EXPECT_EQ(eval("document.getElementById('chart-other-gradient_norms')"), nullptr);

  watch->updated(report_of(31, 2.5));  // the first also says that the files have changed
  ASSERT_TRUE(comes("runs[0].train.update.at(-1) === 31")) << browser->console();
  watch->reported(report_of(40, 2.25));
  ASSERT_TRUE(comes("runs[0].train.update.at(-1) === 40")) << browser->console();
  EXPECT_EQ(eval("runs[0].train.update"), nlohmann::json({10, 20, 30, 40}))
      << "the line is the mean of the update's figures";
  EXPECT_EQ(eval("runs[0].train['gradient_norms.encoder']"), nlohmann::json({nullptr, nullptr, nullptr, 0.5}));
  ASSERT_TRUE(comes("document.querySelector('#chart-other-gradient_norms .curve')"))
      << "a chart of a column that is new";
  EXPECT_TRUE(
      contains(eval("document.getElementById('live-now').textContent").get<std::string>(), "update 31, loss 2.5"));

  // A validation: samples and attention.
  const std::string sample =
      R"({"type":"samples","update":40,"epoch":3,"seconds":240,"target_tokens":4000,"kind":"translation","samples":)"
      R"([{"line":3,"source":"ein Hund","reference":"a dog","hypothesis":"a <b>new</b> dog","attention":{"kind":"cross",)"
      R"("queries":["▁dog","</s>"],"keys":["▁Hund","</s>"],"layers":[{"name":"model.decoder.layers.0.encoder_attn","heads":2,)"
      R"("codes":"/wAA/wD//wA="}]}}]})";
  folder.write("run/samples.jsonl", file_text(folder.at("run/samples.jsonl")) + sample + "\n");
  watch->changed();
  ASSERT_TRUE(comes("document.querySelector('#samples .latest').textContent === 'a <b>new</b> dog'"))
      << browser->console();
  EXPECT_EQ(eval("document.getElementById('map-update').textContent"), "update 40");

  watch.reset();
  ASSERT_TRUE(comes("document.getElementById('live-state').textContent === 'The program has ended.'"));
  EXPECT_EQ(browser->console(), "");
}

TEST_F(WatchPage, IsAlsoInChineseNarrowAndDark) {
  browser->prefer_dark(true);
  look("?lang=zh", 390);
  EXPECT_EQ(eval("document.documentElement.lang"), "zh-CN");
  EXPECT_EQ(eval("document.getElementById('live-state').textContent"), "正在训练。");
  EXPECT_EQ(eval("[...document.querySelectorAll('h2')].map(h => h.textContent)"),
            nlohmann::json({"曲线", "译文样例", "注意力", "表格"}));
  EXPECT_EQ(eval("document.querySelector('#chart-loss h3').textContent"), "损失");
  EXPECT_EQ(eval("document.querySelector('#languages [aria-current]').textContent"), "中文");
  EXPECT_TRUE(eval("document.documentElement.scrollWidth <= 390")) << eval("document.documentElement.scrollWidth");
  const std::string back = eval("getComputedStyle(document.body).backgroundColor");
  EXPECT_TRUE(contains(back, "rgb(18, 22, 27)")) << back;
  EXPECT_EQ(browser->console(), "");
}

TEST_F(WatchPage, ManyUpdatesStayWithinItsMemory) {
  look();
  eval(
      "(() => { for (let i = 31; i < 20000; ++i) take('now', {type: 'train', update: i, seconds: i, target_tokens: i, "
      "loss: 1}); return 1; })()");
  EXPECT_LE(eval("runs[0].train.update.length").get<int>(), 3 + 401);
  EXPECT_EQ(eval("runs[0].train.update.at(-1)"), 19999);
  eval(
      "(() => { for (let i = 1; i < 20000; ++i) take('train', {type: 'train', update: 20000 + i, seconds: i, "
      "target_tokens: i, loss: 1}); return 1; })()");
  EXPECT_LE(eval("runs[0].train.update.length").get<int>(), 3001);
  EXPECT_EQ(eval("runs[0].train.update.at(-1)"), 39999);
  EXPECT_EQ(eval("runs[0].train.update[0] < 40 && runs[0].train.loss.length === runs[0].train.update.length"), true);
  // What the browser has fetched for the first view: the page and the run.
  EXPECT_LT(eval("performance.getEntriesByType('navigation')[0].transferSize + "
                 "performance.getEntriesByType('resource').reduce((n, r) => n + r.transferSize, 0)")
                .get<double>(),
            300e3);
}

// Every text of the scripts has its Chinese, and the table holds no other.
TEST(WatchWords, TheTableHasEveryWordOfTheScripts) {
  std::set<std::string> asked{"Overview", "Curves", "Samples", "Tables", "Gradient norms", "Gradient noise scale"};
  const std::regex call(R"(\bt\('((?:[^'\\]|\\.)*)')"), entry(R"re('((?:[^'\\]|\\.)*)': ')re");
  for (const char* part :
       {"text.js", "chart.js", "tables.js", "samples.js", "maps.js", "attention.js", "page.js", "live.js"}) {
    const std::string script(train::page_part(part));
    for (std::sregex_iterator i(script.begin(), script.end(), call), end; i != end; ++i) asked.insert((*i)[1]);
  }
  std::set<std::string> known;
  const std::string table(train::page_part("chinese.js"));
  for (std::sregex_iterator i(table.begin(), table.end(), entry), end; i != end; ++i) known.insert((*i)[1]);
  EXPECT_EQ(known, asked);
}

}  // namespace
}  // namespace tril::watch

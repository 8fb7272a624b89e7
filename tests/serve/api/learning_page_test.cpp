// The small model that learns on the page /inside, in a browser: its gradients, its mask, what it learns, and its controls.
#include "support/contains.h"
#include "support/served_page.h"

namespace tril::serve {
namespace {

struct InsidePageLearning : Page {
  void look(const std::string& more = "", int width = 1280) {
    browser->open("about:blank");
    browser->open(fmt::format("http://127.0.0.1:{}/inside{}", server->port(), more), width, 900);
    ASSERT_TRUE(comes("document.body.dataset.ready")) << browser->console();
  }
  double number(const std::string& script) { return eval(script).get<double>(); }
  /// Updates of a run in the page, without its buttons.
  void update(const std::string& run, int updates) {
    for (int done = 0; done < updates; done += 25)
      eval(fmt::format("(() => {{ for (let i = {}; i < {}; ++i) finishUpdate({}); return 1; }})()", done,
                       std::min(updates, done + 25), run));
  }
};

// In double, so that a central difference is exact to about ten digits; gains and biases are moved away from 1 and 0, where mistakes
// could hide.
TEST_F(InsidePageLearning, GradientsAreThoseOfFiniteDifferences) {
  look();
  for (const std::string causal : {"true", "false"}) {
    const auto found = eval(
        "(() => { const random = randomFrom(3), task = reversalTask(), V = task.characters.length, model = newModel({"
        "vocabulary: V, positions: task.positions, width: 8, heads: 2, inner: 12, layers: 2}, " +
        causal +
        ", 5); model.values.forEach((x, i) => { model.values[i] = x + 0.2 * normal(random); });"
        "const batch = [1, 2, 3].map(() => task.draw(random, false));"
        "const pass = () => forward(model, batch.map(e => e.ids)), loss = p => crossEntropy(p.logits, batch.flatMap(e "
        "=> targetsOf(e.ids, e.from)), V, 0.1);"
        "const first = pass(); backward(model, first, loss(first).dlogits);"
        "return Object.entries(model.weights).map(([name, { value, gradient }]) => { let worst = 0, most = 0;"
        "for (let n = 0; n < 12; ++n) { const i = below(random, value.length), x = value[i], step = 1e-5;"
        "value[i] = x + step; const above = loss(pass()).loss; value[i] = x - step; const under = loss(pass()).loss; "
        "value[i] = x; worst = Math.max(worst, Math.abs((above - under) / (2 * step) - gradient[i])); }"
        "for (const g of gradient) most = Math.max(most, Math.abs(g)); return { name, worst, most }; }); })()");
    ASSERT_EQ(found.size(), 2u + 2 * 12 + 2);
    for (const auto& weight : found) {
      SCOPED_TRACE(causal + " " + weight["name"].get<std::string>());
      EXPECT_LT(weight["worst"].get<double>(), 1e-8);
      EXPECT_GT(weight["most"].get<double>(), 1e-4) << "no gradient at all";
    }
  }
  EXPECT_EQ(browser->console(), "");
}

// What comes later changes nothing before it with the mask, and everything without.
TEST_F(InsidePageLearning, TheMaskHidesLaterTokens) {
  look();
  const auto moved = eval(
      "[true, false].map(causal => { const model = newModel({vocabulary: 9, positions: 13, width: 16, heads: 2, inner: "
      "32, layers: 2}, causal, 1);"
      "const a = forward(model, [[0, 1, 2, 3, 8, 3, 2, 1, 0]]).logits, b = forward(model, [[0, 1, 2, 3, 8, 3, 5, 1, "
      "0]]).logits;"
      "return Array.from({length: 9}, (_, t) => Math.max(...a.slice(9 * t, 9 * t + 9).map((x, v) => Math.abs(x - b[9 * "
      "t + v])))); })");
  for (std::size_t t = 0; t < 9; ++t) {
    if (t < 6) {
      EXPECT_EQ(moved[0][t], 0) << t;
    } else {
      EXPECT_GT(moved[0][t].get<double>(), 1e-3) << t;
    }
    EXPECT_GT(moved[1][t].get<double>(), 1e-6) << t;
  }
}

// Both get a low loss in training; only the one with the mask has learned to reverse letters.
TEST_F(InsidePageLearning, OnlyTheMaskedModelCanGenerate) {
  look();
  eval("(() => { window.run = newLearningRun({...learning.settings}); return 1; })()");
  update("run", 400);
  const auto losses = eval("[0, 1].map(i => recentLoss(run, i))");
  EXPECT_LT(losses[0].get<double>(), 0.1);
  EXPECT_LT(losses[1].get<double>(), 0.02);
  const auto tested = eval("testRun(run).results.map(r => [r.loss, r.right])");
  EXPECT_LT(tested[0][0].get<double>(), 0.2);
  EXPECT_GE(tested[0][1].get<double>(), 0.8);
  EXPECT_GT(tested[1][0].get<double>(), 1);
  EXPECT_LE(tested[1][1].get<double>(), 0.3);
  // It reads the token that it should predict, which the other cannot see.
  EXPECT_GT(number("mostAhead(run.models[1], run.examples[0]).share"), 0.5);
  EXPECT_EQ(number("mostAhead(run.models[0], run.examples[0]).share"), 0);
  eval(
      "(() => { learning.run = run; drawLearningMaps(); $('learning-shown').hidden = false; "
      "showLearning(learningFacts()); $('learning-view').scrollIntoView(); return 1; })()");
  EXPECT_TRUE(contains(eval("document.getElementById('learning-samples').textContent").get<std::string>(), "✓", "✗"));
  keep_picture("inside-learned");
  eval("(() => { $('learning-samples').scrollIntoView(); return 1; })()");
  keep_picture("inside-learned-maps");
  // The tested questions are none that training draws.
  EXPECT_TRUE(eval("(() => { const asked = new Set(run.examples.map(e => e.ids.join())), random = randomFrom(9);"
                   "return Array.from({length: 2000}, () => run.task.draw(random, false)).every(e => "
                   "!asked.has(e.ids.join())); })()")
                  .get<bool>());
  EXPECT_EQ(browser->console(), "");
}

// The numbers follow from the seed, not from how fast the page goes or where it pauses.
TEST_F(InsidePageLearning, SameSeedSameNumbers) {
  look();
  click("#learning-start");
  ASSERT_TRUE(comes("learning.run.updates >= 26 && document.querySelectorAll('#learning-curves .curve').length >= 2"));
  click("#learning-start");
  EXPECT_EQ(eval("learning.isRunning"), false);
  click("#learning-step");
  const int updates = eval("learning.run.updates");
  EXPECT_EQ(eval("learning.run.losses.length"), updates);
  EXPECT_EQ(eval("learning.run.last.update"), updates);
  eval("(() => { window.run = newLearningRun({...learning.settings}); return 1; })()");
  update("run", updates);
  EXPECT_EQ(eval("run.losses"), eval("learning.run.losses"));
  EXPECT_EQ(eval("run.tests.map(t => t.results.map(r => [r.loss, r.written]))"),
            eval("learning.run.tests.map(t => t.results.map(r => [r.loss, r.written]))"));
  eval("(() => { window.run = newLearningRun({...learning.settings, seed: 2}); return 1; })()");
  update("run", 1);
  EXPECT_NE(eval("run.losses[0]"), eval("learning.run.losses[0]"));
  // Both models begin alike, and the first batch is the same.
  EXPECT_EQ(eval("(() => { const r = newLearningRun({...learning.settings}); return r.models[0].values.every((x, i) => "
                 "x === r.models[1].values[i]); })()"),
            true);
  EXPECT_EQ(browser->console(), "");
}

// Each task can be drawn, and each switch does what it says.
TEST_F(InsidePageLearning, SwitchesChangeTheTraining) {
  look();
  const auto texts = eval(
      "['reverse', 'dates', 'text'].map(task => { const run = newLearningRun({...learning.settings, task}), random = "
      "randomFrom(4); return Array.from({length: 50}, () => textOfIds(run, run.task.draw(random, false).ids)); })");
  for (const std::string text : texts[0]) {
    const auto at = text.find('>');
    ASSERT_NE(at, text.npos);
    EXPECT_EQ(std::string(text.rbegin(), text.rbegin() + static_cast<std::ptrdiff_t>(at)), text.substr(0, at)) << text;
  }
  for (const std::string text : texts[1])
    EXPECT_TRUE(eval("(() => { const [a, b] = " + nlohmann::json(text).dump() +
                     ".split('>'); return Date.parse(a + ' UTC') === Date.parse(b); })()"))
        << text;
  for (const std::string text : texts[2]) EXPECT_TRUE(contains(eval("t('l_own_text')").get<std::string>(), text));
  EXPECT_EQ(eval("[1, 25, 50, 80].map(t => rateAt(t, {rate: 1, warmup: 50}))"), nlohmann::json({0.02, 0.5, 1, 1}));
  EXPECT_EQ(eval("rateAt(1, {rate: 1, warmup: 0})"), 1);
  // Label smoothing: the loss of the formula, and a gradient of 0 where p is the smoothed target.
  EXPECT_NEAR(number("crossEntropy(new Float64Array(4), [2], 4, 0.1).loss"), std::log(4.0), 1e-12);
  EXPECT_LT(number("Math.max(...crossEntropy(Float64Array.from([0.025, 0.025, 0.925, 0.025], Math.log), [2], 4, "
                   "0.1).dlogits.map(Math.abs))"),
            1e-12);
  // A changed setting begins anew; the run before stays to be compared with.
  click("#learning-start");
  ASSERT_TRUE(comes("learning.run.tests.length >= 1"));
  click("#learning-warmup");
  EXPECT_EQ(eval("learning.run.options.warmup"), 0);
  EXPECT_EQ(eval("learning.isRunning"), true) << "it goes on with the new setting";
  ASSERT_TRUE(comes("document.querySelector('#learning-curves .before')"));
  EXPECT_TRUE(
      contains(eval("document.getElementById('learning-legend').textContent").get<std::string>(), "warm-up", ": on"));
  click("#learning-reset");
  EXPECT_EQ(eval("[learning.run.updates, learning.isRunning]"), nlohmann::json({0, false}));
  // A text of one's own: too short is said, and nothing runs.
  type("learning-task", "text"), type("learning-text", "too short");
  EXPECT_TRUE(contains(eval("document.getElementById('learning-readout').textContent").get<std::string>(), "32", "9"));
  click("#learning-start");
  EXPECT_EQ(eval("[learning.run, learning.isRunning]"), nlohmann::json({nullptr, false}));
  type("learning-text", "</script>\n<b>one</b> two & three \"four\" five six");
  click("#learning-step");
  EXPECT_EQ(eval("learning.run.updates"), 1);
  EXPECT_EQ(eval("document.querySelectorAll('#learning-view b').length"), 0);
  EXPECT_EQ(browser->console(), "");
}

// In both languages, on a phone, in the dark, by keyboard; the page stays small and loads nothing.
TEST_F(InsidePageLearning, IsForEveryone) {
  for (const std::string language : {"en", "zh"})
    for (const int width : {1280, 390}) {
      SCOPED_TRACE(language + " " + std::to_string(width));
      browser->prefer_dark(language == "zh");
      look("?lang=" + language, width);
      EXPECT_LT(number("new TextEncoder().encode(document.documentElement.outerHTML).length"), 300'000);
      EXPECT_EQ(eval("performance.getEntriesByType('resource').map(e => new URL(e.name).pathname)"),
                nlohmann::json({"/v1/models"}));
      EXPECT_EQ(eval("document.querySelector('#learning-view h2').textContent"),
                eval("STRINGS." + language + ".learn"));
      // Tab leads from the last control to the buttons; Enter does an update.
      eval("(() => { document.getElementById('learning-seed').focus(); return 1; })()");
      browser->press("Tab");
      browser->press("Tab");
      EXPECT_EQ(eval("document.activeElement.id"), "learning-step");
      browser->press("Enter");
      ASSERT_TRUE(comes("learning.run && learning.run.updates === 1"));
      update("learning.run", 24);
      eval("(() => { showLearning(learningFacts()); return 1; })()");
      EXPECT_EQ(eval("document.querySelectorAll('#learning-samples tbody tr').length"), 5);
      const int T = eval("learning.run.examples[0].ids.length");
      EXPECT_EQ(eval("[...document.querySelectorAll('#learning-maps figure')].map(f => "
                     "f.querySelectorAll('td[data-masked]').length)"),
                nlohmann::json({T * (T - 1) / 2, 0}));
      EXPECT_LE(number("document.documentElement.scrollWidth"), width);
      eval("(() => { document.getElementById('learning-view').scrollIntoView(); return 1; })()");
      keep_picture(fmt::format("inside-learning-{}-{}", language, width));
      eval("(() => { document.getElementById('learning-maps').scrollIntoView(); return 1; })()");
      keep_picture(fmt::format("inside-learning-maps-{}-{}", language, width));
      eval("(() => { document.querySelector('#learning-maps .matrix').focus(); return 1; })()");
      browser->press("ArrowDown");
      EXPECT_TRUE(contains(eval("document.getElementById('learning-cell').textContent").get<std::string>(),
                           eval("STRINGS." + language + ".l_with").get<std::string>()));
      for (const auto& node : browser->accessibility_tree())
        if (node.value("focusable", false) && node["role"] != "RootWebArea" && node["role"] != "generic") {
          EXPECT_NE(node["name"], "") << node;
        }
    }
  // The address keeps the settings.
  type("learning-seed", "7"), type("learning-task", "dates"), click("#learning-smoothing");
  const std::string address = eval("location.href");
  browser->open("about:blank");
  browser->open(address);
  ASSERT_TRUE(comes("document.body.dataset.ready"));
  EXPECT_EQ(eval("[learning.settings.seed, learning.settings.task, learning.settings.smoothing]"),
            nlohmann::json({7, "dates", true}));
  EXPECT_EQ(eval("document.getElementById('learning-task').value"), "dates");
  look("#learn=" + std::string("rate%3D9%26seed%3Dx%26layers%3D1%26heads%3D7"));
  EXPECT_EQ(eval("[learning.settings.rate, learning.settings.seed, learning.settings.layers, learning.settings.heads]"),
            nlohmann::json({0.005, 1, 1, 2}))
      << "what cannot be is as at first";
  EXPECT_EQ(browser->console(), "");
}

}  // namespace
}  // namespace tril::serve

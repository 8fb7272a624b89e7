// The page as a browser shows it: typing, streaming, alternatives, attention, comparing, writing, the state of the server,
// what happens when it goes away and comes back, and what somebody sees who does not see.
#include <cstdlib>

#include "cli/page_test.h"
#include "serve/serving.h"

namespace tril::serve {
namespace {

struct Page : Serving {
  void SetUp() override {
    const BrowserProgram program = find_browser();
    if (program.path.empty()) {
      if (browser_is_expected()) FAIL() << program.why_not << " (TRIL_BROWSER=none leaves these tests out)";
      GTEST_SKIP() << "no browser to look at the page with: " << program.why_not;
    }
    browser = std::make_unique<Browser>(program.path);
    serve();
  }
  void open(int width = 1280, int height = 900) {
    browser->open("http://127.0.0.1:" + std::to_string(server->port()) + "/", width, height);
    EXPECT_TRUE(comes("document.getElementById('model').options.length === 1")) << browser->console();
  }
  nlohmann::json eval(const std::string& script) { return browser->evaluate(script); }
  /// Whether the condition comes to hold.
  bool comes(const std::string& condition, double seconds = 60) {
    const auto until = Clock::now() + std::chrono::milliseconds(static_cast<int>(seconds * 1000));
    while (Clock::now() < until) {
      if (eval("Boolean(" + condition + ")") == true) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }
  void type(const std::string& id, const std::string& text) {
    eval("(() => { const e = document.getElementById('" + id +
         "'); e.focus(); e.value = " + nlohmann::json(text).dump() +
         "; e.dispatchEvent(new Event('input')); e.dispatchEvent(new Event('change')); return 1; })()");
  }
  void click(const std::string& selector) {
    eval("(() => { document.querySelector(" + nlohmann::json(selector).dump() + ").click(); return 1; })()");
  }
  /// Kept where TRIL_SCREENSHOTS says.
  void keep_picture(const std::string& name) {
    const std::string png = browser->screenshot();
    EXPECT_TRUE(png.starts_with("\x89PNG"));
    if (const char* folder = std::getenv("TRIL_SCREENSHOTS"); folder && *folder)
      std::ofstream(std::string(folder) + "/" + name + ".png", std::ios::binary) << png;
  }

  std::unique_ptr<Browser> browser;
};

constexpr const char* done = "document.getElementById('target').getAttribute('aria-busy') === 'false'";

TEST_F(Page, TranslatesWhileOneTypes) {
  open();
  const std::string text = "a dog runs in the snow";
  type("source", text);
  ASSERT_TRUE(comes(std::string("document.querySelectorAll('#target .word').length > 0 && ") + done))
      << browser->console();
  EXPECT_EQ(eval("document.getElementById('target').textContent"), translated(text, 1)[0].text);
  EXPECT_TRUE(comes("[...document.querySelectorAll('#target .word')].every(w => /^\\d+ %$/.test(w.title))"))
      << "how sure it is";
  // What a word was made from is marked in the source.
  eval("document.querySelector('#target .word').focus()");
  EXPECT_TRUE(comes("[...document.querySelectorAll('#source-words span')].some(s => s.style.backgroundColor)"));
  keep_picture("translate");
  // Other ways to go on from a word, by keyboard.
  click("#target .word");
  ASSERT_TRUE(comes("document.querySelectorAll('#choices [role=option]').length > 1"));
  EXPECT_EQ(eval("document.activeElement.getAttribute('role')"), "option");
  const std::string other = eval("document.querySelector('#choices [role=option]').textContent");
  keep_picture("alternatives");
  click("#choices [role=option]");
  EXPECT_TRUE(comes("document.getElementById('target').textContent === " + nlohmann::json(other).dump()));
  // Terminology.
  type("terms", "dog = red ball");
  EXPECT_TRUE(comes("document.getElementById('target').textContent.includes('red ball')"));
  EXPECT_EQ(browser->console(), "");
}

TEST_F(Page, ShowsWhatHeadsLookAt) {
  open();
  type("source", "a dog runs");
  ASSERT_TRUE(comes(std::string("document.querySelectorAll('#target .word').length > 0 && ") + done));
  eval("document.getElementById('heads').open = true");
  click("#head-show");
  ASSERT_TRUE(comes("document.querySelectorAll('#head-map td[title]').length > 3"));
  const auto cells = eval("document.querySelectorAll('#head-map td[title]').length");
  eval(
      "(() => { const k = document.getElementById('head-kind'); k.value = 1; k.dispatchEvent(new Event('change')); "
      "return 1; })()");
  EXPECT_TRUE(comes("document.querySelectorAll('#head-map td[title]').length !== " + cells.dump() +
                    " || document.querySelector('#head-map caption').textContent.startsWith('encoder')"));
  keep_picture("heads");
  EXPECT_EQ(browser->console(), "");
}

TEST_F(Page, ComparesWritesAndWatches) {
  open();
  click("#tab-compare");
  type("compare-source", "the old dog");
  click("#compare");
  EXPECT_TRUE(
      comes("/ ms$/.test(document.getElementById('left').textContent) && / "
            "ms$/.test(document.getElementById('right').textContent)"));
  keep_picture("compare");
  click("#tab-write");
  type("prompt", "abc");
  click("#write");
  EXPECT_TRUE(
      comes("document.getElementById('talk').textContent.length > 6 && !document.getElementById('write').disabled"));
  EXPECT_TRUE(eval("document.getElementById('talk').textContent").get<std::string>().starts_with("abc"));
  keep_picture("write");
  click("#tab-status");
  EXPECT_TRUE(comes("document.querySelectorAll('.card').length === 2"));
  keep_picture("status");
  // By keyboard from view to view.
  eval(
      "(() => { const t = document.getElementById('tab-status'); t.focus(); t.dispatchEvent(new "
      "KeyboardEvent('keydown', {key: 'ArrowRight'})); return 1; })()");
  EXPECT_EQ(eval("document.activeElement.id"), "tab-translate");
  EXPECT_EQ(browser->console(), "");
}

TEST_F(Page, SaysThatTheServerIsGoneAndGoesOnWhenItIsBack) {
  open();
  const std::uint16_t port = server->port();
  server.reset();
  type("source", "a dog");
  EXPECT_TRUE(comes("!document.getElementById('trouble').hidden"));
  keep_picture("gone");
  server = std::make_unique<HttpServer>(
      HttpServerOptions{.port = port},
      [this](HttpRequest r, std::shared_ptr<Responder> out) { service->handle(std::move(r), std::move(out)); });
  type("source", "a dog runs");
  EXPECT_TRUE(
      comes("document.getElementById('trouble').hidden && document.querySelectorAll('#target .word').length > 0"));
}

// What a checker of accessibility would look at: names of controls, one heading of each section, labels, sizes.
TEST_F(Page, IsForEverybody) {
  for (const int width : {1280, 360}) {
    open(width, 800);
    EXPECT_EQ(eval("document.documentElement.lang"), "en");
    EXPECT_EQ(eval("[...document.querySelectorAll('input,select,textarea')].filter(e => !e.labels.length && "
                   "!e.getAttribute('aria-label')).map(e => e.id)"),
              nlohmann::json::array())
        << "controls without a name";
    EXPECT_EQ(eval("[...document.querySelectorAll('button')].filter(b => !b.textContent.trim()).length"), 0);
    EXPECT_EQ(eval("new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size === "
                   "document.querySelectorAll('[id]').length"),
              true);
    EXPECT_EQ(eval("[...document.querySelectorAll('[aria-controls],[aria-labelledby]')].every(e => "
                   "[e.getAttribute('aria-controls'), "
                   "e.getAttribute('aria-labelledby')].every(i => !i || document.getElementById(i)))"),
              true);
    EXPECT_EQ(eval("[...document.querySelectorAll('section')].filter(s => s.id.startsWith('view-')).every(s => "
                   "s.querySelectorAll('h2').length === 1)"),
              true);
    EXPECT_EQ(eval("document.querySelectorAll('[role=tab][tabindex=\"-1\"]').length"), 3) << "one stop for the tabs";
    EXPECT_EQ(eval("document.documentElement.scrollWidth <= window.innerWidth"), true)
        << "wider than the window of " << width;
    // Contrast of text, by WCAG's formula.
    EXPECT_EQ(eval(R"((() => {
      const rgb = c => c.match(/[\d.]+/g).slice(0, 3).map(Number);
      const light = c => rgb(c).map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
      const behind = e => { for (; e; e = e.parentElement) { const b = getComputedStyle(e).backgroundColor; if (!/, 0\)$/.test(b)) return b; } return 'rgb(255,255,255)'; };
      return [...document.querySelectorAll('h1,label,p,button,summary,textarea')].filter(e => e.offsetParent && e.textContent.trim() && !e.disabled).filter(e => {
        const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x);
        return (a + 0.05) / (b + 0.05) < 4.5;
      }).map(e => e.id || e.textContent.slice(0, 20));
    })())"),
              nlohmann::json::array())
        << "text that is hard to read";
    keep_picture("wide-" + std::to_string(width));
  }
}

}  // namespace
}  // namespace tril::serve

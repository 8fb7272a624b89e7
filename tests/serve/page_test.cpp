// The page as a browser shows it: typing, streaming, alternatives, attention, comparing, writing, the state of the server,
// and what happens when it goes away and comes back.
#include "serve/page.h"

namespace tril::serve {
namespace {

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
  type("seed", "5");  // a text that does not happen to end at once
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

}  // namespace
}  // namespace tril::serve

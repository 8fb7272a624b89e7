// The page in a browser: typing, streaming, alternatives, attention, comparing, writing, the server's status, and what
// happens when the server goes away and comes back.
#include "support/polyglot.h"
#include "support/served_page.h"

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
  // The source words of a target word are marked.
  eval("document.querySelector('#target .word').focus()");
  EXPECT_TRUE(comes("[...document.querySelectorAll('#source-words span')].some(s => s.style.backgroundColor)"));
  keep_picture("translate");
  // Alternative continuations from a word, by keyboard.
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

// The languages of a multilingual model can be chosen, by keyboard too; without a choice nothing is
// shown.
TEST_F(Page, TranslatesFromAndIntoChosenLanguages) {
  open();
  const auto shown = [&](const std::string& id) {
    return eval("document.getElementById('" + id + "').checkVisibility()").get<bool>();
  };
  EXPECT_FALSE(shown("from") || shown("into"));
  const Loaded many = testing::small_polyglot();
  serve({}, many);
  open();
  ASSERT_TRUE(shown("from") && shown("into"));
  EXPECT_EQ(eval("document.getElementById('into').options.length"), 203);
  EXPECT_EQ(eval("[...document.querySelectorAll('#from, #into')].map(s => s.labels[0].firstChild.textContent.trim())"),
            nlohmann::json({"From", "Into"}));
  const std::string text = "Hello there, how are you?";
  const auto expected = [&](const std::string& from, const std::string& into, std::int32_t beam = 4) {
    search::TranslatorOptions o;
    o.decoding.search = many.search;
    o.decoding.search.beam_size = beam;
    o.max_length = many.text.max_length;
    o.source_language = from, o.target_language = into;
    return search::Translator(*many.model, many.tokenizer, o).translate({&text, 1})[0][0].text;
  };
  const auto becomes = [&](const std::string& translation) {
    return comes(std::string(done) +
                 " && document.getElementById('target').textContent === " + nlohmann::json(translation).dump());
  };
  type("source", text);
  EXPECT_TRUE(becomes(expected("eng_Latn", ""))) << "it is detected";
  EXPECT_TRUE(comes("document.getElementById('from').options[0].textContent.startsWith('detect: English (en), ')"));
  type("from", "eng_Latn");
  EXPECT_TRUE(becomes(expected("eng_Latn", ""))) << "into what the model's directory says";
  EXPECT_FALSE(shown("trouble"));
  type("into", "deu_Latn");
  EXPECT_TRUE(becomes(expected("eng_Latn", "deu_Latn")));
  type("from", "fra_Latn");
  EXPECT_TRUE(becomes(expected("fra_Latn", "deu_Latn")));
  EXPECT_EQ(eval("document.getElementById('target').lang"), "de");
  EXPECT_EQ(eval("document.getElementById('into').selectedOptions[0].textContent"), "German (deu_Latn)");
  keep_picture("languages");
  // Language tokens are no words; the certainty of each word is requested with the same languages.
  EXPECT_TRUE(comes("[...document.querySelectorAll('#target .word')].every(w => /^\\d+ %$/.test(w.title))"));
  EXPECT_EQ(eval("document.getElementById('source-words').textContent.trim()"), text);
  // By keyboard: from one list to the other, and to another language.
  eval("document.getElementById('from').focus()");
  browser->press("Tab");
  EXPECT_EQ(eval("document.activeElement.id"), "into");
  browser->press("ArrowDown");
  ASSERT_TRUE(comes("document.getElementById('into').value !== 'deu_Latn'"));
  const std::string next = eval("document.getElementById('into').value");
  EXPECT_TRUE(becomes(expected("fra_Latn", next))) << next;
  // Two languages side by side.
  click("#tab-compare");
  type("compare-source", text);
  type("left-beam", "2"), type("right-beam", "2");
  type("left-into", "deu_Latn"), type("right-into", "ita_Latn");
  type("right-from", "fra_Latn");
  click("#compare");
  for (const auto& [side, translation] : {std::pair{"left", expected("eng_Latn", "deu_Latn", 2)},
                                          std::pair{"right", expected("fra_Latn", "ita_Latn", 2)}})
    EXPECT_TRUE(comes(std::string("document.getElementById('") + side + "').textContent.startsWith(" +
                      nlohmann::json(translation + "\n\n").dump() + ")"))
        << side;
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

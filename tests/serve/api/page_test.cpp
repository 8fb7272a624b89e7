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
  EXPECT_TRUE(eval("[...document.querySelectorAll('#choices [role=option] .probability')].every(p => "
                   "/^[0-9.e-]+ %$/.test(p.textContent))")
                  .get<bool>());
  EXPECT_EQ(eval("document.querySelectorAll('#choices .probability').length"),
            eval("document.querySelectorAll('#choices [role=option]').length"));
  const std::string other = eval("document.querySelector('#choices [role=option] .text').textContent");
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

TEST_F(Page, TranslatesFiles) {
  open();
  ASSERT_TRUE(comes("document.getElementById('files').checkVisibility()"));
  EXPECT_TRUE(contains(eval("document.getElementById('file-formats').textContent").get<std::string>(), "md", "html"));
  EXPECT_TRUE(contains(eval("document.getElementById('file').accept").get<std::string>(), ".md,"));
  eval(
      "(() => { document.getElementById('files').open = true; const make = URL.createObjectURL; "
      "URL.createObjectURL = b => { b.text().then(t => { window.made = t; }); return make(b); }; return 1; })()");
  const std::string text = "a dog runs\n\nthe old dog\n";
  choose_file("notes.txt", text);
  ASSERT_TRUE(comes("document.querySelectorAll('#file-list a').length === 1")) << browser->console();
  EXPECT_EQ(eval("document.querySelector('#file-list a').download"), "notes.translated.txt");
  EXPECT_TRUE(comes("window.made !== undefined"));
  EXPECT_EQ(eval("window.made"),
            translated("a dog runs", 1, 4)[0].text + "\n\n" + translated("the old dog", 1, 4)[0].text + "\n");
  EXPECT_EQ(service->documents().size(), 0u) << "the page has downloaded it";
  // Dropped; and what cannot be translated.
  eval(
      "(() => { const d = new DataTransfer(); for (const n of ['page.html', 'bad.exe']) d.items.add(new File(['<p>a "
      "<b>dog</b></p>'], n)); document.getElementById('drop').dispatchEvent(new DragEvent('drop', {dataTransfer: d, "
      "cancelable: true})); return 1; })()");
  ASSERT_TRUE(
      comes("document.querySelectorAll('#file-list a').length === 2 && document.querySelector('#file-list .bad')"));
  EXPECT_TRUE(
      contains(eval("document.querySelector('#file-list .bad').textContent").get<std::string>(), "not supported"));
  EXPECT_TRUE(contains(eval("document.getElementById('file-news').textContent").get<std::string>(), "bad.exe"));
  keep_picture("files");
  // A long one, which is cancelled.
  std::string lines;
  for (int i = 0; i < 3000; ++i) lines += "a dog runs " + std::to_string(i) + "\n";
  choose_file("long.txt", lines);
  ASSERT_TRUE(
      comes("/^[1-9][0-9]* of 3000 sentences/.test(document.querySelector('#file-list "
            "li:last-child').children[2].textContent)"))
      << browser->console();
  click("#file-list li:last-child button");
  EXPECT_TRUE(comes("document.querySelector('#file-list li:last-child').textContent.includes('cancelled')"));
  EXPECT_EQ(eval("document.querySelectorAll('#file-list progress, #file-list button').length"), 0);
  EXPECT_TRUE(contains(browser->console(), "400")) << "the refused file, and nothing else";
}

// Without a model, the server finds the path, and the page says which it was.
TEST_F(Page, ShowsPivotsAndDetectedLanguages) {
  server.reset(), service.reset(), models.reset();
  std::vector<ModelLoader> loaders;
  for (const auto& [name, source, target] :
       std::vector<std::array<std::string, 3>>{{"a", "fr", "en"}, {"b", "en", "de"}}) {
    Loaded l = translator;
    l.source_language = source, l.target_language = target;
    loaders.push_back({name, [l] { return l; }});
  }
  models = std::make_unique<Models>(loaders);
  service = std::make_unique<Service>(ServiceOptions{}, *models);
  server = std::make_unique<HttpServer>(
      HttpServerOptions{.port = 0},
      [this](HttpRequest r, std::shared_ptr<Responder> out) { service->handle(std::move(r), std::move(out)); });
  models->wait();
  browser->open("http://127.0.0.1:" + std::to_string(server->port()) + "/", 1280, 900);
  ASSERT_TRUE(comes("document.getElementById('model').options.length === 3")) << browser->console();
  EXPECT_TRUE(eval("document.getElementById('how').hidden").get<bool>());
  type("model", "");
  ASSERT_TRUE(comes("document.getElementById('into').options.length > 1"));
  type("into", "de");
  type("source", "Il faisait beau et nous sommes rentrés tôt.");
  ASSERT_TRUE(comes("document.getElementById('how').textContent.includes('through English (en)')"))
      << browser->console();
  EXPECT_TRUE(
      contains(eval("document.getElementById('how').textContent").get<std::string>(), "detected: French (fr), "));
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

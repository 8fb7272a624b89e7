// The glossaries of the page in a browser: lists, uploads, the editor, keys, and the choice for a translation.
#include "support/served_page.h"

namespace tril::serve {
namespace {

struct GlossaryPage : Page {
  void show() {
    open();
    EXPECT_TRUE(comes("ready")) << browser->console();
    click("#tab-glossaries");
  }
  // The text of a part of the page.
  std::string text_of(const std::string& selector) {
    return eval("document.querySelector(" + nlohmann::json(selector).dump() + ").textContent").get<std::string>();
  }
  // Enters text into a field of an entry, counted from 0.
  void enter(int entry, const std::string& field, const std::string& text) {
    eval("(() => { const e = document.querySelectorAll('#glossary-rows [name=" + field + "]')[" +
         std::to_string(entry) + "]; e.focus(); e.value = " + nlohmann::json(text).dump() +
         "; e.dispatchEvent(new Event('input', {bubbles: true})); return 1; })()");
  }
  void paste(int entry, const std::string& text) {
    eval("(() => { const d = new DataTransfer(); d.setData('text/plain', " + nlohmann::json(text).dump() +
         "); document.querySelectorAll('#glossary-rows [name=source]')[" + std::to_string(entry) +
         "].dispatchEvent(new ClipboardEvent('paste', {clipboardData: d, bubbles: true, cancelable: true})); return 1; "
         "})()");
  }
  bool has_rows(std::size_t n) {
    return comes("document.querySelectorAll('#glossary-rows tr').length === " + std::to_string(n));
  }
  Json stored(const std::string& name) { return Json::parse(ask("GET", "/glossaries/" + name).body); }
};

TEST_F(GlossaryPage, CreatesEditsRenamesAndDeletes) {
  show();
  ASSERT_TRUE(comes("document.getElementById('glossary-none').checkVisibility()")) << browser->console();
  click("#glossary-new");
  EXPECT_EQ(eval("document.activeElement.id"), "glossary-name");
  type("glossary-name", "pets"), type("glossary-from", "en"), type("glossary-into", "de");
  enter(0, "source", "dog");
  // Half an entry is refused, and its empty field has the focus.
  click("#glossary-save");
  ASSERT_TRUE(comes("document.getElementById('trouble').textContent.includes('Entry 1')"));
  EXPECT_EQ(eval("document.activeElement.name"), "target");
  enter(0, "target", "red ball");
  // Enter adds an entry below.
  browser->press("Enter");
  ASSERT_TRUE(has_rows(2));
  EXPECT_EQ(eval("document.activeElement.getAttribute('aria-label')"), "Phrase of entry 2");
  paste(1, "# animals\ncat\tsnow\tconstructor\r\nMen\tsun\texact\n");  // of all objects
  ASSERT_TRUE(has_rows(3));
  EXPECT_TRUE(contains(text_of("#glossary-news"), "2 entries"));
  keep_picture("glossary-editor");
  click("#glossary-save");
  ASSERT_TRUE(comes("document.querySelectorAll('#glossary-list li').length === 1")) << text_of("#trouble");
  ASSERT_TRUE(comes("document.getElementById('glossary-editor').hidden"));
  const Json made = stored("pets");
  EXPECT_EQ(made["entries"], Json::parse(R"([["dog", "red ball"], ["cat", "snow"], ["Men", "sun", "exact"]])"));
  EXPECT_TRUE(contains(text_of("#glossary-list li"), "pets", "English (en)", "German (de)", "3 entries"));

  // Another name, and one entry less.
  click("#glossary-list button");
  ASSERT_TRUE(has_rows(3));
  type("glossary-find", "SNOW");
  ASSERT_TRUE(has_rows(1));
  click("#glossary-rows button");
  ASSERT_TRUE(has_rows(0)) << eval("JSON.stringify([entries, foundEntries()])") << browser->console();
  type("glossary-find", "");
  ASSERT_TRUE(has_rows(2));
  type("glossary-name", "animals");
  click("#glossary-save");
  ASSERT_TRUE(comes("document.querySelector('#glossary-list span').textContent === 'animals'"));
  const Json renamed = stored("animals");
  EXPECT_EQ(renamed["id"], made["id"]);
  EXPECT_EQ(renamed["entries"], Json::parse(R"([["dog", "red ball"], ["Men", "sun", "exact"]])"));

  // A second one of the same name is not saved over the first.
  click("#glossary-new");
  type("glossary-name", "animals"), type("glossary-from", "en"), type("glossary-into", "de");
  enter(0, "source", "a"), enter(0, "target", "b");
  click("#glossary-save");
  ASSERT_TRUE(comes("document.getElementById('trouble').textContent.includes('animals')"));
  click("#glossary-cancel");
  EXPECT_TRUE(eval("document.getElementById('trouble').hidden").get<bool>());
  EXPECT_EQ(stored("animals")["entries"].size(), 2u);

  click("#glossary-list button + button");
  EXPECT_TRUE(contains(text_of("#glossary-news"), "again"));
  click("#glossary-list button + button");
  ASSERT_TRUE(comes("document.querySelectorAll('#glossary-list li').length === 0"));
  EXPECT_EQ(service->glossaries().store().list({}).size(), 0u);
  EXPECT_EQ(eval("document.activeElement.id"), "glossary-new");
  EXPECT_EQ(browser->console(), "");
}

TEST_F(GlossaryPage, UploadsAndShowsManyEntriesInParts) {
  show();
  click("#upload");
  ASSERT_TRUE(comes("document.getElementById('trouble').textContent.includes('file')"));
  std::string csv = "\"a, b\",c\n";
  for (int i = 0; i < 119; ++i) csv += "word" + std::to_string(i) + ",Wort" + std::to_string(i) + "\n";
  upload_glossary("many.csv", csv);
  ASSERT_TRUE(comes("document.querySelectorAll('#glossary-list li').length === 1")) << text_of("#trouble");
  EXPECT_TRUE(contains(text_of("#glossary-list li"), "many", "120 entries"));
  click("#glossary-list button");
  ASSERT_TRUE(has_rows(50));
  EXPECT_EQ(text_of("#glossary-count"), "1 to 50 of 120");
  click("#glossary-after");
  click("#glossary-after");
  ASSERT_TRUE(has_rows(20));
  EXPECT_TRUE(eval("document.getElementById('glossary-after').disabled").get<bool>());
  enter(19, "target", "the last");
  click("#glossary-before");
  click("#glossary-save");
  ASSERT_TRUE(comes("document.getElementById('glossary-editor').hidden"));
  const Json all = stored("many")["entries"];
  EXPECT_EQ(all.size(), 120u);
  EXPECT_EQ(all[0], Json::parse(R"(["a, b", "c"])"));
  EXPECT_EQ(all[119], Json::parse(R"(["word118", "the last"])"));
  EXPECT_EQ(browser->console(), "");
  // What is wrong with a file is said with its line.
  upload_glossary("bad.tsv", "dog\tred\ncat\n");
  ASSERT_TRUE(comes("document.getElementById('trouble').textContent.includes('line 2')"));
  EXPECT_EQ(eval("document.querySelectorAll('#glossary-list li').length"), 1);
}

// Chosen glossaries are used for texts and files, and what the model could not place is said.
TEST_F(GlossaryPage, AreUsedForTranslations) {
  ServiceOptions o;
  o.glossaries = std::make_shared<terms::GlossaryLibrary>();
  o.glossaries->add("house", terms::read_term_table("en,de\nsnow,ball\n", terms::TableFormat::csv, "house.csv"));
  serve(o);
  show();
  upload_glossary("pets.tsv", "dog\tred ball\ncat\t\xe6\x9d\xb1\n");
  ASSERT_TRUE(comes("document.querySelectorAll('#glossary-list li').length === 2")) << text_of("#trouble");
  EXPECT_TRUE(contains(text_of("#glossary-list li"), "house", "of the operator"));
  EXPECT_EQ(eval("document.querySelectorAll('#glossary-list li:first-child button').length"), 0);
  click("#tab-translate");
  ASSERT_EQ(eval("document.querySelectorAll('#glossary-choice input').length"), 2);
  type("source", "a dog");
  ASSERT_TRUE(comes(std::string("document.querySelectorAll('#target .word').length > 0 && ") + done));
  EXPECT_FALSE(contains(text_of("#target"), "red ball"));
  for (const char* box : {"#glossary-choice label:first-child input", "#glossary-choice label:last-child input"})
    click(box);
  EXPECT_TRUE(comes("document.getElementById('target').textContent.includes('red ball')")) << text_of("#trouble");
  EXPECT_TRUE(eval("document.getElementById('how').hidden").get<bool>());
  type("source", "a dog and a cat");
  EXPECT_TRUE(comes("document.getElementById('how').textContent === 'not applied: cat = \xe6\x9d\xb1'"))
      << text_of("#how") << text_of("#trouble");
  eval(
      "(() => { const make = URL.createObjectURL; URL.createObjectURL = b => { b.text().then(t => { window.made = t; "
      "}); return make(b); }; return 1; })()");
  choose_file("notes.txt", "a dog runs\n");
  ASSERT_TRUE(comes("window.made !== undefined")) << browser->console();
  EXPECT_TRUE(contains(eval("window.made").get<std::string>(), "red ball"));
  EXPECT_EQ(browser->console(), "");
}

TEST_F(GlossaryPage, NeedsTheKeyOfTheServer) {
  ServiceOptions o;
  o.keys = {.api = {"anna", "bert"}, .admin = {}};
  serve(o);
  browser->open("http://127.0.0.1:" + std::to_string(server->port()) + "/", 1280, 900);
  ASSERT_TRUE(comes("!document.getElementById('trouble').hidden"));
  type("key", "anna");
  ASSERT_TRUE(comes("document.getElementById('model').options.length === 1")) << browser->console();
  click("#tab-glossaries");
  upload_glossary("pets.tsv", "dog\tred ball\n");
  ASSERT_TRUE(comes("document.querySelectorAll('#glossary-list li').length === 1")) << text_of("#trouble");
  type("key", "bert");
  EXPECT_TRUE(comes("document.querySelectorAll('#glossary-list li').length === 0"));
  type("key", "anna");
  EXPECT_TRUE(comes("document.querySelectorAll('#glossary-list li').length === 1"));
}

}  // namespace
}  // namespace tril::serve

// Each view of the page that shows a pass: as a link, as a picture, as a slide; with the line of code behind each value; and for a class.
#include <fstream>
#include <regex>

#include "inside/file.h"
#include "inside/page.h"
#include "serve/api/classroom.h"
#include "support/contains.h"
#include "support/inside_page.h"
#include "support/paths.h"
#include "support/temporary.h"
#include "trace/report.h"

namespace tril::serve {
namespace {

constexpr std::array views{"tokens", "model", "steps", "value", "change", "draw", "search", "kinds", "learning"};

struct InsideViews : InsidePage {
  /// Opens the address that the page has now, in a fresh document.
  void open_again(int width = 1280) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // a chosen cell is kept a little later
    const std::string address = eval("location.href");
    browser->open("about:blank");
    browser->open(address, width, 900);
    ASSERT_TRUE(comes("document.body.dataset.ready")) << browser->console();
  }
  std::string text(const std::string& id) { return eval("document.getElementById('" + id + "').textContent"); }
};

// Whatever was chosen, the address leads to it.
TEST_F(InsideViews, TheAddressKeepsEachOfThem) {
  look("plays", "abcdefgh");
  // A cell of a head, while a switch with fields and one without are on.
  choose("decoder.1.self.weights");
  type("head", "2");
  eval(
      "(() => { const l = document.querySelector('[data-switch=head_mean] select'); l.value = l.options[1].value; "
      "return 1; })()");
  click("[data-switch=head_mean] [type=checkbox]");
  ASSERT_TRUE(comes("now.edits.length === 1"));
  click("[data-switch=ff] [type=checkbox]");
  ASSERT_TRUE(comes("now.edits.length === 2 && document.querySelectorAll('#changes tbody tr').length"));
  ASSERT_TRUE(comes("document.querySelector('#value td[data-r=\"3\"][data-c=\"2\"]')"));
  click("#value td[data-r=\"3\"][data-c=\"2\"]");
  // A click on the numbers before the switch counts for those after it.
  awaited(
      "tensor('decoder.1.self.weights', {head: 2}).then(v => { window.want = digits(v.data[3 * 8 + 2]); return 1; })");
  ASSERT_TRUE(
      comes("document.querySelector('#zoom table') && document.getElementById('readout').textContent.startsWith("
            "`value ${want} `) && document.getElementById('readout').textContent.includes(`= ${want} `)"))
      << text("readout");
  // The next token after another one, by other settings; a kind of attention; a search with a chosen node.
  eval(
      "(() => { const s = document.getElementById('draw-token'); s.value = '4'; s.dispatchEvent(new Event('change')); "
      "return 1; })()");
  type("draw-temperature", "0.5"), type("draw-top_k", "3");
  click("[data-kind=rotary]");
  ASSERT_TRUE(comes("document.getElementById('kind').dataset.drawn === 'rotary'"));
  type("kind-position", "7");
  ASSERT_TRUE(comes("kinds.position === 7 && document.getElementById('kind-check')"));
  type("search-beam_size", "2"), type("search-n", "2"), type("search-max_length", "5");
  click("#search-run");
  ASSERT_TRUE(comes("searching.answer && document.querySelector('#tree .node')"));
  eval("(() => { document.querySelector('#tree [data-node=\"0\"].node').focus(); return 1; })()");
  browser->press("ArrowRight");
  ASSERT_TRUE(comes("searching.node"));
  click("#search-lost");
  const char* const all =
      "['value-facts', 'readout', 'zoom', 'effect', 'draw', 'kind', 'search-readout', 'tree', 'search-results']"
      ".map(id => document.getElementById(id).textContent)";
  ASSERT_TRUE(comes("document.querySelectorAll('#draw tbody tr').length"));
  eval("(() => { document.querySelector('#tree [data-node=\"' + searching.node + '\"].node').focus(); return 1; })()");
  const auto before = eval(all);
  const auto pressed = eval("[...document.querySelectorAll('.switch [type=checkbox]')].map(b => b.checked)");
  open_again();
  ASSERT_TRUE(
      comes("searching.answer && document.querySelectorAll('#changes tbody tr').length && "
            "document.querySelector('#zoom table')"))
      << text("trouble");
  EXPECT_EQ(eval(all), before);
  EXPECT_EQ(eval("[...document.querySelectorAll('.switch [type=checkbox]')].map(b => b.checked)"), pressed);
  EXPECT_EQ(eval("[now.edits.length, view.head, draw.token, kinds.on, kinds.position, searching.lost]"),
            nlohmann::json({2, 2, 4, "rotary", 7, false}));
  EXPECT_EQ(eval("[document.getElementById('draw-temperature').value, document.getElementById('draw-top_k').value]"),
            nlohmann::json({"0.5", "3"}));
  // Logits after a token of one's own.
  choose_left_out("logits");
  type("row", "3");
  ASSERT_TRUE(
      comes("document.getElementById('readout').textContent.startsWith(t('best_before')) && "
            "document.getElementById('row').value === "
            "'3'"));
  const std::string readout = text("readout");
  open_again();
  ASSERT_TRUE(comes("document.querySelector('#value .bars')"));
  EXPECT_EQ(text("readout"), readout);
  // A switch of a model that this one is not, and numbers that cannot be, leave the page as it is.
  browser->open("about:blank");
  browser->open(fmt::format(
      "http://127.0.0.1:{}/inside#model=plays&text=abc&cell=99,99&row=77&change={}&kind={}&draw={}&slide=no",
      server->port(), "head%3Ddecoder.9.self.heads%255B0%255D%26nothing%3Don",
      "on%3Dconstructor%26tile%3D0%26token%3D-1", "token%3D99%26temperature%3Dx%26top_k%3D1e9"));
  ASSERT_TRUE(comes("document.body.dataset.ready")) << browser->console();
  EXPECT_EQ(eval("[now.edits.length, kinds.on, kinds.tile, draw.token === draw.last, "
                 "document.getElementById('draw-top_k').value]"),
            nlohmann::json({0, "tiles", 1, true, "100"}));
  EXPECT_EQ(text("trouble"), "");
  EXPECT_EQ(browser->console(), "");
}

// A model that has learned is learned again, by the same numbers.
TEST_F(InsideViews, TheAddressKeepsWhatASmallModelHasLearned) {
  browser->open("about:blank");
  browser->open(fmt::format("http://127.0.0.1:{}/inside", server->port()));
  ASSERT_TRUE(comes("document.body.dataset.ready"));
  type("learning-width", "16"), type("learning-seed", "5");
  for (int i = 0; i < 3; ++i) click("#learning-step");
  type("learning-map-head", "1");
  const std::string table = text("learning-table"), readout = text("learning-readout");
  open_again();
  ASSERT_TRUE(comes("learning.run && !learning.isRunning && learning.run.updates === 3"));
  EXPECT_EQ(text("learning-table"), table);
  EXPECT_EQ(text("learning-readout"), readout);
  EXPECT_EQ(eval("learning.head"), 1);
  EXPECT_EQ(browser->console(), "");
}

// A link names the view to which it leads; a link in the place of this page's address is followed.
TEST_F(InsideViews, LinksLeadToTheirView) {
  look("plays", "abcdef");
  for (const char* view : views) {
    SCOPED_TRACE(view);
    const std::string link = eval(fmt::format("document.querySelector('.tools a[data-view={}]').href", view));
    browser->open("about:blank");
    browser->open(link, 1280, 500);
    ASSERT_TRUE(comes("document.body.dataset.ready")) << browser->console();
    const double top = number(fmt::format("sectionOf('{}').getBoundingClientRect().top", view));
    EXPECT_GE(top, -1);
    EXPECT_LT(top, 500);
  }
  click(".tools a[data-view=draw]");
  EXPECT_TRUE(contains(eval("location.hash").get<std::string>(), "view=draw"));
  browser->open(fmt::format("http://127.0.0.1:{}/inside#model=plays&text=hgfe&point=decoder.0.self.q", server->port()));
  ASSERT_TRUE(comes("document.body.dataset.ready && now.question && now.question.text === 'hgfe'"));
  EXPECT_EQ(eval("view.point"), "decoder.0.self.q");
  EXPECT_EQ(browser->console(), "");
}

// A picture has every text of its view, in a form that needs nothing else.
TEST_F(InsideViews, AreSavedAsPictures) {
  const TemporaryDirectory folder;
  look("plays", "abcdefgh");
  choose("decoder.0.self.weights");
  type("search-beam_size", "2"), type("search-n", "2"), type("search-max_length", "5");
  click("#search-run");
  ASSERT_TRUE(comes("document.querySelector('#tree .node')"));
  click("[data-switch=mask] [type=checkbox]");
  ASSERT_TRUE(comes("document.querySelectorAll('#changes tbody tr').length"));
  click("[data-switch=mask] [type=checkbox]");
  ASSERT_TRUE(comes("now.edits.length === 0"));
  click("#learning-step");
  for (const bool dark : {false, true}) {
    browser->prefer_dark(dark);
    for (const char* view : views) {
      SCOPED_TRACE(view);
      const std::string svg = eval(fmt::format("window.svg = pictureOf('{}')", view));
      EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"")) << svg.substr(0, 200);
      EXPECT_EQ(eval("new DOMParser().parseFromString(svg, 'image/svg+xml').querySelector('parsererror')"), nullptr);
      for (const char* foreign : {"class=", "var(", "<foreignObject", "<style", "url(http", "currentColor"})
        EXPECT_FALSE(contains(svg, foreign)) << foreign;
      EXPECT_EQ(std::regex_replace(svg, std::regex("http://www.w3.org/(2000/svg|1999/xlink|XML/1998/namespace)"), "")
                    .find("http"),
                std::string::npos)
          << "no address but those of namespaces";
      // Each text that the view shows is in the picture.
      EXPECT_EQ(
          eval(fmt::format(
              "(() => {{ const words = s => s.replace(/\\s+/g, ''), picture = words([...new "
              "DOMParser().parseFromString("
              "svg, 'image/svg+xml').querySelectorAll('text')].map(e => e.textContent).join('')), missing = [];"
              "const walk = document.createTreeWalker(sectionOf('{}'), NodeFilter.SHOW_TEXT); while (walk.nextNode()) "
              "{{ const e = "
              "walk.currentNode.parentElement, text = words(walk.currentNode.data); if (text && e.checkVisibility() && "
              "!e.closest('.tools, option, textarea') && !picture.includes(text)) missing.push(text); }} return "
              "missing; }})()",
              view)),
          nlohmann::json::array());
      // As a picture of another page it has its size and is not empty.
      EXPECT_EQ(
          awaited(
              "new Promise((done, fail) => { const i = new Image(); i.onload = () => { const c = "
              "document.createElement('canvas'); c.width = i.width; c.height = i.height; const x = c.getContext('2d'); "
              "x.drawImage(i, 0, 0); const d = x.getImageData(0, 0, i.width, i.height).data, seen = new Set(); "
              "for (let n = 0; n < d.length; n += 4) seen.add(d[n] << 16 | d[n + 1] << 8 | d[n + 2]); done(seen.size > "
              "3); }; "
              "i.onerror = () => fail('no picture'); i.src = 'data:image/svg+xml;charset=utf-8,' + "
              "encodeURIComponent(svg); })"),
          true);
      // Nothing of the page has changed.
      EXPECT_EQ(eval("document.querySelectorAll('.whole').length"), 0);
      if (const char* kept = std::getenv("TRIL_SCREENSHOTS"); kept && *kept)
        std::ofstream(fmt::format("{}/view-{}-{}.svg", kept, view, dark ? "dark" : "light")) << svg;
    }
  }
  // A masked cell has its hatch, and the tree its marks.
  const int T = eval("now.about.tokens.ids.length");
  EXPECT_EQ(eval("pictureOf('value').split('url(#hatch)').length - 1"), T * (T - 1) / 2);
  EXPECT_EQ(eval("new DOMParser().parseFromString(pictureOf('search'), 'image/svg+xml').querySelectorAll('svg svg g g "
                 "text').length >= "
                 "searching.answer.nodes.length"),
            true);
  // The button saves that text under a name.
  const auto saved = awaited(
      "new Promise(done => { const make = URL.createObjectURL, click = HTMLAnchorElement.prototype.click; let blob; "
      "URL.createObjectURL = b => { blob = b; return 'blob:test'; }; HTMLAnchorElement.prototype.click = function () { "
      "URL.createObjectURL = make; HTMLAnchorElement.prototype.click = click; blob.text().then(text => "
      "done([this.download, "
      "blob.type, text === pictureOf('value')])); }; document.querySelector('#value-view [data-tool=svg]').click(); "
      "})");
  EXPECT_EQ(saved, nlohmann::json({"tril-value.svg", "image/svg+xml", true}));
  EXPECT_EQ(browser->console(), "");
  // From disk, without the page.
  const std::string path = folder.write("value.svg", eval("pictureOf('value')").get<std::string>());
  browser->open("file://" + path);
  EXPECT_EQ(eval("document.documentElement.tagName"), "svg");
  keep_picture("inside-saved");
}

// A slide is one view that fills the window; keys turn it, and the address keeps it.
TEST_F(InsideViews, AreSlides) {
  look("de", "a dog runs");
  const auto visible = [&] {
    return eval("VIEWS.filter(name => sectionOf(name).checkVisibility())").get<std::vector<std::string>>();
  };
  EXPECT_EQ(visible().size(), views.size());
  const int small = eval("parseInt(getComputedStyle(document.getElementById('value-about')).fontSize)");
  click("#value-view [data-tool=slide]");
  EXPECT_EQ(visible(), std::vector<std::string>{"value"});
  EXPECT_FALSE(eval("document.querySelector('header').checkVisibility()").get<bool>());
  EXPECT_GT(number("parseInt(getComputedStyle(document.getElementById('value-about')).fontSize)"), small);
  EXPECT_GT(number("sectionOf('value').getBoundingClientRect().width"), 1200);
  EXPECT_TRUE(contains(text("slide-name"), "4 / 9"));
  keep_picture("inside-slide");
  browser->press("PageDown");
  EXPECT_EQ(visible(), std::vector<std::string>{"change"});
  browser->press("PageUp"), browser->press("PageUp");
  EXPECT_EQ(visible(), std::vector<std::string>{"steps"});
  EXPECT_TRUE(contains(eval("location.hash").get<std::string>(), "slide=steps"));
  for (const int width : {1280, 390}) {
    open_again(width);
    EXPECT_EQ(visible(), std::vector<std::string>{"steps"});
    EXPECT_LE(number("document.documentElement.scrollWidth"), width);
    for (const char* view : views) {
      eval(fmt::format("(() => {{ showSlide('{}', false); return 1; }})()", view));
      EXPECT_LE(number("document.documentElement.scrollWidth"), width) << view;
      keep_picture(fmt::format("inside-slide-{}-{}", view, width));
    }
    eval("(() => { showSlide('steps', false); return 1; })()");
  }
  for (const auto& node : browser->accessibility_tree())
    if (node.value("focusable", false) && node["role"] != "RootWebArea" && node["role"] != "generic") {
      EXPECT_NE(node["name"], "") << node;
    }
  browser->press("Escape");
  EXPECT_EQ(visible().size(), views.size());
  EXPECT_FALSE(contains(eval("location.hash").get<std::string>(), "slide"));
  EXPECT_EQ(eval("document.activeElement.dataset.tool"), "slide");
  EXPECT_EQ(browser->console(), "");
}

// The line that a value names computes it: its file has that line, which names the value.
TEST_F(InsideViews, EachValueNamesTheLineThatComputesIt) {
  for (const auto& [name, loaded] : {std::pair("de", &translator), {"plays", &writer}}) {
    look(name, "abcd");
    const auto points = eval("now.about.points");
    ASSERT_GT(points.size(), 20u);
    for (const auto& point : points) {
      const std::string name_of_point = point["name"], source = point["source"];
      SCOPED_TRACE(name_of_point + " " + source);
      std::smatch found;
      ASSERT_TRUE(std::regex_match(source, found, std::regex(R"((src/[a-z0-9_/-]+\.(?:cpp|h)):(\d+))")));
      std::ifstream file(test::test_dir() + "/../" + found[1].str());
      ASSERT_TRUE(file.is_open());
      std::string line;
      for (int n = std::stoi(found[2]); n > 0; --n) ASSERT_TRUE(std::getline(file, line));
      const std::string last = name_of_point.substr(name_of_point.rfind('.') + 1);
      if (last != "tokens" && last != "final" && last != "logits") {
        EXPECT_TRUE(contains(line, "\"" + last + "\"")) << line;
      }
    }
  }
  // Pointing at a cell names it.
  choose("decoder.0.self.q");
  EXPECT_TRUE(contains(text("value-facts"), "src/nn/attention.cpp:")) << text("value-facts");
  click("#value td[data-r=\"1\"][data-c=\"1\"]");
  ASSERT_TRUE(comes("document.getElementById('readout').textContent.includes('src/nn/attention.cpp:')"));
  EXPECT_EQ(browser->console(), "");
}

// A file from disk has the same: links that keep a change, pictures, slides, lines.
TEST_F(InsideViews, AreInAFileToo) {
  const trace::TextReader reader(*writer.model, writer.tokenizer);
  const std::string data = inside::file_data(
      *writer.model, reader,
      {.texts = {"abcd", "ef"}, .only = {}, .edits = {}, .new_tokens = 2, .most_bytes = std::int64_t{64} << 20});
  const TemporaryDirectory folder;
  const std::string path = folder.write("inside.html", inside::page(data, ""));
  browser->open("about:blank");
  browser->open("file://" + path);
  ASSERT_TRUE(comes("document.body.dataset.ready")) << browser->console();
  click("#switches button:nth-of-type(3)");
  choose("decoder.0.self.k");
  const std::string effect = text("effect");
  click("#value-view [data-tool=slide]");
  open_again();
  EXPECT_EQ(text("effect"), effect);
  EXPECT_EQ(eval("document.querySelectorAll('#switches [aria-pressed=true]').length"), 1);
  EXPECT_EQ(eval("shown.slide"), "value");
  EXPECT_TRUE(contains(text("value-facts"), "src/nn/attention.cpp:"));
  EXPECT_TRUE(contains(eval("pictureOf('value')").get<std::string>(), "<svg"));
  EXPECT_EQ(browser->console(), "");
}

// In a class the page works as elsewhere; without room it asks again.
TEST_F(InsideViews, WorkInAClass) {
  serve(for_classroom({}));
  browser->open(fmt::format("http://127.0.0.1:{}/", server->port()));
  ASSERT_TRUE(comes("document.body.dataset.ready"));
  type("model", "plays"), type("text", "abcdef");
  click("#complete");
  wait();
  EXPECT_EQ(eval("document.getElementById('target').value"), generated("abcdef", 12).text);
  click("#search-run");
  ASSERT_TRUE(comes("document.querySelector('#tree .node')"));
  click("[data-switch=mask] [type=checkbox]");
  ASSERT_TRUE(comes("document.querySelectorAll('#changes tbody tr').length"));
  EXPECT_EQ(text("trouble"), "");
  type("model", "de"), type("text", "a dog runs");
  click("#complete");
  ASSERT_TRUE(comes("document.body.dataset.ready && now.about.source"));
  EXPECT_EQ(text("trouble"), "");
  EXPECT_EQ(browser->console(), "");
  // Two refusals for lack of room, then the server's answer.
  EXPECT_EQ(
      awaited("(async () => { const real = fetch; let refused = 0; window.fetch = (...a) => refused++ < 2 ? "
              "Promise.resolve(new Response('{}', { status: 429, headers: { 'Retry-After': '0.02' } })) : real(...a); "
              "const reply = await ask('/trace', { model: 'plays', text: 'abc' }); window.fetch = real; "
              "return [refused, reply.tokens.ids.length]; })()"),
      nlohmann::json({3, 3}));
  // If the server asks for a longer wait, the reader sees the error at once.
  EXPECT_EQ(
      awaited(
          "(async () => { const real = fetch; let asked = 0; window.fetch = () => { ++asked; return "
          "Promise.resolve(new "
          "Response('{\"error\": {\"message\": \"busy\"}}', { status: 429, headers: { 'Retry-After': '60' } })); }; "
          "let why = ''; try { await ask('/trace', {}); } catch (e) { why = e.message; } window.fetch = real; "
          "return [asked, why]; })()"),
      nlohmann::json({1, "busy"}));
}

}  // namespace
}  // namespace tril::serve

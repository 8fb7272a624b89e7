// Accessibility of the page without sight, without a mouse, or with strong contrast: every view, narrow and wide, light
// and dark, through the browser's accessibility tree and the keyboard. The rules are those of WCAG 2.2, A and AA, as
// far as a program can check them [https://www.w3.org/TR/WCAG22]; the success criterion is given at each.
#include <map>
#include <set>

#include "support/polyglot.h"
#include "support/served_page.h"
#include "unicode/trim.h"

namespace tril::serve {
namespace {

using Nodes = std::vector<nlohmann::json>;

struct PageAccess : Page {
  // Opens a view with everything unfolded, and some text.
  void show(const std::string& view) {
    click("#tab-" + view);
    eval("(() => { for (const d of document.querySelectorAll('details')) d.open = true; return 1; })()");
    if (view == "translate") {
      if (eval("document.getElementById('from').options.length > 1") == true)
        type("from", "eng_Latn"), type("into", "deu_Latn");
      type("source", "a dog runs in the snow");
      ASSERT_TRUE(comes(std::string("document.querySelectorAll('#target .word').length > 0 && ") + done));
      if (eval("document.querySelectorAll('#file-list li').length === 0") == true) {
        choose_file("notes.txt", "a dog runs");
        ASSERT_TRUE(comes("document.querySelectorAll('#file-list a').length === 1"));
      }
      click("#head-show");
      ASSERT_TRUE(comes("document.querySelectorAll('#head-map td[title]').length > 3"));
      click("#target .word");
      ASSERT_TRUE(comes("document.querySelectorAll('#choices [role=option]').length > 1"));
    }
    if (view == "glossaries") show_glossaries();
    if (view == "status") {
      ASSERT_TRUE(comes("document.querySelectorAll('.card').length === 2"));
    }
  }

  // An editor with two entries; before it is opened, the list with one glossary is looked at.
  void show_glossaries() {
    if (eval("document.getElementById('glossary-editor').hidden") == false) return;
    if (eval("document.querySelectorAll('#glossary-list li').length === 0") == true) {
      upload_glossary("pets.tsv", "dog\tred ball\ncat\tsnow\n");
      ASSERT_TRUE(comes("document.querySelectorAll('#glossary-list li').length === 1")) << browser->console();
    }
    expect_told("list of glossaries");
    expect_contrast("list of glossaries");
    expect_sound("list of glossaries");
    expect_keys("list of glossaries");
    click("#glossary-list button");
    ASSERT_TRUE(comes("document.querySelectorAll('#glossary-rows tr').length === 2"));
  }

  void expect_told(const std::string& where) {
    const Nodes nodes = browser->accessibility_tree();
    static const std::set<std::string> controls{"button",   "textbox", "combobox", "spinbutton", "checkbox",  "tab",
                                                "link",     "option",  "listbox",  "tablist",    "region",    "slider",
                                                "tabpanel", "log",     "image",    "img",        "navigation"};
    static const std::set<std::string> landmarks{"banner",        "main",        "navigation",
                                                 "complementary", "contentinfo", "alert"};
    std::map<std::string, int> count;
    int level = 0;
    for (const auto& node : nodes) {
      const std::string role = node["role"], name = node["name"];
      ++count[role];
      // 1.1.1, 4.1.2: every control and every part of the page has a name.
      if (controls.count(role)) {
        EXPECT_NE(trim(name), "") << where << ": a nameless " << role;
      }
      // 2.1.1: every element that Tab reaches has a role.
      if (node.value("focusable", false) && role != "RootWebArea") {
        EXPECT_TRUE(controls.count(role) || role == "DisclosureTriangle")
            << where << ": " << role << " \"" << name << "\" can be focused and is nothing";
      }
      // 1.3.1: heading levels are not skipped.
      if (role == "heading") {
        const int next = node.value("level", 0);
        EXPECT_LE(next, level + 1) << where << ": heading \"" << name << "\"";
        level = next;
      }
      // 1.3.1, 2.4.1: all text is in a landmark.
      if (role == "StaticText" && !trim(name).empty()) {
        bool inside = false;
        for (const auto& parent : node["parents"]) inside |= landmarks.count(parent.get<std::string>()) > 0;
        EXPECT_TRUE(inside) << where << ": \"" << name << "\" is in no landmark";
      }
      // 1.3.1: parts are inside their containers.
      const auto within = [&](const char* part, const char* whole) {
        if (role != part) return;
        bool inside = false;
        for (const auto& parent : node["parents"]) inside |= parent == whole;
        EXPECT_TRUE(inside) << where << ": " << part << " \"" << name << "\" in no " << whole;
      };
      within("tab", "tablist");
    }
    EXPECT_EQ(count["main"], 1) << where;
    EXPECT_EQ(count["banner"], 1) << where;
    EXPECT_EQ(count["navigation"], 1) << where;
    EXPECT_EQ(count["tabpanel"], 1) << where << ": one view at a time";
  }

  // 1.4.3 and 1.4.11: the contrast of all visible text, and of the borders of input fields.
  void expect_contrast(const std::string& where) {
    const nlohmann::json weak = eval(R"((() => {
      const rgba = c => { const v = c.match(/[\d.]+/g).map(Number); return [v[0], v[1], v[2], v.length > 3 ? v[3] : 1]; };
      const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat([1]);
      const behind = e => {
        const layers = [];
        for (; e; e = e.parentElement) layers.push(rgba(getComputedStyle(e).backgroundColor));
        return layers.reverse().reduce((under, l) => over(l, under), matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18, 1] : [255, 255, 255, 1]);
      };
      const light = c => c.slice(0, 3).map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
      const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
      const found = [];
      const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let n; (n = walk.nextNode());) {
        const e = n.parentElement;
        if (!n.textContent.trim() || !e.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}) || e.closest('script,style,noscript,:disabled,.unseen')) continue;
        const style = getComputedStyle(e), under = behind(e);
        const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
        const ink = over(rgba(style.color), under), least = large ? 3 : 4.5;
        if (contrast(ink, under) < least) found.push(n.textContent.trim().slice(0, 30) + ' ' + contrast(ink, under).toFixed(2));
      }
      for (const e of document.querySelectorAll('input,select,textarea')) {
        if (!e.checkVisibility() || e.disabled || e.type === 'checkbox') continue;
        const edge = contrast(over(rgba(getComputedStyle(e).borderTopColor), behind(e.parentElement)), behind(e.parentElement));
        if (edge < 3) found.push('edge of ' + e.id + ' ' + edge.toFixed(2));
      }
      return found;
    })())");
    EXPECT_EQ(weak, nlohmann::json::array()) << where;
  }

  // 2.4.3, 2.4.7, 2.1.2, 2.5.8: Tab goes through the view in reading order and out again; the focus is visible, and
  // targets are large enough.
  void expect_keys(const std::string& where) {
    eval(
        "(() => { document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex'); "
        "window.getSelection().removeAllRanges(); window.scrollTo(0, 0); "
        "return 1; })()");
    std::vector<int> places;
    std::set<std::string> unseen, small;
    for (int i = 0; i < 80; ++i) {
      browser->press("Tab");
      const nlohmann::json at = eval(R"((() => {
        const e = document.activeElement;
        if (!e || e === document.body) return null;
        const s = getComputedStyle(e), r = e.getBoundingClientRect();
        const inline_ = e.classList.contains('word') || e.type === 'checkbox';
        return {place: [...document.querySelectorAll('*')].indexOf(e), name: e.id || e.textContent.slice(0, 20),
                seen: s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2 && r.width > 0 && r.height > 0,
                large: inline_ || (r.width >= 24 && r.height >= 24)};
      })())");
      if (at.is_null() || (!places.empty() && at["place"] == places.front())) break;
      places.push_back(at["place"]);
      if (at["seen"] != true) unseen.insert(at["name"]);
      if (at["large"] != true) small.insert(at["name"]);
    }
    EXPECT_GE(places.size(), 2u) << where;
    EXPECT_LT(places.size(), 80u) << where << ": Tab comes to no end";
    EXPECT_TRUE(std::is_sorted(places.begin(), places.end())) << where << ": Tab jumps";
    EXPECT_EQ(unseen, std::set<std::string>{}) << where << ": focus that is not seen";
    EXPECT_EQ(small, std::set<std::string>{}) << where << ": smaller than 24 by 24";
  }

  void expect_for_everybody(const std::string& view, const std::string& where, const std::string& picture) {
    show(view);
    if (HasFatalFailure()) return;
    expect_told(where);
    expect_contrast(where);
    expect_sound(where);
    expect_keys(where);
    keep_picture(picture);
  }

  // Checks of the document itself.
  void expect_sound(const std::string& where) {
    EXPECT_EQ(eval(R"((() => {
      const found = [], all = [...document.querySelectorAll('*')];
      if (document.documentElement.lang !== 'en') found.push('3.1.1: no language');
      if (!document.title.trim()) found.push('2.4.2: no title');
      if (/user-scalable\s*=\s*no|maximum-scale/.test(document.querySelector('meta[name=viewport]').content)) found.push('1.4.4: cannot be made larger');
      const ids = all.filter(e => e.id).map(e => e.id);
      for (const id of new Set(ids)) if (ids.filter(i => i === id).length > 1) found.push('twice: ' + id);
      for (const e of all) {
        for (const a of ['aria-controls', 'aria-labelledby', 'aria-describedby', 'for'])
          for (const id of (e.getAttribute(a) || '').split(' ')) if (id && !document.getElementById(id)) found.push(a + ' of nothing: ' + id);
        if (e.tabIndex > 0) found.push('2.4.3: tabindex ' + e.tabIndex);
        if (e.closest('[aria-hidden=true]') && e.tabIndex >= 0 && e.checkVisibility()) found.push('4.1.2: hidden and focusable: ' + e.id);
        if (e.tagName === 'IMG' && !e.hasAttribute('alt')) found.push('1.1.1: an image without a text');
        if (e.tagName === 'svg' && !e.getAttribute('aria-label') && e.getAttribute('aria-hidden') !== 'true') found.push('1.1.1: a drawing without a text');
        if (e.tagName === 'TABLE' && !e.querySelector('caption')) found.push('1.3.1: a table without a caption');
        if (e.tagName === 'TH' && !e.getAttribute('scope')) found.push('1.3.1: a heading cell of nothing: ' + e.textContent);
        if (e.getAttribute('role') === 'option' && !e.closest('[role=listbox]')) found.push('1.3.1: an option of no list');
        if (e.autofocus) found.push('3.2.1: takes the focus');
      }
      for (const g of document.querySelectorAll('ul,ol')) if ([...g.children].some(c => c.tagName !== 'LI')) found.push('1.3.1: a list of something else');
      if (document.documentElement.scrollWidth > window.innerWidth) found.push('1.4.10: wider than the window: ' + all.filter(e => e.getBoundingClientRect().right > window.innerWidth || (e.scrollWidth > e.clientWidth && getComputedStyle(e).overflowX === 'visible')).map(e => e.tagName + '.' + e.id + ' ' + e.scrollWidth).slice(0, 9));
      return [...new Set(found)];
    })())"),
              nlohmann::json::array())
        << where;
  }
};

TEST_F(PageAccess, EveryViewIsForEverybody) {
  for (const bool dark : {false, true})
    for (const int width : {1280, 320}) {
      browser->prefer_dark(dark);
      open(width, 800);
      for (const std::string view : {"translate", "compare", "glossaries", "write", "status"}) {
        const std::string where = fmt::format("{} at {}, {}", view, width, dark ? "dark" : "light");
        expect_for_everybody(view, where, fmt::format("{}-{}-{}", view, width, dark ? "dark" : "light"));
        if (HasFatalFailure()) return;
      }
    }
  EXPECT_EQ(browser->console(), "");
}

// With several languages the page has more controls.
TEST_F(PageAccess, LanguagesAreForEverybody) {
  serve({}, testing::small_polyglot());
  for (const int width : {1280, 320}) {
    open(width, 800);
    for (const std::string view : {"translate", "compare"}) {
      const std::string where = fmt::format("{} of many languages at {}", view, width);
      expect_for_everybody(view, where, fmt::format("{}-{}-languages", view, width));
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(browser->console(), "");
}

// 2.1.1: the keyboard can do everything that a mouse can.
TEST_F(PageAccess, KeysAreEnough) {
  open();
  eval("document.getElementById('tab-translate').focus()");
  for (const char* next : {"tab-compare", "tab-glossaries", "tab-write", "tab-status", "tab-translate"}) {
    browser->press("ArrowRight");
    EXPECT_EQ(eval("document.activeElement.id"), next);
    EXPECT_EQ(eval("document.activeElement.getAttribute('aria-selected')"), "true");
  }
  type("source", "a dog runs in the snow");
  ASSERT_TRUE(comes(std::string("document.querySelectorAll('#target .word').length > 0 && ") + done));
  eval("document.querySelector('#target .word').focus()");
  browser->press("Enter");
  ASSERT_TRUE(comes("document.activeElement.getAttribute('role') === 'option'"));
  const auto first = eval("document.activeElement.textContent");
  browser->press("ArrowDown");
  EXPECT_NE(eval("document.activeElement.textContent"), first);
  EXPECT_EQ(eval("document.activeElement.getAttribute('role')"), "option");
  browser->press("Escape");
  EXPECT_TRUE(comes("document.getElementById('choices').hidden"));
  EXPECT_TRUE(eval("document.activeElement.classList.contains('word')").get<bool>()) << "the focus goes back";
}

}  // namespace
}  // namespace tril::serve

// HTML: sentences are whole across tags, everything else stays byte for byte.
#include "document/markup/html.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "document/segments/html_tags.h"
#include "document/segments/sentences.h"
#include "support/document_text.h"
#include "support/linear_time.h"
#include "support/rounds.h"
#include "unicode/letter_case.h"

namespace tril::document::html_test {
namespace {

// The page with each segment as [text], its marks in it.
std::string shown(const std::string& html) {
  const auto document = read_html(html);
  std::vector<Segment> segments = document->segments();
  std::string all;
  for (Segment& s : segments) {
    s.text.insert(0, "[");
    for (Mark& m : s.marks) ++m.at.begin, ++m.at.end;
    s.text += "]";
  }
  return document->write(segments);
}

std::string capitals(const std::string& html) {
  return capitals_of(*read_html(html));
}

std::vector<std::string> texts(const std::string& html) {
  return texts_of(*read_html(html));
}

TEST(Html, SentencesAreWholeAcrossInlineTags) {
  EXPECT_EQ(shown("<p>A dog.</p>"), "<p>[A dog.]</p>");
  EXPECT_EQ(shown("<p class=\"a>b\">A <b>red</b> ball. Yes</p><br/>"),
            "<p class=\"a>b\">[A <b>red</b> ball. Yes]</p><br/>");
  EXPECT_EQ(texts("<p>A <b>red</b> <a href=x>ball</a>.</p>"), std::vector<std::string>{"A red ball."});
  EXPECT_EQ(texts("a<br>b<div>c</div>"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(capitals("<p>a <b>red</b> <i><a href=x>ball</a></i>, see <img src=y> it</p>"),
            "<p>A <b>RED</b> <i><a href=x>BALL</a></i>, SEE <img src=y> IT</p>");
  EXPECT_EQ(shown("<b> <i>All of it</i></b>"), "<b> <i>[All of it]</i></b>") << "marks around everything stay outside";
  EXPECT_EQ(texts("a <g0>b</g0> <x12/>c <h7>d</h7><h2>e</h2>"), (std::vector<std::string>{"a b c d", "e"}))
      << "numbered tags";
}

TEST(Html, WhatIsNotLanguageStays) {
  EXPECT_EQ(capitals("<!DOCTYPE html><!-- no <b> --><script>if (a < b) \"</p>\"</script>x"),
            "<!DOCTYPE html><!-- no <b> --><script>if (a < b) \"</p>\"</script>X");
  EXPECT_EQ(capitals("<div translate=\"no\">Tril <div>x</div> y</div> z"),
            "<div translate=\"no\">Tril <div>x</div> y</div> Z");
  EXPECT_EQ(capitals("<span class=notranslate>Tril</span> runs"), "<span class=notranslate>Tril</span> RUNS");
  EXPECT_EQ(capitals("use <code>ls -l</code> or <kbd>Ctrl</kbd>."), "USE <code>ls -l</code> OR <kbd>Ctrl</kbd>.");
  EXPECT_EQ(capitals("<pre>\n a\n</pre> b"), "<pre>\n a\n</pre> B");
  EXPECT_EQ(capitals("<style>p{}"), "<style>p{}");
  EXPECT_EQ(capitals("<td>42</td> <td>4,2 %</td>"), "<td>42</td> <td>4,2 %</td>") << "nothing to translate";
  EXPECT_EQ(capitals("<p>never closed <b"), "<p>NEVER CLOSED &lt;B");
  EXPECT_EQ(capitals("a <b>c</i> d"), "A <b>C</i> D") << "tags without a counterpart";
}

TEST(Html, ReferencesAreWrittenAsTheyWere) {
  EXPECT_EQ(texts("1 < 2 & 3 &amp; 4 &lt;b&gt; &#228;&#xe4;&auml;&Eacute; &"),
            std::vector<std::string>{"1 < 2 & 3 & 4 <b> \u00e4\u00e4\u00e4\u00c9 &"});
  EXPECT_EQ(capitals("a &check; b &copy c &#0;"), "A &check; B &copy C &#0;");
  EXPECT_EQ(capitals("x&nbsp;y &amp; &quot;z&quot; \"q\""), "X&nbsp;Y &amp; &quot;Z&quot; &quot;Q&quot;");
  EXPECT_EQ(html_unescaped("&lang;x&rang; &#9001;"), "\u27e8x\u27e9 \u2329");
  EXPECT_EQ(html_unescaped("&#0;&#xd800;&#x110000;&#;&amp"), "&#0;&#xd800;&#x110000;&#;&amp");
  EXPECT_EQ(html_unescaped("&#146;&#x80;&#129;&apos;&zwj;"), "\u2019\u20ac\u0081'\u200d");
  EXPECT_EQ(html_escaped("a<b>&c"), "a&lt;b&gt;&amp;c");
}

TEST(Html, WhiteSpaceAndLineEndsStay) {
  EXPECT_EQ(capitals("<ul>\n  <li>ab</li>\r\n\t<li> cd\n</li>\n</ul>\n"),
            "<ul>\n  <li>AB</li>\r\n\t<li> CD\n</li>\n</ul>\n");
  EXPECT_EQ(capitals("<p>A dog\r\n   runs.\n\n Two <b>men\n play</b>.</p>"),
            "<p>A DOG\r\n   RUNS.\n\n TWO <b>MEN\n PLAY</b>.</p>");
  EXPECT_EQ(shown("<p>&nbsp;&#160; a&nbsp;</p>"), "<p>&nbsp;&#160; [a]&nbsp;</p>");
}

void expect_kept(const std::string& html) {
  const auto document = read_html(html);
  EXPECT_EQ(document->write(document->segments()), html);
}

TEST(Html, HostileInputTakesLinearTime) {
  const auto deep = [](std::size_t n) { return test::repeated("<b><i>x", n); };
  const std::vector<std::function<std::string(std::size_t)>> inputs{
      deep,
      [](std::size_t n) { return std::string(n, '<'); },
      [](std::size_t n) { return std::string(n, '&'); },
      [](std::size_t n) { return "<" + std::string(n, 'a') + " translate=no>" + std::string(n, '<') + "/"; },
      [&](std::size_t n) { return "<code>" + deep(n); },
      [&](std::size_t n) { return "<p>" + std::string(n, 'x') + deep(n); }};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    SCOPED_TRACE(i);
    test::expect_linear_time(2000, inputs[i], expect_kept);
  }
}

// Each of these once took quadratic time.
TEST(Html, ManyTagsWithoutAnEndTakeLinearTime) {
  for (const std::string part :
       {"<a", "<a '\"", "</a", "<script>", "<script><a ", "<code><b ", "<!", "<p translate=no", "&"})
    for (const std::string end : {"", ">", "'>", "\">", "</script>"}) {
      SCOPED_TRACE(part + end);
      test::expect_linear_time(
          500, [&](std::size_t n) { return test::repeated(part, n) + end; }, expect_kept);
    }
}

TEST(Html, WhatIsNotToBeTranslatedMaySaySoInAnyWay) {
  for (const std::string says :
       {"translate=no", "translate='no'", "TRANSLATE = \"NO\"", "class=x translate=no id=y", "class=\"a notranslate\""})
    EXPECT_EQ(texts("<p " + says + ">one</p><p>two</p>"), std::vector<std::string>{"two"}) << says;
  for (const std::string says :
       {"translate=yes", "data-translate=no", "translate=nothing", "translate", "x=translate=no"})
    EXPECT_EQ(texts("<p " + says + ">one</p><p>two</p>"), (std::vector<std::string>{"one", "two"})) << says;
  EXPECT_EQ(texts("<script>if (a</b && \"</p>\") x = '<b>';</SCRIPT >two"), std::vector<std::string>{"two"});
}

// A page translated into itself is the same page; and translated at all, its tags are the same.
TEST(Html, PagesStayThemselves) {
  const std::vector<std::string> parts{"A dog. ",
                                       "two",
                                       " ",
                                       "\n",
                                       "\r\n  ",
                                       "<b>",
                                       "</b>",
                                       "<br/>",
                                       "<p class=\"x>y\">",
                                       "</p>",
                                       "<!-- a\n<b> -->",
                                       "<pre>\n x &auml;</pre>",
                                       "&amp;",
                                       "&lt;",
                                       "&gt;",
                                       "&check;",
                                       "&copy ",
                                       "\u00a0",
                                       "\u3002",
                                       "<script>if (a<b) \"</p>\"</script>",
                                       "<i translate=no> Tril. </i>",
                                       "\t",
                                       "!",
                                       "\u00e9",
                                       "<code>x</code>",
                                       "<i>",
                                       "</i>",
                                       "<img>",
                                       "&#10;",
                                       "<",
                                       "<!--",
                                       "\"",
                                       "&"};
  test::rounds(5000, [&](RandomSequence& random) {
    std::string page;
    for (std::uint64_t n = random.below(20); n > 0; --n) page += parts[random.below(parts.size())];
    const auto document = read_html(page);
    ASSERT_EQ(document->write(document->segments()), page);
    const std::string translated = capitals(page);
    const auto tags = [](const std::string& html) {
      const HtmlTags found(html);
      std::multiset<std::string> all;
      for (std::size_t at = 0; at < html.size(); ++at)
        if (const auto tag = found.at(at)) all.insert(html.substr(at, tag->size)), at += tag->size - 1;
      return all;
    };
    ASSERT_EQ(tags(translated), tags(page)) << page << "\n" << translated;
  });
}

}  // namespace
}  // namespace tril::document::html_test

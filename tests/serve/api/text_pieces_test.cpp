// Splitting texts: the concatenated pieces are the text, sentences end at the right places, markup stays.
#include "serve/api/text_pieces.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "serve/http/http.h"

namespace tril::serve {
namespace {

// Translated pieces in [], the others unchanged.
std::string shown(const std::vector<TextPiece>& pieces) {
  std::string s;
  for (const TextPiece& p : pieces) s += p.translated ? "[" + p.text + "]" : p.text;
  return s;
}
std::string sentences(std::string_view text) {
  return shown(pieces_of_text(text, Split::sentences));
}
std::string html(std::string_view text) {
  return shown(pieces_of_html(text, Split::sentences));
}

// tests/unicode/sentences_test.cpp tests the ends of sentences.
TEST(TextPieces, SentencesAndWhatLiesBetween) {
  EXPECT_EQ(sentences("A dog runs."), "[A dog runs.]");
  EXPECT_EQ(sentences(" A dog runs. Two men play!  Why? "), " [A dog runs.] [Two men play!]  [Why?] ");
  EXPECT_EQ(sentences("one\n\n two \r\nthree"), "[one]\n\n [two] \r\n[three]");
  EXPECT_EQ(sentences("\"Stop!\" He ran. (So.) End"), "[\"Stop!\"] [He ran.] [(So.)] [End]");
  EXPECT_EQ(sentences("\u72ac\u304c\u8d70\u308b\u3002\u732b\u3082\u3002"),
            "[\u72ac\u304c\u8d70\u308b\u3002][\u732b\u3082\u3002]");
  EXPECT_EQ(sentences("A.\u00a0 B? \u3000C"), "[A.\u00a0 B?] \u3000[C]");
  EXPECT_EQ(sentences(""), "");
  EXPECT_EQ(sentences(" \n "), " \n ");
  EXPECT_EQ(shown(pieces_of_text("A. B\nC", Split::lines)), "[A. B]\n[C]");
  EXPECT_EQ(shown(pieces_of_text(" A. B\nC ", Split::none)), "[ A. B\nC ]");
}

TEST(TextPieces, MarkupStays) {
  EXPECT_EQ(html("<p>A dog.</p>"), "<p>[A dog.]</p>");
  EXPECT_EQ(html("<p class=\"a>b\">A <b>red</b> ball. Yes</p><br/>"),
            "<p class=\"a>b\">[A] <b>[red]</b> [ball.] [Yes]</p><br/>");
  EXPECT_EQ(html("<!DOCTYPE html><!-- no <b> --><script>if (a < b) \"</p>\"</script>x"),
            "<!DOCTYPE html><!-- no <b> --><script>if (a < b) \"</p>\"</script>[x]");
  EXPECT_EQ(html("<div translate=\"no\">Tril <div>x</div> y</div> z"),
            "<div translate=\"no\">Tril <div>x</div> y</div> [z]");
  EXPECT_EQ(html("<span class=notranslate>Tril</span> runs"), "<span class=notranslate>Tril</span> [runs]");
  EXPECT_EQ(html("1 < 2 & 3 &amp; 4 &lt;b&gt; &#228;&#xe4;&auml;&Eacute; &"),
            "[1 < 2 & 3 & 4 <b> \u00e4\u00e4\u00e4\u00c9 &]");
  // References of HTML 4 that today's standard maps elsewhere.
  EXPECT_EQ(html_unescaped("&lang;x&rang; &#9001;"), "\u27e8x\u27e9 \u2329");
  EXPECT_EQ(html("<p>never closed <b"), "<p>[never closed <b]");
  EXPECT_EQ(html("<style>p{}"), "<style>p{}");
  EXPECT_EQ(html_escaped("a<b>&c"), "a&lt;b&gt;&amp;c");
  EXPECT_EQ(html_unescaped("&#0;&#xd800;&#x110000;&#;&amp"), "&#0;&#xd800;&#x110000;&#;&amp");
}

// White space between elements and around their text belongs to the page; within a sentence it is translated as a blank.
TEST(TextPieces, WhiteSpaceOfMarkupStays) {
  EXPECT_EQ(html("<ul>\n  <li>ab</li>\r\n\t<li> cd\n</li>\n</ul>\n"),
            "<ul>\n  <li>[ab]</li>\r\n\t<li> [cd]\n</li>\n</ul>\n");
  EXPECT_EQ(html("<pre>\n a\n</pre>\n\nA dog\nruns.\n Yes<br>\nNo"),
            "<pre>\n a\n</pre>\n\n[A dog\nruns.]\n [Yes]<br>\n[No]");
  EXPECT_EQ(html("<p>&nbsp;&#160; a&nbsp;</p>"), "<p>&nbsp;&#160; [a]&nbsp;</p>") << "as it was written";
  EXPECT_EQ(shown(pieces_of_html(" A.\nB ", Split::lines)), " [A.\nB] ");
  EXPECT_EQ(on_one_line("A dog\nruns \r\n\t fast  now\n"), "A dog runs fast  now ");
  EXPECT_EQ(on_one_line(""), "");
}

// References that only browsers read are not translated: escaped, they would change.
TEST(TextPieces, ReferencesThatAreNotReadStay) {
  EXPECT_EQ(html("a &check; b"), "[a] &check; [b]");
  EXPECT_EQ(html("a &copy b &copyright &#228 c"), "[a] &copy [b] &copy[right] &#228 [c]");
  EXPECT_EQ(html("&#0; &#xd800; &#99999999999;"), "&#0; &#xd800; &#99999999999;");
  EXPECT_EQ(html("AT&T x?a=1&b=2 &; &#; &#x; & "), "[AT&T x?a=1&b=2 &; &#; &#x; &] ");
  EXPECT_EQ(html_unescaped("&#146;&#x80;&#129;&apos;&zwj;"), "\u2019\u20ac\u0081'\u200d");
}

// Translating a realistic page into itself gives the same page.
TEST(TextPieces, WhatIsTranslatedIntoItselfIsTheSamePage) {
  RandomSequence random(9, 1);
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
                                       "\u00e9"};
  for (int i = 0; i < 5000; ++i) {
    std::string page;
    for (std::uint64_t n = random.below(20); n > 0; --n) page += parts[random.below(parts.size())];
    for (const Split split : {Split::none, Split::lines, Split::sentences}) {
      std::string again;
      for (const TextPiece& p : pieces_of_html(page, split)) {
        again += p.translated ? html_escaped(p.text) : p.text;
        ASSERT_FALSE(p.text.empty());
      }
      ASSERT_EQ(again, page);
    }
  }
}

TEST(TextPieces, InARowTheyAreTheText) {
  RandomSequence random(2, 2);
  const std::vector<std::string> parts{"A",   "dog",  ".",     " ",          "\n",       "! ", "<b>",    "</b>",
                                       "<",   ">",    "&amp;", "\"",         "Mr",       ". ", "\u3002", "<p ",
                                       "=\"", "<!--", "-->",   "x</script>", "<script>", "3",  "&#"};
  for (int i = 0; i < 5000; ++i) {
    std::string text;
    for (std::uint64_t n = random.below(20); n > 0; --n) text += parts[random.below(parts.size())];
    for (const Split split : {Split::none, Split::lines, Split::sentences}) {
      std::string row;
      for (const TextPiece& p : pieces_of_text(text, split)) row += p.text;
      ASSERT_EQ(row, text);
      std::string markup;
      for (const TextPiece& p : pieces_of_html(text, split)) markup += p.translated ? html_escaped(p.text) : p.text;
      ASSERT_EQ(html_unescaped(markup).size(), html_unescaped(text).size()) << text << "\n" << markup;
      std::string again;  // a second time changes nothing
      for (const TextPiece& p : pieces_of_html(markup, split)) again += p.translated ? html_escaped(p.text) : p.text;
      ASSERT_EQ(again, markup);
    }
  }
}

TEST(Http, AddressesAreDecoded) {
  EXPECT_EQ(url_decoded("a%20b+c"), "a b+c");
  EXPECT_FALSE(url_decoded("%4"));
  EXPECT_FALSE(url_decoded("%zz"));
  const auto query = parse_query("a=1&b&=2&c=%41&&a=3");
  EXPECT_EQ(query, (std::map<std::string, std::string>{{"", "2"}, {"a", "3"}, {"b", ""}, {"c", "A"}}));
}

}  // namespace
}  // namespace tril::serve

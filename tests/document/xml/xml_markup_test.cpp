// Texts in XML: elements divide a text or stand within it, and everything else stays byte for byte.
#include "document/xml/xml_markup.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/contains.h"
#include "support/document_text.h"
#include "support/error_of.h"
#include "support/linear_time.h"
#include "support/rounds.h"

namespace tril::document::xml_markup_test {
namespace {

std::vector<std::string> texts(const std::string& xml, const XmlRules& rules = {}) {
  return texts_of(*read_xml_markup(xml, rules, "q"));
}
std::string capitals(const std::string& xml, const XmlRules& rules = {}) {
  return capitals_of(*read_xml_markup(xml, rules, "q"));
}

using Texts = std::vector<std::string>;

TEST(XmlMarkup, ElementsBetweenElementsDivideAndThoseBesideWordsDoNot) {
  EXPECT_EQ(texts("Press <b>Continue</b> to advance."), Texts{"Press Continue to advance."});
  EXPECT_EQ(capitals("Press <b>Continue</b> to advance."), "PRESS <b>CONTINUE</b> TO ADVANCE.");
  const std::string document =
      "<?xml version=\"1.0\"?>\n<document>\n <meta><title>A document's title</title></meta>\n <content>\n"
      "  <par>First <i>one</i>. A second.</par>\n  <par>Third.</par>\n </content>\n</document>\n";
  EXPECT_EQ(texts(document), (Texts{"A document's title", "First one. A second.", "Third."}));
  EXPECT_EQ(capitals(document),
            "<?xml version=\"1.0\"?>\n<document>\n <meta><title>A DOCUMENT'S TITLE</title></meta>\n <content>\n"
            "  <par>FIRST <i>ONE</i>. A SECOND.</par>\n  <par>THIRD.</par>\n </content>\n</document>\n");
  EXPECT_EQ(texts("a <b><i>b</i><i>c</i></b>"), Texts{"a bc"}) << "all within words are marks";
  EXPECT_EQ(texts("<p>a<br/>b</p>"), Texts{"ab"});
  EXPECT_EQ(texts(""), Texts{});
  EXPECT_EQ(texts("<a>12</a> <b/>"), Texts{}) << "nothing to translate";
}

TEST(XmlMarkup, ListsOfTagsSayOtherwise) {
  EXPECT_EQ(texts("<p>a<br/>b</p>", {.splitting = {"br"}}), (Texts{"a", "b"}));
  EXPECT_EQ(texts("<a><b>c</b><b>d</b></a>", {.outline = false}), Texts{"cd"});
  EXPECT_EQ(texts("<a><b>c</b><b>d</b></a>", {.splitting = {"b"}, .outline = false}), (Texts{"c", "d"}));
  const std::string spans = "<par>\n<span>This is a sentence split</span>\n<span>across two.</span>\n</par>";
  EXPECT_EQ(texts(spans), (Texts{"This is a sentence split", "across two."}));
  EXPECT_EQ(texts(spans, {.non_splitting = {"span"}}), Texts{"This is a sentence split\nacross two."});
  EXPECT_EQ(capitals("<raw>stay</raw><p>go</p>", {.ignored = {"raw"}}), "<raw>stay</raw><p>GO</p>");
  EXPECT_EQ(capitals("the <x>keep <b>me</b></x> dog", {.ignored = {"x"}}), "THE <x>keep <b>me</b></x> DOG");
  EXPECT_EQ(capitals("Hi <x id=\"7\"></x>!", {.ignored = {"x"}}), "HI <x id=\"7\"></x>!");
  EXPECT_EQ(capitals("<X>go</X> on", {.ignored = {"x"}}), "<X>GO</X> ON") << "names differ in case";
}

TEST(XmlMarkup, ReferencesAndSectionsStay) {
  EXPECT_EQ(texts("a &lt; b &amp; c&#228; &quot;d&quot; it&apos;s"), Texts{"a < b & c\u00e4 \"d\" it's"});
  EXPECT_EQ(capitals("a &lt; b &amp; &quot;d&quot; it&apos;s"), "A &lt; B &amp; &quot;D&quot; IT&apos;S");
  EXPECT_EQ(capitals("a <!-- no <b> --> b <![CDATA[<c>]]> c &unknown; d"),
            "A <!-- no <b> --> B <![CDATA[<c>]]> C &unknown; D");
  EXPECT_EQ(capitals("AT&T <a title=\"a>b\" t='<'>x</a>"), "AT&amp;T <a title=\"a>b\" t='<'>X</a>");
}

TEST(XmlMarkup, WhatIsNotWellFormedIsRefused) {
  const auto error = [](const std::string& xml) { return error_of([&] { read_xml_markup(xml, {}, "q"); }); };
  EXPECT_TRUE(contains(error("a <b>c"), "q: ", "<b> is not closed at byte 3"));
  EXPECT_TRUE(contains(error("a <b>c</i></b>"), "</i> closes <b> at byte 7"));
  EXPECT_TRUE(contains(error("a</b>"), "</b> closes no element"));
  EXPECT_TRUE(contains(error("a < b"), "byte 3"));
  EXPECT_TRUE(contains(error("a <b"), "not closed"));
  EXPECT_TRUE(contains(error("a <b <c>"), "not closed"));
  EXPECT_TRUE(contains(error("<!-- a"), "unclosed <!--"));
  EXPECT_TRUE(contains(error("<"), "byte 1"));
}

TEST(XmlMarkup, DeepNestingTakesLinearTime) {
  const auto deep = [](std::size_t n) { return test::repeated("<a>", n) + "word" + test::repeated("</a>", n); };
  test::expect_linear_time(2000, deep, [](const std::string& xml) { EXPECT_EQ(texts(xml), Texts{"word"}); });
  EXPECT_EQ(texts("x " + deep(100'000)), (Texts{"x", "word"})) << "a segment has a limited number of marks";
}

// Any text is either refused, or written again as it was.
TEST(XmlMarkup, NothingIsLost) {
  const std::vector<std::string> parts{"<a>", "</a>", "<b x='1'>", "</b>", "<c/>", "word", " ",    "&amp;", "&",
                                       "<",   ">",    "<!--",      "-->",  "\n",   "\"",   "\xff", "&#65;", "]]>"};
  test::rounds(3000, [&](RandomSequence& random) {
    std::string xml;
    for (std::size_t n = random.below(12); n-- > 0;) xml += parts[random.below(parts.size())];
    const XmlRules rules{.ignored = {"b"}, .splitting = {"c"}, .outline = random.below(2) == 0};
    try {
      const auto document = read_xml_markup(xml, rules, "q");
      EXPECT_EQ(document->write(document->segments()), xml);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
    }
  });
}

}  // namespace
}  // namespace tril::document::xml_markup_test

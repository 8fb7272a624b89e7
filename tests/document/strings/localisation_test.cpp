// Strings of programs for Qt and .NET; and files of any system that are hostile or random.
#include <gtest/gtest.h>

#include "document/formats/formats.h"
#include "format/xml_file.h"
#include "support/contains.h"
#include "support/document_text.h"
#include "support/error_of.h"
#include "support/linear_time.h"
#include "support/localisation_file.h"
#include "support/rounds.h"

namespace tril::document::localisation_test {
namespace {

using namespace localisation;

std::string qt(const std::string& messages, const std::string& language = " language=\"de_DE\"") {
  return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!DOCTYPE TS>\n<TS version=\"2.1\"" + language +
         ">\n<context>\n    <name>Main</name>\n" + messages + "</context>\n</TS>\n";
}

TEST(QtLinguist, MessagesWithoutTranslationGetOne) {
  const auto message = [](const std::string& translation, const std::string& source = "&amp;Open &quot;%1&quot;") {
    return qt("    <message>\n        <location filename=\"a.cpp\" line=\"1\"/>\n        <source>" + source +
              "</source>\n        <comment>note</comment>\n        " + translation + "\n    </message>\n");
  };
  const std::string done = "<translation type=\"unfinished\">&amp;OPEN &quot;%1&quot;</translation>";
  for (const std::string empty : {"<translation type=\"unfinished\"></translation>",
                                  "<translation type=\"unfinished\"/>", "<translation></translation>"})
    EXPECT_EQ(capitals(message(empty), "x.ts"), message(done));
  for (const std::string kept :
       {"<translation>Auf</translation>", "<translation type=\"unfinished\">Auf</translation>",
        "<translation type=\"vanished\"></translation>", "<translation type=\"obsolete\"></translation>",
        "<translation type=\"unfinished\" variants=\"yes\"><lengthvariant></lengthvariant></translation>"})
    EXPECT_EQ(capitals(message(kept), "x.ts"), message(kept));
  EXPECT_EQ(capitals(message("<translation type=\"unfinished\"></translation>", "a <byte value=\"x1b\"/>b\nc"), "x.ts"),
            message("<translation type=\"unfinished\">A <byte value=\"x1b\"/>B\nC</translation>",
                    "a <byte value=\"x1b\"/>b\nc"));
  EXPECT_EQ(
      capitals(qt("<message>\n  <source>dog</source>\n</message>\n"), "x.ts"),
      qt("<message>\n  <source>dog</source>\n  <translation type=\"unfinished\">DOG</translation>\n</message>\n"));
  EXPECT_EQ(texts(message("<translation type=\"unfinished\"/>"), "x.ts"), std::vector<std::string>{"Open \"%1\""});
}

TEST(QtLinguist, NumerusFormsAreFilled) {
  const auto message = [](const std::string& a, const std::string& b) {
    return qt("<message numerus=\"yes\"><source>%n dog(s)</source><translation type=\"unfinished\"><numerusform>" + a +
              "</numerusform><numerusform>" + b + "</numerusform></translation></message>");
  };
  EXPECT_EQ(capitals(message("", ""), "x.ts"), message("%n DOG(S)", "%n DOG(S)"));
  EXPECT_EQ(capitals(message("ein Hund", ""), "x.ts"), message("ein Hund", ""));
  // Qt refuses a file with text in the translation of such a message.
  const auto without = [](const std::string& translation) {
    return qt("<message numerus=\"yes\">\n<source>%n dog(s)</source>" + translation + "</message>");
  };
  const std::string one = "\n<translation type=\"unfinished\"><numerusform>%n DOG(S)</numerusform></translation>";
  EXPECT_EQ(capitals(without(""), "x.ts"), without(one));
  EXPECT_EQ(capitals(without("\n<translation type=\"unfinished\"/>"), "x.ts"), without(one));
}

TEST(QtLinguist, LanguagesAreStatedAndCompared) {
  EXPECT_EQ(capitals(qt("", ""), "x.ts"), qt("", " language=\"de\""));
  EXPECT_EQ(capitals(qt("", ""), "x.ts", "pt-BR"), qt("", " language=\"pt_BR\""));
  EXPECT_TRUE(contains(refusal(qt("", " language=\"fr\""), "x.ts"), "target", "fr", "de"));
  EXPECT_TRUE(contains(refusal(qt("", " language=\"de\" sourcelanguage=\"fr\""), "x.ts"), "source", "fr"));
  for (const std::string other :
       {"const a: number = 1;\n", "let a: List<TState>;\n", "G\xff\x01\x02", "<xml/>", "<p><TS/></p>"})
    EXPECT_TRUE(contains(refusal(other, "x.ts"), "x.ts", "Qt Linguist", "TypeScript")) << other;
}

TEST(DotnetResources, StringsAreTranslated) {
  const auto file = [](const std::string& open, const std::string& menu) {
    return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<root>\n  <!-- a -->\n  <resheader "
           "name=\"version\"><value>a b</value></resheader>\n  <data name=\"a\" xml:space=\"preserve\">\n    <value>" +
           open +
           "</value>\n    <comment>a note</comment>\n  </data>\n  <data name=\"b.Text\" "
           "xml:space=\"preserve\"><value>" +
           menu +
           "</value></data>\n  <data name=\"icon\" "
           "type=\"System.Resources.ResXFileRef\"><value>a b</value></data>\n  <data name=\"c\" "
           "mimetype=\"application/x-microsoft.net.object.binary.base64\"><value>QUJD</value></data>\n  <data "
           "name=\"&gt;&gt;b.Name\"><value>button</value></data>\n  <data name=\"d\"><value>Brand "
           "name</value><comment>{Locked}</comment></data>\n  <metadata name=\"x\"><value>y "
           "z</value></metadata>\n</root>\n";
  };
  EXPECT_EQ(capitals(file("  Open {0:N2} &lt;b&gt;files&lt;/b&gt;\n now ", "E&amp;xit"), "x.resx"),
            file("  OPEN {0:N2} &lt;b&gt;FILES&lt;/b&gt;\n NOW ", "&amp;EXIT"));
  EXPECT_EQ(texts(file("a dog", "E&amp;xit"), "x.resw"), (std::vector<std::string>{"a dog", "Exit"}));
  EXPECT_EQ(capitals(file("<![CDATA[a <b> & b]]>", ""), "x.resx"), file("<![CDATA[A <b> & B]]>", ""));
}

TEST(Xml, OtherFilesAreRefused) {
  EXPECT_TRUE(contains(refusal("<project/>", "x.xml"), "x.xml", "<project>", "<resources>"));
  EXPECT_TRUE(contains(refusal("<resources/>", "x.resx"), "<resources>", "<root>"));
  EXPECT_TRUE(contains(refusal("<!DOCTYPE r [<!ENTITY a 'b'>]><resources/>", "x.xml"), "entities"));
  EXPECT_TRUE(contains(refusal("<resources>", "x.xml"), "x.xml: line 1"));
}

TEST(Localisation, HostileInputTakesLinearTime) {
  const auto test_of = [](const std::string& name, const std::string& begin, const std::string& part,
                          const std::string& end) {
    SCOPED_TRACE(name + ": " + part);
    test::expect_linear_time(
        200, [&](std::size_t n) { return begin + test::repeated(part, n) + end; },
        [&](const std::string& file) { EXPECT_FALSE(texts(file, name).empty()); });
  };
  for (const std::string part :
       {"\"a ", "\\", "\\'", "&lt;b>", "%(", "{", "<b>x</b>", "<i/>", "\n a", "&x;", "<![CDATA[a]]>"})
    test_of("x.xml", "<resources><string>a dog", part, "</string></resources>");
  test_of("x.xml", "<resources>", "<string name=\"a\">dog</string>", "</resources>");
  test_of("x.xml", "<resources>", "<plurals><item quantity=\"other\">dog</item></plurals>", "</resources>");
  test_of("x.xml", "<resources><plurals>", "<item quantity=\"other\">dog</item>", "</plurals></resources>");
  test_of("x.ts", "<TS language=\"de\">", "<message><source>dog</source><translation/></message>", "</TS>");
  test_of("x.ts", "<TS language=\"de\"><message><source>dog</source><translation>", "<numerusform/>",
          "</translation></message></TS>");
  test_of("x.resx", "<root>", "<data name=\"a\"><value>dog</value></data>", "</root>");
  test_of("x.strings", "", "\"a\" = \"dog\"; /* x */\n", "");
  test::expect_linear_time(
      200,
      [](std::size_t n) {
        std::string strings;
        for (std::size_t i = 0; i < n; ++i) strings += (i == 0 ? "\"dog " : ",\"dog ") + std::to_string(i) + "\":{}";
        return "{\"sourceLanguage\":\"en\",\"strings\":{" + strings + "}}";
      },
      [](const std::string& file) { EXPECT_FALSE(texts(file, "x.xcstrings").empty()); });
  test_of("x.strings", "\"a\" = \"dog", "\\U00e4\\\\", "\";");
}

// The names of all elements, and how many.
std::map<std::string, int> elements_of(const std::string& xml) {
  struct Counter final : pugi::xml_tree_walker {
    std::map<std::string, int> counts;
    bool for_each(pugi::xml_node& node) override {
      if (node.type() == pugi::node_element) ++counts[node.name()];
      return true;
    }
  } counter;
  pugi::xml_document file = parse_xml(xml, "x");
  file.traverse(counter);
  return counter.counts;
}

TEST(Localisation, RandomStringsStayOfTheSameForm) {
  const std::vector<std::string> parts{
      "dog ",  "it",     "\\'",  "\"",    "\\n",   "\\",     "\\u00e4",    "&amp;",  "&lt;b>",      "&lt;/b>", "<b>",
      "</b>",  "<i>",    "</i>", "<br/>", "%1$s",  "%",      "{x}",        "{",      "<![CDATA[a ", "]]>",     "\n  ",
      "&#10;", "&quot;", "@",    "?",     "<x:g>", "</x:g>", "<!-- c -->", "&nbsp;", "&x;",         "]"};
  int read_files = 0;
  test::rounds(6000, [&](RandomSequence& random) {
    std::string value;
    for (std::uint64_t n = random.below(10); n > 0; --n) value += parts[random.below(parts.size())];
    const std::string resources = "<resources><string name=\"a\">" + value + "</string></resources>";
    const std::string root = "<root><data name=\"a\"><value>" + value + "</value></data></root>";
    const std::string messages =
        "<TS language=\"de\"><message><source>" + value + "</source><translation type=\"unfinished\"/></message></TS>";
    for (const auto& [called, content] : {std::pair{"x.xml", resources}, {"x.resx", root}, {"x.ts", messages}}) {
      const std::string name = called, file = content;
      std::unique_ptr<Document> document;
      error_of([&] { document = read(file, name); });
      if (!document) continue;
      ++read_files;
      const bool bilingual = name == "x.ts";
      if (!bilingual) {
        ASSERT_EQ(document->write(document->segments()), file);
      }
      std::string out;
      ASSERT_NO_THROW(out = capitals(file, name)) << file;
      std::map<std::string, int> before, after;
      ASSERT_NO_THROW(after = elements_of(out)) << file << "\n" << out;
      before = elements_of(file);
      if (!bilingual) {
        EXPECT_EQ(after, before) << file << "\n" << out;
      }
      read(out, name);
    }
    const std::string strings = "\"k\" = \"" + value + "\";";
    std::unique_ptr<Document> document;
    error_of([&] { document = read(strings, "x.strings"); });
    if (!document) return;
    ASSERT_EQ(document->write(document->segments()), strings);
    EXPECT_EQ(texts(capitals_of(*document), "x.strings").size(), document->segments().size()) << strings;
  });
  EXPECT_GT(read_files, static_cast<int>(test::round_count(6000) / 4));
}

}  // namespace
}  // namespace tril::document::localisation_test

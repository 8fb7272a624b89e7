// XLIFF and TMX: which units get a translation, what stays, and that hostile files do no harm.
#include <gtest/gtest.h>

#include "document/formats/formats.h"
#include "document/segments/document_sentences.h"
#include "document/segments/words.h"
#include "document/xml/tmx.h"
#include "document/xml/xml_places.h"
#include "support/contains.h"
#include "support/document_text.h"
#include "support/error_of.h"
#include "support/rounds.h"

namespace tril::document::bilingual_test {
namespace {

std::string capitals(const std::string& bytes, const std::string& name, const std::string& source = "en") {
  return capitals_of(*read_document(bytes, {name, source, "de"}));
}
std::string refusal(const std::string& bytes, const std::string& name, const std::string& source = "en") {
  return error_of([&] { capitals(bytes, name, source); });
}

// A file of XLIFF 1.2 with these units.
std::string xliff(const std::string& units, const std::string& file = "") {
  return "<?xml version=\"1.0\"?>\n<xliff version=\"1.2\" xmlns=\"urn:oasis:names:tc:xliff:document:1.2\">\n<file "
         "source-language=\"en\"" +
         file + "><body>\n" + units + "</body></file></xliff>\n";
}
std::string de(const std::string& units) {
  return xliff(units, " target-language=\"de\"");
}
const std::string written = " state=\"needs-review-translation\" state-qualifier=\"mt-suggestion\"";

TEST(Xliff, UnitsWithoutATranslationGetOne) {
  const std::string in = "  <trans-unit id=\"1\">\n    <source>a &amp; dog</source>\n    <note>n</note>\n";
  EXPECT_EQ(capitals(xliff(in + "  </trans-unit>\n"), "x.xlf"),
            de("  <trans-unit id=\"1\">\n    <source>a &amp; dog</source>\n    <target" + written +
               ">A &amp; DOG</target>\n    <note>n</note>\n  </trans-unit>\n"));
  for (const std::string target : {"<target/>", "<target></target>", "<target state=\"new\">x</target>",
                                   "<target state='needs-translation'>x</target>", "<target state='needs-adaptation'/>",
                                   "<target><mrk mtype='seg' mid='1'/></target>", "<target><g id='1'></g></target>"}) {
    const std::string out = capitals(de("<trans-unit><source>dog</source>" + target + "</trans-unit>"), "x.xliff");
    EXPECT_EQ(out, de("<trans-unit><source>dog</source><target" + written + ">DOG</target></trans-unit>"));
  }
}

TEST(Xliff, OthersStay) {
  for (const std::string unit :
       {"<trans-unit><source>dog</source><target>Hund</target></trans-unit>",
        "<trans-unit translate=\"no\"><source>dog</source></trans-unit>",
        "<group translate=\"no\"><trans-unit><source>dog</source></trans-unit></group>",
        "<trans-unit approved=\"yes\"><source>dog</source><target state=\"new\">Hund</target></trans-unit>",
        "<trans-unit><source>dog</source><target state=\"final\">Hund</target></trans-unit>",
        "<trans-unit><source>dog</source><target state=\"final\"/></trans-unit>",
        "<trans-unit><source>dog</source><target><g id='1'>Hund</g></target></trans-unit>",
        "<trans-unit><source>12 <x id='1'/></source></trans-unit>",
        "<trans-unit><alt-trans><source>dog</source></alt-trans><source/></trans-unit>"})
    EXPECT_EQ(capitals(de(unit), "x.xlf"), de(unit));
}

TEST(Xliff, InlineElementsAreMarks) {
  const auto target = [](const std::string& source) {
    const std::string out = capitals(de("<trans-unit><source>" + source + "</source></trans-unit>"), "x.xlf");
    const std::size_t at = out.find(written + ">") + written.size() + 1;
    return out.substr(at, out.find("</target>") - at);
  };
  EXPECT_EQ(target("<x id='1'/>a <g id='2'>big <ph id='3'>{0}</ph> dog</g> runs <x id='4'/>"),
            "<x id='1'/>A <g id='2'>BIG <ph id='3'>{0}</ph> DOG</g> RUNS <x id='4'/>");
  EXPECT_EQ(
      target("a <bpt id='1'>&lt;b></bpt>dog<ept id='1'>&lt;/b></ept> <bx id='2' rid='r'/>runs<ex id='3' rid='r'/>"),
      "A <bpt id='1'>&lt;b></bpt>DOG<ept id='1'>&lt;/b></ept> <bx id='2' rid='r'/>RUNS<ex id='3' rid='r'/>");
  EXPECT_EQ(target("the <mrk mtype='protected'>iPhone <g id='1'>Pro</g></mrk> is"),
            "THE <mrk mtype='protected'>iPhone <g id='1'>Pro</g></mrk> IS");
  EXPECT_EQ(target("a &#xe4; &nbsp; <![CDATA[<b]]> <!-- c -->dog"), "A \u00c4 &nbsp; &lt;B <!-- c -->DOG");
  EXPECT_EQ(target("one\n   two"), "ONE\n   TWO");
  EXPECT_EQ(
      target("dog</source><seg-source>\n<mrk mtype='seg' mid='0'>dog runs.</mrk> <mrk mtype='seg' mid='1'>12</mrk>"
             "<mrk mtype='seg' mid='2'>cat.</mrk></seg-source><source>"),
      "\n<mrk mtype='seg' mid='0'>DOG RUNS.</mrk> <mrk mtype='seg' mid='1'>12</mrk><mrk mtype='seg' "
      "mid='2'>CAT.</mrk>");
}

TEST(Xliff, PlaceholdersAndTagsInTheTextAreMarks) {
  EXPECT_EQ(capitals(de("<trans-unit><source>%@ of {total} &lt;b&gt;files&lt;/b&gt; &amp; %1$s</source></trans-unit>"),
                     "x.xlf"),
            de("<trans-unit><source>%@ of {total} &lt;b&gt;files&lt;/b&gt; &amp; %1$s</source><target" + written +
               ">%@ OF {total} &lt;b&gt;FILES&lt;/b&gt; &amp; %1$s</target></trans-unit>"));
}

TEST(Xliff, Version2) {
  const std::string head = "<xliff version='2.0' srcLang='en-US'", rest = "><file id='f'><unit id='1'>\n <segment";
  EXPECT_EQ(
      capitals(
          head + rest +
              " canResegment=\"no\">\n  <source>a <pc id='1'>dog</pc> <sc id='2'/>runs<ec startRef='2'/><cp "
              "hex='0001'/>.</source>\n </segment>\n "
              "<ignorable><source> </source></ignorable><segment state='final'><source>x</source></segment>"
              "<segment subState='x:y' state=\"initial\"><source>cat</source><target order='1'>x</target></segment>"
              "</unit></file></xliff>",
          "x.xlf"),
      head + " trgLang=\"de\"" + rest +
          " canResegment=\"no\" state=\"translated\">\n  <source>a <pc id='1'>dog</pc> <sc id='2'/>runs<ec "
          "startRef='2'/><cp hex='0001'/>.</source>\n  <target>A <pc id='1'>DOG</pc> <sc id='2'/>RUNS<ec "
          "startRef='2'/><cp hex='0001'/>.</target>\n </segment>\n "
          "<ignorable><source> </source></ignorable><segment state='final'><source>x</source></segment>"
          "<segment state=\"translated\"><source>cat</source><target order='1'>CAT</target></segment>"
          "</unit></file></xliff>");
}

TEST(Xliff, ContradictionsAreRefused) {
  EXPECT_TRUE(contains(refusal(xliff("", " target-language='fr'"), "x.xlf"), "x.xlf", "target", "fr", "de"));
  EXPECT_TRUE(contains(refusal(xliff(""), "x.xlf", "fr"), "source", "en", "fr"));
  EXPECT_EQ(refusal(xliff("", " target-language='de-AT'"), "x.xlf"), "");
  EXPECT_TRUE(contains(error_of([] { read_document(xliff(""), {"x.xlf"}); }), "x.xlf", "target language"));
  EXPECT_TRUE(contains(refusal("<html/>", "x.xlf"), "XLIFF"));
  EXPECT_TRUE(contains(refusal("<xliff version='1.2'><file>", "x.xlf"), "x.xlf", "line 1"));
  EXPECT_TRUE(contains(refusal("<!DOCTYPE x [<!ENTITY a 'b'>]><xliff version='1.2'/>", "x.xlf"), "entities"));
}

const std::string memory_head = "<tmx version=\"1.4\"><header srclang=\"en\"/><body>\n";
const std::string unit_en =
    " <tu>\n  <tuv xml:lang=\"en-US\">\n   <seg>a <bpt i='1'>x</bpt>dog<ept i='1'/> "
    "<hi>runs</hi></seg>\n  </tuv>";

TEST(Tmx, UnitsGetTheLanguageThatTheyLack) {
  const std::string rest =
      "\n </tu>\n <tu><tuv lang='en'><seg>x</seg></tuv><tuv lang='DE-AT'><seg>y</seg></tuv></tu>"
      "<tu><tuv xml:lang='fr'><seg>chien</seg></tuv></tu></body></tmx>\n";
  EXPECT_EQ(capitals(memory_head + unit_en + rest, "x.tmx", ""),
            memory_head + unit_en +
                "\n  <tuv xml:lang=\"de\">\n   <seg>A <bpt i='1'>x</bpt>DOG<ept i='1'/> <hi>RUNS</hi></seg>\n  </tuv>" +
                rest);
  EXPECT_TRUE(contains(refusal(memory_head + unit_en + rest, "x.tmx", "es"), "x.tmx", "es"));
  EXPECT_TRUE(contains(refusal("<a/>", "x.tmx"), "TMX"));
}

// As OmegaT writes units that wait for a translation, with its tags as text.
TEST(Tmx, EmptyTextsAreFilled) {
  const std::string begin =
      memory_head + "<tu><tuv lang=\"EN-US\"><seg>A &lt;b0&gt;dog&lt;/b0&gt; &amp; &lt;t1/&gt;%s</seg></tuv>";
  const std::string end = "</tuv></tu></body></tmx>\n";
  for (const std::string seg : {"<seg></seg>", "<seg/>", "<seg> </seg>", "<seg>\n</seg>", "<seg><ph/></seg>"})
    EXPECT_EQ(capitals(begin + "<tuv lang=\"DE-DE\">" + seg + end, "x.tmx", ""),
              begin + "<tuv lang=\"DE-DE\"><seg>A &lt;b0&gt;DOG&lt;/b0&gt; &amp; &lt;t1/&gt;%s</seg>" + end)
        << seg;
  for (const std::string tuv : {"<seg>x</seg>", "<seg><hi>x</hi></seg>", "<note/>"})
    EXPECT_EQ(capitals(begin + "<tuv lang=\"DE-DE\">" + tuv + end, "x.tmx", ""),
              begin + "<tuv lang=\"DE-DE\">" + tuv + end);
}

TEST(Tmx, IsReadAsAMemory) {
  const auto units = read_tmx_memory(memory_head + unit_en +
                                         "<tuv xml:lang='de'><seg>ein Hund &amp; l\u00e4uft</seg></tuv></tu>"
                                         "<tu><tuv xml:lang='en'><seg>x</seg></tuv></tu></body></tmx>",
                                     {"x.tmx", "en", "deu"});
  ASSERT_EQ(units.size(), 1u);
  EXPECT_EQ(units[0].source, "a dog runs");
  EXPECT_EQ(units[0].target, "ein Hund & l\u00e4uft");
}

TEST(Xliff, ControlCharactersAreNotWritten) {
  const std::string unit = "<trans-unit><source>dog</source>";
  const auto document = read_document(de(unit + "</trans-unit>"), {"x.xlf", "en", "de"});
  EXPECT_TRUE(contains(document->write(std::vector<Segment>{{"a\1b<", {}, {}}}), ">a b&lt;</target>"));
}

TEST(Xliff, TooManyAttributesAreRefused) {
  std::string file = "<xliff version='1.2'";
  while (file.size() < 41'000'000) file += " a=''";
  EXPECT_TRUE(contains(refusal(file + "/>", "x.xlf"), "x.xlf", "attributes", "8000000"));
}

TEST(XmlPlaces, AttributesAreSet) {
  EXPECT_EQ(with_attribute("<a/>", "x", "1<"), "<a x=\"1&lt;\"/>");
  EXPECT_EQ(with_attribute("<a b='x=1' x = '2' >", "x", "3"), "<a b='x=1' x = \"3\" >");
  EXPECT_EQ(with_attribute("<a/>", "x", "a\"b\1"), "<a x=\"a&quot;b \"/>");
  EXPECT_EQ(without_attribute("<a b='1' x = '2' c=''/>", "x"), "<a b='1' c=''/>");
  EXPECT_EQ(without_attribute("<a b='1' >", "x"), "<a b='1' >");
  EXPECT_EQ(with_attribute("<a b=\"1\" >", "x", "3"), "<a b=\"1\" x=\"3\" >");
}

std::string with_words_in_any_order(const Document& document, RandomSequence& random) {
  const DocumentSentences sentences(document, {});
  return sentences.write("de", [&](std::size_t s) {
    const std::string text = sentences.text(s);
    Translated t;
    for (std::vector<Range> words = words_of(text); !words.empty();) {
      const auto w = words.begin() + static_cast<std::ptrdiff_t>(random.below(words.size()));
      const std::size_t at = t.text.size();
      t.text += text.substr(w->begin, w->size()) + " ";
      t.links.push_back({*w, {at, t.text.size() - 1}, 1});
      words.erase(w);
    }
    return t;
  });
}

// In each unit of XLIFF 1, the ends of ranges stand in the target as they do in the source, if each occurs once.
void expect_ordered_ranges(const std::string& xml) {
  const auto content = [](const std::string& unit, const std::string& name) {
    const std::size_t open = unit.find("<" + name), begin = unit.find('>', open) + 1;
    const std::size_t end = unit.find("</" + name + ">", begin);
    return open == std::string::npos || end == std::string::npos ? "" : unit.substr(begin, end - begin);
  };
  for (std::size_t at = xml.find("<trans-unit>"); at != std::string::npos; at = xml.find("<trans-unit>", at + 1)) {
    const std::string unit = xml.substr(at, xml.find("</trans-unit>", at) - at);
    const std::string source = content(unit, "source"), target = content(unit, "target");
    for (const std::string id : {"3", "4"}) {
      const std::string begin = "<bx id='" + id + "'/>", end = "<ex id='" + id + "'/>";
      if (source.find(begin) != source.rfind(begin) || source.find(end) != source.rfind(end)) continue;
      if (source.find(begin) < source.find(end) && source.find(end) != std::string::npos) {
        EXPECT_LE(target.find(begin), target.find(end)) << unit;
      }
    }
  }
}

// What is written is of the same format, and translated completely.
TEST(Xliff, RandomFilesAreReadAgain) {
  const std::vector<std::string> parts{"<trans-unit>",
                                       "</trans-unit>",
                                       "<source>",
                                       "</source>",
                                       "<target>",
                                       "</target>",
                                       "<target state='new'/>",
                                       "<g id='1'>",
                                       "</g>",
                                       "<x id='2'/>",
                                       "<bx id='3'/>",
                                       "<ex id='3'/>",
                                       "<bx id='4'/>",
                                       "<ex id='4'/>",
                                       "<mrk mtype='seg'>",
                                       "</mrk>",
                                       "<seg-source>",
                                       "</seg-source>",
                                       "dog ",
                                       "cat",
                                       "&amp;",
                                       "&#228;",
                                       "<![CDATA[x ]]>",
                                       "<!-- - -->",
                                       "<?p i?>",
                                       "\n ",
                                       "<group>",
                                       "</group>",
                                       "<segment>",
                                       "</segment>",
                                       "12"};
  int read = 0;
  test::rounds(20'000, [&](RandomSequence& random) {
    std::string text;
    for (std::uint64_t n = random.below(8); n > 0; --n) text += parts[random.below(parts.size())];
    if (random.below(2) == 0) text = "<trans-unit><source>" + text + "</source></trans-unit>";
    const bool two = random.below(3) == 0;
    text = two ? "<xliff version='2.1' srcLang='en'><file><unit><segment><source>" + text +
                     "</source></segment></unit></file></xliff>"
               : xliff(text);
    std::unique_ptr<Document> document;
    error_of([&] { document = read_document(text, {"x.xlf", "en", "de"}); });
    if (!document) return;
    ++read;
    const std::string out = capitals_of(*document);
    const auto again = read_document(out, {"x.xlf", "en", "de"});
    EXPECT_TRUE(again->segments().empty()) << text << "\n" << out;
    EXPECT_EQ(again->write({}), out);
    const std::string shuffled = with_words_in_any_order(*document, random);
    EXPECT_TRUE(read_document(shuffled, {"x.xlf", "en", "de"})->segments().empty()) << text << "\n" << shuffled;
    if (!two) expect_ordered_ranges(shuffled);
  });
  EXPECT_GT(read, static_cast<int>(test::round_count(20'000) / 20));
}

}  // namespace
}  // namespace tril::document::bilingual_test

// Office documents: paragraphs are whole across runs, marks and fields travel, everything else stays byte for byte.
#include <gtest/gtest.h>

#include <functional>

#include "document/formats/formats.h"
#include "document/office/package.h"
#include "document/segments/document_sentences.h"
#include "document/segments/words.h"
#include "format/xml_file.h"
#include "format/zip_write.h"
#include "support/contains.h"
#include "support/document_text.h"
#include "support/error_of.h"
#include "support/linear_time.h"
#include "support/office_file.h"
#include "support/rounds.h"

namespace tril::document::office_test {
namespace {

using namespace tril::testing;

std::vector<std::string> texts(const std::string& bytes, const std::string& name) {
  return texts_of(*read_document(bytes, {name}));
}
// The body of a DOCX file in capital letters.
std::string word(const std::string& body) {
  const auto document = read_document(docx_file(body), {"x.docx"});
  return between(member_of(capitals_of(*document), "word/document.xml"), "<w:body>", "</w:body>");
}
std::string slide(const std::string& shape) {
  return between(member_of(capitals_of(*read_document(pptx_file(shape), {"x.pptx"})), "ppt/slides/slide1.xml"),
                 "<p:txBody>", "</p:txBody>");
}
std::string strings(const std::string& items, std::vector<OfficeMember> others = {}) {
  return between(
      member_of(capitals_of(*read_document(xlsx_file(items, std::move(others)), {"x.xlsx"})), "xl/sharedStrings.xml"),
      "main\">", "</sst>");
}
std::string open_document(const std::string& body) {
  return between(member_of(capitals_of(*read_document(opendocument_file(body), {"x.odt"})), "content.xml"),
                 "<office:body>", "</office:body>");
}
std::string p(const std::string& content) {
  return "<w:p>" + content + "</w:p>";
}
std::string r(const std::string& text, const std::string& properties = "") {
  const bool spaced = text.front() == ' ' || text.back() == ' ';
  return "<w:r>" + (properties.empty() ? "" : "<w:rPr>" + properties + "</w:rPr>") + "<w:t" +
         (spaced ? " xml:space=\"preserve\">" : ">") + text + "</w:t></w:r>";
}

TEST(Docx, RunsOfEqualPropertiesAreOne) {
  EXPECT_EQ(word(p("<w:r w:rsidR=\"1\"><w:t>A d</w:t></w:r><w:proofErr w:type=\"spellStart\"/><w:r><w:rPr><w:lang "
                   "w:val=\"en-US\"/></w:rPr><w:t>og </w:t></w:r><w:r><w:t xml:space=\"preserve\">runs.</w:t></w:r>")),
            p(r("A DOG RUNS.")));
  EXPECT_EQ(texts(docx_file(p(r("a ") + r("red", "<w:b/>") + r(" ball", "<w:b w:val=\"0\"/>"))), "x.docx"),
            std::vector<std::string>{"a red ball"});
  EXPECT_EQ(word(p("<w:pPr><w:jc/></w:pPr>" + r("a dog ") + r("and", "<w:b/>") + r(" a cat"))),
            p("<w:pPr><w:jc/></w:pPr>" + r("A DOG ") + r("AND", "<w:b/>") + r(" A CAT")));
  EXPECT_EQ(word(p(r("all of it", "<w:b/>"))), p(r("ALL OF IT", "<w:b/>")));
  EXPECT_EQ(word(p(r("12 &amp; 3"))), p(r("12 &amp; 3"))) << "nothing to translate";
  EXPECT_EQ(word(p(r("a &lt;b&gt; &amp; c"))), p(r("A &lt;B&gt; &amp; C")));
}

TEST(Docx, MarksTravel) {
  const std::string link = "<w:hyperlink r=\"1\">",
                    note = "<w:r><w:rPr><w:x/></w:rPr><w:footnoteReference w:id=\"2\"/></w:r>";
  EXPECT_EQ(word(p(r("see ") + link + r("this page", "<w:u/>") + "</w:hyperlink>" + note + r(" now"))),
            p(r("SEE ") + link + r("THIS PAGE", "<w:u/>") + "</w:hyperlink>" + note + r(" NOW")));
  EXPECT_EQ(word(p(link + r("all") + "</w:hyperlink>")), p(link + r("ALL") + "</w:hyperlink>"));
  EXPECT_EQ(word(p(r("a ") + "<w:bookmarkStart w:id=\"1\"/>" + r("dog") + "<w:bookmarkEnd w:id=\"1\"/>" + r(" runs"))),
            p(r("A ") + "<w:bookmarkStart w:id=\"1\"/>" + r("DOG") + "<w:bookmarkEnd w:id=\"1\"/>" + r(" RUNS")));
  EXPECT_EQ(word(p("<w:r><w:t>one</w:t><w:br/><w:t>two</w:t></w:r>")),
            p("<w:r><w:t>ONE</w:t><w:br/><w:t>TWO</w:t></w:r>"));
  EXPECT_EQ(word(p("<w:r><w:t>name:</w:t><w:tab/><w:t>ann</w:t></w:r>")),
            p("<w:r><w:t>NAME:</w:t><w:tab/><w:t>ANN</w:t></w:r>"));
  EXPECT_EQ(texts(docx_file(p("<w:r><w:t>one</w:t><w:br/><w:t>two</w:t><w:tab/><w:t>three</w:t></w:r>")), "x.docx"),
            (std::vector<std::string>{"one\ntwo", "three"}));
  EXPECT_EQ(word(p(r("a dog") + "<m:oMath><m:r><m:t>x</m:t></m:r></m:oMath>" + r(" runs"))),
            p(r("A DOG") + "<m:oMath><m:r><m:t>x</m:t></m:r></m:oMath>" + r(" RUNS")));
}

TEST(Docx, PropertiesOfPairsComeFirst) {
  for (const std::string pair : {"smartTag", "customXml"}) {
    const std::string open = "<w:" + pair + "><w:" + pair + "Pr/>", close = "</w:" + pair + ">";
    EXPECT_EQ(word(p(r("see ") + open + r("ann") + close + r(" now"))),
              p(r("SEE ") + open + r("ANN") + close + r(" NOW")));
  }
  const std::string open = "<text:a><office:event-listeners/>";
  EXPECT_EQ(open_document("<text:p>see " + open + "ann</text:a> now</text:p>"),
            "<text:p>SEE " + open + "ANN</text:a> NOW</text:p>");
}

TEST(Docx, ChangesAndFieldsStay) {
  const std::string deleted = "<w:del><w:r><w:delText>old</w:delText></w:r></w:del>";
  EXPECT_EQ(word(p(r("a ") + deleted + "<w:ins>" + r("new") + "</w:ins>" + r(" dog"))),
            p(r("A ") + deleted + "<w:ins>" + r("NEW") + "</w:ins>" + r(" DOG")));
  const auto field = [](const std::string& code, const std::string& result) {
    return "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText> " + code +
           "</w:instrText></w:r><w:r><w:fldChar w:fldCharType=\"separate\"/></w:r>" + result +
           "<w:r><w:fldChar w:fldCharType=\"end\"/></w:r>";
  };
  const std::string figure = field("REF figure", r("Figure 1"));
  EXPECT_EQ(word(p(r("see ") + figure + r(" there"))), p(r("SEE ") + figure + r(" THERE")));
  EXPECT_EQ(texts(docx_file(p(r("see ") + figure + r(" there"))), "x.docx"),
            std::vector<std::string>{"see Figure 1 there"});
  EXPECT_EQ(word(p(r("see ") + field("HYPERLINK \"x\"", r("this")) + r(" now"))),
            p(r("SEE ") + field("HYPERLINK \"x\"", r("THIS")) + r(" NOW")));
  EXPECT_EQ(word(p(field("PAGE", r("4")))), p(field("PAGE", r("4"))));
  const std::string simple = "<w:fldSimple w:instr=\"PAGE\"><w:r><w:t>4</w:t></w:r></w:fldSimple>";
  EXPECT_EQ(word(p(r("page ") + simple + r(" of it"))), p(r("PAGE ") + simple + r(" OF IT")));
  const std::string toc = "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText>TOC</w:instrText></w:r>";
  EXPECT_EQ(word(p(toc + r("entry")) + p("<w:r><w:fldChar w:fldCharType=\"end\"/></w:r>")),
            p(toc + r("ENTRY")) + p("<w:r><w:fldChar w:fldCharType=\"end\"/></w:r>"));
}

TEST(Docx, FieldsThatShareARunEndASegment) {
  const std::string field =
      "<w:r><w:fldChar w:fldCharType=\"begin\"/><w:instrText>REF a</w:instrText><w:fldChar "
      "w:fldCharType=\"separate\"/></w:r>";
  const std::string end = "<w:r><w:fldChar w:fldCharType=\"end\"/></w:r>";
  const std::string written = word(p(r("see ") + field + r("this") + end + r(" there")));
  EXPECT_EQ(written, p("<w:r><w:t xml:space=\"preserve\">SEE </w:t>" + field.substr(5, field.size() - 11) +
                       "<w:t>THIS</w:t></w:r>" + end + r(" THERE")));
}

TEST(Docx, ParagraphsWithinParagraphsAreSegments) {
  const std::string box =
      "<w:r><w:pict><x><w:txbxContent>" + p(r("in the box")) + "</w:txbxContent></x></w:pict></w:r>";
  EXPECT_EQ(texts(docx_file(p(r("around ") + box + r(" it"))), "x.docx"),
            (std::vector<std::string>{"around  it", "in the box"}));
  const std::string capital =
      "<w:r><w:pict><x><w:txbxContent>" + p(r("IN THE BOX")) + "</w:txbxContent></x></w:pict></w:r>";
  EXPECT_EQ(word(p(r("around") + box + r(" it"))), p(r("AROUND") + capital + r(" IT")));
  EXPECT_EQ(word(p(box)), p(capital));
  EXPECT_EQ(word(p(box + r("it"))), p(capital + r("IT")));
}

TEST(Docx, MembersAreKnownByTheirTypes) {
  const auto part = [](const std::string& text) {
    return "<w:x xmlns:w=\"" + word_space + "\">" + p(r(text)) + "</w:x>";
  };
  const std::string file = ooxml_file({{"a.xml", "wordprocessingml.document.main+xml", part("text")},
                                       {"b.xml", "wordprocessingml.header+xml", part("header")},
                                       {"c.xml", "wordprocessingml.footnotes+xml", part("note")},
                                       {"d.xml", "wordprocessingml.comments+xml", part("comment")},
                                       {"e.xml", "wordprocessingml.styles+xml", part("style")}});
  EXPECT_EQ(texts(file, "x.docx"), (std::vector<std::string>{"text", "header", "note", "comment"}));
  EXPECT_EQ(texts(file, "x.DOCM").size(), 4u);
  const std::string strict = ooxml_file({{"a.xml", "wordprocessingml.document.main+xml",
                                          "<x xmlns=\"http://purl.oclc.org/ooxml/wordprocessingml/main\"><p><r><t>a "
                                          "dog</t></r></p></x>"}});
  EXPECT_EQ(member_of(capitals_of(*read_document(strict, {"x.docx"})), "a.xml"),
            "<x xmlns=\"http://purl.oclc.org/ooxml/wordprocessingml/main\"><p><r><t>A DOG</t></r></p></x>");
}

TEST(Pptx, TextOfShapes) {
  const std::string bold = "<a:rPr b=\"1\" lang=\"en-US\"/>";
  EXPECT_EQ(slide("<a:p><a:pPr/><a:r><a:rPr lang=\"en-US\" dirty=\"0\"/><a:t>two </a:t></a:r><a:r><a:rPr "
                  "lang=\"en-GB\"/><a:t>men "
                  "</a:t></a:r><a:r>" +
                  bold + "<a:t>play</a:t></a:r><a:endParaRPr/></a:p>"),
            "<a:p><a:pPr/><a:r><a:rPr lang=\"en-US\" dirty=\"0\"/><a:t>TWO MEN </a:t></a:r><a:r>" + bold +
                "<a:t>PLAY</a:t></a:r><a:endParaRPr/></a:p>");
  const std::string number = "<a:fld id=\"1\" type=\"slidenum\"><a:t>5</a:t></a:fld>";
  EXPECT_EQ(slide("<a:p><a:r><a:t>page </a:t></a:r>" + number +
                  "<a:r><a:t> of it</a:t></a:r><a:br/><a:r><a:t>end</a:t></a:r></a:p>"),
            "<a:p><a:r><a:t>PAGE </a:t></a:r>" + number +
                "<a:r><a:t> OF IT</a:t></a:r><a:br/><a:r><a:t>END</a:t></a:r></a:p>");
}

TEST(Pptx, TabsOfTextAreBoundaries) {
  const auto file = [](const std::string& text) { return pptx_file("<a:p><a:r><a:t>" + text + "</a:t></a:r></a:p>"); };
  EXPECT_EQ(texts(file("name:\tann"), "x.pptx"), (std::vector<std::string>{"name:", "ann"}));
  EXPECT_EQ(texts(file("a\n\tdog"), "x.pptx"), std::vector<std::string>{"a \tdog"}) << "white space of a layout";
  EXPECT_EQ(slide("<a:p><a:r><a:t>name:\tann</a:t></a:r></a:p>"), "<a:p><a:r><a:t>NAME:\tANN</a:t></a:r></a:p>");
  EXPECT_EQ(texts(docx_file(p(r("name:\tann"))), "x.docx"), (std::vector<std::string>{"name:", "ann"}));
}

TEST(Xlsx, StringsOfCells) {
  EXPECT_EQ(strings("<si><t>a dog</t></si><si><t>12</t></si><si><t xml:space=\"preserve\"> x </t></si>"),
            "<si><t>A DOG</t></si><si><t>12</t></si><si><t xml:space=\"preserve\"> X </t></si>");
  EXPECT_EQ(strings("<si><t>one\ntwo_x000D_\nthree</t></si>"), "<si><t>ONE\nTWO_x000D_\nTHREE</t></si>");
  EXPECT_EQ(strings("<si><r><t>and a </t></r><r><rPr><b/></rPr><t>dog</t></r><rPh sb=\"0\"><t>x</t></rPh></si>"),
            "<si><r><t xml:space=\"preserve\">AND A </t></r><r><rPr><b/></rPr><t>DOG</t></r></si>");
  const std::string sheet =
      "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><c t=\"inlineStr\"><is><t>a "
      "dog</t></is></c><c t=\"str\"><f>\"x\"</f><v>x</v></c></worksheet>";
  const auto document = read_document(xlsx_file("", {{"s.xml", "spreadsheetml.worksheet+xml", sheet}}), {"x.xlsx"});
  EXPECT_TRUE(contains(member_of(capitals_of(*document), "s.xml"), "<is><t>A DOG</t></is>", "<f>\"x\"</f><v>x</v>"));
}

TEST(Xlsx, NamesOfColumnsStay) {
  const std::string table =
      "<table xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><tableColumn name=\"a &amp; "
      "b\"/><tableColumn name=\"d_x000a_e\"/></table>";
  EXPECT_EQ(strings("<si><t>a &amp; b</t></si><si><t>c</t></si><si><t>d\ne</t></si>",
                    {{"t.xml", "spreadsheetml.table+xml", table}}),
            "<si><t>a &amp; b</t></si><si><t>C</t></si><si><t>d\ne</t></si>");
  const std::string parts =
      "<si><r><t>a &amp; </t></r>\n <r><t>b</t></r><rPh sb=\"0\"><t>x</t></rPh><phoneticPr/></si>";
  EXPECT_EQ(strings(parts, {{"t.xml", "spreadsheetml.table+xml", table}}), parts);
}

TEST(OpenDocument, TextMarksAndWhiteSpace) {
  EXPECT_EQ(open_document("<text:h>a <text:span x=\"1\">red</text:span> ball</text:h>"),
            "<text:h>A <text:span x=\"1\">RED</text:span> BALL</text:h>");
  EXPECT_EQ(open_document("<text:p>a <text:s text:c=\"2\"/>dog<text:line-break/>runs<text:tab/>now</text:p>"),
            "<text:p>A <text:s text:c=\"2\"/>DOG<text:line-break/>RUNS<text:tab/>NOW</text:p>");
  const std::string note = "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>";
  EXPECT_EQ(open_document("<text:p>a dog" + note + "of ann</text:p></text:note-body></text:note> runs</text:p>"),
            "<text:p>A DOG" + note + "OF ANN</text:p></text:note-body></text:note> RUNS</text:p>");
  EXPECT_EQ(open_document("<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:p>on page "
                          "<text:page-number>4a</text:page-number> of it</text:p>"),
            "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:p>ON PAGE "
            "<text:page-number>4a</text:page-number> OF IT</text:p>");
}

TEST(OpenDocument, SpansOfTheSameLookAreOne) {
  // T1: what an editor left. T2 and T3: bold.
  const auto style = [](const std::string& name, const std::string& properties) {
    return "<style:style style:name=\"" + name + "\" style:family=\"text\"><style:text-properties " + properties +
           "/></style:style>";
  };
  const std::string styles = style("T1", "officeooo:rsid=\"001\" fo:language=\"en\" style:country-asian=\"CN\"") +
                             style("T2", "fo:font-weight=\"bold\" officeooo:rsid=\"002\"") +
                             style("T3", "style:font-size=\"9\" fo:font-weight=\"bold\"") +
                             style("T4", "fo:font-weight=\"bold\" style:font-size=\"9\"");
  const auto written = [&](const std::string& body) {
    const std::string file = opendocument_file("<text:p>" + body + "</text:p>", styles);
    return between(member_of(capitals_of(*read_document(file, {"x.odt"})), "content.xml"), "<text:p>", "</text:p>");
  };
  const auto span = [](const std::string& name, const std::string& text) {
    return "<text:span text:style-name=\"" + name + "\">" + text + "</text:span>";
  };
  EXPECT_EQ(written("a d" + span("T1", "og ru") + "ns"), "A DOG RUNS");
  EXPECT_EQ(written(span("T3", "a d") + span("T4", "og ") + "runs"), span("T3", "A DOG ") + "RUNS");
  EXPECT_EQ(written("a " + span("T2", "red") + " " + span("T3", "dog") + " runs"),
            "A " + span("T2", "RED") + " " + span("T3", "DOG") + " RUNS");
  EXPECT_EQ(written(span("T2", "a<text:s/>dog<text:tab/>runs<text:line-break/>now")),
            span("T2", "A<text:s/>DOG<text:tab/>RUNS<text:line-break/>NOW"));
  EXPECT_EQ(written("see <text:a x=\"1\">" + span("Link", "this ") + span("Link", "page") + "</text:a> now"),
            "SEE <text:a x=\"1\">" + span("Link", "THIS PAGE") + "</text:a> NOW");
  const std::string nested = "<text:span text:style-name=\"T3\">A <text:a x=\"1\">RED</text:a> DOG</text:span>";
  EXPECT_EQ(written("<text:span text:style-name=\"T3\">a <text:a x=\"1\">red</text:a> dog</text:span> runs"),
            nested + " RUNS");
}

// A file whose sentences become their words in reverse order.
std::string reversed(const std::string& bytes, const std::string& name) {
  const auto document = read_document(bytes, {name});
  const DocumentSentences sentences(*document, {});
  return sentences.write("de", [&](std::size_t s) {
    const std::string text = sentences.text(s);
    const std::vector<Range> words = words_of(text);
    Translated t;
    for (std::size_t w = words.size(); w-- > 0;) {
      if (!t.text.empty()) t.text += ' ';
      const std::size_t at = t.text.size();
      t.text += text.substr(words[w].begin, words[w].size());
      t.links.push_back({words[w], {at, t.text.size()}, 1});
    }
    return t;
  });
}

// Words that correspond to none get the format that most of the text has.
TEST(OpenDocument, MostOfTheTextSaysTheFormat) {
  const auto span = [](const std::string& name, const std::string& text) {
    return "<text:span text:style-name=\"" + name + "\">" + text + "</text:span>";
  };
  const auto document = read_document(
      opendocument_file("<text:p>" + span("A", "one two three ") + span("B", "four") + "</text:p>"), {"x.odt"});
  const DocumentSentences sentences(*document, {});
  const std::string file = sentences.write("de", [&](std::size_t s) {
    const std::string text = sentences.text(s);
    return Translated{"new four words", {{Range{text.find("four"), text.size()}, {4, 8}, 1}}};
  });
  EXPECT_EQ(between(member_of(file, "content.xml"), "<text:p>", "</text:p>"),
            span("A", "new ") + span("B", "four") + span("A", " words"));
}

TEST(OpenDocument, RangesBeginBeforeTheyEnd) {
  const auto text = [](const std::string& body) {
    return between(member_of(reversed(opendocument_file("<text:p>" + body + "</text:p>"), "x.odt"), "content.xml"),
                   "<text:p>", "</text:p></office");
  };
  for (const auto& [begin, end] :
       {std::pair{"<text:change-start text:change-id=\"1\"/>", "<text:change-end text:change-id=\"1\"/>"},
        {"<text:bookmark-start text:name=\"1\"/>", "<text:bookmark-end text:name=\"1\"/>"},
        {"<text:toc-mark-start text:id=\"1\"/>", "<text:toc-mark-end text:id=\"1\"/>"},
        {"<text:alphabetical-index-mark-start text:id=\"1\"/>", "<text:alphabetical-index-mark-end text:id=\"1\"/>"},
        {"<office:annotation office:name=\"1\"><text:p>note</text:p></office:annotation>",
         "<office:annotation-end office:name=\"1\"/>"}})
    EXPECT_EQ(text(std::string("a ") + begin + "b c d" + end + " e"), std::string("e ") + begin + "d c b" + end + " a");
  // Of two that cross, one is a pair.
  const std::string crossing = text(
      "a <text:bookmark-start text:name=\"1\"/>b <text:bookmark-start text:name=\"2\"/>c<text:bookmark-end "
      "text:name=\"1\"/> d<text:bookmark-end text:name=\"2\"/> e");
  for (const std::string name : {"1", "2"})
    EXPECT_LT(crossing.find("bookmark-start text:name=\"" + name), crossing.find("bookmark-end text:name=\"" + name))
        << crossing;
}

TEST(OpenDocument, CellsOfTextOnly) {
  const std::string kept =
      "<table:table-cell office:value-type=\"date\"><text:p>1 May</text:p></table:table-cell><table:table-cell "
      "office:value-type=\"string\" table:formula=\"of:=A1\"><text:p>may</text:p></table:table-cell>";
  EXPECT_EQ(
      open_document(kept + "<table:table-cell office:value-type=\"string\"><text:p>may</text:p></table:table-cell>"),
      kept + "<table:table-cell office:value-type=\"string\"><text:p>MAY</text:p></table:table-cell>");
}

TEST(OpenDocument, CommentsOfNumbersAndPromptsOfMasters) {
  EXPECT_EQ(open_document("<table:table-cell office:value-type=\"float\"><office:annotation><text:p>why</text:p>"
                          "</office:annotation><text:p>2 m</text:p></table:table-cell>"),
            "<table:table-cell office:value-type=\"float\"><office:annotation><text:p>WHY</text:p>"
            "</office:annotation><text:p>2 m</text:p></table:table-cell>");
  EXPECT_EQ(open_document("<master-page><frame class=\"title\"><text:p>click</text:p></frame><frame "
                          "class=\"footer\"><text:p>a</text:p></frame></master-page><frame "
                          "class=\"title\"><text:p>b</text:p></frame>"),
            "<master-page><frame class=\"title\"><text:p>click</text:p></frame><frame "
            "class=\"footer\"><text:p>A</text:p></frame></master-page><frame "
            "class=\"title\"><text:p>B</text:p></frame>");
}

TEST(Epub, PagesAndTitles) {
  const std::string book = epub_file("<p>a <b>red</b> ball &amp; &nbsp;co</p>");
  EXPECT_EQ(texts(book, "x.epub"), (std::vector<std::string>{"A book", "a red ball & \u00a0co", "Chapter one"}));
  const std::string capital = capitals_of(*read_document(book, {"x.epub"}));
  EXPECT_TRUE(contains(member_of(capital, "t 1.xhtml"), "<p>A <b>RED</b> BALL &amp; &nbsp;CO</p>"));
  EXPECT_TRUE(contains(member_of(capital, "a/toc.ncx"), "<text>CHAPTER ONE</text>"));
  EXPECT_TRUE(contains(member_of(capital, "a/b.opf"), "<dc:title>A BOOK</dc:title>"));
  EXPECT_EQ(capital.substr(30, 28), "mimetypeapplication/epub+zip") << "first and stored";
}

TEST(Packages, UntranslatedDocumentsKeepTheirBytes) {
  for (const auto& [bytes, name] : {std::pair{docx_file(p(r("a dog"))), "x.docx"},
                                    {epub_file("<p>a</p>"), "x.epub"},
                                    {opendocument_file(""), "x.odt"}}) {
    const auto document = read_document(bytes, {name});
    EXPECT_EQ(document->write(document->segments()), bytes);
  }
}

// What the programs that made the file refuse, in the members that are read.
TEST(Packages, DamagedMembersAreRefused) {
  const auto refused = [](const std::string& bytes, const std::string& name) {
    return error_of([&] { read_document(bytes, {name}); });
  };
  const std::string list = "<Relationships xmlns=\"r\">";
  const auto with_rels = [&](const std::string& rels) {
    return ooxml_file({{"word/document.xml", "wordprocessingml.document.main+xml", word_xml(p(r("a dog")))},
                       {"word/_rels/document.xml.rels", "relationships+xml", rels}});
  };
  EXPECT_EQ(refused(with_rels(list + "</Relationships>"), "x.docx"), "");
  EXPECT_TRUE(contains(refused(with_rels(list), "x.docx"), "x.docx: word/_rels/document.xml.rels"));
  const std::string book_of_sheets = ooxml_file({{"xl/workbook.xml", "spreadsheetml.sheet.main+xml", "<workbook"}});
  EXPECT_TRUE(contains(refused(book_of_sheets, "x.xlsx"), "x.xlsx: xl/workbook.xml"));
  EXPECT_TRUE(contains(refused(docx_file("<w:p w:a=\"1\" w:b=\"2\" w:a=\"1\"/>"), "x.docx"), "word/document.xml",
                       "<w:p>", "w:a twice"));
  EXPECT_TRUE(contains(refused(docx_file("<w:p w:a=\"\xc3\"/>"), "x.docx"), "word/document.xml", "not UTF-8"));
  EXPECT_TRUE(contains(refused(docx_file("<nobody:p/>"), "x.docx"), "word/document.xml", "nobody:p", "not declared"));
  EXPECT_TRUE(
      contains(refused(docx_file("<w:p nobody:a=\"1\"/>"), "x.docx"), "word/document.xml", "nobody:a", "not declared"));
  const auto book = [](const std::string& page) {
    return raw_zip(
        {{"mimetype", "application/epub+zip"},
         {"META-INF/container.xml",
          "<container xmlns=\"urn:oasis:names:tc:opendocument:xmlns:container\"><rootfile "
          "full-path=\"b.opf\"/></container>"},
         {"b.opf",
          "<package xmlns=\"http://www.idpf.org/2007/opf\"><item href=\"" + page +
              "\" media-type=\"application/xhtml+xml\"/><item href=\"x.png\" media-type=\"image/png\"/></package>"},
         {"t.xhtml", "<p>a</p>"}});
  };
  EXPECT_EQ(refused(book("t.xhtml"), "x.epub"), "") << "a picture may be missing";
  EXPECT_TRUE(contains(refused(book("u.xhtml"), "x.epub"), "x.epub: b.opf", "u.xhtml", "not in the book"));
}

// A member without text is checked as long as the file has few of them.
TEST(Packages, DamagedMembersWithoutTextAreRefused) {
  const auto error = [](const std::string& name, const std::string& type, const std::string& content) {
    return error_of([&] { read_document(xlsx_file("<si><t>a dog</t></si>", {{name, type, content}}), {"x.xlsx"}); });
  };
  const std::string styles = "spreadsheetml.styles+xml", sheet = "spreadsheetml.worksheet+xml";
  EXPECT_EQ(error("xl/styles.xml", styles, "<styleSheet/>"), "");
  EXPECT_TRUE(contains(error("xl/styles.xml", styles, "<styleSheet>"), "x.xlsx: xl/styles.xml", "well-formed"));
  EXPECT_EQ(error("xl/sheet1.xml", sheet, "<worksheet><c><v>1</v></c></worksheet>"), "");
  EXPECT_TRUE(contains(error("xl/sheet1.xml", sheet, "<worksheet><c><v>1</c></worksheet>"), "x.xlsx: xl/sheet1.xml"));
  EXPECT_EQ(error("xl/theme1.xml", "theme+xml", "<theme>"), "") << "office programs do without it";
  EXPECT_EQ(error("xl/drawing.vml", "vmlDrawing", "<xml><br></xml>"), "") << "Excel itself writes such";
  EXPECT_EQ(error("xl/styles.xml", styles, std::string("\xff\xfe<\0a\0/\0>\0", 10)), "") << "UTF-16";
  const auto settings = [](const std::string& content) {
    return raw_zip({{"META-INF/manifest.xml", "<manifest/>"}, {"content.xml", "<x/>"}, {"settings.xml", content}});
  };
  EXPECT_EQ(error_of([&] { read_document(settings("<x/>"), {"x.odt"}); }), "");
  EXPECT_TRUE(contains(error_of([&] { read_document(settings("<x>"), {"x.odt"}); }), "x.odt: settings.xml"));
  const std::string large = "<worksheet>" + std::string(most_checked_bytes, ' ') + "<c>";
  EXPECT_EQ(error("xl/sheet1.xml", "spreadsheetml.pivotCacheRecords+xml", large), "") << "too large to check";
}

// Before anything is translated, not when the translation is written.
TEST(Packages, MembersThatCannotBeWritten) {
  std::vector<RawMember> members;
  for (std::size_t i = 0; i <= most_written_members; ++i) members.push_back({std::to_string(i), ""});
  EXPECT_TRUE(contains(error_of([&] { read_document(raw_zip(members), {"x.docx"}); }), "x.docx", "65535 members",
                       "at most 65534"));
}

TEST(Packages, WhatIsNotWellFormedIsRefused) {
  const auto error = [](const std::string& text) {
    return error_of([&] { read_document(docx_file(text), {"x.docx"}); });
  };
  for (const char* const right : {"<w:p w:a=\"&amp;&lt;&#65;&#x1F600;&quot;'>\"/>", "<w:p>&gt;&apos;]]&gt;</w:p>"})
    EXPECT_EQ(error(right), "") << right;
  for (const char* const wrong :
       {"<w:p>&</w:p>", "<w:p>&x;</w:p>", "<w:p>&#0;</w:p>", "<w:p>&#xD800;</w:p>", "<w:p>&#65</w:p>", "<w:p>&#;</w:p>",
        "<w:p w:a=\"&\"/>", "<w:p w:a=\"a<b\"/>", "<w:p>\x01</w:p>", "<w:p w:a=\"\x1f\"/>", "<w:/>", "<w::p/>",
        "<w:p w:=\"1\"/>", "<w:p w:a:b=\"1\"/>"})
    EXPECT_TRUE(contains(error(wrong), "x.docx: word/document.xml", "not well-formed XML")) << wrong << error(wrong);
  EXPECT_TRUE(contains(error("\n\n<w:p>\x01</w:p>"), "line 4", "0x01"));
}

// What leads a program from a package to its parts.
TEST(Packages, PartsThatAreMissingAreNamed) {
  const auto error = [](std::vector<OfficeMember> members) {
    return error_of([&] { read_document(ooxml_file(std::move(members)), {"x.xlsx"}); });
  };
  const OfficeMember book{
      "xl/workbook.xml", "spreadsheetml.sheet.main+xml",
      "<workbook xmlns:r=\"r\"><sheets><sheet name=\"a\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"};
  const OfficeMember sheet{"xl/sheets/sheet 1.xml", "spreadsheetml.worksheet+xml", "<worksheet/>"};
  const auto list = [](const std::vector<std::pair<std::string, std::string>>& targets) {
    return OfficeMember{"xl/_rels/workbook.xml.rels", "relationships+xml", relationships(targets)};
  };
  EXPECT_EQ(error({book, sheet, list({{"worksheet", "sheets/sheet%201.xml"}})}), "");
  EXPECT_EQ(error({book, sheet, list({{"worksheet", "/XL/Sheets/Sheet%201.xml"}})}), "") << "names differ in case";
  EXPECT_EQ(error({book, sheet, list({{"worksheet", "../xl/sheets/sheet%201.xml"}, {"image", "NULL"}})}), "")
      << "a picture may be missing";
  EXPECT_TRUE(contains(error({book, list({{"worksheet", "sheets/sheet%201.xml"}})}),
                       "x.xlsx: xl/_rels/workbook.xml.rels", "xl/sheets/sheet 1.xml", "not in the file"));
  EXPECT_TRUE(contains(error({book, sheet}), "x.xlsx: xl/workbook.xml", "r1", "xl/_rels/workbook.xml.rels"));
  EXPECT_TRUE(contains(error({book, sheet, list({})}), "x.xlsx: xl/workbook.xml", "r1"));
  EXPECT_TRUE(
      contains(error({book, sheet, {"_rels/.rels", "relationships+xml", relationships({})}}), "x.xlsx", "main part"));
  const std::string external =
      "<Relationships><Relationship Id=\"r1\" Type=\"x/slide\" TargetMode=\"External\" "
      "Target=\"http://example.org/\"/></Relationships>";
  EXPECT_EQ(error({sheet, {"a/_rels/b.xml.rels", "relationships+xml", external}}), "");
}

TEST(Packages, HostileFilesAreRefused) {
  const auto refused = [](const std::string& bytes, const std::string& name) {
    return error_of([&] { read_document(bytes, {name}); });
  };
  const std::string ole = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
  EXPECT_TRUE(contains(refused(ole, "x.docx"), "x.docx", "Office 97", ".docx"));
  EXPECT_TRUE(contains(refused(ole + std::string("E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0", 32), "x.docx"),
                       "is encrypted"));
  EXPECT_TRUE(contains(refused(ole, "x.doc"), "Office 97", ".docx"));
  EXPECT_TRUE(contains(refused("hello", "x.odt"), "x.odt", "ZIP"));
  EXPECT_TRUE(contains(refused(raw_zip({{"a", "b"}}), "x.docx"), "[Content_Types].xml"));
  // An archive without its main part is no document, rather than one without texts.
  const std::string no_types = "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>";
  EXPECT_TRUE(
      contains(refused(raw_zip({{"[Content_Types].xml", no_types}, {"word/document.xml", word_xml("")}}), "x.docx"),
               "x.docx", "[Content_Types].xml", "main part"));
  EXPECT_TRUE(contains(refused(raw_zip({{"META-INF/manifest.xml", "<manifest/>"}}), "x.odt"), "x.odt", "content.xml"));
  EXPECT_TRUE(contains(refused(raw_zip({{"../a", "b"}}), "x.docx"), "leads out"));
  const std::string whole = docx_file(p(r("a")));
  EXPECT_NE(refused(whole.substr(0, whole.size() / 2), "x.docx"), "");
  EXPECT_TRUE(contains(refused(docx_file(std::string(10 << 20, ' ')), "x.docx"), "word/document.xml", "200 times"));
  const std::string laughs = "<!DOCTYPE x [<!ENTITY a \"b\">]><x>&a;</x>";
  EXPECT_TRUE(
      contains(refused(ooxml_file({{"a.xml", "wordprocessingml.header+xml", laughs}}), "x.docx"), "a.xml", "entities"));
  EXPECT_TRUE(contains(refused(docx_file("<w:p>"), "x.docx"), "word/document.xml", "well-formed"));
  EXPECT_TRUE(
      contains(refused(ooxml_file({{"_xmlsignatures/s.xml", "digital-signature-xmlsignature+xml", ""}}), "x.docx"),
               "signature"));
  EXPECT_TRUE(
      contains(refused(raw_zip({{"META-INF/manifest.xml", "<a><encryption-data/></a>"}}), "x.odt"), "is encrypted"));
  EXPECT_TRUE(
      contains(refused(raw_zip({{"META-INF/encryption.xml", "<a><EncryptionMethod Algorithm=\"x\"/></a>"}}), "x.epub"),
               "is encrypted"));
}

// A random paragraph: runs of some properties, links, bookmarks, breaks and notes, properly nested.
std::string random_inlines(RandomSequence& random, int depth) {
  std::string all;
  for (std::uint64_t n = random.below(6); n > 0; --n) {
    const std::string id = std::to_string(random.below(4));
    switch (random.below(depth > 0 ? 11 : 8)) {
      case 0:
        all += "<w:r><w:t>one</w:t><w:br/><w:t xml:space=\"preserve\"> two. </w:t></w:r>";
        break;
      case 1:
        all += "<w:r><w:footnoteReference w:id=\"" + id + "\"/></w:r>";
        break;
      case 2:
        all += "<w:bookmarkStart w:id=\"" + id + "\"/>";
        break;
      case 3:
        all += "<w:bookmarkEnd w:id=\"" + id + "\"/>";
        break;
      case 4:
        all += "<w:r><w:rPr><w:b/></w:rPr><w:t>x</w:t><w:tab/><w:drawing/></w:r>";
        break;
      case 5:
        all += "<w:r><w:fldChar w:fldCharType=\"" + std::string(random.below(2) == 0 ? "begin" : "end") + "\"/></w:r>";
        break;
      case 8:
        all += "<w:hyperlink>" + random_inlines(random, depth - 1) + "</w:hyperlink>";
        break;
      case 9:
        all += "<w:sdt><w:sdtPr/><w:sdtContent>" + random_inlines(random, depth - 1) + "</w:sdtContent></w:sdt>";
        break;
      case 10:
        all += "<w:r><w:pict>" + p(random_inlines(random, depth - 1)) + "</w:pict></w:r>";
        break;
      default:
        all +=
            r(random.below(3) == 0 ? " " : "a dog runs. ", random.below(2) == 0 ? "" : "<w:u w:val=\"" + id + "\"/>");
    }
  }
  return all;
}

// How often each element occurs, except for runs and their text, which are joined and divided.
std::map<std::string, int> elements_of(const std::string& xml) {
  const pugi::xml_document file = parse_xml(xml, "x.xml");
  std::map<std::string, int> counts;
  struct Walker final : pugi::xml_tree_walker {
    std::map<std::string, int>* counts = nullptr;
    bool for_each(pugi::xml_node& node) override {
      const std::string name = node.name();
      const std::string parent = node.parent().name();
      EXPECT_FALSE(name == "w:r" && (parent == "w:r" || parent == "w:t")) << parent;
      EXPECT_FALSE(name == "w:t" && parent != "w:r") << parent;
      if (!name.empty() && name != "w:r" && name != "w:t" && name != "w:rPr" && name != "w:b" && name != "w:u")
        ++(*counts)[name + node.attribute("w:id").value() + node.attribute("w:fldCharType").value()];
      return true;
    }
  } walker;
  walker.counts = &counts;
  pugi::xml_document& tree = const_cast<pugi::xml_document&>(file);
  tree.traverse(walker);
  return counts;
}

// Paragraphs that would take minutes in quadratic time.
TEST(Docx, ManyPartsTakeLinearTime) {
  using Part = std::function<std::string(std::size_t)>;
  const auto many = [](std::size_t n, const Part& part) {
    std::string all;
    for (std::size_t i = 0; i < n; ++i) all += part(i);
    return all;
  };
  const auto id = [](std::size_t i) { return " w:id=\"" + std::to_string(i) + "\"/>"; };
  const Part begins = [](std::size_t) { return "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r>"; };
  const Part ends = [](std::size_t) { return "<w:r><w:fldChar w:fldCharType=\"end\"/></w:r>"; };
  const Part starts = [&](std::size_t i) { return "<w:bookmarkStart" + id(i); };
  const Part stops = [&](std::size_t i) { return "<w:bookmarkEnd" + id(i); };
  const std::vector<Part> bodies{
      [&](std::size_t n) { return many(n, starts) + many(n, stops); },
      [&](std::size_t n) { return many(n, starts) + "<w:hyperlink>" + many(n, stops) + "</w:hyperlink>"; },
      [&](std::size_t n) {
        return many(n, [](std::size_t) { return "<w:fldSimple>" + r("a 1") + "</w:fldSimple>" + r(" b "); });
      },
      [&](std::size_t n) { return many(n, begins) + r("a") + many(n, ends); },
      [&](std::size_t n) { return many(n, begins) + "<w:hyperlink>" + many(n, ends) + "</w:hyperlink>"; },
      [&](std::size_t n) { return many(n, [&](std::size_t i) { return r("a", "<w:u" + id(i)); }); },
      [&](std::size_t n) { return many(n, [](std::size_t) { return "<w:r><w:x/><w:tab/></w:r>"; }); },
      [&](std::size_t n) {
        return many(n, [](std::size_t i) {
          return "<w:hyperlink xmlns:a" + std::to_string(i) + "=\"b\">" + r("a") + "</w:hyperlink>";
        });
      }};
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    SCOPED_TRACE(b);
    const auto file = [&](std::size_t n) {
      const std::string xml = word_xml(p(r("begin") + bodies[b](n) + r("end")));
      return ooxml_file({{"word/document.xml", "wordprocessingml.document.main+xml", xml, false}});
    };
    test::expect_linear_time(150, file, [](const std::string& bytes) {
      const auto document = read_document(bytes, {"x.docx"});
      EXPECT_EQ(document->write(document->segments()), bytes);
      const std::string xml = member_of(bytes, "word/document.xml");
      const std::string written = member_of(capitals_of(*document), "word/document.xml");
      EXPECT_NE(written, xml);
      EXPECT_EQ(elements_of(written), elements_of(xml));
    });
  }
}

// The deepest end of a field that has no beginning; and whether all ranges begin before they end that did.
int least_depth(const std::string& xml) {
  int depth = 0, least = 0;
  for (std::size_t at = xml.find("fldCharType=\""); at != std::string::npos; at = xml.find("fldCharType=\"", at + 1)) {
    depth += xml.compare(at + 13, 5, "begin") == 0 ? 1 : -1;
    least = std::min(least, depth);
  }
  return least;
}
void expect_ordered_ranges(const std::string& before, const std::string& after) {
  for (const char id : {'0', '1', '2', '3'}) {
    const std::string begin = std::string("<w:bookmarkStart w:id=\"") + id + "\"/>",
                      end = std::string("<w:bookmarkEnd w:id=\"") + id + "\"/>";
    if (before.find(begin) != before.rfind(begin) || before.find(end) != before.rfind(end)) continue;
    if (before.find(begin) < before.find(end)) {
      EXPECT_LE(after.find(begin), after.find(end)) << before << "\n" << after;
    }
  }
}

TEST(Docx, NothingIsLostWhateverTheNesting) {
  test::rounds(3000, [](RandomSequence& random) {
    const std::string source = docx_file(p(random_inlines(random, 3)));
    const auto document = read_document(source, {"x.docx"});
    ASSERT_EQ(document->write(document->segments()), source);
    // Words in any order, with or without links.
    const DocumentSentences sentences(*document, {});
    const std::string written = sentences.write("de", [&](std::size_t s) {
      const std::string text = sentences.text(s);
      Translated t{random.below(4) == 0 ? "z" : "ein " + text + " hund", {}};
      for (std::uint64_t n = random.below(6); n > 0 && !text.empty(); --n) {
        const std::size_t from = random.below(text.size()), to = random.below(t.text.size());
        t.links.push_back({{from, from + 1}, {to, to + 1}, 1});
      }
      return t;
    });
    const std::string before = member_of(source, "word/document.xml"), after = member_of(written, "word/document.xml");
    ASSERT_EQ(elements_of(after), elements_of(before)) << before << "\n" << after;
    EXPECT_EQ(least_depth(after), least_depth(before)) << before << "\n" << after;
    expect_ordered_ranges(before, after);
    read_document(written, {"x.docx"});
  });
}

}  // namespace
}  // namespace tril::document::office_test

// OpenDocument files: marks and white space, spans of one look, ranges, cells.
#include <gtest/gtest.h>

#include "document/formats/formats.h"
#include "document/segments/document_sentences.h"
#include "document/segments/words.h"
#include "support/document_text.h"
#include "support/office_file.h"
#include "support/office_parts.h"

namespace tril::document::open_document_test {
namespace {

using namespace tril::testing;

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

}  // namespace
}  // namespace tril::document::open_document_test

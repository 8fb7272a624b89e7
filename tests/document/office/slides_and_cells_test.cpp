// Presentations and spreadsheets: texts of shapes, strings of cells.
#include <gtest/gtest.h>

#include "document/formats/formats.h"
#include "support/contains.h"
#include "support/document_text.h"
#include "support/office_file.h"
#include "support/office_parts.h"

namespace tril::document::slides_and_cells_test {
namespace {

using namespace tril::testing;

std::string slide(const std::string& shape) {
  return between(member_of(capitals_of(*read_document(pptx_file(shape), {"x.pptx"})), "ppt/slides/slide1.xml"),
                 "<p:txBody>", "</p:txBody>");
}
std::string strings(const std::string& items, std::vector<OfficeMember> others = {}) {
  return between(
      member_of(capitals_of(*read_document(xlsx_file(items, std::move(others)), {"x.xlsx"})), "xl/sharedStrings.xml"),
      "main\">", "</sst>");
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

}  // namespace
}  // namespace tril::document::slides_and_cells_test

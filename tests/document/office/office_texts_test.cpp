// Office documents: alternative texts of pictures, and the properties of a document.
#include <gtest/gtest.h>

#include "document/formats/formats.h"
#include "support/document_text.h"
#include "support/office_file.h"
#include "support/office_parts.h"

namespace tril::document::office_texts_test {
namespace {

using namespace tril::testing;

const std::string pictures =
    "xmlns:wp=\"http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing\" "
    "xmlns:pic=\"http://schemas.openxmlformats.org/drawingml/2006/picture\"";

// A drawing in a run, with the attributes of its picture.
std::string drawing(const std::string& attributes) {
  return "<w:r><w:drawing " + pictures + "><wp:docPr id=\"1\" name=\"Picture one\" " + attributes +
         "/><pic:cNvPr id=\"0\" name=\"x\" " + attributes + "/></w:drawing></w:r>";
}

TEST(AlternativeTexts, AreTranslatedInWord) {
  for (const std::string before : {"", "<w:r><w:t>a dog</w:t></w:r>"}) {
    const std::string after = before.empty() ? "" : "<w:r><w:t>A DOG</w:t></w:r>";
    EXPECT_EQ(word("<w:p>" + before +
                   drawing("descr=\"a &quot;red&quot; ball&#xA;&lt; 3&#10;it's\" title=\"the ball\"") + "</w:p>"),
              "<w:p>" + after + drawing("descr=\"A &quot;RED&quot; BALL&#xA;&lt; 3&#10;IT'S\" title=\"THE BALL\"") +
                  "</w:p>");
  }
  EXPECT_EQ(word("<w:p>" + drawing("descr='a \"dog\" &amp; it&apos;s' title=\"\"") + "</w:p>"),
            "<w:p>" + drawing("descr='A \"DOG\" &amp; IT&apos;S' title=\"\"") + "</w:p>");
  for (const std::string same : {"descr=\"photo.png\"", "descr=\"12\"", ""})
    EXPECT_EQ(word("<w:p>" + drawing(same) + "</w:p>"), "<w:p>" + drawing(same) + "</w:p>");
  for (const std::string sentence : {"dog.", "图1.两只狗在跑a"})
    EXPECT_NE(word("<w:p>" + drawing("descr=\"" + sentence + "\"") + "</w:p>"),
              "<w:p>" + drawing("descr=\"" + sentence + "\"") + "</w:p>");
  const std::string shape = "<w:p><w:r><w:pict xmlns:v=\"urn:schemas-microsoft-com:vml\"><v:shape alt=\"";
  EXPECT_EQ(word(shape + "a dog\"/></w:pict></w:r></w:p>"), shape + "A DOG\"/></w:pict></w:r></w:p>");
}

TEST(AlternativeTexts, AreTranslatedOnSlidesAndInSheets) {
  const auto file = pptx_file("<p:cNvPr id=\"1\" name=\"n m\" descr=\"a dog\"/><a:p><a:r><a:t>cat</a:t></a:r></a:p>");
  EXPECT_EQ(texts_of(*read_document(file, {"x.pptx"})), (std::vector<std::string>{"a dog", "cat"}));
  const auto sheet = xlsx_file("", {{"xl/drawings/drawing1.xml", "officedocument.drawing+xml",
                                     "<x:wsDr xmlns:x=\"x\"><x:cNvPr descr=\"a dog\"/></x:wsDr>"}});
  EXPECT_EQ(member_of(capitals_of(*read_document(sheet, {"x.xlsx"})), "xl/drawings/drawing1.xml"),
            "<x:wsDr xmlns:x=\"x\"><x:cNvPr descr=\"A DOG\"/></x:wsDr>");
}

TEST(AlternativeTexts, AreTranslatedInOpenDocument) {
  const auto body = [](const std::string& title, const std::string& text) {
    return "<text:p>" + text +
           "<draw:frame xmlns:draw=\"d\" "
           "xmlns:svg=\"urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0\" draw:name=\"a name\"><svg:title>" +
           title + "</svg:title><svg:desc>" + title + " &amp; 1</svg:desc></draw:frame></text:p>";
  };
  EXPECT_EQ(
      between(member_of(capitals_of(*read_document(opendocument_file(body("a dog", "cat")), {"x.odt"})), "content.xml"),
              "<office:body>", "</office:body>"),
      between("<office:body>" + body("A DOG", "CAT"), "<office:body>", "</text:p>") + "</text:p>");
}

TEST(DocumentProperties, TitleSubjectKeywordsAndDescriptionAreTranslated) {
  const auto core = [](const std::string& title, const std::string& subject) {
    return "<cp:coreProperties xmlns:cp=\"http://schemas.openxmlformats.org/package/2006/metadata/core-properties\" "
           "xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:dcterms=\"http://purl.org/dc/terms/\"><dc:title>" +
           title + "</dc:title><dc:subject>" + subject +
           "</dc:subject><dc:creator>Ann Smith</dc:creator><cp:keywords>" + subject + "</cp:keywords><dc:description>" +
           title +
           "</dc:description><cp:lastModifiedBy>Bo Day</cp:lastModifiedBy><dcterms:created>2020-01-01T00:00:00Z"
           "</dcterms:created><cp:category>some kind</cp:category></cp:coreProperties>";
  };
  const std::string types = "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">";
  const auto part = [](const std::string& name, const std::string& type) {
    return "<Override PartName=\"/" + name + "\" ContentType=\"application/vnd.openxmlformats-" + type + "\"/>";
  };
  for (const auto& [name, main_type] : {std::pair{"x.docx", "officedocument.wordprocessingml.document.main+xml"},
                                        {"x.pptx", "officedocument.presentationml.presentation.main+xml"},
                                        {"x.xlsx", "officedocument.spreadsheetml.sheet.main+xml"}}) {
    const std::string file = raw_zip(
        {{"[Content_Types].xml",
          types + part("main.xml", main_type) + part("docProps/core.xml", "package.core-properties+xml") + "</Types>",
          true},
         {"_rels/.rels", relationships({{"officeDocument", "/main.xml"}})},
         {"main.xml", "<x/>", true},
         {"docProps/core.xml", core("a dog", "b &amp; c"), true}});
    EXPECT_EQ(member_of(capitals_of(*read_document(file, {name})), "docProps/core.xml"), core("A DOG", "B &amp; C"));
  }
}

TEST(DocumentProperties, OfOpenDocument) {
  const auto meta = [](const std::string& title, const std::string& keyword) {
    return "<office:document-meta xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" "
           "xmlns:meta=\"urn:oasis:names:tc:opendocument:xmlns:meta:1.0\" "
           "xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><office:meta><dc:title>" +
           title + "</dc:title><dc:subject>" + title + "</dc:subject><meta:keyword>" + keyword +
           "</meta:keyword><dc:description>" + title +
           "</dc:description><meta:initial-creator>Ann Smith</meta:initial-creator><dc:creator>Bo "
           "Day</dc:creator><meta:user-defined meta:name=\"a b\">c "
           "d</meta:user-defined></office:meta></office:document-meta>";
  };
  const std::string file = raw_zip({{"mimetype", "application/vnd.oasis.opendocument.text"},
                                    {"content.xml", "<x/>", true},
                                    {"meta.xml", meta("a dog", "one word"), true},
                                    {"META-INF/manifest.xml", "<manifest/>"}});
  EXPECT_EQ(member_of(capitals_of(*read_document(file, {"x.odt"})), "meta.xml"), meta("A DOG", "ONE WORD"));
}

}  // namespace
}  // namespace tril::document::office_texts_test

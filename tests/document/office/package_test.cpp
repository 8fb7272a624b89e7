// Books, and what is refused in any package: damaged, missing or hostile parts.
#include <gtest/gtest.h>

#include "document/formats/formats.h"
#include "document/office/package.h"
#include "format/zip_write.h"
#include "support/contains.h"
#include "support/document_text.h"
#include "support/error_of.h"
#include "support/office_file.h"
#include "support/office_parts.h"

namespace tril::document::package_test {
namespace {

using namespace tril::testing;

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

}  // namespace
}  // namespace tril::document::package_test

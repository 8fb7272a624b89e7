// Office documents and books put together by hand, for tests and the fuzzer.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/zip_archive.h"
#include "support/raw_zip.h"

namespace tril::testing {

inline const std::string word_space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";

/// A list of relationships, each the end of a type and a target; their ids are r1, r2, ...
inline std::string relationships(const std::vector<std::pair<std::string, std::string>>& list) {
  std::string all = "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">";
  for (std::size_t n = 0; n < list.size(); ++n)
    all += "<Relationship Id=\"r" + std::to_string(n + 1) +
           "\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/" + list[n].first +
           "\" Target=\"" + list[n].second + "\"/>";
  return all + "</Relationships>";
}

/// Members of an OOXML package, each with its content type's end. A package without a main part gets an empty one; without
/// a list of relationships that names it, that list.
struct OfficeMember {
  std::string name, type, content;
  bool packed = true;
};
inline std::string ooxml_file(std::vector<OfficeMember> members) {
  const auto is_main = [](const OfficeMember& m) { return m.type.ends_with(".main+xml"); };
  if (std::none_of(members.begin(), members.end(), is_main))
    members.push_back({"main.xml", "presentationml.presentation.main+xml", "<presentation/>"});
  const auto is_root_list = [](const OfficeMember& m) { return m.name == "_rels/.rels"; };
  if (std::none_of(members.begin(), members.end(), is_root_list))
    members.push_back(
        {"_rels/.rels", "relationships+xml",
         relationships({{"officeDocument", std::find_if(members.begin(), members.end(), is_main)->name}})});
  std::string types = "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">";
  std::vector<RawMember> all{{"[Content_Types].xml", "", true}};
  for (const OfficeMember& m : members) {
    types += "<Override PartName=\"/" + m.name + "\" ContentType=\"application/vnd.openxmlformats-officedocument." +
             m.type + "\"/>";
    all.push_back({m.name, m.content, m.packed});
  }
  all[0].content = types + "</Types>";
  return raw_zip(all);
}

inline std::string word_xml(std::string_view body) {
  return "<?xml version=\"1.0\"?>\n<w:document xmlns:w=\"" + word_space +
         "\" xmlns:m=\"http://schemas.openxmlformats.org/officeDocument/2006/math\"><w:body>" + std::string(body) +
         "</w:body></w:document>";
}
/// A DOCX file. @param body  the content of <w:body>
inline std::string docx_file(std::string_view body) {
  return ooxml_file({{"word/document.xml", "wordprocessingml.document.main+xml", word_xml(body)}});
}
/// A PPTX file of one slide. @param shape  the content of <p:txBody>
inline std::string pptx_file(std::string_view shape) {
  return ooxml_file({{"ppt/slides/slide1.xml", "presentationml.slide+xml",
                      "<p:sld xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\" "
                      "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\"><p:txBody>" +
                          std::string(shape) + "</p:txBody></p:sld>"}});
}
/// An XLSX file. @param items  the content of <sst>
inline std::string xlsx_file(std::string_view items, std::vector<OfficeMember> others = {}) {
  others.insert(others.begin(), {"xl/sharedStrings.xml", "spreadsheetml.sharedStrings+xml",
                                 "<sst xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">" +
                                     std::string(items) + "</sst>"});
  return ooxml_file(others);
}
/// An ODT, ODP or ODS file. @param body  the content of <office:body>. @param styles  of <office:automatic-styles>
inline std::string opendocument_file(std::string_view body, std::string_view styles = "") {
  return raw_zip(
      {{"mimetype", "application/vnd.oasis.opendocument.text"},
       {"content.xml",
        "<office:document-content xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" "
        "xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\" "
        "xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" "
        "xmlns:style=\"urn:oasis:names:tc:opendocument:xmlns:style:1.0\" "
        "xmlns:fo=\"urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0\" "
        "xmlns:officeooo=\"http://openoffice.org/2009/office\"><office:automatic-styles>" +
            std::string(styles) + "</office:automatic-styles><office:body>" + std::string(body) +
            "</office:body></office:document-content>",
        true},
       {"META-INF/manifest.xml", "<m:manifest xmlns:m=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\"/>"}});
}
/// An EPUB file of one page. @param page  the content of <body>
inline std::string epub_file(std::string_view page) {
  return raw_zip(
      {{"mimetype", "application/epub+zip"},
       {"META-INF/container.xml",
        "<container xmlns=\"urn:oasis:names:tc:opendocument:xmlns:container\"><rootfiles><rootfile "
        "full-path=\"a/b.opf\"/></rootfiles></container>"},
       {"a/b.opf",
        "<package xmlns=\"http://www.idpf.org/2007/opf\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:title>A "
        "book</dc:title><manifest><item href=\"../t%201.xhtml\" media-type=\"application/xhtml+xml\"/><item "
        "href=\"toc.ncx\" media-type=\"application/x-dtbncx+xml\"/></manifest></package>"},
       {"t 1.xhtml", "<html><body>" + std::string(page) + "</body></html>", true},
       {"a/toc.ncx",
        "<ncx xmlns=\"http://www.daisy.org/z3986/2005/ncx/\"><navLabel><text>Chapter one</text></navLabel></ncx>"}});
}

/// The content of a member; "" if there is none.
inline std::string member_of(const std::string& bytes, std::string_view name) {
  const ZipArchive archive("x.zip", std::as_bytes(std::span(bytes.data(), bytes.size())), nullptr);
  const ZipMember* const member = archive.find(name);
  return member ? archive.read(*member, 1 << 30) : "";
}
/// What stands between two marks in a text.
inline std::string between(const std::string& text, std::string_view begin, std::string_view end) {
  const std::size_t from = text.find(begin) + begin.size();
  return text.substr(from, text.rfind(end) - from);
}

}  // namespace tril::testing

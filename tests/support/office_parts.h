// Office documents in tests: their texts, their bodies in capital letters, and parts of Word's XML.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "document/formats/formats.h"
#include "support/document_text.h"
#include "support/office_file.h"

namespace tril::testing {

inline std::vector<std::string> texts(const std::string& bytes, const std::string& name) {
  return texts_of(*document::read_document(bytes, {name}));
}
/// The body of a DOCX file in capital letters.
inline std::string word(const std::string& body) {
  const auto document = document::read_document(docx_file(body), {"x.docx"});
  return between(member_of(capitals_of(*document), "word/document.xml"), "<w:body>", "</w:body>");
}
/// The body of an OpenDocument file in capital letters.
inline std::string open_document(const std::string& body) {
  return between(member_of(capitals_of(*document::read_document(opendocument_file(body), {"x.odt"})), "content.xml"),
                 "<office:body>", "</office:body>");
}
/// A paragraph of Word.
inline std::string p(const std::string& content) {
  return "<w:p>" + content + "</w:p>";
}
/// A run of Word.
inline std::string r(const std::string& text, const std::string& properties = "") {
  const bool spaced = text.front() == ' ' || text.back() == ' ';
  return "<w:r>" + (properties.empty() ? "" : "<w:rPr>" + properties + "</w:rPr>") + "<w:t" +
         (spaced ? " xml:space=\"preserve\">" : ">") + text + "</w:t></w:r>";
}

}  // namespace tril::testing

// Texts in XML: a document, or a part of one, such as a sentence with its tags. The places of the tags are found in the text itself,
// so that everything that is not translated is kept byte for byte.
//
// A text is cut into segments at elements that divide it. Such an element stands between other elements, as <par> does in a
// document. An element beside words, as <i> in a sentence, is a mark (segment.h), and so is everything within it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "document/segments/document.h"

namespace tril::document {

/// Which elements are read differently, by their names as written.
struct XmlRules {
  std::vector<std::string> ignored;        ///< their contents are not translated
  std::vector<std::string> splitting;      ///< always divide the text
  std::vector<std::string> non_splitting;  ///< never divide the text
  bool outline = true;                     ///< false: only elements of `splitting` divide the text
};

/// Comments, processing instructions, declarations, CDATA sections, and entities other than XML's own five stay as they are.
/// @param where  of errors
/// @throws Error(usage) for tags that do not close each other, or an unclosed tag, with its byte
std::unique_ptr<Document> read_xml_markup(std::string xml, const XmlRules& rules, const std::string& where);

}  // namespace tril::document

// Office documents: packages (package.h) whose members of text are read by office_part.h.
#pragma once

#include <memory>
#include <string>

#include "document/segments/document.h"

namespace tril::document {

/// DOCX, PPTX or XLSX (ECMA-376), with or without macros, which are copied. The types of the members say which are read: the text,
/// headers, footers, notes and comments; slides and their notes; strings of cells; titles of charts; diagrams.
/// @throws Error if it is signed or encrypted, or a member is not well-formed XML
std::unique_ptr<Document> read_office_open_xml(std::string bytes, const DocumentOptions& options);

/// ODT, ODP or ODS (OpenDocument 1.3): content.xml, styles.xml with headers and footers, and those of embedded objects.
/// @throws Error as above
std::unique_ptr<Document> read_open_document(std::string bytes, const DocumentOptions& options);

}  // namespace tril::document

// The members of office packages: XML files with paragraphs of several vocabularies.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "document/segments/document.h"

namespace tril::document {

/// Reads every paragraph that paragraph_content.h knows, at any place: in tables, text boxes, footnotes, shapes.
/// @param kept  texts of spreadsheets that are kept because other parts of the file refer to them
/// @throws Error if the file is not well-formed (xml_nodes.h)
std::unique_ptr<Document> read_office_part(std::string bytes, const std::string& where,
                                           const std::set<std::string>& kept = {});

}  // namespace tril::document

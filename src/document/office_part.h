// The members of office packages: XML files in which paragraphs of several vocabularies stand.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "document/document.h"

namespace tril::document {

/// Reads every paragraph that paragraph_content.h knows, wherever it stands: in tables, text boxes, footnotes, shapes.
/// @param kept  texts of spreadsheets that stay: other parts of the file name them
/// @throws Error if the file is not well-formed (xml_nodes.h)
std::unique_ptr<Document> read_office_part(std::string bytes, const std::string& where,
                                           const std::set<std::string>& kept = {});

}  // namespace tril::document

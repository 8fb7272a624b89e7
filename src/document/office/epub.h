// EPUB books (EPUB 3.3, EPUB 2): packages (package.h) of XHTML pages.
#pragma once

#include <memory>
#include <string>

#include "document/segments/document.h"

namespace tril::document {

/// Pages are read as HTML (html.h). The titles in the table of contents (NCX) and in the package file are segments, too.
/// @throws Error if it is signed or encrypted, or has no package file
std::unique_ptr<Document> read_epub(std::string bytes, const DocumentOptions& options);

}  // namespace tril::document

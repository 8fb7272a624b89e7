// Java's property files: the values of all keys.
#pragma once

#include <memory>
#include <string>

#include "document/segments/document.h"

namespace tril::document {

/// Keys and comments are kept. A value continues on the next line after a backslash at the line end; its translation is
/// written on one line. Placeholders are marks (string_segment.h). Escapes such as \u00e4 are read, and written as
/// UTF-8.
std::unique_ptr<Document> read_properties(std::string text);

}  // namespace tril::document

// Strings of a program in YAML: the values that are strings, at any depth, as in Rails' and Symfony's translations.
#pragma once

#include <memory>
#include <string>

#include "document/segments/document.h"

namespace tril::document {

/// Keys, anchors, aliases, comments and layout are kept, and so are values that are not strings (numbers, dates, yes)
/// or have a tag. Quotes and block styles (`|`, `>`) are kept; a plain translation that would not be read as this
/// string is quoted. If the only key of a document is the code of its language, as in Rails' files, it becomes that of
/// the translation. Placeholders are marks (string_segment.h).
/// @throws Error with the line if the text is not YAML
std::unique_ptr<Document> read_yaml_strings(std::string bytes, const DocumentOptions& options);

}  // namespace tril::document

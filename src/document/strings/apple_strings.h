// Apple's files of strings (.strings): `"key" = "value";`, an old form of property lists.
#pragma once

#include <memory>
#include <string>

#include "document/segments/document.h"

namespace tril::document {

/// Values are translated; keys and comments are kept. A key without a value is its own value. The file is UTF-8, or
/// UTF-16 with a byte order mark; the encoding is kept. Strings stand in double or single quotes, as Foundation reads them. A file in
/// XML form is read by read_apple_property_list(). Apple, "Resource Programming Guide", String Resources.
/// @throws Error naming the line of a mistake; Error for property lists in binary form
std::unique_ptr<Document> read_apple_strings(std::string bytes, const DocumentOptions& options);

}  // namespace tril::document

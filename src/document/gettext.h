// Messages of GNU gettext: .po and .pot files.
#pragma once

#include <memory>
#include <string>

#include "document/document.h"

namespace tril::document {

/// Each message without a translation gets one; so do fuzzy ones, whose flag is removed. Translations that exist stay, and so do
/// comments, contexts and obsolete messages. A message with plural forms has a segment for the singular and one for the plural:
/// the first form is the translation of the singular if there are others, and the others that of the plural.
/// @throws Error naming the line that is not of this format
std::unique_ptr<Document> read_gettext(std::string text, const std::string& where);

}  // namespace tril::document

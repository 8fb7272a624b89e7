// Messages of GNU gettext: .po and .pot files.
#pragma once

#include <memory>
#include <string>

#include "document/segments/document.h"

namespace tril::document {

/// Messages without a translation and fuzzy messages get one; the fuzzy flag is removed. Existing translations,
/// comments, contexts and obsolete messages are kept. A message with plural forms has a segment for the singular and
/// one for the plural. If there are several forms, the first is the translation of the singular and the others are that
/// of the plural.
/// @throws Error naming the line that is not of this format
std::unique_ptr<Document> read_gettext(std::string text, const std::string& where);

}  // namespace tril::document

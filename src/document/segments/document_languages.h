// The languages that a document states, compared with those of its translation.
#pragma once

#include <string>
#include <string_view>

#include "document/segments/document.h"

namespace tril::document {

/// Whether two codes in any form (language/code.h) mean one language and script; codes of no known language have to be equal.
bool is_same_language(std::string_view a, std::string_view b);

/// The code of BCP 47 for a code in any form; a code of no known language is returned unchanged.
std::string written_language(std::string_view code);

/// Checks the languages that a document states; "": it states none, which fits any.
/// @throws Error if one contradicts the options
void check_languages(std::string_view source, std::string_view target, const DocumentOptions& options);

/// The language of the translation, as a file writes it.
/// @throws Error(usage) if it is not known
std::string target_language(const DocumentOptions& options);

}  // namespace tril::document

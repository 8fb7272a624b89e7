// Apple's strings in property lists of XML form: dictionaries of plural forms (.stringsdict), and .strings in that form.
#pragma once

#include "document/segments/document.h"

namespace tril::document {

/// Translates the text of each entry: NSStringLocalizedFormatKey, the plural forms of its variables
/// (NSStringPluralRuleType), and its texts by width and device. Placeholders such as %#@files@ are fixed words. If the target
/// language has plural categories that a variable lacks, they are added as translations of "other". All else is kept: keys,
/// types, comments. Foundation's "Stringsdict File Format" (Apple, Internationalization and Localization Guide, appendix C).
/// @throws Error if the file is not a property list with a dictionary, or a variable has another rule than plural forms
std::unique_ptr<Document> read_apple_property_list(std::string bytes, const DocumentOptions& options);

}  // namespace tril::document

// Xcode's string catalogues (.xcstrings).
#pragma once

#include <memory>
#include <string>

#include "document/segments/document.h"

namespace tril::document {

/// Each string without a localization in the target language gets one, with the state "needs_review", because no person
/// has reviewed it. It is made from the localization in the source language or, if there is none, from the key. Plural
/// variations get the categories of the target language (language/plural.h); each is translated from the same category
/// of the source, or from "other". Device variations and substitutions keep their structure. Existing texts are kept,
/// except those with the state "new", and so are strings with shouldTranslate false and those that the program no
/// longer uses ("stale"). Apple, "Localizing and varying text with a string catalog".
/// @throws Error if it is not such a catalogue, a plural variation has another within it, or the target language is not
/// known
std::unique_ptr<Document> read_string_catalog(std::string bytes, const DocumentOptions& options);

}  // namespace tril::document

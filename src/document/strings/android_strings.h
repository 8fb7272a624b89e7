// Android's string resources: res/values/strings.xml.
#pragma once

#include <memory>
#include <string>

#include "document/segments/document.h"

namespace tril::document {

/// Translates <string>, and the items of <string-array> and <plurals>. Kept are those marked translatable="false", and
/// references to other resources (@string/name, ?attr/name). If the target language has plural categories that a
/// <plurals> lacks, they are added as translations of "other". Elements are pairs, and <xliff:g> are fixed words. White
/// space, quotes and escapes follow Android's resource compiler: developer.android.com, "String resources".
/// @throws Error if the root element is not <resources>
std::unique_ptr<Document> read_android_strings(std::string bytes, const DocumentOptions& options);

}  // namespace tril::document

// Qt Linguist's translation sources (.ts).
#pragma once

#include <memory>
#include <string>

#include "document/segments/document.h"

namespace tril::document {

/// Each <message> without a translation gets one, with type="unfinished", because no person has reviewed it. Each
/// numerus form of a message is a translation of its source; the number of forms is kept, or one if there is none. Existing translations are
/// kept, and so are messages of type vanished and obsolete, and those with length variants. A file without a language
/// gets the target language. doc.qt.io/qt-6/linguist-ts-file-format.html
/// @throws Error if it is not such a file: TypeScript and MPEG transport streams end in .ts, too
std::unique_ptr<Document> read_qt_linguist(std::string bytes, const DocumentOptions& options);

}  // namespace tril::document

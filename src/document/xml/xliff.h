// XLIFF, the exchange format of translation tools: 1.2, and 2.0 to 2.2.
#pragma once

#include <memory>
#include <string>

#include "document/segments/document.h"

namespace tril::document {

/// Units without a translation get one: a <target> beside the <source>, with a state that says so. An existing target is
/// replaced if it is empty or its state is that of an untranslated text ("new" and "needs-translation", in XLIFF 2 "initial").
/// Units with translate="no", approved units and <alt-trans> are kept. Inline elements are marks; <mrk mtype="seg"> are
/// segments of their own. If the file does not state its target language, it is written into the file.
/// @throws Error if the file is not XLIFF or its languages contradict the options
std::unique_ptr<Document> read_xliff(std::string bytes, const DocumentOptions& options);

}  // namespace tril::document

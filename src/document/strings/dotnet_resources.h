// Resource files of .NET (.resx, .resw).
#pragma once

#include <memory>
#include <string>

#include "document/segments/document.h"

namespace tril::document {

/// Translates the <value> of each <data> that is a string. Kept are <data> with a type or a mimetype, those that a form
/// designer adds (their names begin with ">>"), and those whose <comment> contains {Locked}. Comments, headers and
/// metadata are kept.
/// @throws Error if the root element is not <root>
std::unique_ptr<Document> read_dotnet_resources(std::string bytes, const DocumentOptions& options);

}  // namespace tril::document

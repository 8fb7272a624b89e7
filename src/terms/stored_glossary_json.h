// The file of an uploaded glossary.
#pragma once

#include <string>
#include <string_view>

#include "terms/glossary_store.h"

namespace tril::terms {

/// {"id", "name", "owner", "created", "source", "target", "group" (unless empty),
/// "entries": [[source, target] or [source, target, match], ...]}
std::string stored_json(const StoredGlossary& stored);
/// @throws Error for a file that was not written by stored_json()
StoredGlossary read_stored_json(std::string_view text, const std::string& where);

}  // namespace tril::terms

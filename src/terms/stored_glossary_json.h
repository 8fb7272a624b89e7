// The file of an uploaded glossary.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "terms/glossary_store.h"

namespace tril::terms {

/// [source, target], or [source, target, match] if the entry has its own.
nlohmann::ordered_json entry_json(const Entry& entry);
/// {"id", "name", "owner", "created", "source", "target", "group" (unless empty),
/// "entries": [entry_json(), ...]}
std::string stored_json(const StoredGlossary& stored);
/// @throws Error for a file that was not written by stored_json()
StoredGlossary read_stored_json(std::string_view text, const std::string& where);

}  // namespace tril::terms

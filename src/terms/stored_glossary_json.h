// The file of an uploaded glossary, or of a group of them.
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
/// {"group": id, "glossaries": [as by stored_json(), ...]}
std::string group_json(const std::string& group, const std::vector<StoredGlossaryPtr>& glossaries);

struct StoredFile {
  std::string id;                          ///< of its glossary or its group
  std::vector<StoredGlossary> glossaries;  ///< at least one
  bool is_group = false;
};
/// @throws Error for a file that was not written by stored_json() or group_json()
StoredFile read_stored_json(std::string_view text, const std::string& where);

}  // namespace tril::terms

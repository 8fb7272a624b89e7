#include "terms/stored_glossary_json.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "format/json_file.h"
#include "format/json_text.h"

namespace tril::terms {
namespace {

nlohmann::ordered_json json_of(const StoredGlossary& stored) {
  nlohmann::ordered_json entries = nlohmann::ordered_json::array();
  for (const Entry& entry : stored.glossary.entries) entries.push_back(entry_json(entry));
  nlohmann::ordered_json json{{"id", stored.id},
                              {"name", stored.glossary.name},
                              {"owner", stored.owner},
                              {"created", stored.created},
                              {"source", stored.glossary.languages.source},
                              {"target", stored.glossary.languages.target}};
  if (!stored.group.empty()) json["group"] = stored.group;
  json["entries"] = std::move(entries);
  return json;
}

StoredGlossary stored_of(const nlohmann::json& json, const std::string& where) {
  const JsonObject object(json, where);
  StoredGlossary stored{
      .id = object.get<std::string>("id"),
      .owner = object.get<std::string>("owner"),
      .created = object.get<std::int64_t>("created"),
      .glossary = {.name = object.get<std::string>("name"),
                   .languages = {object.get<std::string>("source"), object.get<std::string>("target")},
                   .entries = {},
                   .notes = {}}};
  if (json.contains("group")) stored.group = object.get<std::string>("group");
  const auto entries = json.find("entries");
  if (entries == json.end() || !entries->is_array()) object.fail_at("entries", "expected a list");
  for (const nlohmann::json& entry : *entries) {
    const bool sound = entry.is_array() && (entry.size() == 2 || entry.size() == 3) &&
                       std::all_of(entry.begin(), entry.end(), [](const auto& part) { return part.is_string(); });
    if (!sound) object.fail_at("entries", "expected lists of two or three texts");
    stored.glossary.entries.push_back({entry[0].get<std::string>(), entry[1].get<std::string>()});
    if (entry.size() < 3) continue;
    stored.glossary.entries.back().match = find_match(entry[2].get<std::string>());
    if (!stored.glossary.entries.back().match) object.fail_at("entries", "has an unknown match");
  }
  return stored;
}

}  // namespace

nlohmann::ordered_json entry_json(const Entry& entry) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array({entry.source, entry.target});
  if (entry.match) json.push_back(name_of(*entry.match));
  return json;
}

std::string stored_json(const StoredGlossary& stored) {
  return json_text(json_of(stored)) + "\n";
}

std::string group_json(const std::string& group, const std::vector<StoredGlossaryPtr>& glossaries) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const StoredGlossaryPtr& one : glossaries) list.push_back(json_of(*one));
  return json_text(nlohmann::ordered_json{{"group", group}, {"glossaries", std::move(list)}}) + "\n";
}

StoredFile read_stored_json(std::string_view text, const std::string& where) {
  const nlohmann::json json =
      parse_json(text, where, {.bytes = std::uint64_t{512} << 20, .depth = 8, .values = 4'000'000});
  StoredFile file;
  const auto list = json.is_object() ? json.find("glossaries") : json.end();
  if (list == json.end()) {
    file.glossaries.push_back(stored_of(json, where));
    file.id = file.glossaries[0].id;
    return file;
  }
  const JsonObject object(json, where);
  file.is_group = true;
  file.id = object.get<std::string>("group");
  if (!list->is_array() || list->empty()) object.fail_at("glossaries", "expected a list of glossaries");
  for (const nlohmann::json& one : *list) {
    file.glossaries.push_back(stored_of(one, where));
    if (file.glossaries.back().group_id() != file.id)
      object.fail_at("glossaries", "one belongs to another group than that of the file");
  }
  return file;
}

}  // namespace tril::terms

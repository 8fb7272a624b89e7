#include "grammar/schemas/schema_document.h"

#include <fmt/format.h>

#include "base/element.h"
#include "grammar/schemas/schema_drafts.h"
#include "grammar/schemas/schema_uri.h"

namespace tril::search {
namespace {

constexpr std::size_t most_schemas = 200'000;
constexpr int deepest_schema = 200;

int draft_of(const Json& root) {
  if (!root.is_object() || !root.contains("$schema") || !root["$schema"].is_string()) return latest_draft;
  const std::string uri = root["$schema"].get<std::string>();
  for (const auto& [part, draft] :
       {std::pair{"draft-03", 4}, {"draft-04", 4}, {"draft-06", 6}, {"draft-07", 7}, {"2019-09", 2019}})
    if (uri.find(part) != std::string::npos) return draft;
  return latest_draft;
}

bool is_text(const Json& schema, const char* word) {
  return schema.contains(word) && schema[word].is_string();
}

}  // namespace

SchemaDocument::SchemaDocument(Json root, SchemaNotes& notes)
    : root_(std::move(root)), notes_(notes), draft_(draft_of(root_)) {
  resources_.push_back({identifier_of(root_), &root_, "#", {}});
  find_resources(root_, 0, "#", 0);
}

std::string SchemaDocument::identifier_of(const Json& schema) const {
  if (!schema.is_object()) return "";
  // Up to draft 7, keywords beside $ref are ignored.
  if (draft_ <= 7 && schema.contains("$ref")) return "";
  if (is_text(schema, "$id")) return resolved_uri("", schema["$id"].get<std::string>());
  const bool may_be_id = draft_ == 4 || (&schema == &root_ && !schema.contains("$schema"));
  return may_be_id && is_text(schema, "id") ? resolved_uri("", schema["id"].get<std::string>()) : "";
}

// Identifiers and anchors are searched where schemas may be, and not in values.
void SchemaDocument::find_resources(const Json& schema, std::int32_t base, const std::string& place, int depth) {
  if (!schema.is_object()) return;
  if (depth > deepest_schema) refuse_schema(place, fmt::format("schemas are nested more than {} deep", deepest_schema));
  if (&schema == &root_) {
    resource_at_[&schema] = 0;
  } else if (const std::string id = identifier_of(schema); !id.empty()) {
    const std::string uri = resolved_uri(element(resources_, base).uri, id);
    base = static_cast<std::int32_t>(resources_.size());
    resources_.push_back({uri, &schema, place, {}});
    resource_at_[&schema] = base;
  }
  auto& anchors = element(resources_, base).anchors;
  for (const char* word : {"$anchor", "$dynamicAnchor"})
    if (is_text(schema, word)) anchors[schema[word].get<std::string>()] = &schema;
  for (const char* word : {"$id", "id"})
    if (is_text(schema, word))
      if (const std::string anchor = fragment_of(schema[word].get<std::string>()); !anchor.empty() && anchor[0] != '/')
        anchors[anchor] = &schema;
  if (is_text(schema, "$dynamicAnchor")) ++dynamic_anchors_[schema["$dynamicAnchor"].get<std::string>()];
  if (schema.contains("$recursiveAnchor") && schema["$recursiveAnchor"] == true) ++recursive_anchors_;
  const auto visit = [&](const Json& one, const std::string& at) { find_resources(one, base, at, depth + 1); };
  for (const auto& [word, value] : schema.items()) {
    const std::string at = below(place, word);
    if (word == "enum" || word == "const" || word == "default" || word == "examples" || word == "example") continue;
    const bool is_map = word == "properties" || word == "patternProperties" || word == "definitions" ||
                        word == "$defs" || word == "dependencies" || word == "dependentSchemas";
    if (value.is_array())
      for (std::size_t i = 0; i < value.size(); ++i) visit(value[i], fmt::format("{}/{}", at, i));
    else if (is_map && value.is_object())
      for (const auto& [name, one] : value.items()) visit(one, below(at, name));
    else if (is_assertion(word))
      visit(value, at);
  }
}

SchemaId SchemaDocument::child(SchemaId of, const Json& schema, const std::string& step) {
  return child_at(schema, {node(of).base, node(of).place + step});
}

SchemaId SchemaDocument::made(SchemaId of, Json schema) {
  made_.push_back(std::move(schema));
  const SchemaId id = child_at(made_.back(), {node(of).base, node(of).place});
  if (element(nodes_, id).json != &made_.back()) made_.pop_back();  // an equal one exists
  return id;
}

SchemaId SchemaDocument::child_at(const Json& schema, Origin origin) {
  if (const auto known = by_address_.find(&schema); known != by_address_.end()) return known->second;
  if (const auto own = resource_at_.find(&schema); own != resource_at_.end()) {
    origin.base = own->second;
  } else if (const std::string id = identifier_of(schema); !id.empty() && &schema != &root_) {  // a copy of one
    const std::string uri = resolved_uri(element(resources_, origin.base).uri, id);
    for (std::size_t r = 0; r < resources_.size(); ++r)
      if (resources_[r].uri == uri) origin.base = static_cast<std::int32_t>(r);
  }
  const auto fresh = static_cast<SchemaId>(nodes_.size());
  const auto [at, is_new] = by_text_.try_emplace(fmt::format("{} {}", origin.base, schema.dump()), fresh);
  if (!is_new) return at->second;
  if (nodes_.size() >= most_schemas)
    refuse_schema(origin.place, fmt::format("more than {} different schemas", most_schemas));
  if (!schema.is_boolean() && !schema.is_object())
    refuse_schema(origin.place,
                  fmt::format("expected a schema (an object, true or false), got {}", schema.type_name()));
  bool allows_all = schema == true;
  if (schema.is_object()) {
    check_words(schema, origin.place, notes_);
    allows_all = std::none_of(schema.items().begin(), schema.items().end(),
                              [](const auto& member) { return is_assertion(member.key()); });
  }
  nodes_.push_back({&schema, origin.place, origin.base, allows_all});
  by_address_[&schema] = fresh;
  return fresh;
}

std::vector<const char*> SchemaDocument::references_of(const Json& schema) {
  std::vector<const char*> words;
  for (const char* word : {"$ref", "$dynamicRef", "$recursiveRef"})
    if (schema.contains(word)) words.push_back(word);
  return words;
}

SchemaDocument::Parts SchemaDocument::parts_of(SchemaId id) {
  if (const auto known = parts_.find(id); known != parts_.end()) return known->second;
  const Json& schema = json(id);
  Parts parts{id, id};
  if (schema.is_object() && !all_count(schema, draft(id))) {
    parts.counting = made(id, what_counts(schema, draft(id)));
    if (draft(id) <= 7 && schema.contains("$ref")) {
      Json rest = schema;
      for (const char* word : {"$ref", "$id", "id"}) rest.erase(word);
      parts.rest = made(id, std::move(rest));
    }
  }
  return parts_[id] = parts;
}

SchemaId SchemaDocument::target(SchemaId of, const std::string& word) {
  const Json& schema = json(of);
  const std::string at = place(of) + "/" + word, text = schema[word].get<std::string>();
  const std::string uri = resolved_uri(element(resources_, node(of).base).uri, text), fragment = fragment_of(text);
  const bool dynamic =
      (word == "$dynamicRef" && dynamic_anchors_[fragment] > 1) || (word == "$recursiveRef" && recursive_anchors_ > 1);
  if (dynamic)
    refuse_unsupported(at, fmt::format("\"{}\" may refer to several schemas, which is not supported", printable(text)));
  for (std::size_t r = 0; r < resources_.size(); ++r) {
    const Resource& resource = resources_[r];
    if (resource.uri != uri && !(text.starts_with('#') && static_cast<std::int32_t>(r) == node(of).base)) continue;
    if (fragment.empty()) return child_at(*resource.root, {static_cast<std::int32_t>(r), resource.place});
    if (fragment[0] == '/') return at_pointer(fragment, static_cast<std::int32_t>(r), at);
    if (const auto anchor = resource.anchors.find(fragment); anchor != resource.anchors.end())
      return child_at(*anchor->second, {static_cast<std::int32_t>(r), resource.place + fragment});
    refuse_schema(at, fmt::format("there is no \"{}\"", printable(text)));
  }
  if (fragment.empty() && text.find_first_of("./:") == std::string::npos && !text.empty())
    refuse_unsupported(at, fmt::format("\"{}\" is in another document", printable(text)),
                       "a schema of this name? write \"#/$defs/NAME\"");
  refuse_unsupported(at, fmt::format("\"{}\" is in another document", printable(text)),
                     "references must stay within the schema: copy it into \"$defs\"");
}

SchemaId SchemaDocument::at_pointer(const std::string& pointer, std::int32_t base, const std::string& place) {
  const Json* at = element(resources_, base).root;
  std::string where = element(resources_, base).place;
  for (std::size_t i = 1; i <= pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', i), pointer.size());
    std::string step;
    for (std::size_t k = i; k < end; ++k) {
      const bool escaped = pointer[k] == '~' && k + 1 < end && (pointer[k + 1] == '0' || pointer[k + 1] == '1');
      step += escaped ? (pointer[++k] == '0' ? '~' : '/') : pointer[k];
    }
    const bool is_index =
        !step.empty() && step.size() < 10 && step.find_first_not_of("0123456789") == std::string::npos;
    if (at->is_object() && at->contains(step))
      at = &(*at)[step];
    else if (at->is_array() && is_index && std::stoul(step) < at->size())
      at = &(*at)[std::stoul(step)];
    else
      refuse_schema(place, fmt::format("there is no \"{}\"", printable("#" + pointer)));
    where = below(where, step);
    if (const auto own = resource_at_.find(at); own != resource_at_.end()) base = own->second;
    i = end + 1;
  }
  return child_at(*at, {base, where});
}

}  // namespace tril::search

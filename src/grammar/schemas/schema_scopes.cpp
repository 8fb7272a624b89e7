// What schemas say of the parts of a value: members by their names, items by their places.
#include <fmt/format.h>

#include <algorithm>

#include "grammar/expressions/pattern.h"
#include "grammar/schemas/schema_boxes.h"
#include "grammar/schemas/schema_drafts.h"
#include "grammar/schemas/schema_words.h"

namespace tril::search {

// A schema may have thousands of properties.
const Json* SchemaBoxes::property(SchemaId scope, const std::string& name) {
  const auto [names, fresh] = properties_.try_emplace(scope);
  if (const Json& schema = document_.json(scope); fresh && schema.contains("properties"))
    for (const auto& [key, one] : schema["properties"].items()) names->second.emplace(key, &one);
  const auto found = names->second.find(name);
  return found == names->second.end() ? nullptr : found->second;
}

SchemaBoxes::Match SchemaBoxes::match_of(const std::string& regex, const std::string& name, SchemaId scope,
                                         const std::string& step) {
  using Form = SchemaExpressions::Form;
  work_.match(1, scope);
  const std::string key = regex + '\n' + name;
  if (const auto known = matches_.find(key); known != matches_.end()) return known->second;
  const auto matches = [&](Form form) { return expressions_.matches(regex, form, name, scope, step); };
  // An unsupported expression throws each time: nothing is stored for it.
  const Match match{matches(Form::part), matches(Form::wide_part)};
  return matches_[key] = match;
}

Conjunction SchemaBoxes::member(const std::vector<SchemaId>& scopes, const std::string& name) {
  Conjunction all;
  for (const SchemaId scope : scopes) {
    const Json& schema = document_.json(scope);
    const Json* const one = property(scope, name);
    bool known = one;
    if (one) add(all, document_.child(scope, *one, below("/properties", name)));
    if (const auto list = schema.find("patternProperties"); list != schema.end())
      for (const auto& [regex, value] : list->items()) {
        const std::string at = below("/patternProperties", regex);
        const Match match = match_of(regex, name, scope, at);
        if (!match.may) continue;
        // Where engines differ, the name must satisfy both the pattern's schema and that for the rest.
        known = known || match.surely;
        add(all, document_.child(scope, value, at));
      }
    if (const auto rest = schema.find("additionalProperties"); rest != schema.end() && !known)
      add(all, document_.child(scope, *rest, "/additionalProperties"));
  }
  return all;
}

bool SchemaBoxes::evaluates(SchemaId scope, const std::string& name) {
  if (property(scope, name)) return true;
  const Json& schema = document_.json(scope);
  const auto list = schema.find("patternProperties");
  return list != schema.end() && std::any_of(list->items().begin(), list->items().end(), [&](const auto& one) {
           return match_of(one.key(), name, scope, below("/patternProperties", one.key())).surely;
         });
}

SchemaBoxes::Items SchemaBoxes::items_of(SchemaId scope) const {
  const Json& schema = document_.json(scope);
  Items parts;
  const auto items = schema.find("items"), prefix = schema.find("prefixItems"), rest = schema.find("additionalItems");
  const bool prefix_counts = prefix != schema.end() && counts(schema, "prefixItems", document_.draft(scope));
  if (prefix != schema.end()) parts.first = &*prefix, parts.first_word = "/prefixItems";
  if (items != schema.end() && items->is_array()) {
    if (prefix_counts)
      refuse_schema(document_.place(scope), "has both `prefixItems` and a list as `items`",
                    "name the draft in `$schema`, or leave one of them out");
    parts.first = &*items, parts.first_word = "/items";
    if (rest != schema.end()) parts.rest = &*rest, parts.rest_word = "/additionalItems";
  } else if (items != schema.end()) {
    parts.rest = &*items, parts.rest_word = "/items";
    // Drafts before `prefixItems` ignore it, and apply `items` to all.
    parts.rest_is_for_all = prefix != schema.end() && !prefix_counts;
  }
  return parts;
}

Conjunction SchemaBoxes::item(const std::vector<SchemaId>& scopes, std::size_t index) {
  Conjunction all;
  for (const SchemaId scope : scopes) {
    const Items parts = items_of(scope);
    const bool is_first = parts.first && index < parts.first->size();
    if (is_first)
      add(all, document_.child(scope, (*parts.first)[index], fmt::format("{}/{}", parts.first_word, index)));
    if (parts.rest && (!is_first || parts.rest_is_for_all))
      add(all, document_.child(scope, *parts.rest, parts.rest_word));
  }
  return all;
}

// `unevaluatedProperties` and `unevaluatedItems` see what the schema and its in-place schemas say in this box.
// Alternatives that may also hold are not asked; their members are then held to more than necessary.
void SchemaBoxes::close_scopes(SchemaId id, Kind kind, std::vector<Box>& boxes) {
  const Json& schema = document_.json(id);
  const char* const word = kind == Kind::object ? "unevaluatedProperties" : "unevaluatedItems";
  if ((kind != Kind::object && kind != Kind::array) || !schema.contains(word)) return;
  is_narrow_ = true;
  for (Box& box : boxes) {
    Json seen = Json::object();
    Json items = Json::array();
    Json rest = schema[word];
    bool all = false;
    for (const Box::Contains& one : box.contains)
      if (one.evaluates && document_.same_base(one.schema, id))
        rest = Json{{made::mark, true}, {"anyOf", {document_.json(one.schema), rest}}};
    for (const SchemaId scope : box.seen) {
      const Json& one = document_.json(scope);
      if (kind == Kind::array) {
        const Items parts = items_of(scope);
        all = all || parts.rest;
        const bool is_tuple =
            parts.first && counts(one, std::string_view(parts.first_word).substr(1), document_.draft());
        while (is_tuple && items.size() < parts.first->size()) items.push_back(true);
        continue;
      }
      all = all || one.contains("additionalProperties");
      for (const char* part : {"properties", "patternProperties"})
        if (one.contains(part))
          for (const auto& [name, value] : one[part].items()) seen[part][name] = true;
    }
    if (all) continue;
    Json scope{{made::mark, true}};
    if (kind == Kind::object)
      scope.update(seen), scope["additionalProperties"] = schema[word];
    else
      scope["prefixItems"] = items, scope["items"] = rest;
    box.scopes.push_back(document_.made(id, scope));
    box.seen.push_back(box.scopes.back());
  }
}

}  // namespace tril::search

#include "search/schema_merge.h"

#include <fmt/format.h>

#include <algorithm>

namespace tril::search {
namespace {

// A property of one side that the other does not list is an additional one there.
void merge_properties(const Json& a, const Json& b, Json& both) {
  if (!a.contains("properties") && !b.contains("properties")) return;
  Json all = Json::object();
  const auto add = [&](const Json& from, const Json& other) {
    if (!from.contains("properties")) return;
    for (const auto& [name, schema] : from["properties"].items()) {
      if (all.contains(name)) continue;
      const bool listed_there = other.contains("properties") && other["properties"].contains(name);
      if (listed_there)
        all[name] = other["properties"][name] == schema ? schema : Json{{"allOf", {schema, other["properties"][name]}}};
      else if (other.contains("additionalProperties"))
        all[name] = Json{{"allOf", {schema, other["additionalProperties"]}}};
      else
        all[name] = schema;
    }
  };
  add(a, b), add(b, a);
  both["properties"] = all;
}

}  // namespace

Json merged(const Json& a, const Json& b, const std::string& place) {
  if (a == false || b == false) return false;
  if (a.empty()) return b;
  if (b.empty()) return a;
  Json both = a;
  for (const auto& [word, value] : b.items()) {
    if (word == "properties") continue;
    if (!both.contains(word)) {
      both[word] = value;
    } else if (word == "required") {
      for (const Json& name : value)
        if (!holds(both[word], name)) both[word].push_back(name);
    } else if (word == "type") {
      both[word] = common_types(both[word], value);
      if (both[word].empty()) return false;
    } else if (word == "minimum" || word == "exclusiveMinimum" || word == "minLength" || word == "minItems" ||
               word == "minProperties") {
      both[word] = std::max(both[word], value);
    } else if (word == "maximum" || word == "exclusiveMaximum" || word == "maxLength" || word == "maxItems" ||
               word == "maxProperties") {
      both[word] = std::min(both[word], value);
    } else if (word == "additionalProperties" || word == "items" || word == "propertyNames") {
      if (both[word] != value) both[word] = Json{{"allOf", {both[word], value}}};
    } else if (word == "enum") {
      Json common = Json::array();
      for (const Json& one : both[word])
        if (holds(value, one)) common.push_back(one);
      both[word] = common;
    } else if (both[word] != value) {
      refuse_schema(place, fmt::format("two different \"{}\" at once are not supported", word), "write them as one");
    }
  }
  merge_properties(a, b, both);
  return both;
}

}  // namespace tril::search

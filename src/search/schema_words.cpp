#include "search/schema_words.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace tril::search {
namespace {

constexpr std::array annotations{
    "title",      "description",      "default",        "examples",    "example",  "$schema",
    "$id",        "$comment",         "$defs",          "definitions", "readOnly", "writeOnly",
    "deprecated", "contentMediaType", "contentEncoding"};
constexpr std::array object_words{"properties",    "required",      "additionalProperties", "patternProperties",
                                  "propertyNames", "minProperties", "maxProperties"};
constexpr std::array array_words{"items", "prefixItems", "minItems", "maxItems"};
constexpr std::array string_words{"minLength", "maxLength", "pattern", "format"};
constexpr std::array number_words{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"};
constexpr std::array count_words{"minProperties", "maxProperties", "minItems", "maxItems", "minLength", "maxLength"};
constexpr std::array general_words{"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"};
constexpr std::array types{"object", "array", "string", "number", "integer", "boolean", "null"};

template <class List>
bool has(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

template <class List>
bool mentions(const Json& schema, const List& words) {
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return schema.contains(word); });
}

// Schemas are merged and told apart by these before anything is written of them.
void check_values(const Json& schema, const std::string& place) {
  const auto expect = [&](const char* word, bool ok, const char* what) {
    if (!ok) refuse_schema(fmt::format("{}/{}", place, word), fmt::format("expected {}", what));
  };
  for (const auto& [word, value] : schema.items()) {
    const char* const name = word.c_str();
    if (word == "type") {
      for (const Json& one : value.is_array() ? value : Json::array({value}))
        if (!one.is_string() || !has(types, one.get<std::string>()))
          refuse_schema(place + "/type", fmt::format("there is no type {}", printable(one.dump())));
    } else if (word == "required") {
      const bool names =
          value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& one) { return one.is_string(); });
      expect(name, names, "names in an array");
    } else if (word == "properties") {
      expect(name, value.is_object(), "an object");
    } else if (word == "enum") {
      expect(name, value.is_array(), "values in an array");
    } else if (word == "anyOf" || word == "oneOf" || word == "allOf") {
      expect(name, value.is_array() && !value.empty(), "schemas in an array");
    } else if (word == "prefixItems") {
      expect(name, value.is_array(), "schemas in an array");
    } else if (has(number_words, word) && word != "multipleOf") {
      expect(name, value.is_number(), "a number");
    } else if (has(count_words, word)) {
      count_of(schema, name, 0, place);
    }
  }
}

}  // namespace

void refuse_schema(const std::string& place, const std::string& what, const std::string& hint) {
  fail_usage("JSON schema: " + printable(place), what, hint);
}

std::string below(const std::string& place, std::string_view name) {
  std::string pointer = place + "/";
  for (const char c : name) c == '~' ? pointer += "~0" : c == '/' ? pointer += "~1" : pointer += c;
  return pointer;
}

bool is_annotation(std::string_view word) {
  return has(annotations, word);
}

void check_words(const Json& schema, const std::string& place) {
  for (const auto& [word, value] : schema.items()) {
    const bool known = is_annotation(word) || has(general_words, word) || has(object_words, word) ||
                       has(array_words, word) || has(string_words, word) || has(number_words, word);
    if (!known)
      refuse_schema(place, fmt::format("the keyword \"{}\" is not supported", printable(word)),
                    "leave it out, and check for it yourself");
  }
  check_values(schema, place);
}

std::int64_t count_of(const Json& schema, const char* word, std::int64_t otherwise, const std::string& place) {
  if (!schema.contains(word)) return otherwise;
  const Json& value = schema[word];
  if (!is_of_type(value, "integer") || value.get<double>() < 0 || value.get<double>() > 1e9)
    refuse_schema(place + "/" + word, "expected a whole number of at least 0");
  return static_cast<std::int64_t>(value.get<double>());
}

std::string text_of(const Json& schema, const char* word, const std::string& place) {
  if (!schema[word].is_string()) refuse_schema(place + "/" + word, "expected a text");
  return schema[word].get<std::string>();
}

std::vector<std::string> types_of(const Json& schema) {
  std::vector<std::string> list;
  if (schema.contains("type")) {
    const Json& type = schema["type"];
    for (const Json& one : type.is_array() ? type : Json::array({type})) list.push_back(one.get<std::string>());
    return list;
  }
  if (mentions(schema, object_words)) list.emplace_back("object");
  if (mentions(schema, array_words)) list.emplace_back("array");
  if (mentions(schema, string_words)) list.emplace_back("string");
  if (mentions(schema, number_words)) list.emplace_back("number");
  if (list.empty()) list = {"object", "array", "string", "number", "boolean", "null"};
  return list;
}

bool is_of_type(const Json& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "number") return value.is_number();
  return value.is_number_integer() || (value.is_number() && std::floor(value.get<double>()) == value.get<double>());
}

Json common_types(const Json& a, const Json& b) {
  const auto list = [](const Json& t) { return t.is_array() ? t : Json::array({t}); };
  Json common = Json::array();
  for (const Json& x : list(a))
    for (const Json& y : list(b)) {
      if (x == y)
        common.push_back(x);
      else if ((x == "integer" && y == "number") || (x == "number" && y == "integer"))
        common.push_back("integer");
    }
  return common;
}

bool are_equal(const Json& a, const Json& b) {
  if (a.is_array() && b.is_array()) return std::equal(a.begin(), a.end(), b.begin(), b.end(), are_equal);
  if (!a.is_object() || !b.is_object()) return a == b;
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a.items()) {
    const auto other = b.find(key);
    if (other == b.end() || !are_equal(value, *other)) return false;
  }
  return true;
}

bool is_listed(const Json& schema) {
  return schema.contains("enum") || schema.contains("const");
}

std::vector<Json> listed_values(const Json& schema) {
  const bool of_any_type = !schema.contains("type");
  const std::vector<std::string> allowed = of_any_type ? std::vector<std::string>() : types_of(schema);
  std::vector<Json> values;
  for (const Json& value : schema.contains("enum") ? schema["enum"] : Json::array({schema["const"]})) {
    if (schema.contains("const") && !are_equal(value, schema["const"])) continue;
    const bool fits = of_any_type || std::any_of(allowed.begin(), allowed.end(),
                                                 [&](const std::string& t) { return is_of_type(value, t); });
    if (fits) values.push_back(value);
  }
  return values;
}

}  // namespace tril::search

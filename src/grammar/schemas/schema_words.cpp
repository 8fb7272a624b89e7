#include "grammar/schemas/schema_words.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "grammar/schemas/exact_number.h"

namespace tril::search {
namespace {

constexpr std::array annotations{"title",
                                 "description",
                                 "default",
                                 "examples",
                                 "example",
                                 "$schema",
                                 "$id",
                                 "$comment",
                                 "$defs",
                                 "definitions",
                                 "readOnly",
                                 "writeOnly",
                                 "deprecated",
                                 "id",
                                 "$anchor",
                                 "contentMediaType",
                                 "contentEncoding",
                                 "$recursiveAnchor",
                                 "contentSchema",
                                 "$dynamicAnchor",
                                 "$vocabulary"};
constexpr std::array object_words{"properties",       "required",          "additionalProperties", "patternProperties",
                                  "propertyNames",    "minProperties",     "maxProperties",        "dependencies",
                                  "dependentSchemas", "dependentRequired", "unevaluatedProperties"};
constexpr std::array array_words{"items",    "prefixItems", "minItems",    "maxItems",    "additionalItems",
                                 "contains", "minContains", "maxContains", "uniqueItems", "unevaluatedItems"};
constexpr std::array string_words{"minLength", "maxLength", "pattern", "format"};
constexpr std::array number_words{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"};
constexpr std::array count_words{"minProperties", "maxProperties", "minItems",    "maxItems",
                                 "minLength",     "maxLength",     "minContains", "maxContains"};
constexpr std::array general_words{"type", "enum", "const", "anyOf", "oneOf",       "allOf",        "not",
                                   "if",   "then", "else",  "$ref",  "$dynamicRef", "$recursiveRef"};
// Keywords whose value is a schema, an array of schemas, or an object of schemas.
constexpr std::array schema_values{
    "additionalItems",  "additionalProperties", "contains", "else", "if", "not", "propertyNames", "then",
    "unevaluatedItems", "unevaluatedProperties"};
constexpr std::array schema_lists{"anyOf", "oneOf", "allOf"};
constexpr std::array schema_maps{"properties", "patternProperties", "dependentSchemas", "dependencies",
                                 "dependentRequired"};
constexpr std::array names{"object", "array", "string", "number", "boolean", "null"};

template <class List>
bool has(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

template <class List>
bool mentions(const Json& schema, const List& words) {
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return schema.contains(word); });
}

bool is_made(std::string_view word) {
  return word.starts_with('\x01');
}

bool is_list_of_names(const Json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& one) { return one.is_string(); });
}

std::string meant_by(std::string_view word) {
  static const std::vector<std::string> known = [] {
    std::vector<std::string> all;
    const auto add = [&](const auto& list) { all.insert(all.end(), list.begin(), list.end()); };
    add(general_words), add(object_words), add(array_words), add(string_words), add(number_words);
    return all;
  }();
  return nearest(word, known);
}

// What a keyword's value must be, if it is something else; "" if it is valid.
const char* expected_of(std::string_view word, const Json& value) {
  if (word == "required") return is_list_of_names(value) ? "" : "an array of names";
  if (word == "enum") return value.is_array() ? "" : "an array of values";
  if (has(schema_maps, word)) return value.is_object() ? "" : "an object";
  if (has(schema_lists, word)) return value.is_array() && !value.empty() ? "" : "an array of schemas";
  if (word == "prefixItems") return value.is_array() ? "" : "an array of schemas";
  if (has(schema_values, word)) return value.is_object() || value.is_boolean() ? "" : "a schema";
  if (word == "items") return value.is_object() || value.is_boolean() || value.is_array() ? "" : "a schema";
  if (word == "uniqueItems") return value.is_boolean() ? "" : "true or false";
  if (word == "pattern" || word == "format" || word.starts_with("$")) return value.is_string() ? "" : "a string";
  if (word == "exclusiveMinimum" || word == "exclusiveMaximum")  // draft 4 has a boolean here
    return value.is_number() || value.is_boolean() ? "" : "a number";
  if (word == "multipleOf") return value.is_number() && value.get<double>() > 0 ? "" : "a number above 0";
  if (has(number_words, word)) return value.is_number() ? "" : "a number";
  return "";
}

}  // namespace

void refuse_schema(const std::string& place, const std::string& what, const std::string& hint) {
  fail_usage("JSON schema: " + printable(place), what, hint);
}

void refuse_unsupported(const std::string& place, const std::string& what, const std::string& hint) {
  throw Unsupported("JSON schema: " + printable(place), what, hint);
}

std::string below(const std::string& place, std::string_view name) {
  std::string pointer = place + "/";
  for (const char c : name) c == '~' ? pointer += "~0" : c == '/' ? pointer += "~1" : pointer += c;
  return pointer;
}

Kind kind_of(const Json& value) {
  if (value.is_object()) return Kind::object;
  if (value.is_array()) return Kind::array;
  if (value.is_string()) return Kind::string;
  if (value.is_number()) return Kind::number;
  return value.is_boolean() ? Kind::boolean : Kind::null;
}

std::string_view name_of(Kind kind) {
  return names[static_cast<std::size_t>(kind)];
}

bool is_assertion(std::string_view word) {
  return has(general_words, word) || has(object_words, word) || has(array_words, word) || has(string_words, word) ||
         has(number_words, word) || (is_made(word) && word != made::mark);
}

void check_words(const Json& schema, const std::string& place, SchemaNotes& notes) {
  for (const auto& [word, value] : schema.items()) {
    if (word == "type") {
      for (const Json& one : value.is_array() ? value : Json::array({value}))
        if (!one.is_string() || (!has(names, one.get<std::string>()) && one != "integer"))
          refuse_schema(place + "/type", fmt::format("there is no type {}", printable(one.dump())));
    } else if (has(count_words, word)) {
      count_of(schema, word.c_str(), 0, place);
    } else if (is_assertion(word)) {
      const std::string_view expected = expected_of(word, value);
      if (!expected.empty()) refuse_schema(fmt::format("{}/{}", place, word), fmt::format("expected {}", expected));
    } else if (!has(annotations, word) && !is_made(word)) {
      notes.pass_over(word, meant_by(word));
    }
  }
}

std::int64_t count_of(const Json& schema, const char* word, std::int64_t otherwise, const std::string& place) {
  const auto found = schema.find(word);
  if (found == schema.end()) return otherwise;
  if (!is_whole(*found) || found->get<double>() < 0 || found->get<double>() > 1e18)
    refuse_schema(place + "/" + word, "expected an integer of at least 0");
  return static_cast<std::int64_t>(std::min(found->get<double>(), 1e9));
}

bool allows_kind(const Json& schema, Kind kind) {
  const auto type = schema.find("type");
  if (type == schema.end()) return true;
  const auto is = [&](const Json& one) { return one == name_of(kind) || (kind == Kind::number && one == "integer"); };
  return type->is_array() ? std::any_of(type->begin(), type->end(), is) : is(*type);
}

bool only_whole(const Json& schema) {
  const auto type = schema.find("type");
  if (type == schema.end()) return false;
  return type->is_array() ? holds(*type, Json("integer")) && !holds(*type, Json("number")) : *type == "integer";
}

bool speaks_of(const Json& schema, Kind kind) {
  if (kind == Kind::object) return mentions(schema, object_words) || schema.contains(made::some_property);
  if (kind == Kind::array) return mentions(schema, array_words);
  if (kind == Kind::string) return mentions(schema, string_words);
  return kind == Kind::number && mentions(schema, number_words);
}

bool is_whole(const Json& value) {
  return value.is_number_integer() || (value.is_number() && std::floor(value.get<double>()) == value.get<double>());
}

bool are_equal(const Json& a, const Json& b) {
  if (a.is_array() && b.is_array()) return std::equal(a.begin(), a.end(), b.begin(), b.end(), are_equal);
  if (a.is_number() && b.is_number()) return ExactNumber(a) == ExactNumber(b);
  if (!a.is_object() || !b.is_object()) return a == b;
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a.items()) {
    const auto other = b.find(key);
    if (other == b.end() || !are_equal(value, *other)) return false;
  }
  return true;
}

}  // namespace tril::search

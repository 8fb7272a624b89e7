#include "search/json_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/error.h"
#include "base/printable.h"
#include "model/json_file.h"
#include "search/grammar_text.h"

namespace tril::search {
namespace {

using Json = nlohmann::ordered_json;

constexpr int most_schemas = 200'000;
constexpr int deepest = 200;                   // schemas within schemas
constexpr std::int64_t most_copies = 100'000;  // of a counted repeat

constexpr std::array annotations{
    "title",      "description",      "default",        "examples",    "example",  "$schema",
    "$id",        "$comment",         "$defs",          "definitions", "readOnly", "writeOnly",
    "deprecated", "contentMediaType", "contentEncoding"};
constexpr std::array object_words{"properties",    "required",      "additionalProperties", "patternProperties",
                                  "propertyNames", "minProperties", "maxProperties"};
constexpr std::array array_words{"items", "prefixItems", "minItems", "maxItems"};
constexpr std::array string_words{"minLength", "maxLength", "pattern", "format"};
constexpr std::array number_words{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"};
constexpr std::array general_words{"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"};
constexpr std::array types{"object", "array", "string", "number", "integer", "boolean", "null"};

template <class List>
bool has(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// As values: whatever the order of an object's keys, and 1 is 1.0.
bool are_equal(const Json& a, const Json& b) {
  return a == b || nlohmann::json::parse(a.dump()) == nlohmann::json::parse(b.dump());
}

template <class List>
bool holds(const List& values, const Json& value) {
  return std::any_of(values.begin(), values.end(), [&](const Json& one) { return are_equal(one, value); });
}

template <class List>
bool mentions(const Json& schema, const List& words) {
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return schema.contains(word); });
}

// Of a schema that is an object and is in its simplest form: no $ref, no allOf.
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

// The values that `enum` and `const` leave; only where there is one of them.
std::vector<Json> listed(const Json& schema) {
  std::vector<Json> values;
  for (const Json& value : schema.contains("enum") ? schema["enum"] : Json::array({schema["const"]})) {
    if (schema.contains("const") && !are_equal(value, schema["const"])) continue;
    const std::vector<std::string> allowed = types_of(schema);
    const bool fits =
        !schema.contains("type") ||
        std::any_of(allowed.begin(), allowed.end(), [&](const std::string& t) { return is_of_type(value, t); });
    if (fits) values.push_back(value);
  }
  return values;
}

bool is_listed(const Json& schema) {
  return schema.contains("enum") || schema.contains("const");
}

// RFC 3339's forms, and others that validators know; where they are lenient, the strict ones.
std::string regex_of_format(std::string_view format) {
  const std::string date =
                        "[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|"
                        "02-(0[1-9]|1[0-9]|2[0-8]))",
                    time =
                        "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])",
                    octet = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])",
                    label = "[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?", host = label + "(\\." + label + "){0,4}";
  const std::array<std::pair<std::string_view, std::string>, 10> known{
      {{"date", date},
       {"time", time},
       {"date-time", date + "T" + time},
       {"duration", "P([0-9]{1,3}W|[0-9]{1,3}D(T[0-9]{1,3}H([0-9]{1,2}M([0-9]{1,2}S)?)?)?|T[0-9]{1,3}H([0-9]{1,2}M)?)"},
       {"email", "[a-z0-9_+-]{1,20}(\\.[a-z0-9_+-]{1,20}){0,3}@" + label + "(\\." + label + "){1,3}"},
       {"hostname", host},
       {"ipv4", octet + "(\\." + octet + "){3}"},
       {"ipv6", "[0-9a-f]{1,4}(:[0-9a-f]{1,4}){7}"},
       {"uri", "https?://" + host + "(:[1-9][0-9]{0,3})?(/[A-Za-z0-9._~-]{1,30}){0,8}/?(\\?[A-Za-z0-9._~=&-]{1,60})?"},
       {"uuid", "[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"}}};
  for (const auto& [name, regex] : known)
    if (name == format) return regex;
  return "";
}

class SchemaCompiler {
 public:
  SchemaCompiler(Json root, const JsonStyle& style)
      : root_(std::move(root)), style_(style), writer_(grammar_, style.alphabet) {}

  Grammar compile() {
    const std::int32_t whole = grammar_.add_rule();
    space_ = grammar_.add_rule(), line_ = grammar_.add_rule();
    write_spaces();
    const auto [start, end] = grammar_.rule(whole);
    grammar_.add_call(start, rule_of(root_, "#"), end);
    grammar_.check_sound();
    return std::move(grammar_);
  }

 private:
  [[noreturn]] static void refuse(const std::string& place, const std::string& what, const std::string& hint = {}) {
    fail_usage("JSON schema: " + printable(place), what, hint);
  }

  // --- schemas into their simplest form ---

  /// The schema without $ref and allOf, an object or false; checked for what is known of its keywords.
  Json simplified(const Json& schema, const std::string& place, int depth = 0) {
    if (depth > deepest) refuse(place, "refers to itself without end, or is too deep");
    if (++simplified_ > most_schemas)
      refuse(place, fmt::format("more than {} schemas, those referred to counted each time", most_schemas));
    if (schema.is_boolean()) return schema.get<bool>() ? Json::object() : Json(false);
    if (!schema.is_object())
      refuse(place, fmt::format("expected a schema, an object or true or false, got {}", schema.type_name()));
    check_words(schema, place);
    Json result = Json::object();
    for (const auto& [word, value] : schema.items())
      if (word != "$ref" && word != "allOf" && !has(annotations, word)) result[word] = value;
    if (schema.contains("$ref"))
      result = merged(simplified(target_of(schema["$ref"], place), place + "/$ref", depth + 1), result, place);
    if (schema.contains("allOf")) {
      if (!schema["allOf"].is_array() || schema["allOf"].empty())
        refuse(place + "/allOf", "expected schemas in an array");
      for (const Json& part : schema["allOf"])
        result = merged(result, simplified(part, place + "/allOf", depth + 1), place);
    }
    return result;
  }

  static void check_words(const Json& schema, const std::string& place) {
    for (const auto& [word, value] : schema.items()) {
      const bool known = has(annotations, word) || has(general_words, word) || has(object_words, word) ||
                         has(array_words, word) || has(string_words, word) || has(number_words, word);
      if (!known)
        refuse(place, fmt::format("the keyword \"{}\" is not supported", printable(word)),
               "leave it out, and check for it yourself");
    }
    if (!schema.contains("type")) return;
    const Json& type = schema["type"];
    for (const Json& one : type.is_array() ? type : Json::array({type}))
      if (!one.is_string() || !has(types, one.get<std::string>()))
        refuse(place + "/type", fmt::format("there is no type {}", printable(one.dump())));
  }

  Json target_of(const Json& reference, const std::string& place) const {
    if (!reference.is_string()) refuse(place + "/$ref", "expected a text");
    const std::string text = reference.get<std::string>();
    if (text != "#" && !text.starts_with("#/"))
      refuse(place + "/$ref", fmt::format("\"{}\" lies elsewhere", printable(text)),
             "only #/... of the schema itself is supported");
    try {
      return root_.at(Json::json_pointer(unescaped(text.substr(1))));
    } catch (const nlohmann::json::exception&) {
      refuse(place + "/$ref", fmt::format("there is no \"{}\"", printable(text)));
    }
  }

  // %7E is ~
  static std::string unescaped(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto digit = [&](std::size_t at) {
        return at < text.size() ? std::string_view("0123456789abcdef").find(static_cast<char>(text[at] | 0x20))
                                : std::string_view::npos;
      };
      if (text[i] == '%' && digit(i + 1) < 16 && digit(i + 2) < 16) {
        out += static_cast<char>(static_cast<unsigned char>(digit(i + 1) * 16 + digit(i + 2)));
        i += 2;
      } else {
        out += text[i];
      }
    }
    return out;
  }

  // What is valid against both.
  Json merged(const Json& a, const Json& b, const std::string& place) const {
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
        refuse(place, fmt::format("two different \"{}\" at once are not supported", word), "write them as one");
      }
    }
    merge_properties(a, b, both);
    return both;
  }

  // A property of one side that the other does not list is an additional one there.
  static void merge_properties(const Json& a, const Json& b, Json& both) {
    if (!a.contains("properties") && !b.contains("properties")) return;
    Json all = Json::object();
    const auto add = [&](const Json& from, const Json& other) {
      if (!from.contains("properties")) return;
      for (const auto& [name, schema] : from["properties"].items()) {
        if (all.contains(name)) continue;
        const bool listed_there = other.contains("properties") && other["properties"].contains(name);
        if (listed_there)
          all[name] =
              other["properties"][name] == schema ? schema : Json{{"allOf", {schema, other["properties"][name]}}};
        else if (other.contains("additionalProperties"))
          all[name] = Json{{"allOf", {schema, other["additionalProperties"]}}};
        else
          all[name] = schema;
      }
    };
    add(a, b), add(b, a);
    both["properties"] = all;
  }

  static Json common_types(const Json& a, const Json& b) {
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

  // --- what is written ---

  /// The rule of a schema's values; equal schemas share one, so that recursion ends.
  std::int32_t rule_of(const Json& schema, const std::string& place) {
    if (++depth_ > deepest) refuse(place, fmt::format("schemas within more than {} schemas", deepest));
    const Json simple = simplified(schema, place);
    const auto [found, fresh] = rules_.try_emplace(simple.dump(), 0);
    if (fresh) {
      const std::int32_t rule = found->second = grammar_.add_rule();
      const auto [start, end] = grammar_.rule(rule);
      if (simple != false) write_value(simple, start, end, place);
      --depth_;
      return rule;
    }
    --depth_;
    return found->second;
  }

  void write_value(const Json& schema, std::int32_t from, std::int32_t to, const std::string& place) {
    for (const char* word : {"anyOf", "oneOf"})
      if (schema.contains(word)) return write_alternatives(schema, word, from, to, place);
    if (is_listed(schema)) return write_listed(schema, from, to, place);
    for (const std::string& type : types_of(schema)) {
      if (type == "object") write_object(schema, from, to, place);
      if (type == "array") write_array(schema, from, to, place);
      if (type == "string") writer_.write_json_string(string_pattern(schema, place), from, to);
      if (type == "number" || type == "integer") write_number(schema, type == "integer", from, to, place);
      if (type == "boolean") write_text("true", from, to), write_text("false", from, to);
      if (type == "null") write_text("null", from, to);
    }
  }

  void write_text(std::string_view text, std::int32_t from, std::int32_t to) { writer_.write_text(text, from, to); }

  void write_alternatives(const Json& schema, const char* word, std::int32_t from, std::int32_t to,
                          const std::string& place) {
    Json around = schema;
    around.erase(word);
    if (!schema[word].is_array() || schema[word].empty()) refuse(place + "/" + word, "expected schemas in an array");
    std::vector<Json> alternatives;
    for (std::size_t i = 0; i < schema[word].size(); ++i) {
      const std::string at = fmt::format("{}/{}/{}", place, word, i);
      const Json one = merged(around, simplified(schema[word][i], at), at);
      if (std::string_view(word) == "oneOf")
        for (const Json& other : alternatives)
          if (!disjoint(one, other, 0))
            refuse(at, "a value may be valid against more than one alternative of \"oneOf\"",
                   "use \"anyOf\", or tell the alternatives apart by a type or a required constant property");
      alternatives.push_back(one);
      grammar_.add_call(from, rule_of(one, at), to);
    }
  }

  // Whether surely no value is valid against both.
  bool disjoint(const Json& a, const Json& b, int depth) {
    if (a == false || b == false) return true;
    if (depth > 8) return false;
    for (const auto& [x, y] : {std::pair<const Json&, const Json&>{a, b}, {b, a}})
      for (const char* word : {"anyOf", "oneOf"})
        if (x.contains(word))
          return std::all_of(x[word].begin(), x[word].end(),
                             [&](const Json& one) { return disjoint(simplified(one, "#"), y, depth + 1); });
    if (is_listed(a) && is_listed(b)) {
      const std::vector<Json> others = listed(b);
      const std::vector<Json> values = listed(a);
      return std::none_of(values.begin(), values.end(), [&](const Json& v) { return holds(others, v); });
    }
    for (const auto& [x, y] : {std::pair<const Json&, const Json&>{a, b}, {b, a}})
      if (is_listed(x)) {
        const std::vector<Json> values = listed(x);
        const std::vector<std::string> allowed = types_of(y);
        return y.contains("type") && std::all_of(values.begin(), values.end(), [&](const Json& v) {
                 return std::none_of(allowed.begin(), allowed.end(),
                                     [&](const std::string& t) { return is_of_type(v, t); });
               });
      }
    // A schema without a type is valid for any other type too, although none is written.
    if (!a.contains("type") || !b.contains("type")) return false;
    if (common_types(a["type"], b["type"]).empty()) return true;
    const Json object = "object";
    if (a["type"] != object || b["type"] != object || !a.contains("properties") || !b.contains("properties"))
      return false;
    const auto requires_it = [](const Json& s, const std::string& name) {
      return s.contains("required") && holds(s["required"], Json(name));
    };
    for (const auto& [name, schema] : a["properties"].items())
      if (b["properties"].contains(name) && requires_it(a, name) && requires_it(b, name) &&
          disjoint(simplified(schema, "#"), simplified(b["properties"][name], "#"), depth + 1))
        return true;
    return false;
  }

  void write_listed(const Json& schema, std::int32_t from, std::int32_t to, const std::string& place) {
    if (schema.contains("enum") && !schema["enum"].is_array()) refuse(place + "/enum", "expected values in an array");
    for (const auto& [word, value] : schema.items())
      if (word != "type" && word != "enum" && word != "const")
        refuse(place, fmt::format("\"{}\" beside a list of values is not supported", word),
               "leave out of the list what does not fit");
    for (const Json& value : listed(schema)) write_text(dumped(value), from, to);
  }

  // As the style has it.
  std::string dumped(const Json& value) const {
    const std::string gap = style_.space == JsonSpace::none ? "" : " ";
    std::string text;
    if (value.is_object()) {
      for (const auto& [name, one] : value.items())
        text += (text.empty() ? "" : "," + gap) + Json(name).dump() + ":" + gap + dumped(one);
      return "{" + text + "}";
    }
    if (value.is_array()) {
      for (const Json& one : value) text += (text.empty() ? "" : "," + gap) + dumped(one);
      return "[" + text + "]";
    }
    return value.dump();
  }

  // --- white space ---

  void write_spaces() {
    const auto optional_space = [&](std::int32_t rule) {
      const auto [start, end] = grammar_.rule(rule);
      grammar_.add_jump(start, end);
      return std::pair(start, end);
    };
    const auto [space, space_end] = optional_space(space_);
    const auto [line, line_end] = optional_space(line_);
    if (style_.space == JsonSpace::none || !writer_.can_write(" ")) return;
    write_text(" ", space, space_end);
    if (style_.space != JsonSpace::lines || !writer_.can_write("\n")) return;
    for (const auto& [from, to] : {std::pair(space, space_end), {line, line_end}})
      writer_.write_pattern(Pattern::of_regex("\\n {0,20}", Pattern::Match::whole), from, to);
  }

  /// `mark` and what may stand behind it, in a new state; of , and : `gap` is space_, of { and [ it is line_.
  std::int32_t behind(std::string_view mark, std::int32_t gap, std::int32_t from) {
    const std::int32_t marked = grammar_.add_state(), next = grammar_.add_state();
    write_text(mark, from, marked);
    grammar_.add_call(marked, gap, next);
    return next;
  }
  void close(std::string_view mark, std::int32_t from, std::int32_t to) {
    const std::int32_t gap = grammar_.add_state();
    grammar_.add_call(from, line_, gap);
    write_text(mark, gap, to);
  }

  // --- objects ---

  struct Property {
    std::string name;
    Json schema;
    bool required;
  };

  std::vector<Property> properties_of(const Json& schema, const Json& additional, const std::string& place) {
    std::vector<Property> list;
    std::vector<std::string> required;
    if (schema.contains("required")) {
      if (!schema["required"].is_array()) refuse(place + "/required", "expected names in an array");
      for (const Json& name : schema["required"]) {
        if (!name.is_string()) refuse(place + "/required", "expected names in an array");
        required.push_back(name.get<std::string>());
      }
    }
    if (schema.contains("properties")) {
      if (!schema["properties"].is_object()) refuse(place + "/properties", "expected an object");
      for (const auto& [name, property] : schema["properties"].items())
        list.push_back({name, property, has(required, name)});
    }
    for (const std::string& name : required)
      if (std::none_of(list.begin(), list.end(), [&](const Property& p) { return p.name == name; }))
        list.push_back({name, additional, true});
    return list;
  }

  std::int64_t count(const Json& schema, const char* word, std::int64_t otherwise, const std::string& place) const {
    if (!schema.contains(word)) return otherwise;
    const Json& value = schema[word];
    if (!is_of_type(value, "integer") || value.get<double>() < 0 || value.get<double>() > 1e9)
      refuse(place + "/" + word, "expected a whole number of at least 0");
    return static_cast<std::int64_t>(value.get<double>());
  }

  // "name": value
  std::int32_t member_rule(const Pattern& name, const Json& value, const std::string& place) {
    const std::int32_t rule = grammar_.add_rule();
    const auto [start, end] = grammar_.rule(rule);
    const std::int32_t named = grammar_.add_state();
    writer_.write_json_string(name, start, named);
    grammar_.add_call(behind(":", space_, named), rule_of(value, place), end);
    return rule;
  }

  /// How other properties than the listed ones are written; -1: not at all.
  std::int32_t extra_rule(const Json& schema, const std::vector<Property>& properties, const Json& additional,
                          const std::string& place) {
    const bool by_pattern = schema.contains("patternProperties");
    const bool silent =
        !schema.contains("additionalProperties") && !schema.contains("propertyNames") && !properties.empty();
    if (!by_pattern && (silent || simplified(additional, place) == false)) return -1;
    std::vector<std::string> names;
    for (const Property& p : properties) names.push_back(p.name);
    Pattern name = Pattern::except(names);
    Json value = additional;
    if (by_pattern) {
      const Json& patterns = schema["patternProperties"];
      if (!patterns.is_object() || patterns.size() != 1)
        refuse(place + "/patternProperties", "expected an object of one pattern: several are not supported");
      const std::string regex = patterns.begin().key();
      const Pattern pattern = Pattern::of_regex(regex, Pattern::Match::part);
      for (const Property& p : properties)
        if (pattern.matches(p.name))
          refuse(place + "/patternProperties",
                 fmt::format("it is meant for the property \"{}\" too, which is not supported", printable(p.name)));
      name = name & pattern;
      value = patterns.begin().value();
      if (simplified(value, place) == false) return -1;
    }
    if (schema.contains("propertyNames")) {
      const Json names_schema = simplified(schema["propertyNames"], place + "/propertyNames");
      if (names_schema == false) return -1;
      name = name & name_pattern(names_schema, place + "/propertyNames");
    }
    return member_rule(name, value, place + "/additionalProperties");
  }

  Pattern name_pattern(const Json& schema, const std::string& place) {
    if (!is_listed(schema)) return string_pattern(schema, place);
    std::vector<std::string> names;
    for (const Json& value : listed(schema))
      if (value.is_string()) names.push_back(value.get<std::string>());
    return Pattern::of_texts(names);
  }

  // The listed properties in their order, each or not, then others. A state knows how many there were so far, as far as
  // that matters: for the comma, and for minProperties and maxProperties.
  void write_object(const Json& schema, std::int32_t from, std::int32_t to, const std::string& place) {
    const Json additional = schema.contains("additionalProperties") ? schema["additionalProperties"] : Json(true);
    const std::vector<Property> properties = properties_of(schema, additional, place);
    const std::int32_t extra = extra_rule(schema, properties, additional, place);
    const auto listed_count = static_cast<std::int64_t>(properties.size());
    const std::int64_t least = count(schema, "minProperties", 0, place);
    std::int64_t most = count(schema, "maxProperties", -1, place);
    if (extra < 0 && most >= listed_count) most = -1;
    // Names of other properties are free, so two may be the same: one of them counts.
    if (least > listed_count + (extra < 0 ? 0 : 1))
      refuse(place, fmt::format("\"minProperties\" of {} is not supported where {} are listed", least, listed_count));
    if (most > most_copies) refuse(place, fmt::format("\"maxProperties\" above {} is not supported", most_copies));
    if (schema.contains("propertyNames")) check_names(schema, properties, place);

    const std::int64_t told_apart = std::max<std::int64_t>({1, least, most});
    const auto nodes = [&] {
      std::vector<std::int32_t> list;
      for (std::int64_t i = 0; i <= told_apart; ++i) list.push_back(grammar_.add_state());
      return list;
    };
    const auto next_count = [&](std::int64_t n) { return std::min(n + 1, told_apart); };
    const auto may_add = [&](std::int64_t n) { return most < 0 || n < most; };
    std::vector<std::int32_t> at = nodes();
    const std::int32_t open = behind("{", line_, from);
    grammar_.add_jump(open, at[0]);
    for (const Property& p : properties) {
      const std::vector<std::int32_t> next = nodes();
      const std::int32_t rule = member_rule(Pattern::of_texts({&p.name, 1}), p.schema, place + "/properties/" + p.name);
      for (std::int64_t n = 0; n <= told_apart; ++n) {
        if (!p.required) grammar_.add_jump(at[static_cast<std::size_t>(n)], next[static_cast<std::size_t>(n)]);
        if (!may_add(n)) continue;
        const std::int32_t begin = n == 0 ? at[0] : behind(",", space_, at[static_cast<std::size_t>(n)]);
        grammar_.add_call(begin, rule, next[static_cast<std::size_t>(next_count(n))]);
      }
      at = next;
    }
    write_extras(at, extra, least, most, to);
  }

  /// @param at  by the number of listed properties that were written
  void write_extras(const std::vector<std::int32_t>& at, std::int32_t extra, std::int64_t least, std::int64_t most,
                    std::int32_t to) {
    const auto count = static_cast<std::int64_t>(at.size());
    for (std::int64_t n = 0; n < count; ++n)
      if (n >= least) close("}", at[static_cast<std::size_t>(n)], to);
    if (extra < 0) return;
    // By how many there are in all, and for the least number by how many were listed: one more than those is sure.
    std::vector<std::int32_t> with;
    for (std::int64_t n = 0; n < count; ++n) with.push_back(grammar_.add_state());
    for (std::int64_t n = 0; n < count; ++n) {
      const bool enough = n + 1 >= least;
      if ((most >= 0 && n >= most) || !enough) continue;
      const std::int32_t begin = n == 0 ? at[0] : behind(",", space_, at[static_cast<std::size_t>(n)]);
      grammar_.add_call(begin, extra, with[static_cast<std::size_t>(std::min(n + 1, count - 1))]);
    }
    for (std::int64_t n = 0; n < count; ++n) {
      close("}", with[static_cast<std::size_t>(n)], to);
      if (most < 0 || n < most)
        grammar_.add_call(behind(",", space_, with[static_cast<std::size_t>(n)]), extra,
                          with[static_cast<std::size_t>(std::min(n + 1, count - 1))]);
    }
  }

  void check_names(const Json& schema, const std::vector<Property>& properties, const std::string& place) {
    const Json names = simplified(schema["propertyNames"], place + "/propertyNames");
    if (names != false) {
      const Pattern allowed = name_pattern(names, place + "/propertyNames");
      for (const Property& p : properties)
        if (!allowed.matches(p.name))
          refuse(place + "/propertyNames", fmt::format("does not allow the property \"{}\"", printable(p.name)));
    } else if (!properties.empty()) {
      refuse(place + "/propertyNames", "allows no property, and there are some");
    }
  }

  // --- arrays ---

  void write_array(const Json& schema, std::int32_t from, std::int32_t to, const std::string& place) {
    std::vector<Json> first;
    if (schema.contains("prefixItems")) {
      if (!schema["prefixItems"].is_array()) refuse(place + "/prefixItems", "expected schemas in an array");
      first.assign(schema["prefixItems"].begin(), schema["prefixItems"].end());
    }
    if (schema.contains("items") && schema["items"].is_array())
      refuse(place + "/items", "a schema for each item is not supported here", "call it \"prefixItems\"");
    const auto given = static_cast<std::int64_t>(first.size());
    std::int64_t least = count(schema, "minItems", 0, place), most = count(schema, "maxItems", -1, place);
    const Json rest = schema.contains("items") ? schema["items"] : Json(true);
    const bool has_rest =
        simplified(rest, place + "/items") != false && (schema.contains("items") || given == 0 || least > given);
    // A tuple is whole where it may be.
    const std::int64_t prefix = most >= 0 ? std::min(given, most) : given;
    least = std::max(least, prefix);
    if (!has_rest) most = most < 0 ? given : std::min(most, given);
    if (std::max(least, most) > most_copies)
      refuse(place, fmt::format("\"minItems\" and \"maxItems\" above {} are not supported", most_copies));

    std::int32_t at = behind("[", line_, from);
    const auto item = [&](std::int64_t i, std::int32_t begin, std::int32_t end) {
      if (i > 0) begin = behind(",", space_, begin);
      const Json& one = i < given ? first[static_cast<std::size_t>(i)] : rest;
      grammar_.add_call(begin, rule_of(one, place + (i < given ? fmt::format("/prefixItems/{}", i) : "/items")), end);
    };
    // As many as there must be or may be, one after the other, then any number.
    const std::int64_t counted = most < 0 ? std::max<std::int64_t>(least, 1) : most;
    for (std::int64_t i = 0; i <= counted; ++i) {
      if (i >= least) close("]", at, to);
      if (i == counted) break;
      const std::int32_t next = grammar_.add_state();
      if (i < given || has_rest) item(i, at, next);
      at = next;
    }
    if (most < 0 && has_rest) item(counted, at, at);
  }

  // --- strings and numbers ---

  Pattern string_pattern(const Json& schema, const std::string& place) {
    const std::int64_t least = count(schema, "minLength", 0, place), most = count(schema, "maxLength", -1, place);
    if (std::max(least, most) > most_copies)
      refuse(place, fmt::format("\"minLength\" and \"maxLength\" above {} are not supported", most_copies));
    const bool bounded = least > 0 || most >= 0;
    const Pattern lengths = Pattern::of_length(least, most < 0 ? std::nullopt : std::optional(most));
    std::optional<Pattern> pattern;
    const auto also = [&](const Pattern& other) { pattern = pattern ? *pattern & other : other; };
    if (schema.contains("pattern")) also(Pattern::of_regex(text_of(schema, "pattern", place), Pattern::Match::part));
    if (schema.contains("format")) {
      const std::string format = text_of(schema, "format", place), regex = regex_of_format(format);
      if (regex.empty())
        refuse(place + "/format", fmt::format("\"{}\" is not supported", printable(format)),
               "date, time, date-time, duration, email, hostname, ipv4, ipv6, uri and uuid are");
      also(Pattern::of_regex(regex, Pattern::Match::whole));
    }
    if (!pattern) return lengths;
    return bounded ? *pattern & lengths : *pattern;
  }

  static std::string text_of(const Json& schema, const char* word, const std::string& place) {
    if (!schema[word].is_string()) refuse(place + "/" + word, "expected a text");
    return schema[word].get<std::string>();
  }

  void write_number(const Json& schema, bool whole, std::int32_t from, std::int32_t to, const std::string& place) {
    using Bound = GrammarWriter::Bound;
    std::optional<Bound> least, most;
    const auto narrow = [&](const char* word, bool included, std::optional<Bound>& bound, bool is_least) {
      if (!schema.contains(word)) return;
      if (!schema[word].is_number()) refuse(place + "/" + word, "expected a number");
      const double value = schema[word].get<double>();
      const bool tighter =
          !bound || (is_least ? value > bound->value : value < bound->value) || (value == bound->value && !included);
      if (tighter) bound = Bound{value, included};
    };
    narrow("minimum", true, least, true), narrow("exclusiveMinimum", false, least, true);
    narrow("maximum", true, most, false), narrow("exclusiveMaximum", false, most, false);
    std::int64_t multiple_of = 1;
    if (schema.contains("multipleOf")) {
      const Json& value = schema["multipleOf"];
      const bool fits = is_of_type(value, "integer") && value.get<double>() >= 1 && value.get<double>() <= 1000;
      if (!fits) refuse(place + "/multipleOf", "expected a whole number from 1 to 1000: others are not supported");
      multiple_of = static_cast<std::int64_t>(value.get<double>());
      whole = true;  // which a multiple of a whole number is
    }
    if (!whole && !least && !most) {
      writer_.write_pattern(
          Pattern::of_regex("-?(0|[1-9][0-9]{0,14})(\\.[0-9]{1,15})?([eE][+-]?[0-9]{1,2})?", Pattern::Match::whole),
          from, to);
    } else if (!whole) {
      writer_.write_decimals(least, most, from, to);
    } else {
      const auto integer = [&](const std::optional<Bound>& bound, bool is_least) -> std::optional<std::int64_t> {
        if (!bound) return std::nullopt;
        if (std::abs(bound->value) >= 1e18) refuse(place, "bounds beyond 10^18 are not supported");
        const double nearest = is_least ? std::ceil(bound->value) : std::floor(bound->value);
        const std::int64_t step = nearest == bound->value && !bound->included ? is_least ? 1 : -1 : 0;
        return static_cast<std::int64_t>(nearest) + step;
      };
      writer_.write_integers(integer(least, true), integer(most, false), multiple_of, from, to);
    }
  }

  Json root_;
  JsonStyle style_;
  Grammar grammar_;
  GrammarWriter writer_;
  std::int32_t space_ = 0, line_ = 0, depth_ = 0, simplified_ = 0;
  std::unordered_map<std::string, std::int32_t> rules_;  // by the simplified schema
};

}  // namespace

Grammar json_schema_grammar(std::string_view schema, const JsonStyle& style) {
  parse_json(schema, "JSON schema");  // no key twice, within limits
  return SchemaCompiler(Json::parse(schema), style).compile();
}

Grammar json_object_grammar(const JsonStyle& style) {
  return SchemaCompiler(Json{{"type", "object"}}, style).compile();
}

}  // namespace tril::search

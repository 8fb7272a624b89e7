#include "grammar/schemas/schema_complement.h"

#include <fmt/format.h>

#include "grammar/schemas/exact_number.h"
#include "grammar/schemas/schema_document.h"
#include "grammar/schemas/schema_drafts.h"

namespace tril::search {
namespace {

constexpr std::size_t most_places = 100;  // items in a tuple
constexpr std::size_t most_gaps = 100;    // between excluded numbers
constexpr std::size_t most_pairs = 10;    // alternatives of oneOf of which two may hold

Json part(Json schema) {
  schema[made::mark] = true;
  return schema;
}

Json all_of(Json schemas) {
  return part({{"allOf", std::move(schemas)}});
}

Json any_of(Json schemas) {
  if (schemas.empty()) return false;
  return schemas.size() == 1 ? schemas[0] : part({{"anyOf", std::move(schemas)}});
}

Json negated(const Json& schema) {
  if (schema.is_boolean()) return !schema.get<bool>();
  return part({{"not", schema}});
}

Json never(std::string_view word) {
  return part({{made::never, fmt::format("the negation of \"{}\" is not supported", word)}});
}

// A schema that only `value` is valid against, built from its parts.
Json structure_of(const Json& value) {
  Json schema{{"type", name_of(kind_of(value))}};
  if (value.is_array()) {
    schema["minItems"] = schema["maxItems"] = value.size();
    for (const Json& item : value) schema["prefixItems"].push_back(Json{{"const", item}});
  } else {
    for (const auto& [name, member] : value.items()) {
      schema["required"].push_back(name);
      schema["properties"][name] = Json{{"const", member}};
    }
    schema["additionalProperties"] = false;
  }
  return part(schema);
}

// What a schema says, keyword by keyword, and for each the values that violate it.
class Complement {
 public:
  Complement(const Json& schema, int draft) : schema_(schema), draft_(draft) {}

  Json run() {
    if (is_there("type")) add_type();
    for (const auto& [word, value] : schema_.items()) {
      if (!is_there(word)) continue;
      add_general(word, value);
      add_number(word, value);
      add_string(word, value);
      add_array(word, value);
      add_object(word, value);
      if (word.starts_with('\x01') && word != made::mark) add_made(word);
    }
    return any_of(alternatives_);
  }

 private:
  bool is_there(std::string_view word) const { return schema_.contains(word) && counts(schema_, word, draft_); }
  void add(Json schema) { alternatives_.push_back(std::move(schema)); }
  void add(Kind kind, Json schema) {
    schema["type"] = name_of(kind);
    add(part(std::move(schema)));
  }

  void add_type() {
    for (const Kind kind : all_kinds)
      if (!allows_kind(schema_, kind)) add(kind, Json::object());
    if (only_whole(schema_)) add(Kind::number, {{made::fraction, true}});
  }

  void add_general(const std::string& word, const Json& value) {
    if (word == "enum") add_values(value);
    if (word == "const") add_values(Json::array({value}));
    if (word == "not") add(value);
    if (word == "allOf")
      for (const Json& one : value) add(negated(one));
    if (word == "anyOf" || word == "oneOf") {
      Json none = Json::array();
      for (const Json& one : value) none.push_back(negated(one));
      add(all_of(none));
    }
    if (word == "oneOf" && value.size() <= most_pairs)
      for (std::size_t i = 0; i < value.size(); ++i)
        for (std::size_t k = 0; k < i; ++k) add(all_of({value[k], value[i]}));
    if (word == "if") {
      if (schema_.contains("then")) add(all_of({value, negated(schema_["then"])}));
      if (schema_.contains("else")) add(all_of({negated(value), negated(schema_["else"])}));
    }
    if (word[0] == '$' && is_assertion(word)) add(negated(Json{{word, value}}));
  }

  // All values except the listed ones.
  void add_values(const Json& values) {
    Json texts = Json::array(), numbers = Json::array(), others = Json::array({true, false, nullptr}),
         composed = Json::array();
    for (const Json& value : values) {
      const Kind kind = kind_of(value);
      if (kind == Kind::string) texts.push_back(value);
      if (kind == Kind::number) numbers.push_back(value);
      if (kind == Kind::array || kind == Kind::object) composed.push_back(negated(structure_of(value)));
      for (std::size_t i = 0; i < others.size(); ++i)
        if (others[i] == value) others.erase(i--);
    }
    add(Kind::string, {{made::not_texts, texts}});
    add_gaps(numbers);
    if (!others.empty()) add(part({{"enum", others}}));
    for (const Kind kind : {Kind::array, Kind::object}) {
      composed.push_back(Json{{"type", name_of(kind)}});
      add(all_of(composed));
      composed.erase(composed.size() - 1);
    }
  }

  void add_gaps(Json numbers) {
    if (numbers.size() > most_gaps) return add(never("enum"));
    std::sort(numbers.begin(), numbers.end(),
              [](const Json& a, const Json& b) { return ExactNumber(a) < ExactNumber(b); });
    Json gap = Json::object();
    for (const Json& number : numbers) {
      gap["exclusiveMaximum"] = number;
      add(Kind::number, gap);
      gap = Json{{"exclusiveMinimum", number}};
    }
    add(Kind::number, gap);
  }

  void add_number(const std::string& word, const Json& value) {
    // Draft 4: whether the bound itself is excluded.
    const auto is_exclusive = [&](const char* flag) { return is_there(flag) && schema_[flag] == true; };
    if (word == "minimum")
      add(Kind::number, {{is_exclusive("exclusiveMinimum") ? "maximum" : "exclusiveMaximum", value}});
    if (word == "maximum")
      add(Kind::number, {{is_exclusive("exclusiveMaximum") ? "minimum" : "exclusiveMinimum", value}});
    if (word == "exclusiveMinimum" && value.is_number()) add(Kind::number, {{"maximum", value}});
    if (word == "exclusiveMaximum" && value.is_number()) add(Kind::number, {{"minimum", value}});
    if (word == "multipleOf") {
      if (is_whole(value)) add(Kind::number, {{made::fraction, true}});
      add(never(word));
    }
  }

  // Values below the least count, and values above the most.
  void add_counts(Kind kind, const std::string& word, const Json& value, const char* least, const char* most) {
    const auto n = static_cast<std::int64_t>(std::min(value.get<double>(), 1e9));
    if (word == least && n > 0) add(kind, {{most, n - 1}});
    if (word == most) add(kind, {{least, n + 1}});
  }

  void add_string(const std::string& word, const Json& value) {
    if (word == "minLength" || word == "maxLength") add_counts(Kind::string, word, value, "minLength", "maxLength");
    if (word == "pattern") add(Kind::string, {{made::not_pattern, value}});
    if (word == "format") add(never(word));
  }

  void add_array(const std::string& word, const Json& value) {
    if (word == "minItems" || word == "maxItems") add_counts(Kind::array, word, value, "minItems", "maxItems");
    const bool is_tuple = word == "prefixItems" || (word == "items" && value.is_array());
    if (is_tuple)
      for (std::size_t i = 0; i < value.size(); ++i) add_item(i, value[i]);
    const std::size_t first = is_there("prefixItems")                                    ? schema_["prefixItems"].size()
                              : schema_.contains("items") && schema_["items"].is_array() ? schema_["items"].size()
                                                                                         : 0;
    const bool is_rest = word == "items"
                             ? !value.is_array()
                             : word == "additionalItems" && schema_.contains("items") && schema_["items"].is_array();
    if (is_rest && first == 0) add(Kind::array, {{"contains", negated(value)}});
    if (is_rest && first > 0) add_item(first, value), add(never(word));  // of the items after the first too
    if (word == "contains") add_contains(value);
    if (word == "uniqueItems" && value == true) add(never(word));
    if (word == "unevaluatedItems") add(never(word));
  }

  // An invalid item at that place.
  void add_item(std::size_t place, const Json& schema) {
    if (place >= most_places) return add(never("prefixItems"));  // each would list all items before it
    Json items = Json::array();
    for (std::size_t i = 0; i < place; ++i) items.push_back(true);
    items.push_back(negated(schema));
    add(Kind::array, {{"minItems", place + 1}, {"prefixItems", items}});
  }

  void add_contains(const Json& value) {
    const std::int64_t least = is_there("minContains") ? count_of(schema_, "minContains", 1, "") : 1;
    if (least == 1) add(Kind::array, {{"items", negated(value)}});
    if (least > 1) add(Kind::array, {{"contains", value}, {"minContains", 0}, {"maxContains", least - 1}});
    if (is_there("maxContains"))
      add(Kind::array, {{"contains", value}, {"minContains", count_of(schema_, "maxContains", 0, "") + 1}});
  }

  void add_object(const std::string& word, const Json& value) {
    if (word == "minProperties" || word == "maxProperties")
      add_counts(Kind::object, word, value, "minProperties", "maxProperties");
    if (word == "required")
      for (const Json& name : value) add(Kind::object, {{"properties", {{name.get<std::string>(), false}}}});
    if (word == "properties")
      for (const auto& [name, one] : value.items())
        add(Kind::object, {{"required", {name}}, {"properties", {{name, negated(one)}}}});
    if (word == "patternProperties")
      for (const auto& [regex, one] : value.items())
        add(Kind::object, {{made::some_property, {{"pattern", regex}, {"value", negated(one)}}}});
    if (word == "additionalProperties") {
      Json some{{"value", negated(value)}};
      for (const char* known : {"properties", "patternProperties"})
        if (schema_.contains(known)) some[known] = schema_[known];
      add(Kind::object, {{made::some_property, some}});
    }
    if (word == "dependencies" || word == "dependentRequired" || word == "dependentSchemas")
      for (const auto& [name, one] : value.items())
        add(all_of({part({{"type", "object"}, {"required", {name}}}),
                    one.is_array()    ? part({{"not", {{"required", one}}}})
                    : one.is_string() ? part({{"properties", {{one.get<std::string>(), false}}}})  // draft 3
                                      : negated(one)}));
    if (word == "propertyNames" || word == "unevaluatedProperties") add(never(word));
  }

  void add_made(const std::string& word) {
    if (word == made::not_pattern)
      add(Kind::string, {{"pattern", schema_[word]}});
    else if (word == made::not_texts && !schema_[word].empty())
      add(part({{"enum", schema_[word]}}));
    else if (word == made::fraction)
      add(part({{"type", "integer"}}));
    else if (word == made::some_property)
      add(never("additionalProperties"));
  }

  const Json& schema_;
  int draft_;
  Json alternatives_ = Json::array();
};

}  // namespace

Json complement_of(const Json& schema, int draft) {
  if (schema.is_boolean()) return !schema.get<bool>();
  return Complement(schema, schema.contains(made::mark) ? latest_draft : draft).run();
}

std::vector<Condition> conditions_of(const Json& schema) {
  std::vector<Condition> list;
  if (schema.contains("if") && (schema.contains("then") || schema.contains("else"))) {
    const Json branch_then = schema.contains("then") ? schema["then"] : Json(true),
               branch_else = schema.contains("else") ? schema["else"] : Json(true);
    list.push_back({"if", any_of({all_of({schema["if"], branch_then}), all_of({negated(schema["if"]), branch_else})})});
  }
  for (const char* word : {"dependencies", "dependentRequired", "dependentSchemas"}) {
    if (!schema.contains(word)) continue;
    for (const auto& [name, one] : schema[word].items()) {
      // For evaluation, a schema counts only if the property is present: never in an array.
      const Json needed = one.is_array()    ? part({{"required", one}})
                          : one.is_string() ? part({{"required", {one}}})  // draft 3
                                            : all_of({part({{"type", "object"}, {"required", {name}}}), one});
      list.push_back({word, any_of({part({{"properties", {{name, false}}}}), needed})});
    }
  }
  return list;
}

}  // namespace tril::search

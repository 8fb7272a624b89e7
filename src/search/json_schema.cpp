#include "search/json_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/printable.h"
#include "model/json_file.h"
#include "search/grammar_text.h"
#include "search/schema_disjoint.h"
#include "search/schema_merge.h"
#include "search/schema_numbers.h"
#include "search/schema_reader.h"
#include "search/schema_strings.h"

namespace tril::search {
namespace {

constexpr std::int64_t most_copies = 100'000;  // of a counted repeat

// The grammar of a schema: a rule for each of its parts.
class SchemaCompiler {
 public:
  SchemaCompiler(Json root, const JsonStyle& style)
      : reader_(std::move(root)),
        writer_(grammar_, style.alphabet),
        whole_(grammar_.add_rule()),
        layout_(writer_, style.space) {}

  Grammar compile() {
    const auto [start, end] = grammar_.rule(whole_);
    grammar_.add_call(start, rule_of(reader_.root(), "#"), end);
    grammar_.check_sound(writer_.lacking());
    return std::move(grammar_);
  }

 private:
  /// The rule of a schema's values; equal schemas share one, so that recursion ends.
  std::int32_t rule_of(const Json& schema, const std::string& place) {
    if (++depth_ > SchemaReader::deepest)
      refuse_schema(place, fmt::format("schemas within more than {} schemas", SchemaReader::deepest));
    const Json simple = reader_.simplified(schema, place);
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
      if (type == "string") writer_.write_json_string(string_pattern(schema, pattern_states_, place), from, to);
      if (type == "number" || type == "integer") write_number(writer_, schema, type == "integer", from, to, place);
      if (type == "boolean") writer_.write_text("true", from, to), writer_.write_text("false", from, to);
      if (type == "null") writer_.write_text("null", from, to);
    }
  }

  void write_alternatives(const Json& schema, const char* word, std::int32_t from, std::int32_t to,
                          const std::string& place) {
    Json around = schema;
    around.erase(word);
    std::vector<Json> alternatives;
    for (std::size_t i = 0; i < schema[word].size(); ++i) {
      const std::string at = fmt::format("{}/{}/{}", place, word, i);
      const Json one = merged(around, reader_.simplified(schema[word][i], at), at);
      if (std::string_view(word) == "oneOf")
        for (const Json& other : alternatives)
          if (!are_disjoint(one, other, reader_))
            refuse_schema(at, "a value may be valid against more than one alternative of \"oneOf\"",
                          "use \"anyOf\", or tell the alternatives apart by a type or a required constant property");
      alternatives.push_back(one);
      grammar_.add_call(from, rule_of(one, at), to);
    }
  }

  void write_listed(const Json& schema, std::int32_t from, std::int32_t to, const std::string& place) {
    for (const auto& [word, value] : schema.items())
      if (word != "type" && word != "enum" && word != "const")
        refuse_schema(place, fmt::format("\"{}\" beside a list of values is not supported", word),
                      "leave out of the list what does not fit");
    for (const Json& value : listed_values(schema)) writer_.write_text(layout_.dumped(value), from, to);
  }

  // --- objects ---

  struct Property {
    std::string name;
    Json schema;
    bool required;
    std::string place;
  };

  static std::vector<Property> properties_of(const Json& schema, const Json& additional, const std::string& place) {
    std::vector<Property> list;
    std::vector<std::string> required;
    if (schema.contains("required")) required = schema["required"].get<std::vector<std::string>>();
    if (schema.contains("properties"))
      for (const auto& [name, property] : schema["properties"].items())
        list.push_back({name, property, std::find(required.begin(), required.end(), name) != required.end(),
                        below(place + "/properties", name)});
    for (const std::string& name : required)
      if (std::none_of(list.begin(), list.end(), [&](const Property& p) { return p.name == name; }))
        list.push_back({name, additional, true, place + "/additionalProperties"});
    return list;
  }

  // "name": value
  std::int32_t member_rule(const Pattern& name, const Json& value, const std::string& place) {
    const std::int32_t rule = grammar_.add_rule();
    const auto [start, end] = grammar_.rule(rule);
    const std::int32_t named = grammar_.add_state();
    writer_.write_json_string(name, start, named);
    grammar_.add_call(layout_.behind(':', named), rule_of(value, place), end);
    return rule;
  }

  /// How other properties than the listed ones are written; -1: not at all.
  std::int32_t extra_rule(const Json& schema, const std::vector<Property>& properties, const Json& additional,
                          const std::string& place) {
    const bool by_pattern = schema.contains("patternProperties");
    const bool silent =
        !schema.contains("additionalProperties") && !schema.contains("propertyNames") && !properties.empty();
    if (!by_pattern && (silent || reader_.simplified(additional, place + "/additionalProperties") == false)) return -1;
    std::vector<std::string> names;
    for (const Property& p : properties) names.push_back(p.name);
    Pattern name = Pattern::except(names);
    Json value = additional;
    std::string value_place = place + "/additionalProperties";
    if (by_pattern) {
      const Json& patterns = schema["patternProperties"];
      if (!patterns.is_object() || patterns.size() != 1)
        refuse_schema(place + "/patternProperties", "expected an object of one pattern: several are not supported");
      const std::string regex = patterns.begin().key();
      const std::string at = below(place + "/patternProperties", regex);
      const Pattern pattern = at_place(at, [&] { return Pattern::of_regex(regex, Pattern::Match::part); });
      for (const Property& p : properties)
        if (pattern.matches(p.name))
          refuse_schema(
              place + "/patternProperties",
              fmt::format("it is meant for the property \"{}\" too, which is not supported", printable(p.name)));
      name = counted(name & pattern, pattern_states_, place + "/patternProperties");
      value = patterns.begin().value();
      value_place = at;
      if (reader_.simplified(value, at) == false) return -1;
    }
    if (schema.contains("propertyNames")) {
      const Json names_schema = reader_.simplified(schema["propertyNames"], place + "/propertyNames");
      if (names_schema == false) return -1;
      const std::string at = place + "/propertyNames";
      name = counted(name & name_pattern(names_schema, pattern_states_, at), pattern_states_, at);
    }
    return member_rule(name, value, value_place);
  }

  // The listed properties in their order, each or not, then others. A state knows how many there were so far, as far as
  // that matters: for the comma, and for minProperties and maxProperties.
  void write_object(const Json& schema, std::int32_t from, std::int32_t to, const std::string& place) {
    const Json additional = schema.contains("additionalProperties") ? schema["additionalProperties"] : Json(true);
    const std::vector<Property> properties = properties_of(schema, additional, place);
    const std::int32_t extra = extra_rule(schema, properties, additional, place);
    const auto listed_count = static_cast<std::int64_t>(properties.size());
    const std::int64_t least = count_of(schema, "minProperties", 0, place);
    std::int64_t most = count_of(schema, "maxProperties", -1, place);
    if (extra < 0 && most >= listed_count) most = -1;
    // Names of other properties are free, so two may be the same: one of them counts.
    if (least > listed_count + (extra < 0 ? 0 : 1))
      refuse_schema(place,
                    fmt::format("\"minProperties\" of {} is not supported where {} are listed", least, listed_count));
    if (most > most_copies)
      refuse_schema(place, fmt::format("\"maxProperties\" above {} is not supported", most_copies));
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
    const std::int32_t open = layout_.behind('{', from);
    grammar_.add_jump(open, at[0]);
    for (const Property& p : properties) {
      const std::vector<std::int32_t> next = nodes();
      const std::int32_t rule = member_rule(Pattern::of_texts({&p.name, 1}), p.schema, p.place);
      for (std::int64_t n = 0; n <= told_apart; ++n) {
        if (!p.required) grammar_.add_jump(at[static_cast<std::size_t>(n)], next[static_cast<std::size_t>(n)]);
        if (!may_add(n)) continue;
        const std::int32_t begin = n == 0 ? at[0] : layout_.behind(',', at[static_cast<std::size_t>(n)]);
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
      if (n >= least) layout_.close('}', at[static_cast<std::size_t>(n)], to);
    if (extra < 0) return;
    // By how many there are in all, and for the least number by how many were listed: one more than those is sure.
    std::vector<std::int32_t> with;
    for (std::int64_t n = 0; n < count; ++n) with.push_back(grammar_.add_state());
    for (std::int64_t n = 0; n < count; ++n) {
      const bool enough = n + 1 >= least;
      if ((most >= 0 && n >= most) || !enough) continue;
      const std::int32_t begin = n == 0 ? at[0] : layout_.behind(',', at[static_cast<std::size_t>(n)]);
      grammar_.add_call(begin, extra, with[static_cast<std::size_t>(std::min(n + 1, count - 1))]);
    }
    for (std::int64_t n = 0; n < count; ++n) {
      layout_.close('}', with[static_cast<std::size_t>(n)], to);
      if (most < 0 || n < most)
        grammar_.add_call(layout_.behind(',', with[static_cast<std::size_t>(n)]), extra,
                          with[static_cast<std::size_t>(std::min(n + 1, count - 1))]);
    }
  }

  void check_names(const Json& schema, const std::vector<Property>& properties, const std::string& place) {
    const Json names = reader_.simplified(schema["propertyNames"], place + "/propertyNames");
    if (names != false) {
      const Pattern allowed = name_pattern(names, pattern_states_, place + "/propertyNames");
      for (const Property& p : properties)
        if (!allowed.matches(p.name))
          refuse_schema(place + "/propertyNames", fmt::format("does not allow the property \"{}\"", printable(p.name)));
    } else if (!properties.empty()) {
      refuse_schema(place + "/propertyNames", "allows no property, and there are some");
    }
  }

  // --- arrays ---

  void write_array(const Json& schema, std::int32_t from, std::int32_t to, const std::string& place) {
    std::vector<Json> first;
    if (schema.contains("prefixItems")) first.assign(schema["prefixItems"].begin(), schema["prefixItems"].end());
    if (schema.contains("items") && schema["items"].is_array())
      refuse_schema(place + "/items", "a schema for each item is not supported here", "call it \"prefixItems\"");
    const auto given = static_cast<std::int64_t>(first.size());
    std::int64_t least = count_of(schema, "minItems", 0, place), most = count_of(schema, "maxItems", -1, place);
    const Json rest = schema.contains("items") ? schema["items"] : Json(true);
    const bool has_rest = reader_.simplified(rest, place + "/items") != false &&
                          (schema.contains("items") || given == 0 || least > given);
    // A tuple is whole where it may be.
    const std::int64_t prefix = most >= 0 ? std::min(given, most) : given;
    least = std::max(least, prefix);
    if (!has_rest) most = most < 0 ? given : std::min(most, given);
    if (std::max(least, most) > most_copies)
      refuse_schema(place, fmt::format("\"minItems\" and \"maxItems\" above {} are not supported", most_copies));

    std::int32_t at = layout_.behind('[', from);
    const auto item = [&](std::int64_t i, std::int32_t begin, std::int32_t end) {
      if (i > 0) begin = layout_.behind(',', begin);
      const Json& one = i < given ? first[static_cast<std::size_t>(i)] : rest;
      grammar_.add_call(begin, rule_of(one, place + (i < given ? fmt::format("/prefixItems/{}", i) : "/items")), end);
    };
    // As many as there must be or may be, one after the other, then any number.
    const std::int64_t counted = most < 0 ? std::max<std::int64_t>(least, 1) : most;
    for (std::int64_t i = 0; i <= counted; ++i) {
      if (i >= least) layout_.close(']', at, to);
      if (i == counted) break;
      const std::int32_t next = grammar_.add_state();
      if (i < given || has_rest) item(i, at, next);
      at = next;
    }
    if (most < 0 && has_rest) item(counted, at, at);
  }

  SchemaReader reader_;
  Grammar grammar_;
  GrammarWriter writer_;
  std::int32_t whole_;
  JsonLayout layout_;
  std::int32_t depth_ = 0;
  PatternStates pattern_states_ = 0;
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

#include "grammar/schemas/schema_judge.h"

#include <fmt/format.h>

#include "grammar/schemas/schema_drafts.h"
#include "grammar/schemas/schema_strings.h"

namespace tril::search {
namespace {

constexpr int deepest_judgement = 300;

Verdict both(Verdict a, Verdict b) {
  return std::min(a, b);
}
Verdict either(Verdict a, Verdict b) {
  return std::max(a, b);
}
Verdict opposite(Verdict a) {
  return a == Verdict::yes ? Verdict::no : a == Verdict::no ? Verdict::yes : Verdict::unsure;
}
Verdict sure(bool is) {
  return is ? Verdict::yes : Verdict::no;
}

}  // namespace

Verdict SchemaJudge::verdict(const Json& value, const Conjunction& schemas) {
  Verdict all = Verdict::yes;
  for (const SchemaId id : schemas) all = both(all, verdict(value, id));
  return all;
}

Verdict SchemaJudge::verdict(const Json& value, SchemaId id) {
  if (document_.allows_all(id)) return Verdict::yes;
  if (document_.allows_none(id)) return Verdict::no;
  boxes_.work().match(1, id);
  // Alternatives often list the same strings.
  if (!value.is_string()) return fresh_verdict(value, id);
  const std::pair key{id, value.get<std::string>()};
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  return known_.emplace(key, fresh_verdict(value, id)).first->second;
}

Verdict SchemaJudge::fresh_verdict(const Json& value, SchemaId id) {
  if (++depth_ > deepest_judgement)
    refuse_schema(document_.place(id), "refers to itself endlessly, or is nested too deep");
  Verdict found = Verdict::unsure;
  try {
    found = judge(value, id);
  } catch (const Unsupported&) {  // unsure
  }
  --depth_;
  return found;
}

bool SchemaJudge::has_match(const Json& regex, const std::string& text, SchemaId id, std::string_view step) {
  return boxes_.expressions().matches(regex.get<std::string>(), SchemaExpressions::Form::part, text, id, step);
}

Verdict SchemaJudge::inner(const Json& value, SchemaId of, const Json& schema, const std::string& step) {
  return verdict(value, document_.child(of, schema, step));
}

// A value forbidden only by keywords that do not count is valid for some validators, and not for others.
Verdict SchemaJudge::judge(const Json& value, SchemaId id) {
  const auto [counting, rest] = document_.parts_of(id);
  if (counting == id) return by_words(value, id);
  const Verdict all = verdict(value, counting);
  if (all == Verdict::no) return all;
  const Verdict also = rest == id ? by_words(value, id) : verdict(value, rest);
  return both(all, also == Verdict::yes ? also : Verdict::unsure);
}

Verdict SchemaJudge::by_words(const Json& value, SchemaId id) {
  const Json& schema = document_.json(id);
  // The cheapest checks come first: most listed values fail by the type or by an alternative's list.
  Verdict all = general(value, id, schema);
  if (all == Verdict::no) return all;
  all = both(all, alternatives(value, id, schema));
  if (all == Verdict::no) return all;
  if (value.is_number()) all = both(all, number(value, schema));
  if (value.is_string()) all = both(all, string(value, id, schema));
  if (value.is_array()) all = both(all, array(value, id, schema));
  if (value.is_object()) all = both(all, object(value, id, schema));
  return all;
}

Verdict SchemaJudge::general(const Json& value, SchemaId id, const Json& schema) {
  if (schema.contains(made::never)) return Verdict::no;
  const Kind kind = kind_of(value);
  if (!allows_kind(schema, kind)) return Verdict::no;
  if (kind == Kind::number && only_whole(schema) && !is_whole(value)) return Verdict::no;
  // In draft 4, 1.0 is not an integer.
  Verdict all = kind == Kind::number && only_whole(schema) && document_.draft(id) == 4 && value.is_number_float()
                    ? Verdict::unsure
                    : Verdict::yes;
  if (schema.contains("enum") && !boxes_.values_of(schema["enum"]).contains(value)) return Verdict::no;
  if (schema.contains("const") && !are_equal(schema["const"], value)) return Verdict::no;
  for (const char* word : SchemaDocument::references_of(schema))
    all = both(all, verdict(value, document_.target(id, word)));
  if (schema.contains("not")) all = both(all, opposite(inner(value, id, schema["not"], "/not")));
  return all;
}

Verdict SchemaJudge::alternatives(const Json& value, SchemaId id, const Json& schema) {
  Verdict all = Verdict::yes;
  const auto each = [&](const char* word, const auto& take) {
    if (!schema.contains(word)) return;
    for (std::size_t i = 0; i < schema[word].size(); ++i)
      take(inner(value, id, schema[word][i], fmt::format("/{}/{}", word, i)));
  };
  each("allOf", [&](Verdict one) { all = both(all, one); });
  if (schema.contains("anyOf")) {
    Verdict any = Verdict::no;
    for (std::size_t i = 0; i < schema["anyOf"].size() && any != Verdict::yes; ++i)
      any = either(any, inner(value, id, schema["anyOf"][i], fmt::format("/anyOf/{}", i)));
    all = both(all, any);
  }
  if (schema.contains("oneOf")) {
    int held = 0, may = 0;
    each("oneOf", [&](Verdict one) { held += one == Verdict::yes, may += one != Verdict::no; });
    all = both(all, held > 1 || may == 0 ? Verdict::no : held == 1 && may == 1 ? Verdict::yes : Verdict::unsure);
  }
  if (schema.contains("if")) {
    const Verdict condition = inner(value, id, schema["if"], "/if");
    const auto branch = [&](const char* word) {
      return schema.contains(word) ? inner(value, id, schema[word], std::string("/") + word) : Verdict::yes;
    };
    const Verdict then = branch("then"), otherwise = branch("else");
    all = both(all, condition == Verdict::yes  ? then
                    : condition == Verdict::no ? otherwise
                    : then == otherwise        ? then
                                               : Verdict::unsure);
  }
  return all;
}

Verdict SchemaJudge::number(const Json& value, const Json& schema) const {
  const ExactNumber x(value);
  const auto bound = [&](const char* word) { return ExactNumber(schema[word]); };
  const auto is_flag = [&](const char* word) { return schema.contains(word) && schema[word] == true; };
  const auto is_bound = [&](const char* word) { return schema.contains(word) && schema[word].is_number(); };
  if (schema.contains("minimum") && (is_flag("exclusiveMinimum") ? x <= bound("minimum") : x < bound("minimum")))
    return Verdict::no;
  if (schema.contains("maximum") && (is_flag("exclusiveMaximum") ? x >= bound("maximum") : x > bound("maximum")))
    return Verdict::no;
  if (is_bound("exclusiveMinimum") && x <= bound("exclusiveMinimum")) return Verdict::no;
  if (is_bound("exclusiveMaximum") && x >= bound("exclusiveMaximum")) return Verdict::no;
  if (schema.contains(made::fraction) && is_whole(value)) return Verdict::no;
  if (!schema.contains("multipleOf")) return Verdict::yes;
  const std::optional<bool> divides = is_multiple(x, bound("multipleOf"));
  return divides ? sure(*divides) : Verdict::unsure;
}

Verdict SchemaJudge::string(const Json& value, SchemaId id, const Json& schema) {
  const std::string text = value.get<std::string>();
  const auto length = std::ssize(code_points(text, "text"));
  const std::string& place = document_.place(id);
  if (length < count_of(schema, "minLength", 0, place)) return Verdict::no;
  if (const std::int64_t most = count_of(schema, "maxLength", -1, place); most >= 0 && length > most)
    return Verdict::no;
  if (schema.contains(made::not_texts) && boxes_.values_of(schema[made::not_texts]).contains(value)) return Verdict::no;
  if (schema.contains(made::not_pattern) && has_match(schema[made::not_pattern], text, id, "/not")) return Verdict::no;
  if (schema.contains("pattern") && !has_match(schema["pattern"], text, id, "/pattern")) return Verdict::no;
  return schema.contains("format") ? has_format(text, schema["format"].get<std::string>(), boxes_.expressions(), id)
                                   : Verdict::yes;
}

Verdict SchemaJudge::array(const Json& value, SchemaId id, const Json& schema) {
  const auto size = std::ssize(value);
  const std::string& place = document_.place(id);
  if (size < count_of(schema, "minItems", 0, place)) return Verdict::no;
  if (const std::int64_t most = count_of(schema, "maxItems", -1, place); most >= 0 && size > most) return Verdict::no;
  if (ValueSet seen; schema.contains("uniqueItems") && schema["uniqueItems"] == true)
    for (const Json& item : value)
      if (!seen.add(item)) return Verdict::no;
  Verdict all = schema.contains("unevaluatedItems") ? unevaluated_items(value, id, schema) : Verdict::yes;
  for (std::size_t i = 0; i < value.size(); ++i) all = both(all, verdict(value[i], boxes_.item({id}, i)));
  if (schema.contains("contains")) {
    std::int64_t held = 0, may = 0;
    for (const Json& item : value) {
      const Verdict one = inner(item, id, schema["contains"], "/contains");
      held += one == Verdict::yes, may += one != Verdict::no;
    }
    const std::int64_t least = count_of(schema, "minContains", 1, place),
                       most = count_of(schema, "maxContains", -1, place);
    if (may < least || (most >= 0 && held > most)) return Verdict::no;
    if (held < least || (most >= 0 && may > most)) all = both(all, Verdict::unsure);
  }
  return all;
}

Verdict SchemaJudge::object(const Json& value, SchemaId id, const Json& schema) {
  const auto size = std::ssize(value);
  const std::string& place = document_.place(id);
  if (size < count_of(schema, "minProperties", 0, place)) return Verdict::no;
  if (const std::int64_t most = count_of(schema, "maxProperties", -1, place); most >= 0 && size > most)
    return Verdict::no;
  if (schema.contains("required"))
    for (const Json& name : schema["required"])
      if (!value.contains(name.get<std::string>())) return Verdict::no;
  Verdict all = schema.contains("unevaluatedProperties") ? unevaluated_properties(value, id, schema) : Verdict::yes;
  for (const auto& [name, member] : value.items()) {
    all = both(all, verdict(member, boxes_.member({id}, name)));
    if (schema.contains("propertyNames"))
      all = both(all, inner(Json(name), id, schema["propertyNames"], "/propertyNames"));
  }
  if (schema.contains(made::some_property)) all = both(all, some_property(value, id, schema[made::some_property]));
  return both(all, dependent(value, id, schema));
}

// Schemas that must hold whenever this one does, and that count for evaluation.
template <class Look>
void SchemaJudge::each_in_place(SchemaId id, const Look& look) {
  const Json& schema = document_.json(id);
  if (!schema.is_object()) return;
  boxes_.work().match(1, id);
  look(id, schema);
  for (const char* word : SchemaDocument::references_of(schema))
    if (counts(schema, word, document_.draft(id))) each_in_place(document_.target(id, word), look);
  if (schema.contains("allOf"))
    for (std::size_t i = 0; i < schema["allOf"].size(); ++i)
      each_in_place(document_.child(id, schema["allOf"][i], fmt::format("/allOf/{}", i)), look);
}

// Items that are not surely evaluated are checked against `unevaluatedItems`; a failure is unsure if an alternative may
// evaluate the item.
Verdict SchemaJudge::unevaluated_items(const Json& value, SchemaId id, const Json& schema) {
  const bool is_latest = document_.draft(id) >= 2020;
  std::size_t evaluated = 0;
  each_in_place(id, [&](SchemaId one, const Json& words) {
    const SchemaBoxes::Items parts = boxes_.items_of(one);
    if ((parts.rest && (parts.rest_word == "/items" || !is_latest)) ||
        (one != id && words.contains("unevaluatedItems")))
      evaluated = value.size();
    if (parts.first && is_latest == (parts.first_word == "/prefixItems"))
      evaluated = std::max(evaluated, parts.first->size());
  });
  Verdict all = Verdict::yes;
  for (std::size_t i = evaluated; i < value.size(); ++i) {
    Verdict one = inner(value[i], id, schema["unevaluatedItems"], "/unevaluatedItems");
    if (is_latest && schema.contains("contains"))
      one = either(one, inner(value[i], id, schema["contains"], "/contains"));
    all = both(all, either(one, Verdict::unsure));
  }
  return all;
}

Verdict SchemaJudge::unevaluated_properties(const Json& value, SchemaId id, const Json& schema) {
  Verdict all = Verdict::yes;
  for (const auto& [name, member] : value.items()) {
    bool evaluated = false;
    each_in_place(id, [&, &n = name](SchemaId one, const Json& words) {
      evaluated = evaluated || words.contains("additionalProperties") || boxes_.evaluates(one, n) ||
                  (one != id && words.contains("unevaluatedProperties"));
    });
    if (evaluated) continue;
    const Verdict one = inner(member, id, schema["unevaluatedProperties"], "/unevaluatedProperties");
    all = both(all, either(one, Verdict::unsure));
  }
  return all;
}

Verdict SchemaJudge::some_property(const Json& value, SchemaId id, const Json& some) {
  Verdict any = Verdict::no;
  for (const auto& [name, member] : value.items()) {
    bool meant = !some.contains("properties") || !some["properties"].contains(name);
    if (some.contains("pattern")) meant = has_match(some["pattern"], name, id);
    if (some.contains("patternProperties"))
      for (const auto& [regex, one] : some["patternProperties"].items()) meant = meant && !has_match(regex, name, id);
    if (meant) any = either(any, verdict(member, document_.made(id, some["value"])));
  }
  return any;
}

Verdict SchemaJudge::dependent(const Json& value, SchemaId id, const Json& schema) {
  Verdict all = Verdict::yes;
  for (const char* word : {"dependencies", "dependentRequired", "dependentSchemas"}) {
    if (!schema.contains(word)) continue;
    for (const auto& [name, needed] : schema[word].items()) {
      if (!value.contains(name)) continue;
      if (needed.is_array())
        for (const Json& other : needed) all = both(all, sure(value.contains(other.get<std::string>())));
      else if (needed.is_string())
        all = both(all, sure(value.contains(needed.get<std::string>())));
      else
        all = both(all, inner(value, id, needed, below(std::string("/") + word, name)));
    }
  }
  return all;
}

}  // namespace tril::search

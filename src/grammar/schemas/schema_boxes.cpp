#include "grammar/schemas/schema_boxes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "grammar/schemas/schema_complement.h"
#include "grammar/schemas/schema_drafts.h"
#include "grammar/schemas/schema_judge.h"
#include "grammar/schemas/schema_numbers.h"
#include "grammar/schemas/schema_strings.h"

namespace tril::search {
namespace {

// A number read as a double although its text may have had more digits: writing it would change it.
bool has_inexact_number(const Json& value) {
  if (value.is_number_float()) return std::abs(value.get<double>()) >= 0x1p63;
  return value.is_structured() && std::any_of(value.begin(), value.end(), has_inexact_number);
}

constexpr std::size_t most_combined = 200;  // boxes of a product, or the length of the longer list
constexpr std::size_t deepest = 1'000;
constexpr std::int64_t work_of_copy = 8;  // of a kept box of about 500 bytes: 300 MiB at most

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

template <class T>
void append_new(std::vector<T>& to, const std::vector<T>& from) {
  for (const T& one : from)
    if (std::find(to.begin(), to.end(), one) == to.end()) to.push_back(one);
}

// Members and items that these boxes mention do not count as evaluated.
std::vector<Box> unevaluated(std::vector<Box> boxes) {
  for (Box& box : boxes) {
    box.seen.clear();
    for (Box::Contains& one : box.contains) one.evaluates = false;
  }
  return boxes;
}

using Bound = Box::Bound;

void narrow(std::optional<Bound>& bound, const std::optional<Bound>& other, bool is_least) {
  if (!other) return;
  const bool tighter = !bound || (is_least ? other->value > bound->value : other->value < bound->value) ||
                       (other->value == bound->value && !other->included);
  if (tighter) bound = other;
}

bool cross(const Box& box) {
  if (!box.low || !box.high) return false;
  if (box.low->value > box.high->value) return true;
  if (box.low->value == box.high->value && (!box.low->included || !box.high->included)) return true;
  // No whole number lies between the bounds.
  if (!box.whole) return false;
  const auto first = whole_bound(*box.low, true), last = whole_bound(*box.high, false);
  return first && last && *first > *last;
}

// The work of intersecting two boxes with all that they list, and of looking up each required name.
std::int64_t work_of(const Box& a, const Box& b) {
  const auto listed = [](const Box& box) { return box.listed ? box.listed->size() : 0; };
  const std::size_t required = a.required.size() + b.required.size(), scopes = a.scopes.size() + b.scopes.size();
  const std::size_t pairs =
      a.required.size() * b.required.size() + a.scopes.size() * b.scopes.size() + a.texts.size() * b.texts.size();
  const std::size_t texts = a.texts.size() + b.texts.size();
  return static_cast<std::int64_t>(1 + texts / 8 + scopes + required * scopes / 8 + (listed(a) + listed(b)) / 8 +
                                   pairs / 64);
}

}  // namespace

const ValueSet& SchemaBoxes::values_of(const Json& list) {
  const auto [found, fresh] = values_.try_emplace(&list);
  if (fresh) found->second = ValueSet(list);
  return found->second;
}

void SchemaBoxes::add(Conjunction& to, SchemaId id) const {
  if (!document_.allows_all(id) && std::find(to.begin(), to.end(), id) == to.end()) to.push_back(id);
}

bool SchemaBoxes::allows_none(const Conjunction& schemas) const {
  return std::any_of(schemas.begin(), schemas.end(), [&](SchemaId id) { return document_.allows_none(id); });
}

const std::vector<Box>& SchemaBoxes::of(SchemaId id, Kind kind) {
  const std::pair key{id, kind};
  if (const auto found = known_.find(key); found != known_.end()) {
    is_narrow_ = is_narrow_ || narrow_.contains(key);
    return found->second;
  }
  if (!under_way_.insert(key).second)
    refuse_schema(document_.place(id), "refers to itself endlessly before it constrains a value");
  if (under_way_.size() > deepest)
    refuse_schema(document_.place(id), "refers to itself endlessly, or is nested too deep");
  const bool around = std::exchange(is_narrow_, false);
  std::vector<Box> boxes;
  try {
    boxes = made_of(id, kind);
  } catch (const Unsupported& error) {
    leave_out(error, document_.json(id).contains(made::never) ? Telling::where_nothing_is_left : Telling::at_once);
    is_narrow_ = true;
  }
  if (is_narrow_) narrow_.insert(key);
  is_narrow_ = is_narrow_ || around;
  under_way_.erase(key);
  return known_[key] = std::move(boxes);
}

std::vector<Box> SchemaBoxes::of(const Conjunction& schemas, Kind kind) {
  std::vector<Box> boxes{Box{}};
  for (const SchemaId id : schemas) boxes = product(kind, boxes, of(id, kind));
  return boxes;
}

std::vector<Box> SchemaBoxes::made_of(SchemaId id, Kind kind) {
  if (document_.allows_none(id)) return {};
  if (document_.allows_all(id)) return {Box{}};
  const Json& schema = document_.json(id);
  const int draft = document_.draft(id);
  if (!all_count(schema, draft)) is_narrow_ = true;
  const std::optional<Box> own = own_box(id, kind);
  if (!own) return {};
  std::vector<Box> boxes{*own};
  const auto also = [&](SchemaId other) { boxes = product(kind, boxes, of(other, kind)); };
  // References that do not count in this draft are followed too, but evaluate nothing.
  for (const char* word : SchemaDocument::references_of(schema)) {
    const std::vector<Box>& others = of(document_.target(id, word), kind);
    boxes = counts(schema, word, draft) ? product(kind, others, boxes) : product(kind, unevaluated(others), boxes);
  }
  if (schema.contains("allOf"))
    for (std::size_t i = 0; i < schema["allOf"].size() && !boxes.empty(); ++i)
      also(document_.child(id, schema["allOf"][i], fmt::format("/allOf/{}", i)));
  if (schema.contains("anyOf") && !boxes.empty()) {
    std::vector<Box> any;
    for (std::size_t i = 0; i < schema["anyOf"].size(); ++i)
      append(any, of(document_.child(id, schema["anyOf"][i], fmt::format("/anyOf/{}", i)), kind));
    work_.combine(work_of_copy * std::ssize(any), id);
    boxes = product(kind, boxes, any);
  }
  if (schema.contains("oneOf") && !boxes.empty()) boxes = product(kind, boxes, one_of(id, kind));
  if (schema.contains("not") && !boxes.empty()) boxes = product(kind, boxes, complement(id, kind));
  for (const auto& [word, condition] : conditions_of(schema))
    if (const SchemaId other = document_.made(id, condition); !boxes.empty())
      counts(schema, word, draft) ? also(other) : void(boxes = product(kind, boxes, unevaluated(of(other, kind))));
  close_scopes(id, kind, boxes);
  return boxes;
}

// The boxes of `not`.
std::vector<Box> SchemaBoxes::complement(SchemaId id, Kind kind) {
  SchemaId of_what = document_.child(id, document_.json(id)["not"], "/not");
  const Json& inner = document_.json(of_what);
  if (inner.is_object() && inner.size() == (inner.contains(made::mark) ? 2u : 1u))
    if (const auto words = SchemaDocument::references_of(inner);
        !words.empty() && counts(inner, words[0], document_.draft()))
      of_what = document_.target(of_what, words[0]);
  return unevaluated(of(document_.made(of_what, complement_of(document_.json(of_what), document_.draft())), kind));
}

std::optional<Box> SchemaBoxes::own_box(SchemaId id, Kind kind) {
  const Json& schema = document_.json(id);
  if (!allows_kind(schema, kind)) return std::nullopt;
  if (schema.contains(made::never)) refuse_unsupported(document_.place(id), schema[made::never].get<std::string>());
  Box box;
  if (schema.contains("enum") || schema.contains("const")) {
    box.listed.emplace();
    ValueSet seen;
    for (const Json& value : schema.contains("enum") ? schema["enum"] : Json::array({schema["const"]}))
      if (kind_of(value) == kind && seen.add(value)) box.listed->push_back(value);
    if (std::erase_if(*box.listed, has_inexact_number) > 0) {
      const Unsupported why("JSON schema: " + document_.place(id),
                            "numbers of 2^63 or more are not supported as values");
      if (box.listed->empty()) throw why;
      leave_out(why, Telling::at_once);
    }
    if (box.listed->empty()) return std::nullopt;
  }
  box.is_typed = schema.contains("type") || box.listed;
  const bool speaks = std::any_of(all_kinds.begin(), all_kinds.end(), [&](Kind k) { return speaks_of(schema, k); });
  box.is_off_topic = !box.is_typed && speaks && !speaks_of(schema, kind);
  const std::string& place = document_.place(id);
  const auto bounds = [&](const char* least, const char* most) {
    box.least = count_of(schema, least, 0, place), box.most = count_of(schema, most, -1, place);
  };
  if (kind == Kind::number) read_numbers(schema, box);
  if (kind == Kind::string) {
    bounds("minLength", "maxLength");
    for (const char* word : {"pattern", "format", made::not_pattern, made::not_texts})
      if (schema.contains(word)) {
        if (std::string_view(word) == "format" && !is_known_format(schema[word].get<std::string>()))
          notes_.pass_over("format: " + schema[word].get<std::string>(), "");
        else
          box.texts.emplace_back(word, schema[word]);
      }
  }
  if (kind == Kind::array) bounds("minItems", "maxItems"), read_array(id, box);
  if (kind == Kind::object) bounds("minProperties", "maxProperties"), read_object(id, box);
  return both(kind, box, Box{}) ? std::optional(box) : std::nullopt;
}

void SchemaBoxes::read_numbers(const Json& schema, Box& box) const {
  box.whole = only_whole(schema);
  box.fraction = schema.contains(made::fraction);
  const auto bound = [&](const char* word, const char* exclusive, std::optional<Bound>& of, bool is_least) {
    const bool is_exclusive = schema.contains(exclusive) && schema[exclusive] == true;  // a boolean in draft 4
    if (schema.contains(word)) narrow(of, Bound{ExactNumber(schema[word]), !is_exclusive}, is_least);
    if (schema.contains(exclusive) && schema[exclusive].is_number())
      narrow(of, Bound{ExactNumber(schema[exclusive]), false}, is_least);
  };
  bound("minimum", "exclusiveMinimum", box.low, true), bound("maximum", "exclusiveMaximum", box.high, false);
  if (schema.contains("multipleOf")) box.factors.push_back(schema["multipleOf"]);
}

void SchemaBoxes::read_array(SchemaId id, Box& box) {
  const Json& schema = document_.json(id);
  if (schema.contains("items") || schema.contains("prefixItems")) box.scopes.push_back(id), box.seen.push_back(id);
  box.unique = schema.contains("uniqueItems") && schema["uniqueItems"] == true;
  if (!schema.contains("contains")) return;
  const bool counts = document_.draft(id) >= 2019;
  const std::string& place = document_.place(id);
  const std::int64_t least = counts ? count_of(schema, "minContains", 1, place)
                                    : std::max<std::int64_t>(1, count_of(schema, "minContains", 1, place));
  const std::int64_t most = count_of(schema, "maxContains", -1, place);
  if (least > 0 || most >= 0)
    box.contains.push_back(
        {document_.child(id, schema["contains"], "/contains"), least, most, document_.draft(id) >= 2020});
  box.least = std::max(box.least, least);
}

void SchemaBoxes::read_object(SchemaId id, Box& box) {
  const Json& schema = document_.json(id);
  for (const char* word : {"properties", "patternProperties", "additionalProperties"})
    if (schema.contains(word)) {
      box.scopes.push_back(id), box.seen.push_back(id);
      break;
    }
  if (ValueSet seen; schema.contains("required"))
    for (const Json& name : schema["required"])
      if (seen.add(name)) box.required.push_back(name.get<std::string>());
  if (schema.contains("propertyNames"))
    box.names.push_back(document_.child(id, schema["propertyNames"], "/propertyNames"));
  if (schema.contains(made::some_property)) box.some.push_back(id);
}

std::optional<Box> SchemaBoxes::both(Kind kind, const Box& a, const Box& b) const {
  Box box = a;
  if (b.listed) {
    if (box.listed)
      std::erase_if(*box.listed, [of = ValueSet(*b.listed)](const Json& value) { return !of.contains(value); });
    else
      box.listed = b.listed;
  }
  if (box.listed && box.listed->empty()) return std::nullopt;
  box.least = std::max(a.least, b.least);
  box.most = a.most < 0 ? b.most : b.most < 0 ? a.most : std::min(a.most, b.most);
  if (box.most >= 0 && box.least > box.most) return std::nullopt;
  narrow(box.low, b.low, true), narrow(box.high, b.high, false);
  append_new(box.factors, b.factors);
  box.whole = a.whole || b.whole, box.fraction = a.fraction || b.fraction;
  if (kind == Kind::number && (cross(box) || (box.whole && box.fraction))) return std::nullopt;
  append_new(box.texts, b.texts);
  append_new(box.scopes, b.scopes), append_new(box.seen, b.seen), append_new(box.required, b.required),
      append_new(box.names, b.names), append_new(box.some, b.some);
  append(box.contains, b.contains);
  box.unique = a.unique || b.unique;
  box.is_typed = a.is_typed || b.is_typed, box.is_off_topic = a.is_off_topic || b.is_off_topic;
  if (kind == Kind::object && box.most >= 0 && std::ssize(box.required) > box.most) return std::nullopt;
  return box;
}

std::vector<Box> SchemaBoxes::product(Kind kind, const std::vector<Box>& a, const std::vector<Box>& b) {
  const std::size_t most = std::max({most_combined, a.size(), b.size()});
  std::vector<Box> boxes;
  for (const Box& x : a)
    for (const Box& y : b) {
      work_.combine(work_of(x, y), document_.root());
      std::optional<Box> box = both(kind, x, y);
      if (!box) continue;
      // A name that is both required and forbidden; complements often have one.
      const auto is_dead = [&](const std::string& name) { return allows_none(member(box->scopes, name)); };
      const bool dead = kind == Kind::object && a.size() * b.size() > 1 &&
                        std::any_of(box->required.begin(), box->required.end(), is_dead);
      if (!dead) boxes.push_back(std::move(*box));
      if (boxes.size() >= most && boxes.size() < a.size() * b.size()) {
        is_narrow_ = true;
        return boxes;
      }
    }
  return boxes;
}

// One alternative and none of the others; those that are disjoint from it need no complement.
std::vector<Box> SchemaBoxes::one_of(SchemaId id, Kind kind) {
  const Json& list = document_.json(id)["oneOf"];
  std::vector<SchemaId> all;
  for (std::size_t i = 0; i < list.size(); ++i)
    all.push_back(document_.child(id, list[i], fmt::format("/oneOf/{}", i)));
  std::vector<Box> boxes;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const Box& box : of(all[i], kind)) {
      std::vector<Box> left{box};
      for (std::size_t k = 0; k < all.size() && !left.empty(); ++k) {
        if (k == i) continue;
        if (all[k] == all[i]) left.clear();
        const std::vector<Box>& others = of(all[k], kind);
        const bool apart =
            !narrow_.contains({all[k], kind}) && std::none_of(others.begin(), others.end(), [&](const Box& other) {
              work_.combine(work_of(box, other), id);
              const std::optional<Box> common = both(kind, box, other);
              return common && !is_surely_empty(kind, *common, {all[i], all[k]}, 3);
            });
        if (apart) continue;
        const SchemaId complement = document_.made(all[k], Json{{made::mark, true}, {"not", document_.json(all[k])}});
        left = product(kind, left, of(complement, kind));
      }
      append(boxes, left);
    }
  return boxes;
}

bool SchemaBoxes::are_disjoint(const Conjunction& schemas, int depth) {
  if (allows_none(schemas)) return true;
  if (depth <= 0) return false;
  const std::pair key{schemas, depth};
  const auto [known, fresh] = disjoint_.try_emplace(key, false);  // a recursive question gets "not surely"
  if (!fresh) return known->second;
  const bool around = is_narrow_;
  bool empty = true;
  for (const Kind kind : all_kinds) {
    const std::vector<Box> boxes = of(schemas, kind);
    empty = std::none_of(schemas.begin(), schemas.end(), [&](SchemaId id) { return narrow_.contains({id, kind}); });
    empty = empty && std::all_of(boxes.begin(), boxes.end(),
                                 [&](const Box& box) { return is_surely_empty(kind, box, schemas, depth); });
    if (!empty) break;
  }
  is_narrow_ = around;
  return disjoint_[key] = empty;
}

bool SchemaBoxes::is_surely_empty(Kind kind, const Box& box, const Conjunction& schemas, int depth) {
  if (box.listed) {
    SchemaJudge judge(*this);
    return std::none_of(box.listed->begin(), box.listed->end(),
                        [&](const Json& value) { return judge.verdict(value, schemas) != Verdict::no; });
  }
  if (kind == Kind::object)
    return std::any_of(box.required.begin(), box.required.end(),
                       [&](const std::string& name) { return are_disjoint(member(box.scopes, name), depth - 1); });
  if (kind == Kind::array)
    for (std::int64_t i = 0; i < std::min<std::int64_t>(box.least, 4); ++i)
      if (are_disjoint(item(box.scopes, static_cast<std::size_t>(i)), depth - 1)) return true;
  if (kind == Kind::string && box.texts.size() > 1)
    return have_nothing_in_common(box, *this, schemas.empty() ? document_.root() : schemas[0]);
  return false;
}

}  // namespace tril::search

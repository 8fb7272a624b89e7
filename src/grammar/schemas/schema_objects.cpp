#include "grammar/schemas/schema_objects.h"

#include <fmt/format.h>

#include <map>

#include "grammar/schemas/schema_complement.h"
#include "grammar/schemas/schema_judge.h"

namespace tril::search {
namespace {

constexpr std::size_t most_classes = 40;
constexpr std::size_t most_plans = 60;
constexpr std::int64_t most_distinct = 30;
constexpr std::int64_t work_of_plan = 10;

using Scopes = std::vector<SchemaId>;

class ObjectPlanner {
 public:
  ObjectPlanner(const Box& box, SchemaId at, SchemaBoxes& boxes, SchemaPatterns& patterns)
      : box_(box),
        boxes_(boxes),
        document_(boxes.document()),
        patterns_(patterns),
        judge_(boxes),
        place_(document_.place(at)) {}

  std::vector<ObjectPlan> run() {
    ObjectPlan plan;
    plan.least = box_.least, plan.most = box_.most;
    for (const SchemaId id : box_.names) boxes_.add(names_, id);
    for (const std::string& name : listed_names())
      if (!add_member(plan, name)) return {};
    const auto listed = std::ssize(plan.members);
    const bool silent = names_.empty() && !box_listing_.empty() && !speaks();
    if (!silent || plan.least > listed) add_extras(plan);
    add_distinct(plan);
    return {std::move(plan)};
  }

 private:
  std::vector<std::string> listed_names() {
    std::vector<std::string> names;
    const auto add = [&](const std::string& name) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    };
    for (const SchemaId scope : box_.scopes)
      if (const auto list = document_.json(scope).find("properties"); list != document_.json(scope).end())
        for (const auto& [name, value] : list->items()) {
          add(name);
          if (value != false && !document_.json(scope).contains(made::mark)) box_listing_.push_back(name);
        }
    for (const std::string& name : box_.required) add(name);
    return names;
  }

  /// Whether schemas have keywords about properties that they do not list.
  bool speaks() const {
    return std::any_of(box_.scopes.begin(), box_.scopes.end(), [&](SchemaId scope) {
      return document_.json(scope).contains("additionalProperties") ||
             document_.json(scope).contains("patternProperties");
    });
  }

  bool may_be_named(const std::string& name) {
    const Verdict verdict = judge_.verdict(Json(name), names_);
    if (verdict == Verdict::unsure) boxes_.leave_out_unsure(Json(name), names_);
    return verdict == Verdict::yes;
  }

  // False if the property is required and impossible.
  bool add_member(ObjectPlan& plan, const std::string& name) {
    const bool required = std::find(box_.required.begin(), box_.required.end(), name) != box_.required.end();
    Conjunction value = boxes_.member(box_.scopes, name);
    known_.push_back(name);
    if (boxes_.allows_none(value) || !may_be_named(name)) return !required;
    // With minProperties, an impossible property must not be counted.
    if (plan.least > 0 && boxes_.are_disjoint(value)) return !required;
    plan.members.push_back({name, std::move(value), required});
    return true;
  }

  // The regular expressions of all scopes, each once.
  std::vector<std::string> expressions() const {
    std::vector<std::string> list;
    for (const SchemaId scope : box_.scopes)
      if (const auto found = document_.json(scope).find("patternProperties"); found != document_.json(scope).end())
        for (const auto& [regex, value] : found->items())
          if (std::find(list.begin(), list.end(), regex) == list.end()) list.push_back(regex);
    return list;
  }

  // What a property must be that exactly these expressions match and no scope lists.
  Conjunction value_of(const std::vector<std::string>& matched) {
    Conjunction all;
    for (const SchemaId scope : box_.scopes) {
      const Json& schema = document_.json(scope);
      bool known = false;
      if (const auto list = schema.find("patternProperties"); list != schema.end())
        for (const auto& [regex, value] : list->items())
          if (std::find(matched.begin(), matched.end(), regex) != matched.end()) {
            known = true;
            boxes_.add(all, document_.child(scope, value, below("/patternProperties", regex)));
          }
      if (const auto rest = schema.find("additionalProperties"); rest != schema.end() && !known)
        boxes_.add(all, document_.child(scope, *rest, "/additionalProperties"));
    }
    return all;
  }

  struct Class {
    Pattern names;
    std::vector<std::string> matched;
  };

  void add_extras(ObjectPlan& plan) {
    const std::vector<std::string> regexes = expressions();
    if (regexes.empty() && boxes_.allows_none(value_of({}))) return;
    if (boxes_.allows_none(names_)) return;
    std::vector<Class> classes;
    for (const Box& box : boxes_.of(names_, Kind::string)) {
      if (box.listed) {
        for (const Json& name : *box.listed) add_name(plan, name.get<std::string>());
        continue;
      }
      Pattern names = patterns_.counted(Pattern::except(known_), place_);
      if (!box.texts.empty() || box.least > 0 || box.most >= 0)
        names = patterns_.both(names, patterns_.of(box, box_.names.empty() ? document_.root() : box_.names[0]),
                               place_ + "/propertyNames");
      classes.push_back({std::move(names), {}});
    }
    if (classes.empty()) return;
    for (const std::string& regex : regexes) split(classes, regex);
    for (Class& one : classes)
      if (Conjunction value = value_of(one.matched); !boxes_.allows_none(value))
        plan.extras.push_back({std::move(one.names), std::move(value)});
  }

  // A name listed by `propertyNames` is treated like a listed property.
  void add_name(ObjectPlan& plan, const std::string& name) {
    if (std::find(known_.begin(), known_.end(), name) == known_.end()) add_member(plan, name);
  }

  void split(std::vector<Class>& classes, const std::string& regex) {
    const std::string at = place_ + below("/patternProperties", regex);
    const Pattern in = patterns_.matching(regex, at), out = patterns_.not_matching(regex, at);
    std::vector<Class> parts;
    for (Class& one : classes) {
      std::vector<std::string> matched = one.matched;
      matched.push_back(regex);
      for (Class part :
           {Class{patterns_.both(one.names, in, at), matched}, Class{patterns_.both(one.names, out, at), one.matched}})
        if (!part.names.is_empty()) parts.push_back(std::move(part));
    }
    if (parts.size() > most_classes)
      refuse_unsupported(place_ + "/patternProperties", "expressions that overlap in too many ways are not supported");
    classes = std::move(parts);
  }

  void add_distinct(ObjectPlan& plan) {
    const std::int64_t needed = plan.least - std::ssize(plan.members);
    if (needed < 2 || plan.extras.empty()) return;
    if (plan.least > most_distinct)
      refuse_unsupported(
          place_,
          fmt::format("\"minProperties\" that needs more than {} unlisted names is not supported", most_distinct));
    for (std::int64_t i = 0; i < plan.least; ++i) {
      std::vector<ObjectPlan::Extra> family;
      for (const ObjectPlan::Extra& extra : plan.extras) {
        Pattern names = patterns_.both(extra.names, Pattern::of_length_modulo(plan.least, i), place_);
        if (!names.is_empty()) family.push_back({std::move(names), extra.value});
      }
      plan.distinct.push_back(std::move(family));
    }
  }

  const Box& box_;
  SchemaBoxes& boxes_;
  SchemaDocument& document_;
  SchemaPatterns& patterns_;
  SchemaJudge judge_;
  const std::string& place_;
  Conjunction names_;
  std::vector<std::string> known_, box_listing_;
};

/// The properties in the box's scopes that made::some_property of the schema `of` may mean.
std::vector<std::string> meant_by(SchemaId of, const Box& box, SchemaBoxes& boxes) {
  const SchemaDocument& document = boxes.document();
  const Json& some = document.json(of)[made::some_property];
  std::vector<std::string> names = box.required;
  for (const SchemaId scope : box.scopes)
    if (const auto list = document.json(scope).find("properties"); list != document.json(scope).end())
      for (const auto& [name, value] : list->items())
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  const auto matches = [&](const std::string& regex, const std::string& name) {
    return boxes.expressions().matches(regex, SchemaExpressions::Form::part, name, of);
  };
  std::erase_if(names, [&](const std::string& name) {
    if (some.contains("pattern")) return !matches(some["pattern"].get<std::string>(), name);
    if (some.contains("properties") && some["properties"].contains(name)) return true;
    if (!some.contains("patternProperties")) return false;
    const Json& list = some["patternProperties"];
    return std::any_of(list.items().begin(), list.items().end(),
                       [&](const auto& one) { return matches(one.key(), name); });
  });
  return names;
}

}  // namespace

std::vector<ObjectPlan> object_plans(const Box& box, SchemaId at, SchemaBoxes& boxes, SchemaPatterns& patterns) {
  if (box.some.empty()) return ObjectPlanner(box, at, boxes, patterns).run();
  SchemaDocument& document = boxes.document();
  const SchemaId of = box.some.back();
  const std::vector<std::string> names = meant_by(of, box, boxes);
  std::vector<ObjectPlan> plans;
  for (const std::string& name : names) {
    Box one = box;
    const Json& value = document.json(of)[made::some_property]["value"];
    one.scopes.push_back(document.made(of, Json{{made::mark, true}, {"properties", {{name, value}}}}));
    if (std::find(one.required.begin(), one.required.end(), name) == one.required.end()) one.required.push_back(name);
    one.some.pop_back();
    // Most come to nothing: all are counted, not only those that become plans.
    boxes.work().combine(work_of_plan + std::ssize(one.required) + std::ssize(one.scopes), at);
    if (plans.size() >= most_plans) break;
    if (boxes.are_disjoint(boxes.member(one.scopes, name))) continue;
    for (ObjectPlan& plan : object_plans(one, at, boxes, patterns))
      if (plans.size() < most_plans) plans.push_back(std::move(plan));
  }
  if (plans.empty() && document.json(of)[made::some_property]["value"] != false)
    boxes.leave_out(Unsupported("JSON schema: " + document.place(at),
                                "an object that must have an unlisted property is not supported"),
                    Telling::where_nothing_is_left);
  return plans;
}

}  // namespace tril::search

// The filters of chat templates, by name.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/printable.h"
#include "text/letter_case.h"
#include "text/template_call.h"
#include "text/template_functions.h"
#include "text/template_lists.h"
#include "text/template_numbers.h"
#include "text/template_text.h"

namespace tril::chat {
namespace {

std::string text(const Call& c) {
  return printed(c.value, c.budget);
}
List list(const Call& c) {
  return elements(c.value, c.budget);
}

Value json_of(const Call& c) {
  const Arguments& a = c.arguments;
  JsonStyle style;
  style.ascii = flag_argument(a, 0, "ensure_ascii", false);
  if (const Value* indent = argument(a, 1, "indent"); indent && !indent->is_none()) {
    const std::int64_t blanks = whole_argument(a, 1, "indent", 0);
    if (blanks > 32) refuse("tojson: an indent above 32 is not supported");
    style.indent = static_cast<int>(std::max<std::int64_t>(blanks, 0));
  }
  style.sort_keys = flag_argument(a, 3, "sort_keys", false);
  if (const Value* s = argument(a, 2, "separators"); s && !s->is_none()) {
    const auto* two = s->get<List>();
    if (!two || two->size() != 2) refuse("tojson: separators are two strings");
    style.item_separator = text_of((*two)[0], "tojson");
    style.key_separator = text_of((*two)[1], "tojson");
    if (style.item_separator.empty()) refuse("tojson: an empty separator makes no JSON");
  }
  c.budget.pay_whole(c.value);
  return to_json(c.value, style);
}

Value or_default(const Call& c) {
  const Value* otherwise = argument(c.arguments, 0, "default_value");
  const bool wanted = c.value.is_undefined() || (flag_argument(c.arguments, 1, "boolean", false) && !c.value.truth());
  return wanted ? (otherwise ? *otherwise : Value("")) : c.value;
}

Value join(const Call& c) {
  const Value *by = argument(c.arguments, 0, "d"), *name = argument(c.arguments, 1, "attribute");
  const List all = list(c);
  return joined(name && !name->is_none() ? attributes_of(all, *name, c.budget) : all, by ? printed(*by, c.budget) : "",
                c.budget);
}

Value replace(const Call& c) {
  return replaced(text(c), printed(needed(c.arguments, 0, "old", "replace"), c.budget),
                  printed(needed(c.arguments, 1, "new", "replace"), c.budget),
                  whole_argument(c.arguments, 2, "count", -1), c.budget);
}

Value end_of(const Call& c) {
  const List all = list(c);
  return all.empty() ? Value(Undefined{std::string(c.name)}) : c.is("first") ? all.front() : all.back();
}

Value items(const Call& c) {
  if (c.value.is_undefined()) return List{};
  if (!c.value.get<Dict>()) refuse(fmt::format("items takes a mapping, not {}", c.value.type_name()));
  c.budget.pay(4 * c.value.get<Dict>()->size());
  return pairs_of(*c.value.get<Dict>());
}

Value dict_sorted(const Call& c) {
  if (!c.value.get<Dict>()) refuse(fmt::format("dictsort takes a mapping, not {}", c.value.type_name()));
  c.budget.pay(4 * c.value.get<Dict>()->size());
  return dict_sorted(*c.value.get<Dict>(), c.arguments, c.budget);
}

Value sum(const Call& c) {
  const Value *name = argument(c.arguments, 0, "attribute"), *start = argument(c.arguments, 1, "start");
  const List all = list(c);
  return sum_of(name && !name->is_none() ? attributes_of(all, *name, c.budget) : all,
                start ? *start : Value(std::int64_t{0}), c.budget);
}

Value extreme(const Call& c) {
  return extreme(list(c), c.arguments, c.is("min"), c.budget);
}

Value chosen(const Call& c) {
  return chosen(list(c), c.arguments, c.name.ends_with("attr"), c.name.starts_with("select"), c.budget);
}

constexpr auto filters = std::to_array<Callee>({
    {"abs", "", [](const Call& c) { return absolute(c.value); }},
    {"capitalize", "", in_case<capital_case>},
    {"count", "", [](const Call& c) { return length_value(c.value); }},
    {"d", "default_value boolean", or_default},
    {"default", "default_value boolean", or_default},
    {"dictsort", "case_sensitive by reverse", dict_sorted},
    {"first", "", end_of},
    {"float", "default", [](const Call& c) { return to_float(c.value, c.arguments, c.budget); }},
    {"indent", "width first blank", [](const Call& c) -> Value { return indented(text(c), c.arguments, c.budget); }},
    {"int", "default base", [](const Call& c) { return to_int(c.value, c.arguments, c.budget); }},
    {"items", "", items},
    {"join", "d attribute", join},
    {"last", "", end_of},
    {"length", "", [](const Call& c) { return length_value(c.value); }},
    {"list", "", [](const Call& c) -> Value { return list(c); }},
    {"lower", "", in_case<lower_case>},
    {"map", "...", [](const Call& c) -> Value { return mapped(list(c), c.arguments, c.budget); }},
    {"max", "case_sensitive attribute", extreme},
    {"min", "case_sensitive attribute", extreme},
    {"reject", "...", chosen},
    {"rejectattr", "...", chosen},
    {"replace", "old new count", replace},
    {"reverse", "", [](const Call& c) { return reversed(c.value, c.budget); }},
    {"round", "precision method", [](const Call& c) { return rounded(c.value, c.arguments); }},
    {"safe", "", [](const Call& c) { return c.value; }},
    {"select", "...", chosen},
    {"selectattr", "...", chosen},
    {"sort", "reverse case_sensitive attribute",
     [](const Call& c) -> Value { return sorted(list(c), c.arguments, c.budget); }},
    {"string", "", [](const Call& c) -> Value { return text(c); }},
    {"sum", "attribute start", sum},
    {"title", "", in_case<titled>},
    {"tojson", "ensure_ascii indent separators sort_keys", json_of},
    {"trim", "chars",
     [](const Call& c) -> Value { return stripped(text(c), argument(c.arguments, 0, "chars"), both, c.budget); }},
    {"unique", "case_sensitive attribute",
     [](const Call& c) -> Value { return unique(list(c), c.arguments, c.budget); }},
    {"upper", "", in_case<upper_case>},
});

}  // namespace

Value apply_filter(std::string_view name, const Value& value, const Arguments& a, Budget& budget) {
  const auto* const filter =
      std::find_if(filters.begin(), filters.end(), [&](const Callee& f) { return f.name == name; });
  if (filter == filters.end()) refuse(fmt::format("the filter \"{}\" is not supported", printable(name)));
  if (filter->parameters != "...") check_arguments(a, filter->parameters, fmt::format("the filter \"{}\"", name));
  if (const auto* s = value.get<std::string>()) budget.pay_text(s->size());
  return filter->call({value, a, budget, filter->name});
}

}  // namespace tril::chat

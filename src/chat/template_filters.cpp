// The filters of chat templates by name.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/printable.h"
#include "chat/template_call.h"
#include "chat/template_format.h"
#include "chat/template_functions.h"
#include "chat/template_lists.h"
#include "chat/template_markup.h"
#include "chat/template_numbers.h"
#include "chat/template_operators.h"
#include "chat/template_text.h"
#include "chat/template_written.h"
#include "unicode/letter_case.h"

namespace tril::chat {
namespace {

// A text filter accepts any value that can be printed.
std::string text(const Call& c) {
  return printed(c.value, c.budget);
}
Value like(const Call& c, std::string s) {
  return Value::text_like(c.value, std::move(s));
}

template <std::string (*map)(std::string_view)>
Value in_case(const Call& c) {
  const std::string all = text(c);
  c.budget.pay(4 * all.size());
  return like(c, map(all));
}

Value json_of(const Call& c) {
  const Arguments& a = c.arguments;
  JsonStyle style;
  style.ascii = flag_argument(a, 0, "ensure_ascii", false);
  if (const Value* indent = argument(a, 1, "indent"); indent && !indent->is_none()) {
    const auto* by = indent->get<std::string>();
    const std::int64_t blanks = by ? 0 : whole_argument(a, 1, "indent", 0);
    if (blanks > 32 || (by && by->size() > 32)) refuse("tojson: an indent above 32 is not supported");
    style.indent = by ? *by : std::string(static_cast<std::size_t>(std::max<std::int64_t>(blanks, 0)), ' ');
  }
  style.sort_keys = flag_argument(a, 3, "sort_keys", false);
  if (const Value* s = argument(a, 2, "separators"); s && !s->is_none()) {
    const auto* two = s->get<List>();
    if (!two || two->size() != 2) refuse("tojson: separators must be two strings");
    style.item_separator = text_of((*two)[0], "tojson");
    style.key_separator = text_of((*two)[1], "tojson");
    if (style.item_separator.empty()) refuse("tojson: a separator must not be empty");
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
  const List all = elements(c.value, c.budget);
  return joined(name && !name->is_none() ? attributes_of(all, *name, c.budget) : all, by ? printed(*by, c.budget) : "",
                c.budget);
}

Value replace(const Call& c) {
  return replaced(text(c), printed(needed(c.arguments, 0, "old", "replace"), c.budget),
                  printed(needed(c.arguments, 1, "new", "replace"), c.budget),
                  whole_argument(c.arguments, 2, "count", -1), c.budget);
}

Value first(const Call& c) {
  const std::optional<Value> one = over(c.value, c.budget)();
  return one ? *one : Value(Undefined{"first"});
}

Value last(const Call& c) {
  if (c.value.get<std::shared_ptr<Generator>>()) refuse("a generator has no last item", "make it a list: | list");
  const List all = elements(c.value, c.budget);
  if (all.empty()) return Undefined{"last"};
  return c.value.get<std::string>() ? like(c, *all.back().get<std::string>()) : all.back();
}

Value sum(const Call& c) {
  const Value *name = argument(c.arguments, 0, "attribute"), *start = argument(c.arguments, 1, "start");
  const List all = elements(c.value, c.budget);
  return sum_of(name && !name->is_none() ? attributes_of(all, *name, c.budget) : all,
                start ? *start : Value(std::int64_t{0}), c.budget);
}

Value formatted(const Call& c) {
  const Arguments& a = c.arguments;
  if (!a.positional.empty() && !a.named.empty()) refuse("format takes values by position or by name, not both");
  const Value format = like(c, text(c));
  if (a.named.empty()) return percent_format(format, Value::tuple(a.positional), c.budget);
  Dict named;
  for (const auto& [name, value] : a.named) named.emplace_back(name, value);  // names are unique
  return percent_format(format, Value(std::move(named)), c.budget);
}

Value url_encoded(const Call& c) {
  const auto quoted = [&](const Value& one, bool query) {
    const std::string s = printed(one, c.budget);
    c.budget.pay(2 * s.size());
    return url_quoted(s, query);
  };
  if (c.value.get<std::string>() || c.value.number() || c.value.is_none()) return quoted(c.value, false);
  const auto* dict = c.value.get<Dict>();
  std::string out;
  for (const Value& pair : dict ? pairs_of(*dict) : elements(c.value, c.budget)) {
    const List two = elements(pair, c.budget);
    if (two.size() != 2) refuse("urlencode takes pairs of a name and a value");
    out.append(out.empty() ? "" : "&").append(quoted(two[0], true)).append("=").append(quoted(two[1], true));
  }
  return out;
}

Value attribute_alone(const Call& c) {
  const std::string& name = text_of(c.given(0, "name"), "attr");
  check_defined(c.value, fmt::format("has no \"{}\"", printable(name)));
  return c.value.get<Dict>() ? find_method(c.value, name, c.budget) : attribute(c.value, name, c.budget);
}

Value indent(const Call& c) {
  if (!c.value.get<std::string>()) refuse(fmt::format("indent takes a string, not {}", c.value.type_name()));
  const Value* width = argument(c.arguments, 0, "width");
  if (width && width->is_none()) refuse("indent: the width is none");
  return like(c, indented(text(c), c.arguments, c.budget));
}

constexpr auto filters = std::to_array<Callee>({
    {"abs", "", [](const Call& c) { return absolute(c.value); }},
    {"attr", "name", attribute_alone},
    {"batch", "linecount fill_with", [](const Call& c) { return batches(c.value, c.arguments, c.budget); }},
    {"capitalize", "", in_case<capital_case>},
    {"center", "width",
     [](const Call& c) {
       return like(c, centered(text(c), number_argument(c.arguments, 0, "width", 80), " ", c.budget));
     }},
    {"count", "", [](const Call& c) { return length_value(c.value); }},
    {"d", "default_value boolean", or_default},
    {"default", "default_value boolean", or_default},
    {"dictsort", "case_sensitive by reverse",
     [](const Call& c) { return dict_sorted(c.value, c.arguments, c.budget); }},
    {"e", "", [](const Call& c) { return to_markup(c.value, c.budget); }},
    {"escape", "", [](const Call& c) { return to_markup(c.value, c.budget); }},
    {"filesizeformat", "binary",
     [](const Call& c) -> Value { return file_size(c.value, flag_argument(c.arguments, 0, "binary", false), c.budget); }},
    {"first", "", first},
    {"float", "default", [](const Call& c) { return to_float(c.value, c.arguments, c.budget); }},
    {"forceescape", "", [](const Call& c) { return Value::markup(escaped(text(c))); }},
    {"format", "...", formatted},
    {"groupby", "attribute default case_sensitive", [](const Call& c) { return groups(c.value, c.arguments, c.budget); }},
    {"indent", "width first blank", indent},
    {"int", "default base", [](const Call& c) { return to_int(c.value, c.arguments, c.budget); }},
    {"items", "", [](const Call& c) { return items_of(c.value, c.budget); }},
    {"join", "d attribute", join},
    {"last", "", last},
    {"length", "", [](const Call& c) { return length_value(c.value); }},
    {"list", "", [](const Call& c) -> Value { return elements(c.value, c.budget); }},
    {"lower", "", in_case<lower_case>},
    {"map", "...", [](const Call& c) { return mapped(c.value, c.arguments, c.budget); }},
    {"max", "case_sensitive attribute", [](const Call& c) { return extreme(c.value, c.arguments, false, c.budget); }},
    {"min", "case_sensitive attribute", [](const Call& c) { return extreme(c.value, c.arguments, true, c.budget); }},
    {"reject", "...", [](const Call& c) { return chosen(c.value, c.arguments, c.name, c.budget); }},
    {"rejectattr", "...", [](const Call& c) { return chosen(c.value, c.arguments, c.name, c.budget); }},
    {"replace", "old new count", replace},
    {"reverse", "", [](const Call& c) { return reversed(c.value, c.budget); }},
    {"round", "precision method", [](const Call& c) { return rounded(c.value, c.arguments); }},
    {"safe", "", [](const Call& c) { return Value::markup(text(c)); }},
    {"select", "...", [](const Call& c) { return chosen(c.value, c.arguments, c.name, c.budget); }},
    {"selectattr", "...", [](const Call& c) { return chosen(c.value, c.arguments, c.name, c.budget); }},
    {"slice", "slices fill_with", [](const Call& c) { return slices(c.value, c.arguments, c.budget); }},
    {"sort", "reverse case_sensitive attribute", [](const Call& c) { return sorted(c.value, c.arguments, c.budget); }},
    {"string", "", [](const Call& c) { return like(c, text(c)); }},
    {"striptags", "", [](const Call& c) -> Value { return without_tags(text(c), c.budget); }},
    {"sum", "attribute start", sum},
    {"title", "",
     [](const Call& c) -> Value {
       const std::string all = text(c);
       c.budget.pay(4 * all.size());
       return titled(all);
     }},
    {"tojson", "ensure_ascii indent separators sort_keys", json_of},
    {"trim", "chars",
     [](const Call& c) { return like(c, stripped(text(c), argument(c.arguments, 0, "chars"), both, c.budget)); }},
    {"truncate", "length killwords end leeway", [](const Call& c) { return truncated(c.value, c.arguments, c.budget); }},
    {"unique", "case_sensitive attribute", [](const Call& c) { return unique(c.value, c.arguments, c.budget); }},
    {"upper", "", in_case<upper_case>},
    {"urlencode", "", url_encoded},
    {"wordcount", "", [](const Call& c) -> Value {
       const std::string all = text(c);
       c.budget.pay(all.size());
       return count_words(all);
     }},
    {"xmlattr", "autospace",
     [](const Call& c) -> Value {
       return xml_attributes(c.value, flag_argument(c.arguments, 0, "autospace", true), c.budget);
     }},
});

// Filters of Jinja that are not supported: random output, Python's data, links, line wrapping.
constexpr auto refused_filters = std::to_array<std::string_view>({"pprint", "random", "urlize", "wordwrap"});

const Callee* find_filter(std::string_view name) {
  const auto* const found =
      std::find_if(filters.begin(), filters.end(), [&](const Callee& f) { return f.name == name; });
  return found == filters.end() ? nullptr : found;
}

}  // namespace

Known knows_filter(std::string_view name) {
  if (find_filter(name)) return Known::yes;
  const bool refused = std::find(refused_filters.begin(), refused_filters.end(), name) != refused_filters.end();
  return refused ? Known::refused : Known::no;
}

Value apply_filter(std::string_view name, const Value& value, const Arguments& a, Budget& budget) {
  const Callee* filter = find_filter(name);
  if (!filter) refuse(fmt::format("the filter \"{}\" is not supported", printable(name)));
  if (filter->parameters != "...") check_arguments(a, filter->parameters, fmt::format("the filter \"{}\"", name));
  if (const auto* s = value.get<std::string>()) budget.pay_text(s->size());
  return filter->call({value, a, budget, filter->name});
}

}  // namespace tril::chat

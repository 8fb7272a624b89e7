#include "text/template_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "text/letter_case.h"
#include "text/template_functions.h"
#include "text/template_text.h"

namespace tril::chat {
namespace {

Value attribute_of(const Value& value, const Value& path, Budget& budget) {
  if (path.integer()) return item(value, path);
  Value now = value;
  for (std::string_view rest = text_of(path, "attribute"); !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find('.'));
    std::int64_t place = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), place);
    const bool is_place = error == std::errc{} && end == name.data() + name.size();
    if (const auto* dict = now.get<Dict>()) budget.pay(dict->size());
    now = item(now, is_place ? Value(place) : Value(name));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
  }
  return now;
}

// What values are sorted and told apart by: texts without regard to case, unless it is to count.
std::vector<Value> keys_of(const List& list, const Value* attribute, bool case_counts, Budget& budget) {
  std::vector<Value> keys;
  for (const Value& one : list) {
    Value key = attribute && !attribute->is_none() ? attribute_of(one, *attribute, budget) : one;
    if (const auto* s = key.get<std::string>(); s && !case_counts) {
      budget.pay(4 * s->size());
      key = Value(lower_case(*s));
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

// The places of values in the order of their keys; those that are equal stay in theirs.
std::vector<std::size_t> order_of(const std::vector<Value>& keys, bool reverse, Budget& budget) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
    budget.pay(4 + std::min(keys[x].weight(), keys[y].weight()));
    return reverse ? less(keys[y], keys[x]) : less(keys[x], keys[y]);
  });
  return order;
}

// Arguments from the n-th on, and those by name.
Arguments behind(const Arguments& a, std::size_t n) {
  return {
      List(a.positional.begin() + static_cast<std::ptrdiff_t>(std::min(n, a.positional.size())), a.positional.end()),
      a.named};
}

}  // namespace

List sorted(const List& list, const Arguments& a, Budget& budget) {
  const Value* attribute = argument(a, 2, "attribute");
  if (attribute && attribute->get<std::string>() && attribute->get<std::string>()->find(',') != std::string::npos)
    refuse("sort by several attributes is not supported", "sort twice, by the last one first");
  const std::vector<Value> keys = keys_of(list, attribute, flag_argument(a, 1, "case_sensitive", false), budget);
  List in_order;
  for (const std::size_t i : order_of(keys, flag_argument(a, 0, "reverse", false), budget)) in_order.push_back(list[i]);
  return in_order;
}

List unique(const List& list, const Arguments& a, Budget& budget) {
  const std::vector<Value> keys =
      keys_of(list, argument(a, 1, "attribute"), flag_argument(a, 0, "case_sensitive", false), budget);
  List kept;
  std::vector<const Value*> seen;
  for (std::size_t i = 0; i < list.size(); ++i) {
    budget.pay(1 + seen.size() * (1 + keys[i].weight() / 4));
    if (std::any_of(seen.begin(), seen.end(), [&](const Value* other) { return equal(*other, keys[i]); })) continue;
    seen.push_back(&keys[i]);
    kept.push_back(list[i]);
  }
  return kept;
}

// select, reject, selectattr, rejectattr: those for which a test holds, or which are true.
List chosen(const List& list, const Arguments& a, bool by_attribute, bool wanted, Budget& budget) {
  const std::size_t first = by_attribute ? 1 : 0;
  const Value path = by_attribute ? needed(a, 0, "attribute", "a filter by attribute") : Value();
  const bool by_test = first < a.positional.size();
  const std::string test = by_test ? text_of(a.positional[first], "the name of a test") : "";
  List kept;
  for (const Value& one : list) {
    budget.pay(10);
    const Value value = by_attribute ? attribute_of(one, path, budget) : one;
    const bool holds = by_test ? apply_test(test, value, behind(a, first + 1), budget) : value.truth();
    if (holds == wanted) kept.push_back(one);
  }
  return kept;
}

List attributes_of(const List& list, const Value& name, Budget& budget) {
  List out;
  for (const Value& one : list) {
    budget.pay(10);
    out.push_back(attribute_of(one, name, budget));
  }
  return out;
}

List mapped(const List& list, const Arguments& a, Budget& budget) {
  List out;
  if (a.positional.empty()) {
    check_arguments(a, "attribute default", "map");
    out = attributes_of(list, needed(a, 0, "attribute", "map"), budget);
    if (const Value* otherwise = argument(a, 1, "default"))
      for (Value& value : out)
        if (value.is_undefined()) value = *otherwise;
    return out;
  }
  const std::string& filter = text_of(a.positional[0], "map");
  const Arguments rest = behind(a, 1);
  for (const Value& one : list) {
    budget.pay(10);
    out.push_back(apply_filter(filter, one, rest, budget));
  }
  return out;
}

List pairs_of(const Dict& dict) {
  List pairs;
  for (const auto& [key, member] : dict) pairs.push_back(Value::tuple({Value(key), member}));
  return pairs;
}

List dict_sorted(const Dict& dict, const Arguments& a, Budget& budget) {
  const std::string by = text_argument(a, 1, "by", "key");
  if (by != "key" && by != "value") refuse("dictsort: by is \"key\" or \"value\"");
  const List pairs = pairs_of(dict);
  const Value place = by == "key" ? std::int64_t{0} : std::int64_t{1};
  const std::vector<Value> keys = keys_of(pairs, &place, flag_argument(a, 0, "case_sensitive", false), budget);
  List in_order;
  for (const std::size_t i : order_of(keys, flag_argument(a, 2, "reverse", false), budget))
    in_order.push_back(pairs[i]);
  return in_order;
}

// The one of `list` that comes before all others, or behind them.
Value extreme(const List& list, const Arguments& a, bool smallest, Budget& budget) {
  if (list.empty()) return Undefined{"min or max of nothing"};
  const std::vector<Value> keys =
      keys_of(list, argument(a, 1, "attribute"), flag_argument(a, 0, "case_sensitive", false), budget);
  return list[order_of(keys, !smallest, budget)[0]];
}

Value length_value(const Value& value) {
  if (const auto* s = value.get<std::string>()) return length_of(*s);
  if (const auto* list = value.get<List>()) return static_cast<std::int64_t>(list->size());
  if (const auto* dict = value.get<Dict>()) return static_cast<std::int64_t>(dict->size());
  if (value.is_undefined()) return std::int64_t{0};
  refuse(fmt::format("{} has no length", value.type_name()));
}

Value reversed(const Value& value, Budget& budget) {
  List list = elements(value, budget);
  std::reverse(list.begin(), list.end());
  return value.get<std::string>() ? Value(joined(list, "", budget)) : Value(std::move(list));
}

}  // namespace tril::chat

#include "chat/template_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "base/printable.h"
#include "chat/template_functions.h"
#include "chat/template_text.h"
#include "unicode/letter_case.h"

namespace tril::chat {
namespace {

bool is_place(std::string_view name) {
  return !name.empty() && name.size() < 10 && name.find_first_not_of("0123456789") == name.npos;
}

// The value at `path` ("function.name"); `otherwise`, if given and not None, where a part of the path is missing.
Value attribute_of(const Value& value, const Value& path, const Value* otherwise, Budget& budget) {
  if (path.is_none()) return value;
  const auto step = [&](const Value& from, const Value& key) {
    Value found = subscript(from, key, budget);
    return found.is_undefined() && otherwise && !otherwise->is_none() ? *otherwise : found;
  };
  const auto* names = path.get<std::string>();
  if (!names) return step(value, path);
  Value now = value;
  for (std::size_t at = 0; at <= names->size();) {
    const std::size_t end = std::min(names->find('.', at), names->size());
    const std::string name = names->substr(at, end - at);
    now = step(now, is_place(name) ? Value(std::int64_t{std::stoll(name)}) : Value(name));
    at = end + 1;
  }
  return now;
}

// A sort key: strings are folded unless case counts.
Value case_key(Value key, bool case_counts, Budget& budget) {
  const auto* s = key.get<std::string>();
  if (!s || case_counts) return key;
  budget.pay(4 * s->size());
  return lower_case(*s);
}

// How values are keyed for sorting and comparing.
struct KeyOptions {
  const Value* attribute = nullptr;
  const Value* otherwise = nullptr;
  bool case_counts = false;
};

Value key_of(const Value& one, const KeyOptions& o, Budget& budget) {
  return case_key(o.attribute ? attribute_of(one, *o.attribute, o.otherwise, budget) : one, o.case_counts, budget);
}

List keys_of(const List& list, const KeyOptions& o, Budget& budget) {
  List keys;
  for (const Value& one : list) keys.push_back(key_of(one, o, budget));
  return keys;
}

// The indices of values in the order of their keys; the sort is stable.
std::vector<std::size_t> order_of(const List& keys, bool reverse, Budget& budget) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
    budget.pay(8 + cost_of_equal(keys[x], keys[y]));
    return reverse ? less(keys[y], keys[x]) : less(keys[x], keys[y]);
  });
  return order;
}

// Positional arguments from the n-th on, and all named ones.
Arguments from_argument(const Arguments& a, std::size_t n) {
  return {rest_of(a.positional, n), a.named};
}

// Maps one value; nothing: the value is left out.
using Change = std::function<std::optional<Value>(const Value&)>;

Value holding_all(Value made, const Value& value, const Arguments& a) {
  made = std::move(made).holding(value);
  for (const Value& one : a.positional) made = std::move(made).holding(one);
  for (const auto& [name, one] : a.named) made = std::move(made).holding(one);
  return made;
}

// A generator that maps each element of `value`. It does nothing, not even `prepare`, until it is iterated.
Value lazily(const Value& value, const Arguments& a, Budget& budget, std::function<Change()> prepare) {
  Generator::Next next = [value, &budget, prepare = std::move(prepare), source = Generator::Next(),
                          change = Change()]() mutable -> std::optional<Value> {
    if (!source) {
      change = prepare();
      source = over(value, budget);
    }
    while (const std::optional<Value> one = source()) {
      budget.pay(20);
      if (std::optional<Value> made = change(*one)) return made;
    }
    return std::nullopt;
  };
  return holding_all(Value::generator(std::move(next)), value, a);
}

// A generator over the result of `make`, which is called when it is iterated.
Value later(const Value& value, const Arguments& a, std::function<List()> make) {
  Generator::Next next = [make = std::move(make), all = std::optional<List>(),
                          at = std::size_t{0}]() mutable -> std::optional<Value> {
    if (!all) all = make();
    if (at == all->size()) return std::nullopt;
    return (*all)[at++];
  };
  return holding_all(Value::generator(std::move(next)), value, a);
}

Value of_list(List list, const Value& held) {
  Generator::Next next = [all = std::move(list), at = std::size_t{0}]() mutable -> std::optional<Value> {
    if (at == all.size()) return std::nullopt;
    return all[at++];
  };
  return Value::generator(std::move(next)).holding(held);
}

std::optional<Value> nothing() {
  return std::nullopt;
}

}  // namespace

Value sorted(const Value& value, const Arguments& a, Budget& budget) {
  const List list = elements(value, budget);
  const Value* attribute = argument(a, 2, "attribute");
  const KeyOptions by{.attribute = nullptr, .case_counts = flag_argument(a, 1, "case_sensitive", false)};
  List keys;
  if (const auto* names = attribute ? attribute->get<std::string>() : nullptr) {
    const Value comma = ",";
    for (const Value& one : list) {
      List all;
      budget.pay(20);
      for (const std::string_view name : split(*names, &comma, -1, false, budget))
        all.push_back(case_key(attribute_of(one, Value(name), nullptr, budget), by.case_counts, budget));
      keys.emplace_back(std::move(all));
    }
  } else {
    keys = keys_of(list, {.attribute = attribute, .case_counts = by.case_counts}, budget);
  }
  List in_order;
  for (const std::size_t i : order_of(keys, flag_argument(a, 0, "reverse", false), budget)) in_order.push_back(list[i]);
  return in_order;
}

Value unique(const Value& value, const Arguments& a, Budget& budget) {
  return lazily(value, a, budget, [a, &budget]() -> Change {
    return [a, &budget, seen = List()](const Value& one) mutable -> std::optional<Value> {
      const KeyOptions by{.attribute = argument(a, 1, "attribute"),
                          .case_counts = flag_argument(a, 0, "case_sensitive", false)};
      Value key = key_of(one, by, budget);
      check_key(key);
      const auto is_it = [&](const Value& other) {
        budget.pay(cost_of_equal(other, key));
        return equal(other, key);
      };
      if (std::any_of(seen.begin(), seen.end(), is_it)) return nothing();
      seen.push_back(std::move(key));
      return one;
    };
  });
}

Value chosen(const Value& value, const Arguments& a, std::string_view filter, Budget& budget) {
  if (!value.truth()) return of_list({}, value);
  const bool by_attribute = filter.ends_with("attr"), wanted = filter.starts_with("select");
  return lazily(value, a, budget, [a, by_attribute, wanted, &budget]() -> Change {
    const std::size_t first = by_attribute ? 1 : 0;
    const Value path =
        by_attribute ? needed(Arguments{a.positional, {}}, 0, "attribute", "a filter by attribute") : Value();
    const bool by_test = first < a.positional.size();
    const std::string test = by_test ? text_of(a.positional[first], "the name of a test") : "";
    return [=, &budget, rest = from_argument(a, first + 1)](const Value& one) -> std::optional<Value> {
      const Value what = by_attribute ? attribute_of(one, path, nullptr, budget) : one;
      const bool holds = by_test ? apply_test(test, what, rest, budget) : what.truth();
      return holds == wanted ? std::optional(one) : nothing();
    };
  });
}

List attributes_of(const List& list, const Value& name, Budget& budget) {
  List out;
  for (const Value& one : list) {
    budget.pay(10);
    out.push_back(attribute_of(one, name, nullptr, budget));
  }
  return out;
}

Value mapped(const Value& value, const Arguments& a, Budget& budget) {
  if (!value.truth()) return of_list({}, value);
  return lazily(value, a, budget, [a, &budget]() -> Change {
    if (a.positional.empty() && argument(a, 0, "attribute")) {
      check_arguments(a, "attribute default", "map");
      return [a, &budget](const Value& one) -> std::optional<Value> {
        return attribute_of(one, *argument(a, 0, "attribute"), argument(a, 1, "default"), budget);
      };
    }
    if (a.positional.empty()) refuse("map takes a filter, or attribute=");
    return [filter = text_of(a.positional[0], "map"), rest = from_argument(a, 1), &budget](const Value& one) {
      return std::optional(apply_filter(filter, one, rest, budget));
    };
  });
}

List pairs_of(const Dict& dict) {
  List pairs;
  for (const auto& [key, member] : dict) pairs.push_back(Value::tuple({key, member}));
  return pairs;
}

Value dict_sorted(const Value& value, const Arguments& a, Budget& budget) {
  const auto* dict = value.get<Dict>();
  if (!dict) refuse(fmt::format("dictsort takes a mapping, not {}", value.type_name()));
  const Value* given = argument(a, 1, "by");
  const std::string by = given ? text_of(*given, "dictsort") : "key";
  if (by != "key" && by != "value") refuse("dictsort: by must be \"key\" or \"value\"");
  budget.pay(4 * dict->size());
  const bool case_counts = flag_argument(a, 0, "case_sensitive", false);
  List keys, in_order;
  for (const auto& [key, member] : *dict) keys.push_back(case_key(by == "key" ? key : member, case_counts, budget));
  const List pairs = pairs_of(*dict);
  for (const std::size_t i : order_of(keys, flag_argument(a, 2, "reverse", false), budget))
    in_order.push_back(pairs[i]);
  return in_order;
}

Value items_of(const Value& value, Budget& budget) {
  if (value.is_undefined()) return of_list({}, value);
  return lazily(value, {}, budget, [value]() -> Change {
    if (!value.get<Dict>()) refuse(fmt::format("items takes a mapping, not {}", value.type_name()));
    return [value, at = std::size_t{0}](const Value&) mutable -> std::optional<Value> {
      const auto& [key, member] = (*value.get<Dict>())[at++];  // in the order of the keys
      return Value::tuple({key, member});
    };
  });
}

// The least or the greatest element of `value`.
Value extreme(const Value& value, const Arguments& a, bool smallest, Budget& budget) {
  const List list = elements(value, budget);
  if (list.empty()) return Undefined{"min or max of an empty sequence"};
  const KeyOptions by{.attribute = argument(a, 1, "attribute"),
                      .case_counts = flag_argument(a, 0, "case_sensitive", false)};
  const List keys = keys_of(list, by, budget);
  std::size_t best = 0;
  for (std::size_t i = 1; i < keys.size(); ++i) {
    budget.pay(4 + cost_of_equal(keys[i], keys[best]));
    if (smallest ? less(keys[i], keys[best]) : less(keys[best], keys[i])) best = i;
  }
  return list[best];
}

Value length_value(const Value& value) {
  if (const auto* s = value.get<std::string>()) return length_of(*s);
  if (const auto* list = value.get<List>()) return std::ssize(*list);
  if (const auto* dict = value.get<Dict>()) return std::ssize(*dict);
  if (value.is_undefined()) return std::int64_t{0};
  const bool generator = value.get<std::shared_ptr<Generator>>() != nullptr;
  refuse(fmt::format("{} has no length", value.type_name()), generator ? "make it a list: | list" : "");
}

Value reversed(const Value& value, Budget& budget) {
  List list = elements(value, budget);
  std::reverse(list.begin(), list.end());
  if (value.get<std::string>()) return Value::text_like(value, joined(list, "", budget));
  if (value.get<std::shared_ptr<Generator>>()) return list;
  return of_list(std::move(list), value);
}

Value batches(const Value& value, const Arguments& a, Budget& budget) {
  needed(a, 0, "linecount", "batch");
  return later(value, a, [value, a, &budget] {
    const Value size = needed(a, 0, "linecount", "batch"), *fill = argument(a, 1, "fill_with");
    List all = elements(value, budget), out, batch;
    const auto close = [&] {
      budget.pay(20);
      out.emplace_back(std::exchange(batch, {}));
    };
    for (Value& one : all) {
      if (equal(std::ssize(batch), size)) close();
      batch.push_back(std::move(one));
    }
    if (!batch.empty() && fill && !fill->is_none()) {
      if (!size.number()) refuse(fmt::format("batch takes a number, not {}", size.type_name()));
      const std::int64_t lacking = std::max<std::int64_t>(size.integer().value_or(0), 0) - std::ssize(batch);
      if (!size.integer() && *size.number() > static_cast<double>(batch.size())) refuse("batch takes an integer");
      if (std::cmp_greater(lacking, longest_text)) refuse("batch: a list becomes too long");
      budget.pay(static_cast<std::size_t>(std::max<std::int64_t>(lacking, 0)));
      for (std::int64_t i = 0; i < lacking; ++i) batch.push_back(*fill);
    }
    if (!batch.empty()) close();
    return out;
  });
}

Value slices(const Value& value, const Arguments& a, Budget& budget) {
  needed(a, 0, "slices", "slice");
  return later(value, a, [value, a, &budget] {
    const auto wanted = needed(a, 0, "slices", "slice").integer();
    if (!wanted || *wanted == 0) refuse("slice takes a number of slices");
    if (*wanted > 1'000'000) refuse("slice: too many slices");
    const Value* fill = argument(a, 1, "fill_with");
    const List all = elements(value, budget);
    const auto n = static_cast<std::size_t>(std::max<std::int64_t>(*wanted, 0));
    budget.pay(20 * n);
    List out;
    for (std::size_t i = 0, at = 0; i < n; ++i) {
      const std::size_t size = all.size() / n + (i < all.size() % n ? 1 : 0);
      const auto part = std::span(all).subspan(at, size);
      List one(part.begin(), part.end());
      if (fill && !fill->is_none() && i >= all.size() % n) one.push_back(*fill);
      out.emplace_back(std::move(one));
      at += size;
    }
    return out;
  });
}

Value groups(const Value& value, const Arguments& a, Budget& budget) {
  const Value path = needed(a, 0, "attribute", "groupby"), *otherwise = argument(a, 1, "default");
  const bool case_counts = flag_argument(a, 2, "case_sensitive", false);
  const List list = elements(value, budget);
  const List keys = keys_of(list, {.attribute = &path, .otherwise = otherwise, .case_counts = case_counts}, budget);
  List out, members;
  const auto close = [&](const Value& key) {
    if (!members.empty()) out.push_back(Value::sequence({key, std::exchange(members, {})}, Sequence::group));
  };
  Value key;
  const Value* before = nullptr;
  for (const std::size_t i : order_of(keys, false, budget)) {
    if (before) budget.pay(cost_of_equal(*before, keys[i]));
    if (!before || !equal(*before, keys[i])) {
      close(key);
      key = case_counts ? keys[i] : attribute_of(list[i], path, otherwise, budget);
    }
    before = &keys[i];
    members.push_back(list[i]);
  }
  close(key);
  return out;
}

}  // namespace tril::chat
